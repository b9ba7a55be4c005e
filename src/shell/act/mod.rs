//! Actions on a server, carried out and then verified by reading again.
//!
//! Invariant: nothing is called done that the server's own answers did not show.

pub mod abort;
pub mod answer;
mod carry;
pub mod export;
mod look;
pub mod part;
pub mod resend;
pub mod reset;
pub mod survey;

use crate::net::client::ClientError;

/// How often a read is tried that is only late.
const TRIES: usize = 3;

/// Reads, and reads again what was only late: a server under load is where people act.
async fn patient<T, F: Future<Output = Result<T, ClientError>>>(
    read: impl Fn() -> F,
) -> Result<T, ClientError> {
    let mut tries = 1;
    loop {
        match read().await {
            Err(why) if why.is_late() && tries < TRIES => tries += 1,
            other => return other,
        }
    }
}
