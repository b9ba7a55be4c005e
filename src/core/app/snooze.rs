//! Snoozing: a session that was seen asks for no attention until it changes.
//!
//! What it does: remember what was seen of a session, forget it when that is no longer so, and write
//! it down in words ([`SeenMark`]) that survive a restart. What it does not: touch a verdict, a count in
//! JSON or anything on a server. Invariant: what is not known wakes nobody: a lost link or a restart
//! is no change.

use crate::core::app::{App, Effect};
use crate::core::id::{SessionId, SessionKey};
use crate::core::judge::{Level, Verdict};
use crate::core::time::{Span, UnixMs};
use crate::core::wire::Ask;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// No more marks are kept; the oldest go first.
pub const MOST_SEEN: usize = 1000;

/// What was seen of a session when it was snoozed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// The word of its level.
    pub level: String,
    /// Its leading finding.
    #[serde(default)]
    pub finding: Option<String>,
    /// The ids of what it asked; another ask is a change.
    #[serde(default)]
    pub asks: Vec<String>,
    /// When it last changed; the server's clock.
    pub changed: UnixMs,
    /// When it was snoozed; watcher's clock.
    pub at: UnixMs,
    /// It wakes by then in any case; watcher's clock.
    #[serde(default)]
    pub until: Option<UnixMs>,
}

/// The same, of a session by name: what is kept on a disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenMark {
    /// The server's URL.
    pub server: String,
    /// The session.
    pub session: SessionId,
    /// What was seen.
    #[serde(flatten)]
    pub seen: Seen,
}

/// Everything that is snoozed.
#[derive(Debug, Clone, Default)]
pub(super) struct Snoozed {
    here: BTreeMap<SessionKey, Seen>,
    /// Of servers that are not watched now.
    elsewhere: Vec<SeenMark>,
}

impl App {
    /// Whether a session asks for no attention because it was seen as it is; of an ancestor: whether
    /// all below it that would ask for some were.
    pub fn is_snoozed(&self, key: &SessionKey) -> bool {
        !self.snoozed.here.is_empty() && self.is_seen(key, &mut BTreeSet::new())
    }

    fn is_seen(&self, key: &SessionKey, met: &mut BTreeSet<SessionKey>) -> bool {
        let Some(verdict) = self.verdict(key).filter(|it| it.level >= Level::Watch) else {
            return false;
        };
        if self.snoozed.here.contains_key(key) {
            return true;
        }
        let by_child = verdict.leading().is_some_and(|it| !it.path.is_empty());
        let Some(server) = self.store.server(key.server).filter(|_| by_child) else {
            return false;
        };
        let asks = |key: &SessionKey| self.verdict(key).is_some_and(|it| it.level >= Level::Watch);
        let children = server.children(&key.session);
        let children = children.map(|it| SessionKey::new(key.server, it.info.id.clone()));
        let asking: Vec<SessionKey> = children.filter(asks).collect();
        // Its own ancestors cannot be below it, whatever a server says.
        let first = met.insert(key.clone());
        first && !asking.is_empty() && asking.iter().all(|child| self.is_seen(child, met))
    }

    /// Marks the selected session, or all that are marked, as seen; if all were, wakes them.
    pub(super) fn snooze(&mut self, span: Option<Span>) -> Vec<Effect> {
        let marked: Vec<SessionKey> = self.ui.marked.iter().cloned().collect();
        let keys = if marked.is_empty() {
            self.ui.selected.iter().cloned().collect()
        } else {
            marked
        };
        self.ui.marked.clear();
        let awake: Vec<&SessionKey> = keys.iter().filter(|it| !self.is_snoozed(it)).collect();
        if awake.is_empty() && span.is_none() {
            return self.wake(&keys);
        }
        let until = span.map(|span| self.taken_at + span);
        let wanted = if span.is_some() {
            keys.iter().collect()
        } else {
            awake
        };
        let seen: Vec<(SessionKey, Seen)> = wanted
            .into_iter()
            .filter_map(|key| Some((key.clone(), self.seen_now(key, until)?)))
            .collect();
        if seen.is_empty() {
            return self.tell("it asks for no attention: there is nothing to snooze");
        }
        let how_long = match span {
            Some(span) => format!(" and for no longer than {}", span.exact()),
            None => String::new(),
        };
        let key = self.key_of(crate::core::app::keymap::Action::Snooze);
        let words = match seen.len() {
            1 => format!(
                "snoozed until it changes{how_long}; {key} on its row, further down, wakes it"
            ),
            n => format!(
                "{n} sessions snoozed until they change{how_long}; {key} on their rows wakes them"
            ),
        };
        self.snoozed.here.extend(seen);
        if self.ui.page.is_none() && !self.ui.detail_open {
            // On to the next: this one goes down.
            self.select(1);
        }
        self.refresh_rows();
        drop(self.tell(&words));
        vec![self.keep_for_later()]
    }

