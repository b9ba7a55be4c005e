//! One step of a plan, carried out.
//!
//! What it does: send what the step says. What it does not: verify; that the server took it proves
//! nothing. Exports and repairs have hands of their own: they are more than one request.

use crate::core::id::SessionId;
use crate::core::plan::Step;
use crate::core::wire::AskKind;
use crate::net::client::{Client, ClientError, PermissionReply};
use futures_util::future::join_all;

/// Sends one step. [`Step::Repair`] is not sent from here, and a fork's new
/// session is of interest only to who asked for it: these do nothing.
pub(super) async fn carry_out(client: &Client, step: &Step) -> Result<(), ClientError> {
    match step {
        Step::Abort { session, directory } => client.abort(session, Some(directory)).await,
        Step::Reject {
            kind: AskKind::Permission,
            ask,
            directory,
            message,
            ..
        } => {
            let reply = PermissionReply::Reject(message.clone());
            client.reply_permission(ask, directory, &reply).await
        }
        Step::Reject {
            kind: AskKind::Question,
            ask,
            directory,
            ..
        } => client.reject_question(ask, directory).await,
        Step::Allow {
            ask,
            directory,
            always,
            ..
        } => {
            let reply = if *always {
                PermissionReply::Always
            } else {
                PermissionReply::Once
            };
            client.reply_permission(ask, directory, &reply).await
        }
        Step::Reply {
            ask,
            directory,
            answers,
            ..
        } => client.reply_question(ask, directory, answers).await,
        Step::Dispose { directory } => client.dispose(directory).await,
        Step::Unrevert { session } => client.unrevert(session).await,
        Step::Prompt {
            session,
            text,
            agent,
            model,
            ..
        } => {
            let model = model.as_ref();
            let model = model.map(|it| (it.provider.as_str(), it.model.as_str()));
            client.prompt(session, text, agent.as_deref(), model).await
        }
        Step::Repair { .. } | Step::Fork { .. } => Ok(()),
    }
}

/// Sends steps in their order, and gives the first that failed, in words. `sent` hears of each session
/// just before its abort goes out.
///
/// An ask that is gone was answered meanwhile: what is to be reached is reached. Whatever else went
/// wrong, the server may have done it all the same (an answer can be late, cut off or nonsense), so
/// that only reading again tells.
pub(super) async fn send(
    client: &Client,
    steps: &[Step],
    sent: impl Fn(&SessionId),
) -> Option<String> {
    let mut trouble = None;
    for steps in together(steps) {
        for step in steps {
            if let Step::Abort { session, .. } = step {
                sent(session);
            }
        }
        let ends = join_all(steps.iter().map(|step| carry_out(client, step))).await;
        for (step, end) in steps.iter().zip(ends) {
            match end {
                Ok(()) | Err(ClientError::Status { code: 404, .. }) => {}
                Err(why) => {
                    let words = || Some(format!("{} failed: {why}", name(step)));
                    trouble = trouble.or_else(words);
                }
            }
        }
    }
    trouble
}

/// Steps that go out at once: all aborts of a family, so that no session has the time to take one
/// more step while another is being stopped. Anything else goes alone, in its order.
fn together(steps: &[Step]) -> Vec<&[Step]> {
    let abort = |step: &Step| matches!(step, Step::Abort { .. });
    steps.chunk_by(|a, b| abort(a) && abort(b)).collect()
}

/// What a step is called in "… failed".
pub(super) fn name(step: &Step) -> &'static str {
    match step {
        Step::Abort { .. } => "the abort",
        Step::Reject { .. } => "rejecting the ask",
        Step::Allow { .. } => "granting the permission",
        Step::Reply { .. } => "sending the answer",
        Step::Repair { .. } => "setting a part to error",
        Step::Dispose { .. } => "disposing the project",
        Step::Fork { .. } => "the fork",
        Step::Unrevert { .. } => "the unrevert",
        Step::Prompt { .. } => "the prompt",
    }
}
