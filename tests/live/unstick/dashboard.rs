//! The key R, in a real terminal, on a real server.

use super::made::{begin, until_streams};
use super::proof::Stuck;
use super::record::Done;
use crate::server::shared;

#[test]
fn a_stalled_stream_is_reset_by_a_key() {
    let Some(server) = shared() else { return };
    let main = &server.projects[0];
    let id = begin(server, main, "stalls at the key", "hang");
    until_streams(server, &id, "text");
    let stuck = Stuck {
        server,
        directory: main,
        id: &id,
    };
    stuck.assert_reset_by_key("stalls at the key", "stop the turn", Done::Stopped);
}
