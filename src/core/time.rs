//! Time as data: points, spans and how they are shown. Units are milliseconds throughout.
//!
//! What it does: arithmetic that saturates, short ages for a table. What it does not: ask for the
//! time. `now` is always an argument; the only clock lives in `shell::clock` and is handed around
//! as a [`Clock`].

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, Sub};
use std::sync::Arc;

/// Milliseconds since the Unix epoch. Whose clock (the server's or ours) is said at the field.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct UnixMs(pub i64);

/// A span of milliseconds; may be negative (clocks differ).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Span(pub i64);

/// A source of the current time, injected so that tests and replays own it.
pub type Clock = Arc<dyn Fn() -> UnixMs + Send + Sync>;

impl UnixMs {
    /// How long ago `earlier` was, seen from here. Never negative: a point in the future is 0 old.
    pub fn since(self, earlier: UnixMs) -> Span {
        Span((self.0.saturating_sub(earlier.0)).max(0))
    }

    /// The last whole `step` since the epoch; `step` is above zero.
    #[must_use]
    pub fn floor(self, step: Span) -> Self {
        UnixMs(self.0 - self.0.rem_euclid(step.0.max(1)))
    }

    /// The next point that is a whole number of these units; at least one millisecond ahead.
    #[must_use]
    pub fn next_whole(self, unit: Span) -> UnixMs {
        let unit = unit.0.max(1);
        self + Span(unit - self.0.rem_euclid(unit))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);

    /// From whole seconds.
    pub const fn secs(seconds: i64) -> Self {
        Span(seconds.saturating_mul(1000))
    }
    /// From whole minutes.
    pub const fn mins(minutes: i64) -> Self {
        Span(minutes.saturating_mul(60_000))
    }
    /// From whole hours.
    pub const fn hours(hours: i64) -> Self {
        Span(hours.saturating_mul(3_600_000))
    }
    /// From whole days.
    pub const fn days(days: i64) -> Self {
        Span(days.saturating_mul(86_400_000))
    }
    /// Whole milliseconds.
    pub const fn as_ms(self) -> i64 {
        self.0
    }

    /// From text with units: `500ms`, `15s`, `10m`, `1h30m`, `7d`. `None`: not of this form, or
    /// longer than a hundred years.
    pub fn parse(text: &str) -> Option<Self> {
        let mut total: i64 = 0;
        let mut rest = text;
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit())?;
            let number: i64 = rest.get(..digits)?.parse().ok()?;
            rest = &rest[digits..];
            let unit = rest
                .find(|c: char| c.is_ascii_digit())
                .unwrap_or(rest.len());
            let (_, ms) = UNITS.iter().find(|(name, _)| *name == &rest[..unit])?;
            total = total.checked_add(number.checked_mul(*ms)?)?;
            rest = &rest[unit..];
        }
        let sane = !text.is_empty() && total <= CENTURY;
        sane.then_some(Span(total))
    }

    /// The text that [`Span::parse`] reads: `1h30m`, `0s`.
    pub fn exact(self) -> String {
        let mut left = self.0.max(0);
        let mut text = String::new();
        for (name, ms) in UNITS {
            if left >= ms {
                text.push_str(&(left / ms).to_string());
                text.push_str(name);
                left %= ms;
            }
        }
        if text.is_empty() {
            "0s".to_owned()
        } else {
            text
        }
    }

    /// How long something has gone on that goes on at `now`, in at most four characters: `8s`, `4m`,
    /// `42m`, `2h05`. From a minute on the minutes of the clock are counted, so that all ages of a
    /// screen change in one frame; whole minutes are exact, others are less than one too many.
    pub fn so_far(self, now: UnixMs) -> String {
        if self < Span::mins(1) {
            return self.short();
        }
        let minute = Span::mins(1).0;
        let since = now - self;
        let minutes = now.0.div_euclid(minute) - since.0.div_euclid(minute);
        let whole = Span::mins(minutes.max(1)).short();
        whole
            .strip_suffix("m00")
            .map_or(whole.clone(), |m| format!("{m}m"))
    }

    /// At most four characters for table columns: `8s`, `4m10`, `42m`, `2h05`, `18h`, `3d`, `2y`.
    pub fn short(self) -> String {
        let s = (self.0.max(0)) / 1000;
        let (m, h, d) = (s / 60, s / 3600, s / 86_400);
        if s < 60 {
            format!("{s}s")
        } else if m < 10 {
            format!("{m}m{:02}", s % 60)
        } else if h < 1 {
            format!("{m}m")
        } else if h < 10 {
            format!("{h}h{:02}", m % 60)
        } else if d < 1 {
            format!("{h}h")
        } else if d < 1000 {
            format!("{d}d")
        } else {
            format!("{}y", d / 365)
        }
    }

    /// For sentences: `8 s`, `4 min 10 s`, `12 min`, `2 h 5 min`, `3 d 4 h`.
    pub fn words(self) -> String {
        let s = (self.0.max(0)) / 1000;
        let pair = |big: i64, b: &str, small: i64, t: &str| {
            if small == 0 {
                format!("{big} {b}")
            } else {
                format!("{big} {b} {small} {t}")
            }
        };
        if s < 60 {
            format!("{s} s")
        } else if s < 600 {
            pair(s / 60, "min", s % 60, "s")
        } else if s < 3600 {
            format!("{} min", s / 60)
        } else if s < 86_400 {
            pair(s / 3600, "h", (s % 3600) / 60, "min")
        } else {
            pair(s / 86_400, "d", (s % 86_400) / 3600, "h")
        }
    }
}