    fn wake(&mut self, keys: &[SessionKey]) -> Vec<Effect> {
        for key in keys {
            self.snoozed.here.remove(key);
            if self.is_snoozed(key) {
                self.wake_below(key);
            }
        }
        self.refresh_rows();
        drop(self.tell("awake again"));
        vec![self.keep_for_later()]
    }

    /// An ancestor is quiet because of those below it: they are woken.
    fn wake_below(&mut self, key: &SessionKey) {
        let mut below = vec![key.clone()];
        let mut met = BTreeSet::new();
        while let Some(one) = below.pop().filter(|it| met.insert(it.clone())) {
            self.snoozed.here.remove(&one);
            if let Some(server) = self.store.server(one.server) {
                let children = server.children(&one.session);
                below.extend(children.map(|it| SessionKey::new(one.server, it.info.id.clone())));
            }
        }
    }

    /// What there is to be seen of it now; nothing if it asks for no attention.
    fn seen_now(&self, key: &SessionKey, until: Option<UnixMs>) -> Option<Seen> {
        let verdict = self.verdict(key).filter(|it| it.level >= Level::Watch)?;
        let [level, finding] = words(verdict);
        Some(Seen {
            level: level.to_owned(),
            finding: Some(finding.to_owned()),
            asks: verdict.asks.iter().map(id_of).collect(),
            changed: self.store.session(key)?.info.updated,
            at: self.taken_at,
            until,
        })
    }

    /// When the first of them is awake again by time alone.
    pub(super) fn next_awake(&self) -> Option<UnixMs> {
        let seen = self.snoozed.here.values();
        seen.filter_map(|it| it.until).min()
    }

    /// Wakes who has changed; `true` if somebody has.
    pub(super) fn wake_changed(&mut self) -> bool {
        let here = std::mem::take(&mut self.snoozed.here);
        let before = here.len();
        let kept = here.into_iter();
        self.snoozed.here = kept
            .filter(|(key, seen)| self.is_as_seen(key, seen))
            .collect();
        self.snoozed.here.len() != before
    }

    fn is_as_seen(&self, key: &SessionKey, seen: &Seen) -> bool {
        if seen.until.is_some_and(|until| until <= self.taken_at) {
            return false;
        }
        let (Some(session), Some(verdict)) = (self.store.session(key), self.verdict(key)) else {
            return true;
        };
        let [level, finding] = words(verdict);
        let same = level == seen.level && Some(finding) == seen.finding.as_deref();
        let asks_more = verdict
            .asks
            .iter()
            .any(|ask| !seen.asks.contains(&id_of(ask)));
        session.info.updated == seen.changed && !asks_more && (same || verdict.level < Level::Watch)
    }

    /// What was snoozed in an earlier run.
    pub(super) fn recall_seen(&mut self, marks: Vec<SeenMark>) {
        for mark in marks {
            let mut servers = self.store.servers();
            match servers.find(|(_, it)| it.spec.url == mark.server) {
                Some((id, _)) => {
                    let key = SessionKey::new(id, mark.session);
                    self.snoozed.here.insert(key, mark.seen);
                }
                None => self.snoozed.elsewhere.push(mark),
            }
        }
    }

    /// All that is snoozed, oldest first, no more than [`MOST_SEEN`].
    pub(super) fn seen_marks(&self) -> Vec<SeenMark> {
        let here = self.snoozed.here.iter().filter_map(|(key, seen)| {
            Some(SeenMark {
                server: self.store.server(key.server)?.spec.url.clone(),
                session: key.session.clone(),
                seen: seen.clone(),
            })
        });
        let mut all: Vec<SeenMark> = self.snoozed.elsewhere.iter().cloned().chain(here).collect();
        all.sort_by_key(|mark| mark.seen.at);
        let over = all.len().saturating_sub(MOST_SEEN);
        all.split_off(over)
    }
}

fn id_of(ask: &Ask) -> String {
    ask.id.as_str().to_owned()
}

/// Level and leading finding.
fn words(verdict: &Verdict) -> [&'static str; 2] {
    let finding = verdict.leading().map_or("", |it| it.name);
    [verdict.level.word(), finding]
}
