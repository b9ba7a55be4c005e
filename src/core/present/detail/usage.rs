//! Tokens and cost: of the session, with its subagents, and turn by turn as far as turns are held.

use crate::core::app::App;
use crate::core::id::{SessionId, SessionKey};
use crate::core::present::{Flow, Line, Piece, Sheet, Tone, clean, words};
use crate::core::store::{Server, Session};
use crate::core::time::Span;
use crate::core::wire::{Message, ModelRef, PartBody, Tokens};
use std::collections::{BTreeMap, BTreeSet};

/// Cells of the first column.
const NAME: usize = 18;

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
        flow: Flow::Cut,
        ..Sheet::default()
    }
}

fn heading(name: &str, last: &str) -> Line {
    let text = format!(
        "{name:<NAME$}{:>9}{:>11}{:>11}  {last}",
        "cost", "input", "output"
    );
    vec![Piece::new(text, Tone::Strong)]
}

fn of_sum(name: &str, tokens: Tokens, cost: f64) -> Line {
    vec![
        Piece::new(format!("{name:<NAME$}"), Tone::Plain),
        Piece::new(numbers(tokens, cost), Tone::Plain),
    ]
}

fn numbers(tokens: Tokens, cost: f64) -> String {
    let cost = format!("${cost:.2}");
    format!(
        "{cost:>9}{:>11}{:>11}",
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
    let below = below(server, &key.session);
    let (mut tokens, mut cost) = (session.info.tokens, session.info.cost);
    for id in &below {
        if let Some(one) = server.sessions.get(id) {
            tokens.input = tokens.input.saturating_add(one.info.tokens.input);
            tokens.output = tokens.output.saturating_add(one.info.tokens.output);
            cost += one.info.cost;
        }
    }
    let many = if below.len() == 1 { "" } else { "s" };
    let name = format!("with {} subagent{many}", below.len());
    (!below.is_empty()).then(|| of_sum(&name, tokens, cost))
}

/// Every session below this one, each once.
fn below(server: &Server, id: &SessionId) -> BTreeSet<SessionId> {
    let mut children: BTreeMap<&SessionId, Vec<&SessionId>> = BTreeMap::new();
    for (child, session) in &server.sessions {
        if let Some(parent) = &session.info.parent {
            children.entry(parent).or_default().push(child);
        }
    }
    let mut found = BTreeSet::new();
    let mut open = vec![id];
    while let Some(at) = open.pop() {
        for child in children.get(at).into_iter().flatten() {
            if *child != id && found.insert((*child).clone()) {
                open.push(child);
            }
        }
    }
    found
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
            Piece::new(format!("{at:<NAME$}"), Tone::Dim),
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
