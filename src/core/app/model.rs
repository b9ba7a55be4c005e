//! The model: what we know, what is judged, and what the user looks at.

use crate::core::app::freeze::OnScreen;
use crate::core::app::keymap::{Action, Keymap};
use crate::core::app::notify::{Notices, NotifyRules};
use crate::core::app::reply::Reply;
use crate::core::app::snooze::Snoozed;
use crate::core::app::{
    AttachRules, Bulk, Column, CommandLine, Copied, Filter, History, InVain, Live, Outcome, Pane,
    PartPage, PartText, Pasts, ResendForm, ResetDialog, Search, Seek, Sort, Summary, Tally,
    ThemeName, VisibleRow,
};
use crate::core::id::{Directory, Epoch, PartId, ServerId, SessionKey};
use crate::core::judge::{Judge, Judgement, Limits, Verdict};
use crate::core::plan::{ActionName, Plan};
use crate::core::store::{Change, ServerSpec, Session, Store};
use crate::core::time::{Span, UnixMs};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// How many actions the log pane keeps.
pub const LOGGED: usize = 500;

/// What the app is started with.
#[derive(Debug, Clone, Default)]
pub struct AppOptions {
    /// Thresholds of the judge.
    pub limits: Limits,
    /// Local time minus UTC, for the clock and the timeline.
    pub utc_offset: Span,
    /// A filter from the command line.
    pub filter: String,
    /// Where a reset saves what it is going to change, as shown.
    pub export_shown: String,
    /// The servers are simulated; the header says so.
    pub demo: bool,
    /// Time on the screen moves every ten seconds only.
    pub reduced_motion: bool,
    /// The mouse is taken from the start.
    pub mouse: bool,
    /// The columns of the table, from left to right; none: what suits the width.
    pub columns: Vec<Column>,
    /// Why each server is watched, in their order.
    pub sources: Vec<String>,
    /// The order of the rows.
    pub sort: Sort,
    /// What the person wants to be told of.
    pub notify: NotifyRules,
    /// What `t` runs.
    pub attach: AttachRules,
    /// Which key does what.
    pub keymap: Keymap,
}

/// A page over everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageKind {
    /// The keys.
    Help,
    /// Every rule tried for one session.
    Explain(SessionKey),
    /// What was done and how it ended, and every change of a session's state.
    History,
    /// The servers.
    Servers,
    /// One part of a message.
    Part(PartPage),
}

/// A question that waits for an answer; bound to its session, wherever the row goes.
#[derive(Debug, Clone, PartialEq)]
pub enum DialogState {
    /// Abort, with the plan of each session.
    Abort(Vec<Plan>),
    /// Reset, with its ladder once it is read.
    Reset(ResetDialog),
    /// Load an asleep project for this session.
    Load(SessionKey),
    /// Load these asleep projects.
    LoadAll(Vec<(ServerId, Directory)>),
    /// Attach to a session of an asleep project.
    Attach(SessionKey),
    /// What was copied.
    Copied(Copied),
    /// A prompt before it is sent.
    Resend(Box<ResendForm>),
}

