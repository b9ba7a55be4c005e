//! OpenCode 2.x on the wire: bodies under `/api` and frames of `/api/event`, decoded into the
//! neutral form.
//!
//! What it does: decode with one hostile or unknown row never costing the others, and put back what
//! 2.x says by order only ([`fold`]: whose answer a message is, and where a turn ended). What it
//! does not: judge, or keep long texts. Field names were measured on a build of the 2.0.14
//! generation. Rows of session lists are those of 1.x (`location.directory` in place of
//! `directory`), so [`super::v1::decode_api_sessions`] reads them.

mod ask;
mod content;
mod event;
mod fold;
mod message;
mod session;

pub use ask::{decode_forms, decode_permissions};
pub use event::{Heard, Touch, decode_event};
pub use fold::{CLOSED, fold};
pub use message::{MessagePage, decode_messages};
pub use session::{decode_active, decode_inbox, decode_locations, decode_session};

use super::v1::{WireError, shape, text_of};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The rows of `{"data": […]}`, each still raw.
fn data<'a>(body: &'a [u8], expected: &'static str) -> Result<Vec<&'a RawValue>, WireError> {
    #[derive(Deserialize)]
    struct Wire<'a> {
        #[serde(borrow)]
        data: Vec<&'a RawValue>,
    }
    let wire: Wire = serde_json::from_str(text_of(body)?).map_err(shape(expected))?;
    Ok(wire.data)
}
