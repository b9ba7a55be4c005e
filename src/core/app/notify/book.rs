//! Who is to be told of, and when: from how sessions stand to those whose time has come.
//!
//! What it does: remember of each session what was told last, so that nothing is told twice, that a
//! session which goes up and down is not told each time, and that what comes together is told
//! together. What it does not: know a channel, a word or a clock.
//!
//! Rules: what was so when a session is first seen is known and not told, unless the session changed
//! since its server was first live; of a server that is away nothing is learned; a reason is told
//! again only after the session was calm for [`Pace::again`]; another reason not before that time has passed
//! since the last one, and only if it still stands then; a higher level at once.

use crate::core::id::{ServerId, SessionKey};
use crate::core::judge::Level;
use crate::core::time::{Span, UnixMs};
use std::collections::BTreeMap;

/// For so long after a server was first live, what is found was so before: a server's parts are read one
/// after the other.
const FIRST_LOOK: Span = Span::secs(5);

/// Why a session stands where it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// Its level; needs-you or stuck.
    pub level: Level,
    /// The finding's name.
    pub finding: &'static str,
    /// What it is about: another ask, or another message, is another reason.
    pub about: Option<String>,
}

impl Reason {
    fn is_as(&self, other: &Reason) -> bool {
        self.finding == other.finding && self.about == other.about
    }
}

/// How a session stands, as far as it matters here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stand {
    /// Why it needs someone, by itself; `None`: it is calm.
    pub reason: Option<Reason>,
    /// The level and the name of its leading finding, whatever that is.
    pub leading: Option<(Level, &'static str)>,
    /// What it settles to.
    pub settling: Option<&'static str>,
    /// It changed at this time; watcher's clock.
    pub updated: UnixMs,
    /// Since when its server is live; watcher's clock.
    pub live_since: UnixMs,
}

/// How long what is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// What comes within so long is told together.
    pub together: Span,
    /// See [`super::NotifyRules::again`].
    pub again: Span,
}

/// A level, and the finding that led there, if one did.
pub type Before = (Level, Option<&'static str>);

/// Somebody is to be told of it now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// Which.
    pub key: SessionKey,
    /// Since when its reason stands; watcher's clock.
    pub since: UnixMs,
    /// How it stood before.
    pub from: Before,
}

/// What is remembered of a session.
#[derive(Debug, Clone)]
struct Known {
    /// How it stood at the last look.
    reason: Option<Reason>,
    /// Since when it stands so.
    since: UnixMs,
    /// How it stood before.
    from: Before,
    /// What was told last, or was known from the start; the time only if it was told.
    told: Option<(Reason, Option<UnixMs>)>,
    /// Since when it is calm.
    calm_since: Option<UnixMs>,
    /// What it was about to be called when it was first seen.
    expected: Option<&'static str>,
    /// When it is to be told.
    due: Option<UnixMs>,
}

impl Default for Known {
    fn default() -> Self {
        Self {
            reason: None,
            since: UnixMs::default(),
            from: (Level::Ok, None),
            told: None,
            calm_since: None,
            expected: None,
            due: None,
        }
    }
}

/// What is remembered of all.
#[derive(Debug, Clone, Default)]
pub struct Book {
    first_live: BTreeMap<ServerId, UnixMs>,
    sessions: BTreeMap<SessionKey, Known>,
    due: BTreeMap<SessionKey, UnixMs>,
}

impl Book {
    /// Learns how a session stands. `now` is the watcher's clock.
    pub fn learn(&mut self, key: &SessionKey, standing: Stand, pace: Pace, now: UnixMs) {
        let first_live = *self
            .first_live
            .entry(key.server)
            .or_insert(standing.live_since);
        let is_first_look = now.since(first_live) < FIRST_LOOK;
        let is_old = is_first_look || standing.updated < first_live;
        let is_new = !self.sessions.contains_key(key);
        let known = self.sessions.entry(key.clone()).or_default();
        if is_first_look || (is_new && is_old) {
            known.told = standing.reason.clone().map(|it| (it, None));
            known.expected = standing.settling;
        }
        known.learn(standing, pace, now);
        match known.due {
            Some(due) => self.due.insert(key.clone(), due),
            None => self.due.remove(key),
        };
    }

    /// A session that is gone needs nobody.
    pub fn forget(&mut self, key: &SessionKey) {
        self.sessions.remove(key);
        self.due.remove(key);
    }

    /// When somebody is to be told, if nothing changes before; watcher's clock.
    pub fn next(&self) -> Option<UnixMs> {
        self.due.values().min().copied()
    }

