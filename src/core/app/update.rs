//! One message in, effects out.

use crate::core::app::keymap::{Action, Key};
use crate::core::app::reply::Then;
use crate::core::app::{App, Effect, Msg, PageKind, Pane};
use crate::core::store::Change;
use crate::core::time::{Span, UnixMs};
use crate::core::wire::Input;

/// Keys that follow a refused one so closely were typed without looking.
const SAME_BREATH: Span = Span(400);

/// Takes one message. `now` is the watcher's clock.
pub fn update(app: &mut App, msg: Msg, now: UnixMs) -> Vec<Effect> {
    app.taken_at = now;
    let before = app.ui.selected.clone();
    let diverted = app.divert(&msg, now);
    let mut effects = diverted.unwrap_or_else(|| take(app, msg, now));
    if app.ui.selected != before {
        app.ui.selected_at = Some(now);
    }
    effects.extend(app.look_closer(now));
    effects
}

fn take(app: &mut App, msg: Msg, now: UnixMs) -> Vec<Effect> {
    let is_burst = matches!(msg, Msg::Burst(_));
    if app.unsettled && !is_burst {
        app.settle(now);
    }
    match msg {
        Msg::Feed(inputs) => app.feed(inputs, now),
        Msg::Burst(inputs) => app.take_in(inputs, now),
        Msg::Key(key) => {
            let effects = app.key(key, now);
            // Whoever pressed a key has seen where the selection is.
            app.ui.drifted_at = None;
            effects
        }
        Msg::Click { target, again } => {
            let effects = app.click(&target, again, now);
            app.ui.drifted_at = None;
            effects
        }
        Msg::Wheel { target, down } => {
            let effects = app.wheel(&target, down, now);
            app.ui.drifted_at = None;
            effects
        }
        Msg::Paste(text) => app.paste(&text),
        Msg::Focus(focused) => app.focus(focused),
        Msg::Layout {
            rows,
            page_rows,
            last_scroll,
            first,
            detail,
            columns,
        } => {
            app.ui.columns = columns;
            app.ui.page_rows = page_rows;
            app.laid_out(rows, last_scroll, first, detail)
        }
        Msg::Tick => app.feed(Vec::new(), now),
        Msg::AbortSent(key) => app.abort_sent(&key, now),
        Msg::Surveyed { key, read } => app.surveyed(&key, read, now),
        Msg::Step { key, words } => app.step(&key, words),
        Msg::Told(words) => app.tell(&words),
        Msg::Saved(path) => app.saved(path),
        Msg::Exported { key, path } => app.exported(key, path),
        Msg::AttachEnded { key, ended } => app.attach_ended(key, ended),
        Msg::Done(done) => app.done(done, now),
        Msg::PromptRead(read) => app.prompt_read(read, now),
        Msg::PartRead(read) => app.part_read(read),
    }
}

impl App {
    pub(super) fn feed(&mut self, inputs: Vec<Input>, now: UnixMs) -> Vec<Effect> {
        let effects = self.take_in(inputs, now);
        if self.unsettled || self.is_by_time() {
            self.settle(now);
        }
        effects
    }

    /// Lays the rows out.
    fn settle(&mut self, now: UnixMs) {
        self.unsettled = false;
        let before = self.ui.selected.clone();
        self.refresh_rows();
        if self.ui.selected != before {
            self.ui.drifted_at = Some(now);
        }
    }

    /// Stores and judges.
    fn take_in(&mut self, inputs: Vec<Input>, now: UnixMs) -> Vec<Effect> {
        let mut changes: Vec<Change> = Vec::with_capacity(inputs.len());
        for input in inputs {
            let heard = self.live.delta(&input);
            let change = self.store.apply(input);
            if let (Some((part, text)), Change::Progress(..)) = (heard, &change) {
                self.hear(part, &text);
            }
            if change != Change::Nothing && changes.last() != Some(&change) {
                changes.push(change);
            }
        }
        self.count_behind(changes.len());
        let recheck = self.judgement().recheck.into_iter();
        let due = recheck.chain(self.history.due()).any(|at| at <= now);
        if !changes.is_empty() || due {
            self.judge.update(&self.store, &changes, now);
            self.remember(now);
            self.learn(now);
            self.unsettled = true;
        }
        self.uncover_asks(now);
        let is_woken = self.wake_changed();
        if is_woken {
            self.unsettled = true;
        }
        let kept = is_woken.then(|| self.keep_for_later());
        kept.into_iter().chain(self.notices(now)).collect()
    }