/// What the user looks at. Identity is always the key, never a row number.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct Ui {
    /// The selected session.
    pub selected: Option<SessionKey>,
    /// A key was pressed: the selection stays on its session. Until then it stays on the first row.
    pub moved: bool,
    /// When the selection last went to another session without a key; watcher's clock.
    pub drifted_at: Option<UnixMs>,
    /// A key that would have opened a line to type in was refused just now: what is typed on in the
    /// same breath was meant for that line, not for keys. Watcher's clock.
    pub refused_at: Option<UnixMs>,
    /// It was said that leaving now leaves something unfinished.
    pub quit_warned: bool,
    /// The detail is open.
    pub detail_open: bool,
    /// First line of the detail shown.
    pub detail_scroll: usize,
    /// The detail is on the screen, open or not; told after each screen.
    pub detail_seen: bool,
    /// The chosen pane of the detail; see [`App::pane`] for the one that is shown.
    pub pane: Pane,
    /// The part that is pointed at in the pane of parts; `None`: the last.
    pub part: Option<PartId>,
    /// What follows its end was scrolled back, and does not follow now.
    pub scrolled_back: bool,
    /// Long lines of what can be searched are cut instead of wrapped.
    pub cut_lines: bool,
    /// What is looked for in the page or the open detail.
    pub search: Option<Search>,
    /// The part whose page is open, as it was read or why not; `None`: under way.
    pub part_text: Option<(PartId, Result<PartText, String>)>,
    /// Whose list of things to do was asked for, in which connection.
    pub todo_of: Option<(SessionKey, Epoch)>,
    /// What has to come in sight, until the next screen told where it is.
    pub seek: Option<Seek>,
    /// The filter.
    pub filter: Filter,
    /// The command line, while it is typed.
    pub command: Option<CommandLine>,
    /// Only what needs attention.
    pub attention_only: bool,
    /// Sessions that the next action is meant for, instead of the selected one.
    pub marked: BTreeSet<SessionKey>,
    /// Sessions whose children are folded away.
    pub folded: BTreeSet<SessionKey>,
    /// A page over everything, and its first line shown.
    pub page: Option<(PageKind, usize)>,
    /// A dialog over everything.
    pub dialog: Option<DialogState>,
    /// What is open to answer an ask, over everything.
    pub reply: Option<Reply>,
    /// When an ask was answered last; watcher's clock.
    pub answered_at: Option<UnixMs>,
    /// When another session became the selected one, by a key or by itself; watcher's clock.
    pub selected_at: Option<UnixMs>,
    /// First line shown of a dialog that does not fit.
    pub dialog_scroll: usize,
    /// A word to the user, until the next key.
    pub notice: Option<String>,
    /// How many rows the table shows; told after each screen.
    pub table_rows: u16,
    /// How many lines of the page or the open detail are seen, else rows of the table; told after
    /// each screen.
    pub page_rows: u16,
    /// First row shown, so that moving inside the table does not move the table.
    pub offset: usize,
    /// The greatest scroll of the open page, detail or form; told after each screen.
    pub last_scroll: usize,
    /// The order of the rows.
    pub sort: Sort,
    /// The columns that the table shows, from left to right; told after each screen.
    pub columns: Vec<Column>,
    /// The theme that was chosen here; none: the one it was started with.
    pub theme: Option<ThemeName>,
    /// The mouse is ours, not the terminal's.
    pub mouse: bool,
}

impl Ui {
    /// The detail is looked at, over the table or beside it.
    pub fn sees_detail(&self) -> bool {
        self.detail_open || self.detail_seen
    }
}

/// An action that was started and has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    /// Which.
    pub action: ActionName,
    /// Since when; watcher's clock.
    pub since: UnixMs,
    /// What it does just now; empty: nothing more is known.
    pub step: String,
}

/// The result of an action, shown in its row until the next key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Which action.
    pub action: ActionName,
    /// How it ended.
    pub outcome: Outcome,
    /// When it ended; watcher's clock.
    pub at: UnixMs,
}

impl Shown {
    /// `abort done: …`, `abort: no effect: …`, `abort failed: …`.
    pub fn words(&self) -> String {
        let action = self.action;
        match &self.outcome {
            Outcome::Done(text) => format!("{action} done: {text}"),
            Outcome::NoEffect(text) => format!("{action}: no effect: {text}"),
            Outcome::Failed(text) => format!("{action} failed: {text}"),
        }
    }
}

/// A line of the log pane: an action that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    /// Whose.
    pub key: SessionKey,
    /// What the session was called then.
    pub title: String,
    /// Which action, how and when it ended.
    pub shown: Shown,
}

