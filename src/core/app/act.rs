//! Actions on sessions: asked for by a key, carried out by effects, one per session at a time.

use crate::core::app::keymap::Action;
use crate::core::app::{App, DialogState, Done, Effect, LOGGED, Logged, PageKind, Running, Shown};
use crate::core::id::SessionKey;
use crate::core::judge::Level;
use crate::core::plan::{self, ActionName};
use crate::core::store::{Reported, Why};
use crate::core::time::{Span, UnixMs};
use crate::core::wire::{Body, Input};

/// For so long a selection that moved by itself is not trusted.
const STEADY: Span = Span(1500);
/// A result stays at least this long, whatever is typed.
const RESULT_STAYS: Span = Span(1500);

impl App {
    /// `a`: at once only on a stuck session that has been the selected one for a moment; elsewhere it
    /// asks once. A row that has just come under the hand is never acted on unasked.
    pub(super) fn ask_abort(&mut self, now: UnixMs) -> Vec<Effect> {
        if !self.ui.marked.is_empty() {
            return self.ask_abort_marked();
        }
        let Some(key) = self.free_selection() else {
            return Vec::new();
        };
        if let Some(words) = self.not_to_be_aborted(&key) {
            return self.tell(words);
        }
        let Some(plan) = plan::abort(&self.store, &key) else {
            return Vec::new();
        };
        let plan = plan.mindful(self.verdict(&key));
        let stuck = self.verdict(&key).is_some_and(|v| v.level == Level::Stuck);
        let drifted = self.ui.drifted_at;
        let steady = drifted.is_none_or(|at| now.since(at) >= STEADY);
        if stuck && steady && !plan.idle_before {
            return self.start(plan, now);
        }
        self.ui.dialog = Some(DialogState::Abort(vec![plan]));
        Vec::new()
    }

