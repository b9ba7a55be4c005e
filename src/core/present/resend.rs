//! The dialog of `s`: what will be sent, to whom, and why not.

use super::{Dialog, clean, quote};
use crate::core::app::{App, ResendField, ResendForm, TextLine};

/// So many lines of a long text are shown.
const SHOWN: usize = 200;
/// Characters of a long line that are shown.
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
        lines.push(field(
            "text",
            &form.text,
            form.focus == Some(ResendField::Text),
        ));
    } else if let Ok(Some(prompt)) = &form.prompt {
        let text = quote(&prompt.text, SHOWN);
        lines.extend(text.into_iter().map(|line| format!("> {line}")));
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
