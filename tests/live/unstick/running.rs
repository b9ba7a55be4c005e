//! What is stuck while the server runs it: each is stopped, settles, and answers again.

use super::made::{
    begin, outside, shell, task, until_asked, until_called, until_child, until_printed,
    until_reported, until_streams,
};
use super::proof::Stuck;
use super::record::Done;
use crate::server::{OpenCode, shared};
use crate::turns::Gate;

fn in_main<'a>(server: &'a OpenCode, id: &'a str) -> Stuck<'a> {
    Stuck {
        server,
        directory: &server.projects[0],
        id,
    }
}

#[test]
fn a_stalled_stream_is_reset() {
    let Some(server) = shared() else { return };
    let id = server.begin("hang");
    until_streams(server, &id, "text");
    in_main(server, &id).assert_reset(Done::Stopped, &[]);
}

#[test]
fn a_call_whose_arguments_never_end_is_reset() {
    let Some(server) = shared() else { return };
    let id = server.begin("half:write");
    until_called(server, &id, "write");
    in_main(server, &id).assert_reset(Done::Stopped, &[]);
}

#[test]
fn a_command_that_ignores_term_is_reset() {
    let Some(server) = shared() else { return };
    let gate = Gate::new(server, "deaf");
    let id = server.begin(&format!(
        "bash:trap '' TERM INT; echo ready; {}",
        gate.command
    ));
    until_printed(server, &id, "ready");
    in_main(server, &id).assert_reset(Done::Stopped, &[]);
}

/// It is in no process group of the server's any more, and holds the pipe that the tool reads from.
#[cfg(target_os = "linux")]
#[test]
fn a_daemon_that_holds_the_output_is_reset() {
    let Some(server) = shared() else { return };
    let gate = Gate::new(server, "daemon");
    let id = server.begin(&format!(
        "bash:exec setsid sh -c 'echo ready; {}'",
        gate.command
    ));
    until_printed(server, &id, "ready");
    in_main(server, &id).assert_reset(Done::Stopped, &[]);
    gate.open();
}

#[test]
fn a_command_of_a_person_is_reset() {
    let Some(server) = shared() else { return };
    let gate = Gate::new(server, "typed");
    let id = server.session(&server.projects[0], "typed");
    shell(server, &id, &format!("echo ready; {}", gate.command));
    until_printed(server, &id, "ready");
    in_main(server, &id).assert_reset(Done::Stopped, &[]);
}

#[test]
fn a_retry_is_reset() {
    let Some(server) = shared() else { return };
    let id = server.begin("err:500");
    until_reported(server, &server.projects[0], &id, "retry");
    in_main(server, &id).assert_reset(Done::Stopped, &[]);
}

#[test]
fn an_open_question_is_reset() {
    let Some(server) = shared() else { return };
    let id = server.begin("question");
    until_asked(server, "question", &server.projects[0], &id);
    in_main(server, &id).assert_reset(Done::Stopped, &[]);
}

/// The whole family ends: rejecting alone would let the two above go on.
#[test]
fn a_permission_in_a_grandchild_is_reset() {
    let Some(server) = shared() else { return };
    let id = begin(
        server,
        &server.projects[0],
        "three generations",
        &task(&task(&outside("read"))),
    );
    let grandchild = until_child(server, &until_child(server, &id));
    until_asked(server, "permission", &server.projects[0], &grandchild);
    in_main(server, &id).assert_reset(Done::Stopped, &[]);
}

#[test]
fn a_subagent_whose_stream_stalled_is_reset_with_its_parent() {
    let Some(server) = shared() else { return };
    let id = server.begin(&task("hang"));
    until_streams(server, &until_child(server, &id), "text");
    in_main(server, &id).assert_reset(Done::Stopped, &[]);
}
