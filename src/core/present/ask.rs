//! What an ask says, whole: for the detail, the form, and the command line.

use crate::core::present::{Line, Piece, Tone, clean};
use crate::core::wire::{Ask, AskKind, Question};

/// All of an ask: what a permission is for (the whole command, else its patterns; of an edit its
/// diff) and what "always" would allow; of questions their texts and options.
pub fn ask_lines(ask: &Ask) -> Vec<Line> {
    match ask.kind {
        AskKind::Permission => permission_lines(ask),
        AskKind::Question => question_lines(&ask.questions),
    }
}

fn permission_lines(ask: &Ask) -> Vec<Line> {
    let what = ask.permission.as_deref().unwrap_or("something");
    let mut lines = vec![vec![
        Piece::new("permission for ", Tone::Dim),
        Piece::new(clean(what), Tone::Strong),
    ]];
    match &ask.command {
        Some(command) => lines.extend(command.lines().map(|it| said("  ", it))),
        None => lines.extend(ask.patterns.iter().map(|it| said("  ", it))),
    }
    let diff = ask.diff.as_deref().unwrap_or_default();
    lines.extend(diff.lines().map(|it| said("  | ", it)));
    lines.extend(ask.always.iter().map(|it| {
        vec![
            Piece::new("  always would allow ", Tone::Dim),
            Piece::new(clean(it), Tone::Plain),
        ]
    }));
    lines
}

/// Each question with its options.
pub(super) fn question_lines(questions: &[Question]) -> Vec<Line> {
    let many = questions.len();
    let mut lines = Vec::new();
    for (place, question) in questions.iter().enumerate() {
        let number = if many > 1 {
            format!("{} ", place + 1)
        } else {
            String::new()
        };
        lines.push(vec![
            Piece::new(number, Tone::Key),
            Piece::new(clean(&question.question), Tone::Strong),
            Piece::new(how_many(question), Tone::Dim),
        ]);
        for option in &question.options {
            let mut line = said("  - ", &option.label);
            if !option.description.is_empty() {
                let about = format!("  {}", clean(&option.description));
                line.push(Piece::new(about, Tone::Dim));
            }
            lines.push(line);
        }
    }
    lines
}

/// Said behind a question.
pub(super) fn how_many(question: &Question) -> &'static str {
    match (question.multiple, question.options.is_empty()) {
        (true, _) => "  (one or more)",
        (false, false) => "",
        (false, true) => "  (in your own words)",
    }
}

fn said(indent: &str, text: &str) -> Line {
    vec![
        Piece::new(indent, Tone::Plain),
        Piece::new(clean(text), Tone::Plain),
    ]
}