/// The whole program's state.
#[derive(Debug, Clone)]
pub struct App {
    /// What we were told.
    pub store: Store,
    pub(super) judge: Judge,
    /// Thresholds.
    pub limits: Limits,
    /// Which key does what.
    pub keymap: Keymap,
    /// Time on the screen moves every ten seconds only.
    pub reduced_motion: bool,
    /// Local time minus UTC.
    pub utc_offset: Span,
    /// What the user looks at.
    pub ui: Ui,
    /// Actions under way, one per session.
    pub running: BTreeMap<SessionKey, Running>,
    /// Resets that did not help.
    pub in_vain: BTreeMap<SessionKey, InVain>,
    /// Where a reset saves what it is going to change, as shown.
    pub export_shown: String,
    /// The servers are simulated; the header says so.
    pub demo: bool,
    /// Why each server is watched, in their order.
    pub sources: Vec<String>,
    /// The columns that were asked for; none: what suits the width.
    pub columns: Vec<Column>,
    /// Actions on several sessions that are under way.
    pub(super) bulks: Vec<Bulk>,
    /// How the last of them went, until it was seen.
    pub summary: Option<Summary>,
    /// Results not yet seen away.
    pub results: BTreeMap<SessionKey, Shown>,
    /// Actions that ended, oldest first; the last [`LOGGED`].
    pub log: VecDeque<Logged>,
    /// Commands that were run.
    pub commands: History,
    /// What became of sessions while we watched.
    pub history: Pasts,
    /// What streams in the session that is looked at.
    pub live: Live,
    /// The rows as they stand on the screen, in order.
    pub rows: Vec<VisibleRow>,
    /// They are to be laid out anew.
    pub(super) unsettled: bool,
    /// What was told, and what is to be told.
    pub notices: Notices,
    /// What `t` runs.
    pub(super) attach_rules: AttachRules,
    /// Where the last export of each session lies, of those made here.
    pub(super) exports: BTreeMap<SessionKey, String>,
    /// How many rows there are, and what keeps some of them off the screen.
    pub tally: Tally,
    pub(super) snoozed: Snoozed,
    pub(super) on_screen: OnScreen,
    /// When the last message was taken; watcher's clock.
    pub(super) taken_at: UnixMs,
}

impl App {
    /// A new app for these servers.
    pub fn new(specs: Vec<ServerSpec>, options: AppOptions) -> Self {
        let several = specs.iter().enumerate();
        let changes: Vec<Change> = several
            .filter_map(|(n, _)| u16::try_from(n).ok())
            .map(|n| Change::Server(crate::core::id::ServerId(n)))
            .collect();
        let store = Store::new(specs);
        let mut judge = Judge::new(options.limits.clone());
        judge.update(&store, &changes, UnixMs::default());
        let ui = Ui {
            filter: Filter::new(options.filter),
            table_rows: 20,
            page_rows: 20,
            sort: options.sort,
            mouse: options.mouse,
            columns: Column::USUAL.to_vec(),
            ..Ui::default()
        };
        Self {
            store,
            judge,
            limits: options.limits,
            keymap: options.keymap,
            reduced_motion: options.reduced_motion,
            utc_offset: options.utc_offset,
            ui,
            running: BTreeMap::new(),
            in_vain: BTreeMap::new(),
            export_shown: options.export_shown,
            demo: options.demo,
            sources: options.sources,
            columns: options.columns,
            bulks: Vec::new(),
            summary: None,
            results: BTreeMap::new(),
            log: VecDeque::new(),
            commands: History::default(),
            history: Pasts::default(),
            live: Live::default(),
            rows: Vec::new(),
            unsettled: false,
            notices: Notices::new(options.notify),
            attach_rules: options.attach,
            exports: BTreeMap::new(),
            tally: Tally::default(),
            snoozed: Snoozed::default(),
            on_screen: OnScreen::default(),
            taken_at: UnixMs::default(),
        }
    }

    /// What the first key of an action is called here; of one that has none, its command.
    pub fn key_of(&self, action: Action) -> String {
        self.keymap.shown(action)
    }

    /// What follows from the store.
    pub fn judgement(&self) -> &Judgement {
        self.judge.judgement()
    }

    /// The verdict of one session.
    pub fn verdict(&self, key: &SessionKey) -> Option<&Verdict> {
        self.judgement().verdicts.get(key)
    }

    /// The selected session, if it still exists.
    pub fn selected(&self) -> Option<(&SessionKey, &Session)> {
        let key = self.ui.selected.as_ref()?;
        Some((key, self.store.session(key)?))
    }

    /// How long until time alone changes what is known: something is to be judged again, or
    /// somebody to be told something. What a screen shows of the time is not in it.
    pub fn next_tick(&self, now: UnixMs) -> Option<Span> {
        let judged = self.judgement().recheck;
        let due = [
            judged,
            self.history.due(),
            self.notices.next(),
            self.live.due(),
            self.next_awake(),
        ];
        let first = due.into_iter().flatten().min();
        first.map(|at| Span((at - now).0.max(0)))
    }

    /// Which rows stand on the screen depends on the time (a filter for ages): they are laid out
    /// anew with every tick.
    pub fn is_by_time(&self) -> bool {
        self.ui.filter.query().is_by_time()
    }

    /// Inputs were taken for which the rows are not laid out yet; any message does it.
    pub fn is_unsettled(&self) -> bool {
        self.unsettled
    }
}
