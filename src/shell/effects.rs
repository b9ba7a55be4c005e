//! Carries out what the app wants done outside; answers come back as messages.
//!
//! What it does: one task per action, one action per session at a time. What it does not: wait;
//! [`Effects::run`] returns at once, so a key is never held up. An action that dies is told as
//! failed.

use crate::core::app::{App, Done, Effect, Msg, Outcome};
use crate::core::id::{ServerId, SessionId, SessionKey};
use crate::core::plan::Plan;
use crate::core::present::clean;
use crate::core::time::Clock;
use crate::feed::live::Commands;
use crate::net::client::Client;
use crate::net::link::LinkCommand;
use crate::shell::act::abort::{Patience, abort};
use crate::shell::act::export::{Place, export};
use crate::shell::audit::{About, Acted, Audit, Entry, Standings, recorded};
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
    /// Where actions are recorded.
    pub audit: Audit,
    /// Tells how a session stands after an action.
    pub standings: Standings,
    /// For the time when an action ended.
    pub clock: Clock,
    /// Where answers go.
    pub answers: mpsc::Sender<Msg>,
}

impl Effects {
    /// Starts an effect, or says what the loop must do. `app`: how things stand before it.
    pub fn run(&self, app: &App, effect: Effect) -> Option<Control> {
        match effect {
            Effect::Abort(plan) => self.abort(app, plan),
            Effect::Export { key } => self.export(key),
            Effect::Read { key } => self.read(&key),
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

    fn abort(&self, app: &App, plan: Plan) {
        let Some(client) = self.client(plan.key.server) else {
            return;
        };
        let commands = self.commands.clone();
        let answers = self.answers.clone();
        let key = plan.key.clone();
        let server = key.server;
        let (audit, standings) = (self.audit.clone(), self.standings.clone());
        let clock = self.clock.clone();
        let entry = Entry::new(app, &key, "abort", &plan.lines);
        let work = async move {
            let sent = |session: &SessionId| {
                let key = SessionKey::new(server, session.clone());
                // A loop with so many answers waiting learns it from the next reads.
                answers.try_send(Msg::AbortSent(key)).ok();
            };
            let outcome = abort(&client, &plan, Patience::default(), sent).await;
            let about = About {
                key: plan.key.clone(),
                settle: plan.settle,
            };
            let ended = clock();
            about.read_again(&commands);
            let after = standings.after(about, ended).await;
            Acted { outcome, after }
        };
        self.spawn(key, "abort", async move {
            recorded(&audit, entry, work).await.told()
        });
    }

    fn export(&self, key: SessionKey) {
        let Some(client) = self.client(key.server) else {
            return;
        };
        let place = Place::NextFree(self.export_dir.clone());
        let session = key.session.clone();
        self.spawn(key, "export", async move {
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
        action: &'static str,
        work: impl Future<Output = Outcome> + Send + 'static,
    ) {
        let answers = self.answers.clone();
        tracing::info!(session = %key.session, action, "begun");
        let task = tokio::spawn(work);
        tokio::spawn(async move {
            let died = |_| Outcome::Failed("it ended by an error of ocwatch itself".to_owned());
            let outcome = task.await.unwrap_or_else(died);
            tracing::info!(session = %key.session, action, ?outcome, "ended");
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