    /// Why an abort would only do harm: asking an asleep project starts it, and nothing runs there.
    pub(super) fn not_to_be_aborted(&self, key: &SessionKey) -> Option<&'static str> {
        if self.is_asleep(key) {
            return Some("its project is asleep on this server: nothing of it runs here");
        }
        self.not_to_be_touched(key)
    }

    /// Why nothing can reach it.
    pub(super) fn not_to_be_touched(&self, key: &SessionKey) -> Option<&'static str> {
        match &self.verdict(key)?.reported {
            Reported::Unknown(Why::DirectoryGone) => Some("its folder no longer exists"),
            Reported::Unknown(Why::ServerLost(_)) => Some("its server is away"),
            _ => None,
        }
    }

    pub(super) fn start(&mut self, plan: plan::Plan, now: UnixMs) -> Vec<Effect> {
        if self.begin(&plan.key, plan.action, now) {
            vec![Effect::Act(plan)]
        } else {
            Vec::new()
        }
    }

    /// The store hears of an abort as of anything else, so that one that is ignored can be told.
    /// What does not run has nothing to ignore: a run that begins later is another one.
    pub(super) fn abort_sent(&mut self, key: &SessionKey, now: UnixMs) -> Vec<Effect> {
        let Some(server) = self.store.server(key.server) else {
            return Vec::new();
        };
        let session = server.sessions.get(&key.session);
        if !session.is_some_and(|it| server.reported(it).is_running()) {
            return Vec::new();
        }
        let input = Input {
            server: key.server,
            epoch: server.epoch,
            at: now,
            body: Body::AbortSent(key.session.clone()),
        };
        self.feed(vec![input], now)
    }

    /// `e`: always one key.
    pub(super) fn export(&mut self, now: UnixMs) -> Vec<Effect> {
        if !self.ui.marked.is_empty() {
            return self.export_marked(now);
        }
        let Some(key) = self.idle_selection() else {
            return Vec::new();
        };
        if let Some(why) = plan::unexportable(&self.store, &key) {
            return self.tell(why);
        }
        if self.store.session(&key).is_none() {
            return self.tell_deleted();
        }
        if self.is_asleep(&key) {
            self.ui.dialog = Some(DialogState::Load(key));
            return Vec::new();
        }
        if self.begin(&key, ActionName::Export, now) {
            vec![Effect::Export { key }]
        } else {
            Vec::new()
        }
    }

    /// `L`: says that this starts the project, then asks it.
    pub(super) fn ask_load(&mut self) -> Vec<Effect> {
        match self.ui.selected.clone() {
            Some(key) if self.is_asleep(&key) => self.ui.dialog = Some(DialogState::Load(key)),
            _ => self.ui.notice = Some("this project is not asleep".to_owned()),
        }
        Vec::new()
    }

    /// The answer to the dialog: yes.
    pub(super) fn confirm(&mut self, now: UnixMs) -> Vec<Effect> {
        match self.ui.dialog.take() {
            Some(DialogState::Abort(shown)) => self.abort_shown(&shown, now),
            Some(DialogState::Reset(dialog)) => self.confirm_reset(dialog, now),
            Some(DialogState::LoadAll(shown)) => self.load_all(shown),
            Some(DialogState::Load(key)) => match self.store.session(&key) {
                Some(session) => vec![
                    Effect::Load {
                        server: key.server,
                        directory: session.info.directory.clone(),
                    },
                    Effect::Read { key: key.clone() },
                ],
                None => self.tell("the session is gone"),
            },
            Some(DialogState::Attach(key)) => self.attach(key),
            // It has keys of its own, or there is nothing to do.
            Some(DialogState::Copied(_) | DialogState::Resend(_)) | None => Vec::new(),
        }
    }

    /// An effect ended.
    pub(super) fn done(&mut self, done: Done, now: UnixMs) -> Vec<Effect> {
        self.running.remove(&done.key);
        self.remember_tried(&done, now);
        self.end_bulk(&done, now);
        let shown = Shown {
            action: done.action,
            outcome: done.outcome,
            at: now,
        };
        self.note(&done.key, &shown);
        if !self.rows.iter().any(|row| row.key == done.key) {
            // Its row went with what was done: there is no place to show it in.
            let title = self.log.back().map_or("", |it| it.title.as_str());
            self.ui.notice = Some(format!("\"{title}\": {}", shown.words()));
        }
        self.results.insert(done.key, shown);
        Vec::new()
    }

    /// What stands in a row goes with the next key; the log keeps it.
    fn note(&mut self, key: &SessionKey, shown: &Shown) {
        if self.log.len() >= LOGGED {
            self.log.pop_front();
        }
        let session = self.store.session(key);
        self.log.push_back(Logged {
            key: key.clone(),
            title: session.map_or_else(
                || format!("deleted session {}", key.session),
                |it| it.info.title.clone(),
            ),
            shown: shown.clone(),
        });
    }

    /// An action does something else now.
    pub(super) fn step(&mut self, key: &SessionKey, words: String) -> Vec<Effect> {
        if let Some(running) = self.running.get_mut(key) {
            running.step = words;
        }
        Vec::new()
    }

    /// A key was pressed: results that had their time on the screen go.
    pub(super) fn clear_seen_results(&mut self, now: UnixMs) {
        self.results
            .retain(|_, shown| now.since(shown.at) < RESULT_STAYS);
        let summary = self.summary.take();
        self.summary = summary.filter(|it| now.since(it.at) < RESULT_STAYS);
    }

    /// `S`: the page of the servers; those that are lost are tried again now.
    pub(super) fn servers(&mut self) -> Vec<Effect> {
        if self.is_on_servers() {
            return self.retry_servers();
        }
        self.ui.page = Some((PageKind::Servers, 0));
        self.ui.search = None;
        self.lost_servers()
    }

    /// The page of the servers is open.
    pub(super) fn is_on_servers(&self) -> bool {
        matches!(self.ui.page, Some((PageKind::Servers, _)))
    }

    fn lost_servers(&self) -> Vec<Effect> {
        let lost = self.store.servers().filter(|(_, it)| !it.is_reachable());
        lost.map(|(id, _)| Effect::Retry(id)).collect()
    }

    /// Every lost server is tried again now.
    pub(super) fn retry_servers(&mut self) -> Vec<Effect> {
        let lost = self.lost_servers();
        if lost.is_empty() {
            return self.tell("no server is lost");
        }
        lost
    }

    /// Whether the session's project is not asked.
    pub fn is_asleep(&self, key: &SessionKey) -> bool {
        let verdict = self.verdict(key);
        verdict.is_some_and(|v| v.reported == Reported::Unknown(Why::NotAsked))
    }

    /// Said of a deleted session that still runs.
    pub(super) fn tell_deleted(&mut self) -> Vec<Effect> {
        let (abort, reset) = (self.key_of(Action::Abort), self.key_of(Action::Reset));
        self.tell(&format!(
            "it was deleted: only {abort} and {reset} reach what still runs of it"
        ))
    }

    pub(super) fn tell(&mut self, words: &str) -> Vec<Effect> {
        self.ui.notice = Some(words.to_owned());
        Vec::new()
    }

    /// The selection, if something on its server may be changed.
    pub(super) fn free_selection(&mut self) -> Option<SessionKey> {
        let key = self.idle_selection()?;
        if let Some(why) = plan::refused(&self.store, &key) {
            self.ui.notice = Some(why);
            return None;
        }
        Some(key)
    }

    /// The selection, if no action is under way on it.
    fn idle_selection(&mut self) -> Option<SessionKey> {
        let key = self.ui.selected.clone()?;
        if let Some(running) = self.running.get(&key) {
            self.ui.notice = Some(format!("{} is still under way here", running.action));
            return None;
        }
        Some(key)
    }

    pub(super) fn begin(&mut self, key: &SessionKey, action: ActionName, now: UnixMs) -> bool {
        if self.running.contains_key(key) {
            return false;
        }
        self.results.remove(key);
        let running = Running {
            action,
            since: now,
            step: String::new(),
        };
        self.running.insert(key.clone(), running);
        true
    }
}
