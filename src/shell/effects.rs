//! Carries out what the app wants done outside; answers come back as messages.
//!
//! What it does: one task per action, one action per session at a time. What it does not: wait;
//! [`Effects::run`] returns at once, so a key is never held up. An action that dies is told as
//! failed.

mod outside;

pub use outside::Attaching;

use crate::core::app::{App, Done, Effect, Msg, Outcome, PartOf, PartRead, PromptRead};
use crate::core::id::{Directory, MessageId, PartId, ServerId, SessionId, SessionKey};
use crate::core::plan::reset::{ResetOrder, Subject, Tried};
use crate::core::plan::{ActionName, Plan};
use crate::core::present::clean;
use crate::core::time::Clock;
use crate::feed::live::Commands;
use crate::net::client::Client;
use crate::net::link::LinkCommand;
use crate::shell::act::abort::{Patience, abort};
use crate::shell::act::answer::answer;
use crate::shell::act::export::{Place, Progress, Request, Style, export_with};
use crate::shell::act::part;
use crate::shell::act::resend::{self, Looking, resend};
use crate::shell::act::reset::{Hands, reset};
use crate::shell::act::survey::survey;
use crate::shell::attach::Errand;
use crate::shell::audit::{About, Acted, Audit, Entry, Standings, recorded};
use crate::shell::memory::Keeper;
use crate::shell::notify::Ways;
use crate::shell::save::save;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc;

/// What the loop itself must do.
#[derive(Debug, Clone)]
pub enum Control {
    /// Write this to the terminal, between two frames.
    Say(Vec<u8>),
    /// Give the terminal to another program until it ends.
    Attach(SessionKey, Errand),
    /// Tell [`Effects::save_screen`] what the screen shows.
    Save,
    /// Take the mouse, or leave it to the terminal.
    Mouse(bool),
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
    /// Where a reset saves what it is going to change.
    pub save_dir: PathBuf,
    /// Where actions are recorded.
    pub audit: Audit,
    /// Tells how a session stands after an action.
    pub standings: Standings,
    /// Keeps what the next run should know.
    pub keeper: Keeper,
    /// How somebody who is elsewhere is told.
    pub ways: Ways,
    /// The watcher's clock.
    pub clock: Clock,
    /// How other programs come to a session.
    pub attaching: Attaching,
    /// Where answers go.
    pub answers: mpsc::Sender<Msg>,
}

impl Effects {
    /// Starts an effect, or says what the loop must do. `app`: how things stand before it.
    pub fn run(&self, app: &App, effect: Effect) -> Option<Control> {
        if self.clients.is_empty() && is_of_now(&effect) {
            return self.replayed(&effect);
        }
        match effect {
            Effect::Act(plan) if plan.action == ActionName::Answer => self.answer(app, plan),
            Effect::Act(plan) => self.act(app, plan),
            Effect::Survey { key, subject } => self.survey(key, subject),
            Effect::Reset {
                subject,
                order,
                lines,
            } => self.reset(app, subject, order, lines),
            Effect::Export { key } => self.export(key),
            Effect::Read { key } => self.read(&key),
            Effect::ReadPrompt {
                key,
                directory,
                message,
            } => self.read_prompt(key, directory, message),
            Effect::ReadTodo { key } => {
                self.command(key.server, LinkCommand::ReadTodo(key.session));
            }
            Effect::ReadPart {
                key,
                message,
                part,
                of,
            } => self.read_part(key, message, part, of),
            Effect::Load { server, directory } => {
                self.command(server, LinkCommand::LoadDirectory(directory));
            }
            Effect::Retry(server) => self.command(server, LinkCommand::RetryNow),
            Effect::SaveScreen => return Some(Control::Save),
            Effect::Remember(memory) => self.keeper.keep(memory),
            Effect::OpenPort(server) => self.open_port(server),
            Effect::Attach { key, command } => return self.attach(key, command),
            Effect::Copy(text) => return self.copy(&text),
            Effect::Notify(notice) => {
                let bytes = self.ways.tell(&notice);
                return (!bytes.is_empty()).then_some(Control::Say(bytes));
            }
            Effect::Suspend => return Some(Control::Suspend),
            Effect::Mouse(taken) => return Some(Control::Mouse(taken)),
            Effect::Redraw => return Some(Control::Redraw),
            Effect::Quit => return Some(Control::Quit),
        }
        None
    }

