//! What is open to answer an ask, as a form: texts, options, the line that is typed into.
//!
//! What it does: word it, whole and cleaned. What it does not: wrap or scroll. What is pointed at
//! and what is chosen is told by signs: `>`, `(*)`, `[x]`.

use crate::core::app::App;
use crate::core::app::keymap::Action;
use crate::core::app::reply::{Bound, Choices, Form as State, Pick, QuestionForm, Reply};
use crate::core::plan::answer::{self, Waiting, Wish};
use crate::core::present::ask::{ask_lines, how_many};
use crate::core::present::{Form, FormLine, Hint, Line, Piece, Tone, clean};
use crate::core::wire::{AskKind, Question};

/// The form that is open, if one is.
pub(super) fn form(app: &App) -> Option<Form> {
    match app.ui.reply.as_ref()? {
        Reply::Pick(pick) => Some(list(app, pick)),
        Reply::To(bound) => {
            let waiting = answer::find(&app.store, &bound.key, &bound.ask.id);
            Some(match waiting {
                Some(waiting) => open(app, bound, &waiting),
                None => overtaken(app, bound),
            })
        }
    }
}

fn open(app: &App, bound: &Bound, waiting: &Waiting) -> Form {
    let (lines, foot) = match &bound.form {
        State::Permission(choices) => permission(app, waiting, choices),
        State::Deny(line) => deny(waiting, &line.text, line.cursor),
        State::Question(form) => question(app, bound, form),
        State::Confirm(wish) => {
            let below = bound.scroll.min(app.ui.last_scroll) > 0;
            confirm(waiting, wish, below)
        }
    };
    Form {
        title: title(app, bound),
        lines,
        foot,
        scroll: bound.scroll,
    }
}

fn title(app: &App, bound: &Bound) -> String {
    let word = match &bound.form {
        State::Deny(_) | State::Confirm(Wish::Reject(_)) => "Deny",
        State::Confirm(Wish::Always) => "Allow from now on",
        State::Confirm(Wish::Once) => "Allow once",
        State::Confirm(_) => "Dismiss",
        State::Permission(_) | State::Question(_) => "Reply to",
    };
    let session = app.store.session(&bound.key);
    let title = session.map_or(bound.key.session.as_str(), |it| it.info.title.as_str());
    let server = app.store.server(bound.key.server);
    let server = server.map_or("?", |it| it.spec.name.as_str());
    clean(&format!("{word} \"{title}\" on {server}"))
}

fn overtaken(app: &App, bound: &Bound) -> Form {
    let words = "It is no longer asked: it was answered elsewhere, or its turn has ended.";
    let mut lines = vec![said("", vec![Piece::new(words, Tone::Watch)])];
    lines.push(blank());
    lines.extend(texts(ask_lines(&bound.ask)));
    Form {
        title: title(app, bound),
        lines,
        foot: hints(&[("Esc", "leave it")]),
        scroll: bound.scroll,
    }
}

fn said(mark: &str, text: Line) -> FormLine {
    FormLine {
        mark: mark.to_owned(),
        text,
        focus: false,
        cursor: None,
    }
}

fn blank() -> FormLine {
    said("", Vec::new())
}

fn texts(lines: Vec<Line>) -> Vec<FormLine> {
    lines.into_iter().map(|line| said("", line)).collect()
}

fn plain(text: &str) -> Line {
    vec![Piece::new(clean(text), Tone::Plain)]
}

/// `> (*) 1 `: pointed at, chosen, its number as far as a key goes.
///
/// The pointer is seen once it was moved: the first step goes to the first option, so it must not
/// seem to stand there already.
fn option(place: usize, (focus, moved): (bool, bool), sign: &str, text: Line) -> FormLine {
    let pointer = if focus && moved { ">" } else { " " };
    let number = match place {
        0..=8 => (place + 1).to_string(),
        _ => " ".to_owned(),
    };
    FormLine {
        mark: format!("{pointer} {sign} {number} "),
        text,
        focus,
        cursor: None,
    }
}

fn radio(focus: bool) -> &'static str {
    if focus { "(*)" } else { "( )" }
}

/// The line for one's own words.
fn own_words(mark: &str, text: &str, cursor: usize, focus: bool) -> FormLine {
    let pointer = if focus { ">" } else { " " };
    FormLine {
        mark: format!("{pointer} {mark} "),
        text: vec![Piece::new(clean(text), Tone::Strong)],
        focus,
        cursor: focus.then_some(cursor),
    }
}

