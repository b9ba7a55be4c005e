//! A screen that stands still while the world goes on.
//!
//! What it does: keep a copy of everything as it stood, let keys that look move about in it, and count
//! what happened since. What it does not: stop a link, or act. Invariant: no action is ever planned on
//! the copy: it makes the screen go on, and is done only if what it is meant for is still as shown.

use crate::core::app::keymap::{Action, GROUPS, Key};
use crate::core::app::{App, Effect, Msg, PartOf, update};
use crate::core::id::SessionKey;
use crate::core::time::UnixMs;

/// Whether this app is what the screen shows.
#[derive(Debug, Clone, Default)]
pub(super) enum OnScreen {
    /// It is.
    #[default]
    Live,
    /// The screen shows a copy.
    Behind(Box<Frozen>),
    /// This is such a copy; with what only the live app may do.
    Still(Option<Action>),
}

/// The copy that the screen shows.
#[derive(Debug, Clone)]
pub struct Frozen {
    /// Everything as it stood.
    pub app: App,
    /// When that was; watcher's clock.
    pub at: UnixMs,
    /// Changes of what we know since then.
    pub changes: usize,
}

/// What only the live app may do: whatever acts, and what tells of today's facts.
fn needs_live(action: Action) -> bool {
    let (_, acting) = GROUPS[0];
    let acts = acting.iter().any(|it| it.action == action) && action != Action::Mark;
    acts || action.changes() || matches!(action, Action::Freeze | Action::Snooze | Action::Attach)
}

impl App {
    /// The copy that is shown instead, while the screen is frozen.
    pub fn frozen(&self) -> Option<&Frozen> {
        match &self.on_screen {
            OnScreen::Behind(frozen) => Some(frozen),
            OnScreen::Live | OnScreen::Still(_) => None,
        }
    }

    /// What the screen shows: the copy while it is frozen, else this.
    pub fn shown(&self) -> &App {
        self.frozen().map_or(self, |frozen| &frozen.app)
    }

    /// This is the copy that a frozen screen shows.
    pub(super) fn is_still(&self) -> bool {
        matches!(self.on_screen, OnScreen::Still(_))
    }

    /// In a copy: notes what only the live app may do; `true` if this is one and it is such a thing.
    pub(super) fn leaves_to_live(&mut self, action: Action) -> bool {
        match &mut self.on_screen {
            OnScreen::Still(wanted) if needs_live(action) => {
                *wanted = Some(action);
                true
            }
            _ => false,
        }
    }

    pub(super) fn freeze(&mut self, now: UnixMs) -> Vec<Effect> {
        let mut app = self.clone();
        app.on_screen = OnScreen::Still(None);
        self.on_screen = OnScreen::Behind(Box::new(Frozen {
            app,
            at: now,
            changes: 0,
        }));
        Vec::new()
    }

    /// Counts what happened behind a screen that stands still.
    pub(super) fn count_behind(&mut self, changes: usize) {
        if let OnScreen::Behind(frozen) = &mut self.on_screen {
            frozen.changes = frozen.changes.saturating_add(changes);
        }
    }

    /// While the screen is frozen, keys go to the copy; `None`: the message is for the live app.
    pub(super) fn divert(&mut self, msg: &Msg, now: UnixMs) -> Option<Vec<Effect>> {
        let OnScreen::Behind(frozen) = &mut self.on_screen else {
            return None;
        };
        let is_layout = matches!(msg, Msg::Layout { .. });
        let is_hand = matches!(
            msg,
            Msg::Key(_) | Msg::Paste(_) | Msg::Click { .. } | Msg::Wheel { .. }
        );
        // Said where it is seen.
        let is_word = match msg {
            Msg::Told(_) | Msg::Saved(_) => true,
            // Its page is open there.
            Msg::PartRead(read) => read.of == PartOf::Json,
            _ => false,
        };
        if !is_layout && !is_hand && !is_word {
            return None;
        }
        let effects = update(&mut frozen.app, msg.clone(), frozen.at);
        if is_layout {
            return None;
        }
        match frozen.app.on_screen {
            OnScreen::Still(Some(action)) => Some(self.thaw_for(action, now)),
            _ => Some(effects),
        }
    }

    /// The screen goes on. What was asked for is done if what it is meant for is as it was shown.
    fn thaw_for(&mut self, action: Action, now: UnixMs) -> Vec<Effect> {
        let OnScreen::Behind(frozen) = std::mem::take(&mut self.on_screen) else {
            return Vec::new();
        };
        self.ui = frozen.app.ui.clone();
        self.refresh_rows();
        if action == Action::Freeze {
            return self.tell("the screen goes on");
        }
        let selected = self.ui.selected.iter().chain(frozen.app.ui.selected.iter());
        let mut meant = selected.chain(&self.ui.marked);
        if meant.all(|key| self.is_as_in(&frozen.app, key)) {
            return self.act(action, Key::Enter, now);
        }
        self.tell(
            "it has changed since the screen was frozen: the screen goes on, nothing was done",
        )
    }

    /// Whether a session stands here as it does there, in all that an action rests on.
    fn is_as_in(&self, there: &App, key: &SessionKey) -> bool {
        let facts = |app: &App| {
            let verdict = app.verdict(key)?;
            let findings: Vec<&str> = verdict.findings.iter().map(|it| it.name).collect();
            let asks: Vec<_> = verdict.asks.iter().map(|ask| ask.id.clone()).collect();
            let activity = &verdict.activity;
            Some((
                (
                    verdict.level,
                    verdict.reported.word().to_owned(),
                    findings,
                    asks,
                ),
                (
                    activity.state,
                    activity.since,
                    activity.message.clone(),
                    activity.part.clone(),
                ),
            ))
        };
        let same_selected = self.ui.selected == there.ui.selected;
        same_selected && facts(self) == facts(there)
    }
}
