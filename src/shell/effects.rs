//! Carries out what the app wants done outside; answers come back as messages.
//!
//! What it does: one task per action, one action per session at a time. What it does not: wait;
//! [`Effects::run`] returns at once, so a key is never held up. An action that dies is told as
//! failed.

use crate::core::app::{Done, Effect, Msg, Outcome, PromptRead};
use crate::core::id::{Directory, MessageId, ServerId, SessionId, SessionKey};
use crate::core::plan::{ActionName, Plan};
use crate::core::present::clean;
use crate::feed::live::Commands;
use crate::net::client::Client;
use crate::net::link::LinkCommand;
use crate::shell::act::abort::{Patience, abort};
use crate::shell::act::export::{Place, export};
use crate::shell::act::resend::{self, Looking, resend};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc;

/// What the loop itself must do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// Leave the screen, stop, and come back.
    Suspend,
    /// Draw everything again.
    Redraw,
    /// Leave the program.
    Quit,
}

/// Everything that an effect needs.
pub struct Effects {
    /// By [`ServerId`].
    pub clients: Arc<[Client]>,
    /// To the links.
    pub commands: Commands,
    /// Where exports go.
    pub export_dir: PathBuf,
    /// Where answers go.
    pub answers: mpsc::Sender<Msg>,
}

impl Effects {
    /// Starts an effect, or says what the loop must do.
    pub fn run(&self, effect: Effect) -> Option<Control> {
        match effect {
            Effect::Act(plan) => self.act(plan),
            Effect::Export { key } => self.export(key),
            Effect::Read { key } => self.read(&key),
            Effect::ReadPrompt {
                key,
                directory,
                message,
            } => self.read_prompt(key, directory, message),
            Effect::Load { server, directory } => {
                self.command(server, LinkCommand::LoadDirectory(directory));
            }
            Effect::Retry(server) => self.command(server, LinkCommand::RetryNow),
            Effect::Suspend => return Some(Control::Suspend),
            Effect::Redraw => return Some(Control::Redraw),
            Effect::Quit => return Some(Control::Quit),
        }
        None
    }

    fn command(&self, server: ServerId, command: LinkCommand) {
        self.commands.send(server, command);
    }

    fn read(&self, key: &SessionKey) {
        self.command(key.server, LinkCommand::ReadSession(key.session.clone()));
    }

    fn client(&self, server: ServerId) -> Option<Client> {
        self.clients.get(usize::from(server.0)).cloned()
    }

    /// What is read is not waited for: a dialog that was left meanwhile does not hear of it.
    fn read_prompt(&self, key: SessionKey, directory: Directory, message: Option<MessageId>) {
        let Some(client) = self.client(key.server) else {
            return;
        };
        let answers = self.answers.clone();
        tokio::spawn(async move {
            let read = resend::read(&client, &key.session, &directory, message.as_ref()).await;
            let (prompt, models) = match read {
                Ok(read) => (Ok(read.prompt), read.models),
                Err(why) => (Err(why), None),
            };
            let read = PromptRead {
                key,
                prompt,
                models,
            };
            // A closed channel: the program is ending, nobody waits for it.
            answers.send(Msg::PromptRead(read)).await.ok();
        });
    }

    fn act(&self, plan: Plan) {
        let Some(client) = self.client(plan.key.server) else {
            return;
        };
        let commands = self.commands.clone();
        let answers = self.answers.clone();
        let key = plan.key.clone();
        let server = key.server;
        self.spawn(key, plan.action, async move {
            let sent = |session: &SessionId| {
                let key = SessionKey::new(server, session.clone());
                // A loop with so many answers waiting learns it from the next reads.
                answers.try_send(Msg::AbortSent(key)).ok();
            };
            let outcome = match plan.action {
                ActionName::Resend => resend(&client, &plan, Looking::default()).await,
                _ => abort(&client, &plan, Patience::default(), sent).await,
            };
            for settle in &plan.settle {
                commands.send(server, LinkCommand::Refresh(settle.directory.clone()));
                commands.send(server, LinkCommand::ReadSession(settle.session.clone()));
            }
            outcome
        });
    }

    fn export(&self, key: SessionKey) {
        let Some(client) = self.client(key.server) else {
            return;
        };
        let place = Place::NextFree(self.export_dir.clone());
        let session = key.session.clone();
        self.spawn(key, ActionName::Export, async move {
            match export(&client, &session, place).await {
                Ok(done) => Outcome::Done(format!(
                    "{} messages to {}",
                    done.messages,
                    clean(&done.path.display().to_string())
                )),
                Err(why) => Outcome::Failed(clean(&why.to_string())),
            }
        });
    }

    fn spawn(
        &self,
        key: SessionKey,
        action: ActionName,
        work: impl Future<Output = Outcome> + Send + 'static,
    ) {
        let answers = self.answers.clone();
        tracing::info!(session = %key.session, action = action.word(), "begun");
        let task = tokio::spawn(work);
        tokio::spawn(async move {
            let died = |_| Outcome::Failed("it ended by an error of ocwatch itself".to_owned());
            let outcome = task.await.unwrap_or_else(died);
            tracing::info!(session = %key.session, action = action.word(), ?outcome, "ended");
            let done = Done {
                key,
                action,
                outcome,
            };
            // A closed channel: the program is ending, nobody waits for it.
            answers.send(Msg::Done(done)).await.ok();
        });
    }
}