    /// Those whose time has come, and those that come so soon that they are told with them. From now
    /// on they count as told.
    pub fn take(&mut self, pace: Pace, now: UnixMs) -> Vec<Due> {
        if self.next().is_none_or(|at| at > now) {
            return Vec::new();
        }
        let with = now + pace.together;
        let due = self.due.iter().filter(|(_, at)| **at <= with);
        let due: Vec<SessionKey> = due.map(|(key, _)| key.clone()).collect();
        let taken = due.into_iter().filter_map(|key| {
            self.due.remove(&key);
            let known = self.sessions.get_mut(&key)?;
            known.due = None;
            known.told = Some((known.reason.clone()?, Some(now)));
            Some(Due {
                key,
                since: known.since,
                from: known.from,
            })
        });
        taken.collect()
    }
}

impl Known {
    fn learn(&mut self, standing: Stand, pace: Pace, now: UnixMs) {
        let expected = self.expected.take();
        let Some(reason) = standing.reason else {
            if self.reason.take().is_some() {
                self.calm_since = Some(now);
            }
            let leading = standing.leading;
            self.from = leading.map_or((Level::Ok, None), |(level, name)| (level, Some(name)));
            self.expected = expected.filter(|name| standing.settling == Some(*name));
            self.due = None;
            return;
        };
        // While its server was away nobody saw whether it was calm.
        let calm = self
            .calm_since
            .map(|at| now.since(at.max(standing.live_since)));
        match &self.reason {
            Some(before) if before.is_as(&reason) => {}
            before => {
                if let Some(before) = before {
                    self.from = (before.level, Some(before.finding));
                }
                self.since = now;
            }
        }
        if expected == Some(reason.finding) {
            self.told = Some((reason.clone(), None));
        }
        let due = self.told_at(&reason, calm, pace, now);
        self.due = due.map(|at| self.due.map_or(at, |before| before.min(at)));
        self.reason = Some(reason);
        self.calm_since = None;
    }