    /// Writes what the screen shows to a file; where is told.
    pub fn save_screen(&self, text: String) {
        let (dir, answers) = (self.export_dir.clone(), self.answers.clone());
        let now = (self.clock)();
        tokio::task::spawn_blocking(move || {
            let answer = match save(&dir, &text, now) {
                Ok(path) => Msg::Saved(clean(&path.display().to_string())),
                Err(why) => Msg::Told(clean(&format!("failed to save the screen: {why}"))),
            };
            // A closed channel: the program is ending, nobody waits for it.
            answers.blocking_send(answer).ok();
        });
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

    /// What is read is not waited for: a page that was left meanwhile does not hear of it.
    fn read_part(&self, key: SessionKey, message: MessageId, part: PartId, of: PartOf) {
        let Some(client) = self.client(key.server) else {
            return;
        };
        let answers = self.answers.clone();
        tokio::spawn(async move {
            let read = part::read(&client, &key.session, &message, &part, of).await;
            let read = PartRead {
                key,
                part,
                of,
                read,
            };
            // A closed channel: the program is ending, nobody waits for it.
            answers.send(Msg::PartRead(read)).await.ok();
        });
    }

    fn act(&self, app: &App, plan: Plan) {
        let Some(client) = self.client(plan.key.server) else {
            return;
        };
        let answers = self.answers.clone();
        let key = plan.key.clone();
        let server = key.server;
        let about = About {
            key: key.clone(),
            settle: plan.settle.clone(),
        };
        let entry = Entry::of(app, &plan);
        self.perform(plan.action, about, entry, async move {
            let sent = |session: &SessionId| {
                let key = SessionKey::new(server, session.clone());
                // A loop with so many answers waiting learns it from the next reads.
                answers.try_send(Msg::AbortSent(key)).ok();
            };
            let outcome = match plan.action {
                ActionName::Resend => resend(&client, &plan, Looking::default()).await,
                _ => abort(&client, &plan, Patience::default(), sent).await,
            };
            (outcome, Tried::default())
        });
    }

    /// Records that it begins, has it done, has what it was about read again, and records how it ended.
    fn perform(
        &self,
        action: ActionName,
        about: About,
        entry: Entry,
        work: impl Future<Output = (Outcome, Tried)> + Send + 'static,
    ) {
        let (audit, standings) = (self.audit.clone(), self.standings.clone());
        let (commands, clock) = (self.commands.clone(), self.clock.clone());
        let key = about.key.clone();
        self.spawn(key, action, async move {
            let mut tried = Tried::default();
            let work = async {
                let (outcome, climbed) = work.await;
                tried = climbed;
                let ended = clock();
                about.read_again(&commands);
                let after = standings.after(about, ended).await;
                Acted { outcome, after }
            };
            let done = recorded(&audit, entry, work).await;
            (done.told(), tried)
        });
    }

    fn survey(&self, key: SessionKey, subject: Subject) {
        let Some(client) = self.client(key.server) else {
            return;
        };
        let answers = self.answers.clone();
        tokio::spawn(async move {
            let read = survey(&client, &subject).await;
            let read = read.map_err(|why| clean(&why.to_string()));
            // A closed channel: the program is ending, nobody waits for it.
            answers.send(Msg::Surveyed { key, read }).await.ok();
        });
    }

    fn reset(&self, app: &App, subject: Subject, order: ResetOrder, lines: Vec<String>) {
        let key = order.key.clone();
        let Some(client) = self.client(key.server) else {
            return;
        };
        let answers = self.answers.clone();
        let (save_dir, clock) = (self.save_dir.clone(), self.clock.clone());
        let about = About::of_reset(&key, &subject);
        let mut entry = Entry::of_reset(app, &subject, &order);
        entry.plan.extend(lines);
        self.perform(ActionName::Reset, about, entry, async move {
            // A loop with so many answers waiting learns it from the next reads.
            let tell = |msg: Msg| {
                answers.try_send(msg).ok();
            };
            let hands = Hands {
                client: &client,
                export_dir: &save_dir,
                patience: Patience::default(),
                clock: &clock,
                progress: &|what| {
                    let (key, words) = (key.clone(), what.to_owned());
                    tell(Msg::Step { key, words });
                },
                sent: &|id| tell(Msg::AbortSent(SessionKey::new(key.server, id.clone()))),
            };
            let climbed = reset(&hands, &subject, &order).await;
            let tried = match climbed.wanting {
                Some(_) => climbed.tried,
                None => Tried::default(),
            };
            (climbed.outcome, tried)
        });
    }

    fn answer(&self, app: &App, plan: Plan) {
        let Some(client) = self.client(plan.key.server) else {
            return;
        };
        let about = About::of_answer(&plan);
        let entry = Entry::of(app, &plan);
        self.perform(plan.action, about, entry, async move {
            let outcome = answer(&client, &plan, Patience::default()).await;
            (outcome, Tried::default())
        });
    }

    fn export(&self, key: SessionKey) {
        let Some(client) = self.client(key.server) else {
            return;
        };
        let request = Request {
            place: Place::NextFree(self.export_dir.clone()),
            style: Style::default(),
        };
        let answers = self.answers.clone();
        self.spawn(key.clone(), ActionName::Export, async move {
            let far = |progress: Progress| {
                let (key, words) = (key.clone(), format!("{} messages", progress.messages));
                // A loop with so many answers waiting learns it from the next page.
                answers.try_send(Msg::Step { key, words }).ok();
            };
            let outcome = match export_with(&client, &key.session, request, far).await {
                Ok(done) => {
                    let path = done.path.display().to_string();
                    let words = format!("{} messages to {}", done.messages, clean(&path));
                    let key = key.clone();
                    // A closed channel: the program is ending, nobody waits for it.
                    answers.send(Msg::Exported { key, path }).await.ok();
                    Outcome::Done(words)
                }
                Err(why) => Outcome::Failed(clean(&why.to_string())),
            };
            (outcome, Tried::default())
        });
    }

    fn spawn(
        &self,
        key: SessionKey,
        action: ActionName,
        work: impl Future<Output = (Outcome, Tried)> + Send + 'static,
    ) {
        let answers = self.answers.clone();
        tracing::info!(session = %key.session, action = action.word(), "begun");
        let task = tokio::spawn(work);
        tokio::spawn(async move {
            let died = |_| {
                let words = "it ended by an error of ocwatch itself";
                (Outcome::Failed(words.to_owned()), Tried::default())
            };
            let (outcome, tried) = task.await.unwrap_or_else(died);
            tracing::info!(session = %key.session, action = action.word(), ?outcome, "ended");
            let done = Done {
                key,
                action,
                outcome,
                tried,
            };
            // A closed channel: the program is ending, nobody waits for it.
            answers.send(Msg::Done(done)).await.ok();
        });
    }
}

impl Effects {
    /// Without servers, as in a replay: what would be asked of one, or told to somebody elsewhere.
    fn replayed(&self, effect: &Effect) -> Option<Control> {
        if !matches!(effect, Effect::Notify(_)) {
            let words = "this is a replay: there is no server to ask";
            // A loop with so many answers waiting has more to tell.
            self.answers.try_send(Msg::Told(words.to_owned())).ok();
        }
        None
    }
}

fn is_of_now(effect: &Effect) -> bool {
    !matches!(
        effect,
        Effect::Read { .. }
            | Effect::ReadTodo { .. }
            | Effect::SaveScreen
            | Effect::Remember(_)
            | Effect::Copy(_)
            | Effect::Suspend
            | Effect::Mouse(_)
            | Effect::Redraw
            | Effect::Quit
    )
}
