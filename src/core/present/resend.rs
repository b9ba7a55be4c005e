//! The dialog of `s`: what will be sent, to whom, and why not.

use super::{Dialog, clean, quote};
use crate::core::app::{App, ResendField, ResendForm, TextLine};

/// So many lines of a long text are shown.
const SHOWN: usize = 12;

/// Plan, text and model; what forbids it in place of the plan.
pub(super) fn dialog(app: &App, form: &ResendForm, server: &str) -> Dialog {
    let title = format!("Resend \"{}\" on {server}", clean(&form.title));
    if form.read_at.is_none() {
        return Dialog {
            title,
            lines: vec!["reading what would be sent".to_owned()],
            foot: "Esc leave it".to_owned(),
        };
    }
    let plan = app.resend_plan(form);
    let mut lines = match &plan {
        Ok(plan) => plan.lines.iter().map(|line| clean(line)).collect(),
        Err(why) => vec![clean(&format!("not sent: {}", why.words()))],
    };
    if form.is_editable() {
        lines.push(field(
            "text",
            &form.text,
            form.focus == Some(ResendField::Text),
        ));
    } else if let Ok(Some(prompt)) = &form.prompt {
        let text = quote(&prompt.text, SHOWN);
        lines.extend(text.into_iter().map(|line| format!("> {line}")));
    }
    let focus = form.focus == Some(ResendField::Model);
    if focus || !form.model.text.is_empty() {
        lines.push(field("model", &form.model, focus));
    }
    let edit = if form.is_editable() {
        "Tab edit text, model"
    } else {
        "Tab edit model"
    };
    let send = if plan.is_ok() { "Enter send · " } else { "" };
    Dialog {
        title,
        lines,
        foot: format!("{send}{edit} · Esc leave it"),
    }
}

/// `text: Continue.`, with a mark where the next character goes.
fn field(name: &str, line: &TextLine, focus: bool) -> String {
    if !focus {
        return format!("{name}: {}", clean(&line.text));
    }
    let at = line.cursor;
    let before: String = line.text.chars().take(at).collect();
    let after: String = line.text.chars().skip(at).collect();
    format!("{name}: [{}_{}]", clean(&before), clean(&after))
}
