//! A server with a password: told apart from one that is away, and the password never told.

use crate::ocwatch::{Run, run_with};
use crate::server::closed;

const PASSWORD: &str = "open-sesame-7731";
const VARIABLE: &str = "OPENCODE_SERVER_PASSWORD";

#[test]
fn a_password_opens_the_server_and_is_never_shown() {
    let Some(server) = closed(PASSWORD) else {
        return;
    };
    let look = |url: &str, environment: &[(&str, &str)]| {
        let run = run_with(&server, &["status", "--json"], url, environment);
        let said = run.stdout.clone() + &run.stderr;
        assert!(!said.contains(PASSWORD), "{said}");
        run
    };
    let with = server
        .url
        .replace("://", &format!("://opencode:{PASSWORD}@"));
    assert_state(&look(&server.url, &[]), 3, "unauthorized");
    assert_state(
        &look(&server.url, &[(VARIABLE, "wrong")]),
        3,
        "unauthorized",
    );
    assert_state(&look(&server.url, &[(VARIABLE, PASSWORD)]), 0, "live");
    assert_state(&look(&with, &[]), 0, "live");
}

fn assert_state(run: &Run, code: i32, state: &str) {
    assert_eq!(run.code, Some(code), "{run:#?}");
    assert_eq!(run.doc().server()["state"], state, "{run:#?}");
}