    fn laid_out(&mut self, rows: u16, last: usize, first: usize, detail: bool) -> Vec<Effect> {
        self.ui.table_rows = rows;
        self.ui.last_scroll = last;
        self.ui.detail_seen = detail;
        if self.ui.seek.take().is_some() {
            self.found_at(first);
        }
        if self.ui.reply.is_none() {
            self.hold_scrolls(last);
        }
        self.keep_visible();
        Vec::new()
    }

    /// What lies under a form keeps its place: the limit told is the form's.
    fn hold_scrolls(&mut self, last_scroll: usize) {
        if self.ui.dialog.is_some() {
            self.ui.dialog_scroll = self.ui.dialog_scroll.min(last_scroll);
        } else if let Some((_, scroll)) = &mut self.ui.page {
            *scroll = (*scroll).min(last_scroll);
        } else if self.ui.detail_open {
            self.ui.detail_scroll = self.ui.detail_scroll.min(last_scroll);
        }
    }

    fn paste(&mut self, text: &str) -> Vec<Effect> {
        if self.ui.command.is_some() {
            self.paste_command(text);
        } else if self.ui.filter.cursor.is_some() {
            self.paste_filter(text);
        } else if self.is_searching() {
            self.paste_search(text);
        } else {
            self.resend_paste(text);
            self.paste_reply(text);
        }
        Vec::new()
    }

    fn key(&mut self, key: Key, now: UnixMs) -> Vec<Effect> {
        if self.is_typed_on(key, now) {
            return Vec::new();
        }
        self.touched(now);
        if self.is_typing() {
            let leaves = self.leaving(key).filter(|_| key.is_chord());
            return leaves.unwrap_or_else(|| self.type_on(key, now));
        }
        if self.ui.dialog.is_none() {
            self.ui.dialog_scroll = 0;
        } else {
            return self.answer_dialog(key, now);
        }
        if self.ui.reply.is_some() {
            return self.reply_key(key, now);
        }
        if let Some(action) = self.keymap.action(key) {
            self.act(action, key, now)
        } else {
            let help = self.key_of(Action::Help);
            self.tell(&format!("{key} does nothing here; {help} shows the keys"))
        }
    }

    /// Somebody is here, and has read what was told.
    pub(super) fn touched(&mut self, now: UnixMs) {
        self.notices.touched(now);
        self.clear_seen_results(now);
        self.ui.notice = None;
        self.ui.moved = self.ui.selected.is_some();
    }

    /// A line at the bottom is typed.
    pub(super) fn is_typing(&self) -> bool {
        self.ui.command.is_some() || self.ui.filter.cursor.is_some() || self.is_searching()
    }

    /// A key while a line at the bottom is typed.
    fn type_on(&mut self, key: Key, now: UnixMs) -> Vec<Effect> {
        if self.ui.command.is_some() {
            self.type_command(key, now)
        } else if self.ui.filter.cursor.is_some() {
            self.type_filter(key)
        } else {
            self.type_search(key)
        }
    }

    /// Whether a key goes on with what was refused: characters that follow each other closely.
    fn is_typed_on(&mut self, key: Key, now: UnixMs) -> bool {
        let Some(refused) = self.ui.refused_at.take() else {
            return false;
        };
        let typed = matches!(key, Key::Char(_) | Key::Enter | Key::Backspace);
        let goes_on = typed && now.since(refused) < SAME_BREATH;
        if goes_on {
            self.ui.refused_at = Some(now);
        }
        goes_on
    }