/// Units of spans in a configuration, greatest first, in milliseconds.
const UNITS: [(&str, i64); 5] = [
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1000),
    ("ms", 1),
];
const CENTURY: i64 = 36_525 * 86_400_000;

impl Add<Span> for UnixMs {
    type Output = UnixMs;
    fn add(self, span: Span) -> UnixMs {
        UnixMs(self.0.saturating_add(span.0))
    }
}
impl Sub<Span> for UnixMs {
    type Output = UnixMs;
    fn sub(self, span: Span) -> UnixMs {
        UnixMs(self.0.saturating_sub(span.0))
    }
}
impl Sub<UnixMs> for UnixMs {
    type Output = Span;
    fn sub(self, other: UnixMs) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}
impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}
impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_fit_four_characters() {
        let cases = [
            (0, "0s"),
            (59_999, "59s"),
            (250_000, "4m10"),
            (720_000, "12m"),
            (7_500_000, "2h05"),
            (18 * 3_600_000, "18h"),
            (3 * 86_400_000, "3d"),
            (999 * 86_400_000, "999d"),
            (1000 * 86_400_000, "2y"),
            (-5, "0s"),
        ];
        for (ms, want) in cases {
            assert_eq!(Span(ms).short(), want);
            assert!(Span(ms).short().len() <= 4);
        }
    }

    #[test]
    fn what_goes_on_changes_with_the_seconds_then_with_the_minutes_of_the_clock() {
        let now = |s: i64| UnixMs(1_795_977_300_000 + s * 1000);
        assert_eq!(now(0).0 % 60_000, 0);
        let age = |since: i64, at: i64| now(at).since(now(since)).so_far(now(at));
        assert_eq!([age(10, 10), age(10, 69)], ["0s", "59s"]);
        assert_eq!(
            [age(10, 70), age(10, 119), age(10, 120)],
            ["1m", "1m", "2m"]
        );
        assert_eq!(
            [age(50, 110), age(50, 119), age(50, 120)],
            ["1m", "1m", "2m"]
        );
        assert_eq!(age(0, 7500), "2h05");
        for at in 0..20_000 {
            let text = age(-7, at);
            let changed = text != age(-7, at - 1);
            assert!(!changed || at < 60 || at % 60 == 0, "{at}: {text}");
        }
    }

    #[test]
    fn the_next_whole_second_is_ahead() {
        assert_eq!(UnixMs(1500).next_whole(Span::secs(1)), UnixMs(2000));
        assert_eq!(UnixMs(2000).next_whole(Span::secs(1)), UnixMs(3000));
        assert_eq!(UnixMs(-1).next_whole(Span::secs(1)), UnixMs(0));
    }

    #[test]
    fn spans_read_and_write_the_same() {
        for text in ["0s", "15s", "500ms", "10m", "1h30m", "7d", "1d1h1m1s1ms"] {
            let span = Span::parse(text);
            assert_eq!(span.map(Span::exact).as_deref(), Some(text));
        }
        for text in [
            "",
            "5",
            "s",
            "5 s",
            "-5s",
            "5x",
            "1h30",
            "99999999999999999999s",
            "99999d",
        ] {
            assert_eq!(Span::parse(text), None, "{text}");
        }
    }

    #[test]
    fn words_read_well() {
        assert_eq!(Span::secs(8).words(), "8 s");
        assert_eq!(Span::secs(250).words(), "4 min 10 s");
        assert_eq!(Span::mins(12).words(), "12 min");
        assert_eq!(Span::mins(125).words(), "2 h 5 min");
        assert_eq!(Span::hours(76).words(), "3 d 4 h");
    }
}
