//! The dialog of `s`: what will be sent, to whom, and why not.

use super::{Dialog, clean};
use crate::core::app::{App, ResendField, ResendForm, TextLine};

/// Characters of a long text that are shown.
const SHOWN: usize = 20_000;
/// Characters of one line of the dialog; longer ones go on in the next.
const LINE: usize = 1000;
/// Characters around the cursor that are shown while a line is edited.
const WINDOW: usize = 240;

/// Plan, text and model; what forbids it in place of the plan.
pub(super) fn dialog(app: &App, form: &ResendForm, server: &str) -> Dialog {
    let title = format!("Resend \"{}\" on {server}", clean(&form.title));
    if form.read_at.is_none() {
        return Dialog {
            title,
            scroll: app.ui.dialog_scroll,
            lines: vec!["reading what would be sent".to_owned()],
            foot: "Esc leave it".to_owned(),
        };
    }
    let plan = app.resend_plan(form);
    let mut lines = match &plan {
        Ok(plan) => plan.lines.iter().map(|line| clean(line)).collect(),
        Err(why) => vec![clean(&format!("not sent: {}", why.words()))],
    };
    let focus = form.focus == Some(ResendField::Model);
    if focus || !form.model.text.is_empty() {
        lines.push(field("model", &form.model, focus));
    }
    if form.is_editable() {
        match form.focus {
            Some(ResendField::Text) => lines.push(field("text", &form.text, true)),
            _ => lines.extend(whole(&format!("text: {}", form.text.text))),
        }
    } else if let Ok(Some(prompt)) = &form.prompt {
        let text = whole(&prompt.text).into_iter();
        lines.extend(text.map(|line| format!("> {line}")));
    }
    let edit = if form.is_editable() {
        "Tab edit text, model"
    } else {
        "Tab edit model"
    };
    let send = if plan.is_ok() { "Enter send · " } else { "" };
    Dialog {
        title,
        scroll: app.ui.dialog_scroll,
        lines,
        foot: format!("{send}{edit} · Esc leave it"),
    }
}

/// All of a text, to be scrolled through; what is left out of a very long one is told.
fn whole(text: &str) -> Vec<String> {
    let all = text.chars().count();
    let shown: String = text.chars().take(SHOWN).collect();
    let mut lines = Vec::new();
    for line in shown.lines() {
        let mut rest = line;
        while let Some((cut, _)) = rest.char_indices().nth(LINE) {
            let (head, _) = rest.split_at(cut);
            let cut = head.rfind(' ').map_or(cut, |blank| blank + 1);
            let (head, tail) = rest.split_at(cut);
            lines.push(clean(head));
            rest = tail;
        }
        lines.push(clean(rest));
    }
    if all > SHOWN {
        lines.push(format!("({} more characters, not shown)", all - SHOWN));
    }
    lines
}

/// `text: Continue.`, with a mark where the next character goes. Of a long text the part around that
/// place is shown, so that nothing is typed unseen.
fn field(name: &str, line: &TextLine, focus: bool) -> String {
    let all = line.text.chars().count();
    if !focus {
        let head: String = line.text.chars().take(WINDOW).collect();
        let more = match all.saturating_sub(WINDOW) {
            0 => String::new(),
            more => format!(" … ({more} more characters)"),
        };
        return format!("{name}: {}{more}", clean(&head));
    }
    let at = line.cursor.min(all);
    let from = at.saturating_sub(WINDOW / 2);
    let left = if from > 0 { "… " } else { "" };
    let right = if all > at + WINDOW / 2 { " …" } else { "" };
    let before: String = line.text.chars().skip(from).take(at - from).collect();
    let after: String = line.text.chars().skip(at).take(WINDOW / 2).collect();
    format!(
        "{name}: [{left}{}_{}{right}]",
        clean(&before),
        clean(&after)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_long_prompt_is_there_to_be_read() {
        let words: Vec<String> = (0..2000).map(|n| format!("w{n:04}")).collect();
        let lines = whole(&words.join(" "));
        let shown: Vec<&str> = lines
            .iter()
            .flat_map(|line| line.split_whitespace())
            .collect();
        assert_eq!(shown, words, "no word is lost or broken");
        assert!(lines.iter().all(|line| line.chars().count() <= LINE));
        let cut = whole(&"x".repeat(SHOWN + 7));
        assert_eq!(cut.last().unwrap(), "(7 more characters, not shown)");
        assert_eq!(whole("a\n\u{1b}b"), ["a", "␛b"]);
    }
}