    /// What an action does, by its key or by its name.
    pub(super) fn act(&mut self, action: Action, key: Key, now: UnixMs) -> Vec<Effect> {
        if self.leaves_to_live(action) {
            return Vec::new();
        }
        if !matches!(action, Action::Quit | Action::Back | Action::Command) {
            self.ui.quit_warned = false;
        }
        if let Some(words) = self.covered(action) {
            return self.tell(&words);
        }
        match action {
            Action::Quit => self.quit(),
            Action::Suspend => vec![Effect::Suspend],
            Action::Redraw => vec![Effect::Redraw],
            Action::Back => self.back(key),
            Action::Command => self.open_command(""),
            Action::Theme => self.open_command("theme "),
            Action::Help => self.toggle_page(PageKind::Help),
            Action::Explain => self.explain(),
            Action::History => self.toggle_page(PageKind::History),
            Action::NextPane => self.next_pane(),
            Action::Wrap => self.toggle_wrap(),
            Action::NextHit => self.next_hit(1),
            Action::PreviousHit => self.next_hit(-1),
            Action::Filter => self.filter_or_search(),
            Action::Attention => self.toggle_attention(),
            Action::Save => vec![Effect::SaveScreen],
            Action::Mouse => self.toggle_mouse(),
            Action::Snooze => self.snooze(None),
            Action::Freeze => self.freeze(now),
            Action::Sort => self.sort_next(),
            Action::SortReverse => self.sort_reverse(),
            Action::SortColumn => self.sort_nth(key),
            Action::Open => self.open(),
            Action::Abort => self.ask_abort(now),
            Action::Resend => self.ask_resend(),
            Action::Reply => self.reply(Then::Reply, now),
            Action::AllowOnce => self.reply(Then::Once, now),
            Action::AllowAlways => self.reply(Then::Always, now),
            Action::Deny => self.reply(Then::Deny, now),
            Action::Export => self.export(now),
            Action::Reset => self.ask_reset(now),
            Action::Attach => self.ask_attach(),
            Action::CopyId => self.copy_id(),
            Action::CopyAttach => self.copy_attach(),
            Action::CopyExport => self.copy_export(),
            Action::Mark => self.mark(),
            Action::Load => self.ask_load(),
            Action::LoadAll => self.ask_load_all(),
            Action::Servers => self.servers(),
            Action::Fold => self.fold(),
            Action::Unfold => self.unfold(),
            Action::Down => self.go(1),
            Action::Up => self.go(-1),
            Action::Top => self.go(isize::MIN),
            Action::Bottom => self.go(isize::MAX),
            Action::PageDown => self.go(self.page_step()),
            Action::PageUp => self.go(-self.page_step()),
            Action::HalfDown => self.go((self.page_step() / 2).max(1)),
            Action::HalfUp => self.go(-(self.page_step() / 2).max(1)),
        }
    }

    /// Esc never quits: a terminal may send it for a slow escape sequence.
    fn back(&mut self, key: Key) -> Vec<Effect> {
        if self.ui.search.take().is_some() || self.ui.page.take().is_some() {
            return Vec::new();
        }
        if self.ui.detail_open {
            self.ui.detail_open = false;
            return Vec::new();
        }
        if !self.ui.marked.is_empty() {
            self.ui.marked.clear();
            return Vec::new();
        }
        if !self.ui.filter.text.is_empty() {
            self.ui.filter.text.clear();
            self.refresh_rows();
            return Vec::new();
        }
        if self.ui.attention_only {
            return self.toggle_attention();
        }
        if self.leaves_to_live(Action::Freeze) {
            return Vec::new();
        }
        if key == Key::Esc {
            let quits = self.key_that_leaves();
            return self.tell(&format!("{quits} quits"));
        }
        self.quit()
    }

    /// The key that leaves at the top. Esc only goes back.
    fn key_that_leaves(&self) -> String {
        let mut back = self.keymap.keys(Action::Back).iter();
        let key = back.find(|key| **key != Key::Esc);
        key.map_or_else(|| self.key_of(Action::Quit), Key::to_string)
    }

    /// What is under way would be left half done: that is said once.
    fn quit(&mut self) -> Vec<Effect> {
        let names: Vec<&str> = self.running.values().map(|it| it.action.word()).collect();
        if let Some(name) = names.first().filter(|_| !self.ui.quit_warned) {
            self.ui.quit_warned = true;
            let words = format!("{name} is still under way: again leaves it unfinished");
            return self.tell(&words);
        }
        vec![Effect::Quit]
    }

    fn toggle_page(&mut self, kind: PageKind) -> Vec<Effect> {
        let open = self.ui.page.as_ref().is_some_and(|(now, _)| *now == kind);
        self.ui.page = (!open).then_some((kind, 0));
        self.ui.search = None;
        Vec::new()
    }

    fn explain(&mut self) -> Vec<Effect> {
        match self.ui.selected.clone() {
            Some(key) => self.toggle_page(PageKind::Explain(key)),
            None => Vec::new(),
        }
    }

    fn toggle_attention(&mut self) -> Vec<Effect> {
        self.ui.attention_only = !self.ui.attention_only;
        self.refresh_rows_from_the_top();
        Vec::new()
    }

    pub(super) fn open(&mut self) -> Vec<Effect> {
        if self.is_on_servers() {
            return self.retry_servers();
        }
        if self.ui.page.is_some() {
            return self.back(Key::Enter);
        }
        let shown = self.ui.selected.as_ref().map(|key| self.pane(key));
        if self.ui.detail_open && shown == Some(Pane::Parts) {
            return self.open_part();
        }
        self.ui.detail_open = !self.ui.detail_open && self.ui.selected.is_some();
        self.look_anew();
        match self.ui.selected.clone() {
            Some(key) if self.ui.detail_open && !self.is_asleep(&key) => {
                vec![Effect::Read { key }]
            }
            _ => Vec::new(),
        }
    }
}
