//! A notice in words and as a document.
//!
//! What it does: a line for a notification and the document for the user's command (schema
//! `ocwatch.notify/1`). What it does not: decide whether anything is told. Invariant: both are
//! clean; nothing of a server in them can be obeyed by a terminal.

use crate::core::app::notify::{Notice, Noticed};
use crate::core::judge::Level;
use crate::core::present::clean;
use serde_json::{Value, json};

/// How many are named; the rest is counted.
const NAMED: usize = 3;
/// Characters of a title in a notification.
const TITLE: usize = 60;
/// Characters of what a notification says below its heading.
const BODY: usize = 200;

/// A notice as a heading and a line below it; the second may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoticeWords {
    /// `"Fix build" is stuck`, `6 sessions need you: A, B, C and 3 more`.
    pub heading: String,
    /// What is wrong with a single one; empty for several.
    pub body: String,
}

impl NoticeWords {
    /// On one line.
    pub fn line(&self) -> String {
        if self.body.is_empty() {
            return self.heading.clone();
        }
        format!("{}: {}", self.heading, self.body)
    }
}

/// The words for these sessions, the most severe first. Empty for none.
pub fn notice_words(sessions: &[&Noticed]) -> NoticeWords {
    if let [one] = sessions {
        let is = match one.level {
            Level::Stuck => "is stuck",
            _ => "needs you",
        };
        let why = format!("{}: {}", one.finding, one.text);
        return NoticeWords {
            heading: format!("\"{}\" {is}", name(one)),
            body: short(&format!("{} on {}", clean(&why), clean(&one.server)), BODY),
        };
    }
    let stuck = sessions
        .iter()
        .filter(|it| it.level == Level::Stuck)
        .count();
    let count = match (stuck, sessions.len() - stuck) {
        (0, need) => format!("{need} sessions need you"),
        (stuck, 0) => format!("{stuck} sessions are stuck"),
        (stuck, need) => format!(
            "{stuck} stuck, {need} need{} you",
            if need == 1 { "s" } else { "" }
        ),
    };
    let names: Vec<String> = sessions.iter().take(NAMED).map(|it| name(it)).collect();
    let more = match sessions.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    NoticeWords {
        heading: format!("{count}: {}{more}", names.join(", ")),
        body: String::new(),
    }
}

/// What a session without a title is called is its id.
fn name(one: &Noticed) -> String {
    let title = clean(&one.title);
    match title.trim() {
        "" => clean(one.key.session.as_str()),
        title => short(title, TITLE),
    }
}

fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(3)).collect();
    format!("{}...", kept.trim_end())
}

/// The document for the user's command: `ocwatch.notify/1`. Fields are only added within a schema
/// number.
pub fn notice_json(notice: &Notice, sessions: &[&Noticed]) -> Value {
    let one = |it: &&Noticed| {
        json!({
            "server": clean(&it.server),
            "id": it.key.session.as_str(),
            "title": clean(&it.title),
            "directory": clean(&it.directory),
            "level": it.level.word(),
            "finding": it.finding,
            "text": clean(&it.text),
            "since": it.since.map(|at| at.0),
            "from": {"level": it.from.0.word(), "finding": it.from.1},
            "at": it.at.0,
        })
    };
    json!({
        "schema": "ocwatch.notify/1",
        "at": notice.at.0,
        "text": notice_words(sessions).line(),
        "level": sessions.iter().map(|it| it.level).max().map(Level::word),
        "sessions": sessions.iter().map(one).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::id::{ServerId, SessionKey};
    use crate::core::time::UnixMs;
    use std::collections::BTreeSet;

    fn noticed(title: &str, level: Level) -> Noticed {
        Noticed {
            key: SessionKey::new(ServerId(0), "ses_1".into()),
            server: "home".into(),
            title: title.into(),
            directory: "/srv".into(),
            level,
            finding: "hung-tool",
            text: "bash has run 12 min".into(),
            since: Some(UnixMs(5)),
            from: (Level::Ok, None),
            at: UnixMs(7),
            channels: BTreeSet::new(),
        }
    }

    fn words(of: &[(&str, Level)]) -> NoticeWords {
        let all: Vec<Noticed> = of.iter().map(|it| noticed(it.0, it.1)).collect();
        notice_words(&all.iter().collect::<Vec<_>>())
    }

    #[test]
    fn one_is_told_with_its_reason_and_several_by_their_names() {
        use Level::{NeedsYou, Stuck};
        let one = words(&[("Fix build", Stuck)]);
        assert_eq!(one.heading, "\"Fix build\" is stuck");
        assert_eq!(one.body, "hung-tool: bash has run 12 min on home");
        let heading = |of: &[(&str, Level)]| words(of).line();
        assert_eq!(
            heading(&[("", NeedsYou)]).split(':').next(),
            Some("\"ses_1\" needs you")
        );
        let two = [("A", NeedsYou), ("B", NeedsYou)];
        assert_eq!(heading(&two), "2 sessions need you: A, B");
        let six = [("A", NeedsYou); 6];
        assert_eq!(heading(&six), "6 sessions need you: A, A, A and 3 more");
        let both = [("A", Stuck), ("B", Stuck), ("C", NeedsYou), ("D", NeedsYou)];
        assert_eq!(heading(&both), "2 stuck, 2 need you: A, B, C and 1 more");
        assert_eq!(heading(&both[1..3]), "1 stuck, 1 needs you: B, C");
        assert_eq!(heading(&both[..2]), "2 sessions are stuck: A, B");
    }

    #[test]
    fn a_title_cannot_end_the_sequence_that_holds_it() {
        let hostile = words(&[("a\u{1b}]52;c;eA==\u{7}\u{9c}b\n", Level::Stuck)]);
        assert!(
            !hostile.line().contains(|c: char| c.is_control()),
            "{hostile:?}"
        );
        let long = words(&[(&"x".repeat(500), Level::Stuck)]);
        assert!(long.heading.chars().count() < 80, "{long:?}");
    }

    #[test]
    fn the_document_names_everything() {
        let one = noticed("T\u{7}", Level::Stuck);
        let notice = Notice {
            at: UnixMs(9),
            sessions: vec![one.clone()],
        };
        let document = notice_json(&notice, &[&one]);
        let want = json!({
            "schema": "ocwatch.notify/1", "at": 9, "level": "stuck",
            "text": "\"T␇\" is stuck: hung-tool: bash has run 12 min on home",
            "sessions": [{
                "server": "home", "id": "ses_1", "title": "T␇", "directory": "/srv",
                "level": "stuck", "finding": "hung-tool", "text": "bash has run 12 min",
                "since": 5, "from": {"level": "ok", "finding": null}, "at": 7,
            }],
        });
        assert_eq!(document, want);
    }
}