fn permission(app: &App, waiting: &Waiting, choices: &Choices) -> (Vec<FormLine>, Vec<Hint>) {
    let ask = &waiting.ask;
    let mut lines = texts(ask_lines(ask));
    lines.push(blank());
    let always = match ask.always.len() {
        0 => "always: it names nothing more than this",
        _ => "always: from now on, for what is named above",
    };
    let options = ["once", always, "reject: the turn ends"];
    for (place, text) in options.iter().enumerate() {
        let focus = choices.at == place;
        let chosen = focus && choices.touched;
        lines.push(option(
            place,
            (focus, choices.touched),
            radio(chosen),
            plain(text),
        ));
    }
    let typing = choices.is_typing();
    let focus = radio(typing);
    let mark = format!("{focus} reject and say:");
    let line = &choices.line;
    lines.push(own_words(&mark, &line.text, line.cursor, typing));
    let rejects = choices.at + 1 >= choices.options;
    lines.extend(also(waiting, !typing).filter(|_| rejects));
    let foot = if typing {
        hints(&[("Enter", "send it"), ("Tab", "back"), ("Esc", "back")])
    } else {
        hints(&[
            ("Enter", "do it"),
            (&format!("1-3 {}", moves(app)), "choose"),
            ("Tab", "say why"),
            ("Esc", "leave it"),
        ])
    };
    (lines, foot)
}

/// What a rejection does besides.
fn also(waiting: &Waiting, ends: bool) -> impl Iterator<Item = FormLine> + use<> {
    let lines = answer::also(waiting, ends).into_iter();
    lines.map(|line| said("", vec![Piece::new(line, Tone::Watch)]))
}

fn deny(waiting: &Waiting, text: &str, cursor: usize) -> (Vec<FormLine>, Vec<Hint>) {
    let mut lines = texts(ask_lines(&waiting.ask));
    lines.push(blank());
    let ends = text.trim().is_empty();
    let words = if ends {
        "Without words the turn ends. With words the agent goes on and hears them."
    } else {
        "The agent goes on and hears this."
    };
    lines.push(said("", plain(words)));
    lines.extend(also(waiting, ends));
    lines.push(own_words("say:", text, cursor, true));
    (lines, hints(&[("Enter", "deny it"), ("Esc", "leave it")]))
}

/// `below`: more of the text is below what is seen.
fn confirm(waiting: &Waiting, wish: &Wish, below: bool) -> (Vec<FormLine>, Vec<Hint>) {
    let lines = match answer::answer(waiting, wish) {
        Ok(plan) => plan.lines,
        Err(why) => vec![why.to_string()],
    };
    // A diff is in no plan.
    let mut all = match wish {
        Wish::Once => texts(ask_lines(&waiting.ask)),
        _ => Vec::new(),
    };
    all.extend(lines.iter().map(|line| said("", plain(line))));
    let words = if below { "read on" } else { "do it" };
    (all, hints(&[("Enter y", words), ("Esc", "leave it")]))
}

fn question(app: &App, bound: &Bound, form: &QuestionForm) -> (Vec<FormLine>, Vec<Hint>) {
    let questions = &bound.ask.questions;
    let mut lines = answered(form, questions);
    let asked = questions.get(form.place);
    lines.extend(heading(form, asked));
    let Some(page) = form.page() else {
        return (lines, Vec::new());
    };
    let choices = &page.choices;
    let multiple = asked.is_some_and(|it| it.multiple);
    let options = asked.map_or(&[][..], |it| it.options.as_slice());
    for (place, choice) in options.iter().enumerate() {
        let focus = choices.at == place;
        let sign = match (multiple, page.chosen.contains(&place)) {
            (true, true) => "[x]",
            (true, false) => "[ ]",
            (false, _) => radio(focus && choices.touched),
        };
        let mut text = vec![Piece::new(clean(&choice.label), Tone::Strong)];
        if !choice.description.is_empty() {
            let about = format!("  {}", clean(&choice.description));
            text.push(Piece::new(about, Tone::Dim));
        }
        lines.push(option(place, (focus, choices.touched), sign, text));
    }
    let typing = choices.is_typing();
    let sign = match (multiple, options.is_empty()) {
        (_, true) => "your words:".to_owned(),
        (true, false) if choices.line.text.trim().is_empty() => "[ ] your words:".to_owned(),
        (true, false) => "[x] your words:".to_owned(),
        (false, false) => format!("{} your words:", radio(typing)),
    };
    let line = &choices.line;
    lines.push(own_words(&sign, &line.text, line.cursor, typing));
    (lines, question_foot(app, form, multiple, typing))
}

