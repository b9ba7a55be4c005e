//! Tokens and cost: of the session, with its subagents, and turn by turn as far as turns are held.

use crate::core::app::App;
use crate::core::id::SessionKey;
use crate::core::plan::descendants;
use crate::core::present::sheet::long;
use crate::core::present::{Flow, Line, Piece, Sheet, Tone, clean, words};
use crate::core::store::Session;
use crate::core::time::Span;
use crate::core::wire::{Message, ModelRef, PartBody, Tokens};

/// Cells of the first column: a time of day. With the numbers it fits into 38 cells.
const TIME: usize = 8;

pub(super) fn sheet(app: &App, key: &SessionKey, session: &Session) -> Sheet {
    let mut lines = vec![
        heading("", "what"),
        of_sum("this session", session.info.tokens, session.info.cost),
    ];
    lines.extend(subagents(app, key, session));
    lines.push(Vec::new());
    lines.push(heading("turn", "model, prompt"));
    let turns = turns(&session.tail.messages);
    lines.extend(turns.iter().map(|turn| turn.line(app.utc_offset)));
    if !session.tail.whole {
        let text = "earlier turns are not held here; `ocwatch export` has all of them";
        lines.push(vec![Piece::new(text, Tone::Dim)]);
    }
    Sheet {
        lines,
        flow: long(app, Flow::Words),
        ..Sheet::default()
    }
}

fn heading(name: &str, last: &str) -> Line {
    let text = format!(
        "{name:<TIME$} {:>7} {:>11} {:>9}",
        "cost", "input", "output"
    );
    vec![
        Piece::new(text, Tone::Strong),
        Piece::new(format!("  {last}"), Tone::Strong),
    ]
}

fn of_sum(name: &str, tokens: Tokens, cost: f64) -> Line {
    vec![
        Piece::new(" ".repeat(TIME) + &numbers(tokens, cost), Tone::Plain),
        Piece::new(format!("  {name}"), Tone::Plain),
    ]
}

fn numbers(tokens: Tokens, cost: f64) -> String {
    format!(
        " {:>7} {:>11} {:>9}",
        words::dollars(cost),
        grouped(tokens.input),
        grouped(tokens.output)
    )
}

/// `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The same with all that lies below it.
fn subagents(app: &App, key: &SessionKey, session: &Session) -> Option<Line> {
    let server = app.store.server(key.server)?;
    let below = descendants(server, &key.session);
    let (mut tokens, mut cost) = (session.info.tokens, session.info.cost);
    for one in &below {
        tokens.input = tokens.input.saturating_add(one.info.tokens.input);
        tokens.output = tokens.output.saturating_add(one.info.tokens.output);
        cost += one.info.cost;
    }
    let many = if below.len() == 1 { "" } else { "s" };
    let name = format!("with {} subagent{many}", below.len());
    (!below.is_empty()).then(|| of_sum(&name, tokens, cost))
}

/// A prompt and all that answered it.
struct Turn<'a> {
    prompt: Option<&'a Message>,
    first: &'a Message,
    tokens: Tokens,
    cost: f64,
    model: Option<&'a ModelRef>,
}

fn turns(messages: &[Message]) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn> = Vec::new();
    for message in messages {
        if message.is_user() || turns.is_empty() {
            turns.push(Turn {
                prompt: message.is_user().then_some(message),
                first: message,
                tokens: Tokens::default(),
                cost: 0.0,
                model: None,
            });
        }
        if let Some(turn) = turns.last_mut().filter(|_| message.is_assistant()) {
            turn.tokens.input = turn.tokens.input.saturating_add(message.tokens.input);
            turn.tokens.output = turn.tokens.output.saturating_add(message.tokens.output);
            turn.cost += message.cost;
            turn.model = message.model.as_ref().or(turn.model);
        }
    }
    turns
}

impl Turn<'_> {
    fn line(&self, offset: Span) -> Line {
        let at = words::clock(self.first.created, offset);
        let model = words::model(self.model).unwrap_or_default();
        let parts = self.prompt.into_iter().flat_map(|it| &it.parts);
        let mut texts = parts.filter_map(|part| match &part.body {
            PartBody::Text(prose) if !prose.synthetic => Some(prose.excerpt.as_str()),
            _ => None,
        });
        let prompt = texts.next().map(|text| format!("  \"{}\"", clean(text)));
        vec![
            Piece::new(format!("{at:<TIME$}"), Tone::Dim),
            Piece::new(numbers(self.tokens, self.cost), Tone::Plain),
            Piece::new(format!("  {model}"), Tone::Plain),
            Piece::new(prompt.unwrap_or_default(), Tone::Dim),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn digits_stand_in_groups_of_three() {
        let shown = [0, 999, 1000, 1_234_567].map(grouped);
        assert_eq!(shown, ["0", "999", "1,000", "1,234,567"]);
    }
}
