//! Whether somebody is to be told that a session needs someone, of what, and when.
//!
//! What it does: watch how sessions stand ([`book`]), ask what is wanted ([`rules`]), leave out what
//! is seen already, and make one [`Notice`] of what comes together. What it does not: find words for
//! it or tell it; that is `present` and `shell`. Invariants: the same in, the same out; of an ancestor
//! nothing is told that its descendant is told for.
//!
//! A session is **seen**, and not told, when it is the selected one, the terminal has said that it
//! has the focus, and a key was pressed within the last minute. A terminal that says nothing of its
//! focus never counts as looked at.

mod book;
mod rules;

pub use rules::{Channel, NotifyRules, Quiet};

use crate::core::app::{App, Effect};
use crate::core::id::SessionKey;
use crate::core::judge::{ActivityState, Finding, Level, Verdict};
use crate::core::store::{LinkState, Server};
use crate::core::time::{Span, UnixMs};
use book::{Book, Pace, Reason, Stand};
use std::collections::BTreeSet;

/// Someone who pressed a key so lately is there.
const PRESENT: Span = Span::mins(1);

/// Evidence by which two findings of one name are told apart; the first that there is.
const ABOUT: [&str; 2] = ["ask", "message"];

/// One session in a [`Notice`]. Texts are the server's, not cleaned.
#[derive(Debug, Clone, PartialEq)]
pub struct Noticed {
    /// Which.
    pub key: SessionKey,
    /// Name of its server.
    pub server: String,
    /// Its title; may be empty.
    pub title: String,
    /// Its directory.
    pub directory: String,
    /// needs-you or stuck.
    pub level: Level,
    /// The finding's name.
    pub finding: &'static str,
    /// The finding's sentence.
    pub text: String,
    /// Since when it is so, where told; server's clock.
    pub since: Option<UnixMs>,
    /// Its level before, and the finding that led then.
    pub from: (Level, Option<&'static str>),
    /// When it was noticed; watcher's clock.
    pub at: UnixMs,
    /// How it is to be told; not empty.
    pub channels: BTreeSet<Channel>,
}

/// What is told at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    /// When; watcher's clock.
    pub at: UnixMs,
    /// Most severe first, then in the order in which they came; never empty.
    pub sessions: Vec<Noticed>,
}

/// What the app remembers for its notices.
#[derive(Debug, Clone, Default)]
pub struct Notices {
    /// What is wanted.
    pub rules: NotifyRules,
    /// What was told.
    book: Book,
    /// Whether the terminal has the focus, once it said so.
    focused: Option<bool>,
    /// When a key was last pressed; watcher's clock.
    key_at: Option<UnixMs>,
    /// Nothing is told before; watcher's clock.
    quiet_until: Option<UnixMs>,
}

impl Notices {
    /// Nothing was told yet.
    pub fn new(rules: NotifyRules) -> Self {
        Self {
            rules,
            ..Self::default()
        }
    }

    fn pace(&self) -> Pace {
        Pace {
            together: self.rules.together,
            again: self.rules.again,
        }
    }

    /// When somebody is to be told; watcher's clock.
    pub fn next(&self) -> Option<UnixMs> {
        self.book
            .next()
            .map(|at| self.quiet_until.map_or(at, |quiet| at.max(quiet)))
    }

    /// A key was pressed.
    pub(super) fn touched(&mut self, now: UnixMs) {
        self.key_at = Some(now);
    }

    fn is_watched(&self, now: UnixMs) -> bool {
        let present = self.key_at.is_some_and(|at| now.since(at) < PRESENT);
        self.focused == Some(true) && present
    }
}

impl App {
    /// Learns of what was judged just now.
    pub(super) fn learn(&mut self, now: UnixMs) {
        let pace = self.notices.pace();
        let mut book = std::mem::take(&mut self.notices.book);
        for key in self.judge.judged() {
            match self.standing(key) {
                Some(standing) => book.learn(key, standing, pace, now),
                None if self.store.session(key).is_none() => book.forget(key),
                None => {}
            }
        }
        self.notices.book = book;
    }

    /// The terminal has got or lost the focus.
    pub(super) fn focus(&mut self, focused: bool) -> Vec<Effect> {
        self.notices.focused = Some(focused);
        Vec::new()
    }

    /// What is to be told now.
    pub(super) fn notices(&mut self, now: UnixMs) -> Vec<Effect> {
        if self.notices.book.next().is_none_or(|at| at > now) {
            return Vec::new();
        }
        let quiet = self.notices.rules.quiet_until(now, self.utc_offset);
        self.notices.quiet_until = quiet;
        if quiet.is_some() {
            return Vec::new();
        }
        let pace = self.notices.pace();
        let due = self.notices.book.take(pace, now);
        let is_watched = self.notices.is_watched(now);
        let seen = self.ui.selected.clone().filter(|_| is_watched);
        let is_seen = |key: &SessionKey| seen.as_ref() == Some(key) || self.is_snoozed(key);
        let told = due.into_iter().filter(|it| !is_seen(&it.key));
        let mut sessions: Vec<Noticed> = told.filter_map(|it| self.noticed(it)).collect();
        sessions.sort_by_key(|it| (std::cmp::Reverse(it.level), it.at));
        if sessions.is_empty() {
            return Vec::new();
        }
        vec![Effect::Notify(Notice { at: now, sessions })]
    }

    /// How a session stands by itself; `None` while nothing is known of it.
    fn standing(&self, key: &SessionKey) -> Option<Stand> {
        let server: &Server = self.store.server(key.server)?;
        let session = server.sessions.get(&key.session)?;
        let live_since = server
            .live_since
            .filter(|_| server.link == LinkState::Live)?;
        let verdict = self.verdict(key)?;
        let reason = own(verdict).map(|finding| Reason {
            level: finding.level,
            finding: finding.name,
            about: about(finding),
        });
        let unread = verdict.activity.state == ActivityState::Unread;
        if reason.is_none() && (unread || verdict.level == Level::Unknown) {
            return None;
        }
        Some(Stand {
            reason,
            leading: verdict.leading().map(|it| (it.level, it.name)),
            settling: verdict.settling.as_ref().map(|it| it.name),
            updated: session.info.updated - server.skew,
            live_since,
        })
    }

    fn noticed(&self, due: book::Due) -> Option<Noticed> {
        let session = self.store.session(&due.key)?;
        let finding = own(self.verdict(&due.key)?)?;
        let channels = self.notices.rules.channels(finding.name, finding.level);
        let server = self.store.server(due.key.server)?;
        (!channels.is_empty()).then(|| Noticed {
            server: server.spec.name.clone(),
            title: session.info.title.clone(),
            directory: session.info.directory.as_str().to_owned(),
            level: finding.level,
            finding: finding.name,
            text: finding.text.clone(),
            since: finding.since,
            from: due.from,
            at: due.since,
            key: due.key,
            channels,
        })
    }
}

/// Why a session needs someone by itself, whatever lies below it.
fn own(verdict: &Verdict) -> Option<&Finding> {
    let mut findings = verdict.findings.iter();
    findings.find(|it| it.level >= Level::NeedsYou && it.path.is_empty())
}

fn about(finding: &Finding) -> Option<String> {
    let of = |name: &&str| finding.evidence.get(*name)?.as_str().map(str::to_owned);
    ABOUT.iter().find_map(of)
}