/// What was answered so far, a line each.
fn answered(form: &QuestionForm, questions: &[Question]) -> Vec<FormLine> {
    let before = form.pages.iter().zip(questions).take(form.place);
    let mut lines: Vec<FormLine> = before
        .map(|(page, question)| {
            let given = page.given.as_deref().unwrap_or_default();
            let given = match given {
                [] => "unanswered".to_owned(),
                some => some.join(", "),
            };
            let name = if question.header.is_empty() {
                &question.question
            } else {
                &question.header
            };
            let text = clean(&format!("{name}: {given}"));
            said("  ", vec![Piece::new(text, Tone::Dim)])
        })
        .collect();
    if !lines.is_empty() {
        lines.push(blank());
    }
    lines
}

fn heading(form: &QuestionForm, asked: Option<&Question>) -> Vec<FormLine> {
    let many = form.pages.len();
    let mut text = Line::new();
    if many > 1 {
        let count = format!("{} of {many}  ", form.place + 1);
        text.push(Piece::new(count, Tone::Key));
    }
    match asked {
        Some(asked) => {
            text.push(Piece::new(clean(&asked.question), Tone::Strong));
            text.push(Piece::new(how_many(asked), Tone::Dim));
        }
        None => text.push(Piece::new("its questions could not be read", Tone::Watch)),
    }
    vec![said("", text), blank()]
}

fn question_foot(app: &App, form: &QuestionForm, multiple: bool, typing: bool) -> Vec<Hint> {
    let many = format!("1-9 {}", moves(app));
    let previous = app.key_of(Action::Fold);
    let has_options = form.page().is_some_and(|it| it.choices.options > 0);
    let enter = if form.is_last() { "send" } else { "next" };
    let mut foot = vec![("Enter", enter)];
    if typing && has_options {
        foot.extend([("Tab", "options"), ("Esc", "back")]);
    } else if typing {
        foot.push(("Esc", "leave"));
    } else {
        let choose = if multiple { "space 1-9" } else { &many };
        foot.extend([(choose, "choose"), ("Tab", "your words"), ("Esc", "leave")]);
    }
    foot.push(("Ctrl-N", "no answer"));
    if form.place > 0 && !typing {
        foot.push((&previous, "previous"));
    }
    hints(&foot)
}

/// The keys that move in a list: `j k`.
fn moves(app: &App) -> String {
    let (down, up) = (app.key_of(Action::Down), app.key_of(Action::Up));
    format!("{down} {up}")
}

fn hints(foot: &[(&str, &str)]) -> Vec<Hint> {
    foot.iter()
        .map(|(key, words)| Hint::new(*key, *words))
        .collect()
}

fn list(app: &App, pick: &Pick) -> Form {
    let mut lines = Vec::new();
    for (place, (key, ask)) in pick.asks.iter().enumerate() {
        let focus = place == pick.at;
        let found = answer::find(&app.store, key, ask);
        let text = match &found {
            Some(it) => listed(it),
            None => vec![Piece::new("(no longer asked)", Tone::Dim)],
        };
        lines.push(option(place, (focus, true), radio(focus), text));
    }
    Form {
        title: format!("{} asks are pending: which?", pick.asks.len()),
        lines,
        foot: hints(&[
            ("Enter", "take it"),
            (&format!("1-9 {}", moves(app)), "choose"),
            ("Esc", "leave it"),
        ]),
        scroll: 0,
    }
}

fn listed(waiting: &Waiting) -> Line {
    let kind = match waiting.ask.kind {
        AskKind::Permission => "permission",
        AskKind::Question => "question",
    };
    vec![
        Piece::new(clean(&waiting.title), Tone::Strong),
        Piece::new(format!("  {kind}: "), Tone::Dim),
        Piece::new(clean(&waiting.ask.text()), Tone::Plain),
    ]
}
