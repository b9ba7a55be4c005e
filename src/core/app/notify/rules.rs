//! What the person wants to be told of, how, and when not. Data, and questions about it.

use crate::core::judge::Level;
use crate::core::time::{Span, UnixMs};
use std::collections::{BTreeMap, BTreeSet};

/// A way to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Channel {
    /// The terminal's bell.
    Bell,
    /// A desktop notification by the terminal (OSC 9, 777 or 99).
    Osc,
    /// The user's command.
    Command,
}

impl Channel {
    /// Each, with its name in the configuration.
    pub const ALL: [(&'static str, Channel); 3] = [
        ("bell", Channel::Bell),
        ("osc", Channel::Osc),
        ("command", Channel::Command),
    ];
}

/// A time of the day in which nothing is told, in minutes since local midnight. It may lie over
/// midnight; from and to are never equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quiet {
    /// First minute, 0..1440.
    pub from: u16,
    /// First minute after it, 0..1440.
    pub to: u16,
}

/// Minutes of a day.
const DAY: i64 = 1440;
const MINUTE: i64 = 60_000;

impl Quiet {
    /// From `22:00-07:00`. `None`: not of this form, or no time at all.
    pub fn parse(text: &str) -> Option<Self> {
        let (from, to) = text.split_once('-')?;
        let (from, to) = (minute_of(from.trim())?, minute_of(to.trim())?);
        (from != to).then_some(Self { from, to })
    }

    fn holds(self, minute: i64) -> bool {
        let (from, to) = (i64::from(self.from), i64::from(self.to));
        if from < to {
            (from..to).contains(&minute)
        } else {
            minute >= from || minute < to
        }
    }
}

/// `24:00` is midnight.
fn minute_of(text: &str) -> Option<u16> {
    let (hours, minutes) = text.split_once(':')?;
    let digits = |it: &str| {
        let plain = it.len() <= 2 && it.bytes().all(|b| b.is_ascii_digit());
        plain.then(|| it.parse::<u16>().ok()).flatten()
    };
    let (hours, minutes) = (digits(hours)?, digits(minutes)?);
    let sane = minutes < 60 && (hours < 24 || (hours == 24 && minutes == 0));
    sane.then_some((hours % 24) * 60 + minutes)
}

/// What is told, how and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotifyRules {
    /// The levels that each channel tells; of [`Level::NeedsYou`] and [`Level::Stuck`].
    pub levels: BTreeMap<Channel, BTreeSet<Level>>,
    /// Findings that go by channels of their own, whatever their level; none: never told.
    pub findings: BTreeMap<String, BTreeSet<Channel>>,
    /// When nothing is told; local time.
    pub quiet: Vec<Quiet>,
    /// What comes within so long is told together.
    pub together: Span,
    /// A session is told again no sooner than this; for the same reason only if it was calm for so long.
    pub again: Span,
}

impl Default for NotifyRules {
    /// Bell and terminal for both levels; a command only once there is one.
    fn default() -> Self {
        let both = BTreeSet::from([Level::NeedsYou, Level::Stuck]);
        Self {
            levels: Channel::ALL.iter().map(|it| (it.1, both.clone())).collect(),
            findings: BTreeMap::new(),
            quiet: Vec::new(),
            together: Span::secs(2),
            again: Span::mins(1),
        }
    }
}

impl NotifyRules {
    /// How a finding of this name and level is told.
    pub fn channels(&self, finding: &str, level: Level) -> BTreeSet<Channel> {
        if let Some(own) = self.findings.get(finding) {
            return own.clone();
        }
        let all = self.levels.iter();
        let told = all.filter(|(_, levels)| levels.contains(&level));
        told.map(|(channel, _)| *channel).collect()
    }

    /// When it may be told again, if now is quiet. `now` is the watcher's clock, `offset` local time
    /// minus UTC. Quiet all day: never, as far as this day tells.
    pub fn quiet_until(&self, now: UnixMs, offset: Span) -> Option<UnixMs> {
        let local = (now + offset).0.div_euclid(MINUTE);
        let is_quiet = |minute: &i64| {
            let of_day = minute.rem_euclid(DAY);
            self.quiet.iter().any(|it| it.holds(of_day))
        };
        if !is_quiet(&local) {
            return None;
        }
        let end = (local..=local + DAY).find(|minute| !is_quiet(minute));
        let end = end.unwrap_or(local + DAY);
        Some(UnixMs(end.saturating_mul(MINUTE)) - offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_the_day_read() {
        let quiet = |from, to| Some(Quiet { from, to });
        assert_eq!(Quiet::parse("22:00-07:30"), quiet(1320, 450));
        assert_eq!(Quiet::parse("9:05 - 24:00"), quiet(545, 0));
        for bad in [
            "",
            "22-07",
            "22:00",
            "24:01-01:00",
            "25:00-01:00",
            "1:60-2:00",
            "+1:00-2:00",
            "3:00-3:00",
            "00:00-24:00",
            "001:00-2:00",
        ] {
            assert_eq!(Quiet::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn quiet_hours_are_local_and_may_lie_over_midnight() {
        let at = |text: &[&str], hour: i64, minute: i64, offset: i64| {
            let rules = NotifyRules {
                quiet: text.iter().filter_map(|it| Quiet::parse(it)).collect(),
                ..NotifyRules::default()
            };
            let day = 20_000 * DAY * MINUTE;
            let now = UnixMs(day + (hour * 60 + minute) * MINUTE + 1234);
            let until = rules.quiet_until(now, Span::hours(offset));
            until.map(|at| (at.0 - day) / MINUTE)
        };
        let night = &["22:00-07:00"][..];
        assert_eq!(at(night, 21, 59, 0), None);
        assert_eq!(at(night, 22, 0, 0), Some(31 * 60));
        assert_eq!(at(night, 6, 59, 0), Some(7 * 60));
        assert_eq!(at(night, 7, 0, 0), None);
        // Two hours ahead of UTC it is 22:00 when UTC has 20:00.
        assert_eq!(at(night, 20, 0, 2), Some(29 * 60));
        assert_eq!(at(night, 6, 0, 2), None);
        // One that follows the other.
        assert_eq!(
            at(&["12:00-13:00", "13:00-14:00"], 12, 30, 0),
            Some(14 * 60)
        );
        // All day.
        assert_eq!(at(&["00:00-12:00", "12:00-00:00"], 1, 0, 0), Some(25 * 60));
    }
}