    /// When this reason is to be told; `None`: it was.
    fn told_at(
        &self,
        reason: &Reason,
        calm: Option<Span>,
        pace: Pace,
        now: UnixMs,
    ) -> Option<UnixMs> {
        let soon = now + pace.together;
        let Some((told, at)) = &self.told else {
            return Some(soon);
        };
        let rose = reason.level > told.level;
        if told.is_as(reason) && !rose {
            let again = calm.is_some_and(|it| it >= pace.again).then_some(soon);
            let waits = self.reason.as_ref().is_some_and(|it| it.is_as(reason));
            return again.or(self.due.filter(|_| waits));
        }
        let wait = at.filter(|_| !rose).map(|at| at + pace.again);
        Some(wait.map_or(soon, |at| at.max(soon)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::id::SessionId;

    const PACE: Pace = Pace {
        together: Span::secs(2),
        again: Span::secs(60),
    };
    /// The servers' first connection.
    const LIVE: i64 = 1_000_000;

    /// `ask1`, `hung2`: a reason and what it is about; `~hung`: settles to it; `old` before: nothing has
    /// changed in it since long before; anything else is calm.
    fn standing(word: &str, at: i64, live: i64) -> Stand {
        let (is_old, word) = match word.strip_prefix("old ") {
            Some(word) => (true, word),
            None => (false, word),
        };
        let name = |word: &str| match word.trim_end_matches(char::is_numeric) {
            "ask" => Some((Level::NeedsYou, "waiting-permission")),
            "retry" => Some((Level::NeedsYou, "retrying")),
            "dead" => Some((Level::Stuck, "retrying")),
            "hung" => Some((Level::Stuck, "hung-tool")),
            _ => None,
        };
        let reason = name(word).map(|(level, finding)| Reason {
            level,
            finding,
            about: word
                .chars()
                .last()
                .filter(char::is_ascii_digit)
                .map(String::from),
        });
        Stand {
            leading: reason.as_ref().map(|it| (it.level, it.finding)),
            settling: word.strip_prefix('~').and_then(name).map(|it| it.1),
            reason,
            updated: UnixMs(if is_old { LIVE - 500_000 } else { at }),
            live_since: UnixMs(live),
        }
    }

    /// Whom is told when, in seconds after the first connection. `live`: the server came back then.
    fn told(script: &[(i64, &str, &str)]) -> Vec<String> {
        let mut book = Book::default();
        let mut live = LIVE;
        let mut told = Vec::new();
        for second in 0..400 {
            let now = LIVE + second * 1000;
            for (_, who, word) in script.iter().filter(|it| it.0 == second) {
                if *word == "live" {
                    live = now;
                    continue;
                }
                let key = SessionKey::new(ServerId(0), SessionId::from(*who));
                let word = standing(word, now, live);
                book.learn(&key, word, PACE, UnixMs(now));
            }
            let due = book.take(PACE, UnixMs(now));
            if !due.is_empty() {
                let names: Vec<&str> = due.iter().map(|it| it.key.session.as_str()).collect();
                told.push(format!("{second} {}", names.join(" ")));
            }
        }
        assert_eq!(book.next(), None);
        told
    }

    #[test]
    fn what_was_so_at_the_start_is_not_told() {
        assert!(
            told(&[
                (0, "a", "old ask1"),
                (4, "b", "hung1"),
                (50, "a", "old ask1")
            ])
            .is_empty()
        );
        // It was about to be called so.
        assert!(told(&[(1, "a", "old ~hung"), (15, "a", "old hung1")]).is_empty());
        // First read later, and nothing has changed in it since.
        assert!(told(&[(0, "b", "ok"), (90, "a", "old hung1")]).is_empty());
    }

    #[test]
    fn what_comes_is_told_once() {
        assert_eq!(
            told(&[(0, "a", "ok"), (20, "a", "ask1"), (21, "a", "ask1")]),
            ["22 a"]
        );
        // A tool that ran before we came and is too long now.
        assert_eq!(
            told(&[(0, "a", "old ok"), (20, "a", "old hung1")]),
            ["22 a"]
        );
        // A session that began since.
        assert_eq!(told(&[(0, "b", "ok"), (20, "a", "ask1")]), ["22 a"]);
        // It was about to be called something, but then it was calm.
        let calm = [(0, "a", "~hung"), (9, "a", "ok"), (20, "a", "hung1")];
        assert_eq!(told(&calm), ["22 a"]);
    }

    #[test]
    fn what_is_over_before_its_time_is_not_told() {
        assert!(told(&[(0, "a", "ok"), (20, "a", "ask1"), (21, "a", "ok")]).is_empty());
    }

    #[test]
    fn what_comes_together_is_told_together() {
        let script = [
            (0, "a", "ok"),
            (20, "a", "ask1"),
            (21, "b", "ask2"),
            (22, "c", "hung3"),
            (23, "d", "hung4"),
        ];
        assert_eq!(told(&script), ["22 a b c", "25 d"]);
    }

    #[test]
    fn one_that_goes_up_and_down_is_not_told_each_time() {
        let mut script = vec![(0, "a", "ok")];
        for round in 0..20 {
            script.push((20 + round * 10, "a", "hung1"));
            script.push((25 + round * 10, "a", "ok"));
        }
        assert_eq!(told(&script), ["22 a"]);
        // Calm for long enough.
        let again = [
            (0, "a", "ok"),
            (20, "a", "hung1"),
            (30, "a", "ok"),
            (90, "a", "hung1"),
        ];
        assert_eq!(told(&again), ["22 a", "92 a"]);
    }

    #[test]
    fn another_reason_waits_and_is_told_if_it_stands_then() {
        let soon = [
            (0, "a", "ok"),
            (20, "a", "ask1"),
            (30, "a", "ok"),
            (32, "a", "ask2"),
        ];
        assert_eq!(told(&soon), ["22 a", "82 a"]);
        let gone = [&soon[..], &[(70, "a", "ok")]].concat();
        assert_eq!(told(&gone), ["22 a"]);
        let back = [
            (0, "a", "ok"),
            (20, "a", "ask1"),
            (30, "a", "hung2"),
            (31, "a", "ask1"),
        ];
        assert_eq!(told(&back), ["22 a"], "hung for a second only");
    }

    #[test]
    fn a_higher_level_is_told_at_once_but_not_each_time() {
        let script = [
            (0, "a", "ok"),
            (20, "a", "retry1"),
            (30, "a", "dead1"),
            (40, "a", "retry1"),
            (50, "a", "dead1"),
        ];
        assert_eq!(told(&script), ["22 a", "32 a"]);
    }

    #[test]
    fn a_connection_that_is_lost_and_found_tells_only_what_is_new() {
        let script = [
            (0, "a", "ok"),
            (0, "b", "ok"),
            (0, "c", "ok"),
            (20, "a", "hung1"),
            // Away for a long time.
            (200, "", "live"),
            (200, "a", "~hung"),
            (200, "b", "ask2"),
            (201, "c", "ask3"),
            (212, "a", "hung1"),
        ];
        assert_eq!(told(&script), ["22 a", "202 b c"]);
    }
}
