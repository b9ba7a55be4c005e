//! The words for what is reported, what is true, and why. One place, so that screen, table and
//! explanations say the same.

use crate::core::id::SessionId;
use crate::core::judge::{Activity, ActivityState, Finding, Level, Verdict};
use crate::core::present::{Mark, Tone, clean};
use crate::core::store::{Reported, Server, Why};
use crate::core::time::{Span, UnixMs};
use crate::core::wire::ModelRef;

/// From this age on a tool's time is emphasised (patterns: every tool over 60 s).
const LONG_TOOL: Span = Span::secs(60);

/// `busy`, `idle`, `retry 3`, `unknown`.
pub(super) fn reported(reported: &Reported) -> String {
    match reported {
        Reported::Retry(retry) => format!("retry {}", retry.attempt),
        other => clean(other.word()),
    }
}

/// `running bash`, `writing edit`, `done`, `between steps`.
pub(super) fn activity(activity: &Activity) -> String {
    let tool = activity.tool.as_deref().unwrap_or("a tool");
    match activity.state {
        ActivityState::RunningTool => clean(&format!("running {tool}")),
        ActivityState::WritingArguments => clean(&format!("writing {tool}")),
        state => state.word().replace('-', " "),
    }
}

/// The same, as the last thing known of a session whose state is not known now.
pub(super) fn activity_of(verdict: &Verdict) -> String {
    let words = activity(&verdict.activity);
    if verdict.level == Level::Unknown && verdict.activity.state != ActivityState::Unread {
        return format!("was {words}");
    }
    words
}

pub(super) fn mark(verdict: &Verdict) -> Mark {
    // Not by its messages alone: a fork's copied tool is open for ever and runs nowhere.
    let is_at_work = verdict.reported.is_running();
    match (verdict.level, &verdict.settling) {
        (Level::Stuck, _) => Mark::Stuck,
        (Level::NeedsYou, _) => Mark::NeedsYou,
        (Level::Watch, _) => Mark::Watch,
        (Level::Unknown, _) => Mark::Unknown,
        (Level::Ok, Some(settling)) => Mark::Settling(settling.level),
        (Level::Ok, None) if is_at_work => Mark::Working,
        (Level::Ok, None) => Mark::Rest,
    }
}

pub(super) fn level_tone(level: Level) -> Tone {
    match level {
        Level::Stuck => Tone::Stuck,
        Level::NeedsYou => Tone::NeedsYou,
        Level::Watch => Tone::Watch,
        Level::Ok => Tone::Plain,
        Level::Unknown => Tone::Dim,
    }
}

/// `stale-busy: finished 12 min ago, still reported busy`.
pub(super) fn finding(finding: &Finding) -> String {
    clean(&format!("{}: {}", finding.name, finding.text))
}

/// Why a session's state is not known.
pub(super) fn why_unknown(why: &Why, server: &Server) -> String {
    match why {
        Why::NotAsked => "asleep: not asked".to_owned(),
        Why::DirectoryGone => "its folder no longer exists; never asked".to_owned(),
        Why::NotReadYet => "not read yet".to_owned(),
        Why::ReadFailed(text) => clean(&format!("status could not be read: {text}")),
        Why::ServerLost(_) => clean(&format!("{} is away", server.spec.name)),
    }
}

/// A tool that runs for over a minute is emphasised, without a level.
pub(super) fn age_tone(verdict: &Verdict, age: Option<Span>) -> Tone {
    let runs = matches!(
        verdict.activity.state,
        ActivityState::RunningTool | ActivityState::Subagent
    );
    if runs && verdict.level != Level::Unknown && age.is_some_and(|age| age >= LONG_TOOL) {
        Tone::Strong
    } else {
        Tone::Plain
    }
}

/// A session without a title is known by its id.
pub(super) fn title(id: &SessionId, title: &str) -> String {
    let title = if title.trim().is_empty() {
        id.as_str()
    } else {
        title
    };
    clean(title)
}

/// `provider/model`.
pub(super) fn model(model: Option<&ModelRef>) -> Option<String> {
    model.map(|m| clean(&format!("{}/{}", m.provider, m.model)))
}

/// `14:02` in local time: what stands in the header all day changes once a minute.
pub(super) fn time_of_day(at: UnixMs, utc_offset: Span) -> String {
    let mut clock = clock(at, utc_offset);
    clock.truncate("14:02".len());
    clock
}

/// `14:02:11` in local time.
pub fn clock(at: UnixMs, utc_offset: Span) -> String {
    let day_seconds = (at + utc_offset).0.div_euclid(1000).rem_euclid(86_400);
    let (h, m, s) = (day_seconds / 3600, day_seconds / 60 % 60, day_seconds % 60);
    format!("{h:02}:{m:02}:{s:02}")
}

/// `$0.42`, `$1234`: at most seven characters below ten million.
pub(super) fn dollars(cost: f64) -> String {
    if cost < 1000.0 {
        format!("${cost:.2}")
    } else {
        format!("${cost:.0}")
    }
}

/// `999`, `1.2k`, `34k`, `1.2M`: at most four characters below ten thousand million.
pub(super) fn count(number: u64) -> String {
    let short = |unit: u64, letter: char| {
        let tenths = number / (unit / 10);
        if tenths < 100 {
            format!("{}.{}{letter}", tenths / 10, tenths % 10)
        } else {
            format!("{}{letter}", number / unit)
        }
    };
    match number {
        0..1000 => number.to_string(),
        1000..1_000_000 => short(1000, 'k'),
        1_000_000..1_000_000_000 => short(1_000_000, 'M'),
        _ => short(1_000_000_000, 'G'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_short() {
        let counts = [
            0,
            999,
            1000,
            9999,
            10_000,
            999_999,
            1_234_567,
            12_345_678_901,
        ];
        let shown: Vec<String> = counts.into_iter().map(count).collect();
        assert_eq!(
            shown,
            ["0", "999", "1.0k", "9.9k", "10k", "999k", "1.2M", "12G"]
        );
        assert_eq!(dollars(0.0), "$0.00");
        assert_eq!(dollars(12.345), "$12.35");
        assert_eq!(dollars(1234.5), "$1234");
    }
}
