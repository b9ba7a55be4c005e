//! `explain`: the activity with its evidence, every rule tried, the raw facts.

use crate::core::judge::{Answer, Explanation, Tried};
use crate::core::present::{Line, Piece, Tone, clean, json, words};
use serde_json::{Value, json};

/// For the screen and the terminal.
pub fn explain_lines(told: &Explanation) -> Vec<Line> {
    let verdict = &told.verdict;
    let mut lines = vec![
        pair("session", verdict.key.session.as_str()),
        pair("reported", &words::reported(&verdict.reported)),
        pair(
            "activity",
            &format!(
                "{}: {}",
                words::activity(&verdict.activity),
                told.activity_why
            ),
        ),
        vec![
            Piece::new(format!("{:<12}", "level"), Tone::Strong),
            Piece::new(verdict.level.word(), words::level_tone(verdict.level)),
        ],
    ];
    lines.extend(settling(told));
    lines.push(Vec::new());
    lines.extend(rule_lines(told));
    lines.push(Vec::new());
    lines.push(vec![Piece::new("Facts", Tone::Strong)]);
    let facts = told.facts.iter();
    lines.extend(facts.map(|(name, value)| {
        vec![
            Piece::new(format!("{:<24}", clean(name)), Tone::Dim),
            Piece::new(clean(value), Tone::Plain),
        ]
    }));
    lines
}

/// Every rule with its answer, under a heading.
pub(super) fn rule_lines(told: &Explanation) -> Vec<Line> {
    let heading = vec![Piece::new("Rules tried", Tone::Strong)];
    let rules = told.tried.iter().map(tried);
    std::iter::once(heading).chain(rules).collect()
}

/// What it is about to be called.
fn settling(told: &Explanation) -> Option<Line> {
    let settling = told.verdict.settling.as_ref()?;
    let text = format!("{} if it stays so", settling.name);
    let mut line = pair("settling", &text);
    line.push(Piece::new(
        format!(" ({})", settling.level.word()),
        words::level_tone(settling.level),
    ));
    Some(line)
}

fn pair(name: &str, value: &str) -> Line {
    vec![
        Piece::new(format!("{name:<12}"), Tone::Strong),
        Piece::new(clean(value), Tone::Plain),
    ]
}

fn tried(tried: &Tried) -> Line {
    let (word, why, tone) = match &tried.answer {
        Answer::No(why) | Answer::Later { why, .. } => ("no", clean(why), Tone::Dim),
        Answer::Settles { level, why, .. } => ("not yet", clean(why), words::level_tone(*level)),
        Answer::Yes { finding, .. } => (
            "YES",
            clean(&finding.text),
            words::level_tone(finding.level),
        ),
    };
    vec![
        Piece::new(format!("{:<22}", tried.rule), Tone::Plain),
        Piece::new(format!("{word:<8}"), tone),
        Piece::new(why, Tone::Plain),
    ]
}

/// For scripts.
pub fn explain_json(told: &Explanation) -> Value {
    let verdict = &told.verdict;
    let rules: Vec<Value> = told
        .tried
        .iter()
        .map(|tried| match &tried.answer {
            Answer::No(why) => json!({"rule": tried.rule, "answer": "no", "why": why}),
            Answer::Later { at, why } => {
                json!({"rule": tried.rule, "answer": "no", "why": why, "recheck": at})
            }
            Answer::Settles { level, at, why } => {
                json!({"rule": tried.rule, "answer": "settles", "level": level, "at": at, "why": why})
            }
            Answer::Yes { finding, recheck } => {
                json!({"rule": tried.rule, "answer": "yes", "level": finding.level, "why": finding.text, "recheck": recheck})
            }
        })
        .collect();
    let facts: serde_json::Map<String, Value> = told
        .facts
        .iter()
        .map(|(name, value)| (name.clone(), json!(value)))
        .collect();
    json!({
        "schema": "ocwatch.explain/1",
        "id": verdict.key.session,
        "asks": verdict.asks.iter().map(json::ask).collect::<Vec<_>>(),
        "queued_prompts": verdict.activity.queued_prompts,
        "reported": json::reported(&verdict.reported),
        "activity": json::activity(&verdict.activity),
        "activity_why": told.activity_why,
        "agreement": verdict.agreement,
        "level": verdict.level,
        "level_reason": verdict.blind,
        "settling": verdict.settling.as_ref().map(json::settling),
        "findings": json::findings(&verdict.findings),
        "rules": rules,
        "facts": facts,
    })
}
