//! What stands in a dialog: a plan before an action, numbered, with what it costs.

use super::{Dialog, clean, resend, rows};
use crate::core::app::{App, Copied, DialogState, ResetDialog, Stage};
use crate::core::id::{Directory, ServerId, SessionKey};
use crate::core::plan::{HEALTHY, Plan};

const DO_IT: &str = "Enter or y do it · Esc leave it";
const READ_ON: &str = "Enter or y read on · Esc leave it";
const LEAVE: &str = "Esc leave it";

pub(super) fn dialog(app: &App, state: &DialogState) -> Option<Dialog> {
    match state {
        DialogState::Abort(plans) => abort(app, plans),
        DialogState::Load(key) => load(app, key),
        DialogState::LoadAll(asleep) => Some(load_all(app, asleep)),
        DialogState::Attach(key) => attach(app, key),
        DialogState::Copied(copied) => Some(self::copied(app, copied)),
        DialogState::Reset(it) => reset(app, it),
        DialogState::Resend(form) => Some(resend::dialog(app, form, &server(app, &form.key)?)),
    }
}

fn server(app: &App, key: &SessionKey) -> Option<String> {
    Some(clean(&app.store.server(key.server)?.spec.name))
}

fn abort(app: &App, plans: &[Plan]) -> Option<Dialog> {
    let first = plans.first()?;
    if plans.len() == 1 {
        let server = server(app, &first.key)?;
        return Some(Dialog {
            title: format!("Abort \"{}\" on {server}", clean(&first.title)),
            scroll: app.ui.dialog_scroll,
            lines: first.lines.iter().map(|line| clean(line)).collect(),
            foot: DO_IT.to_owned(),
        });
    }
    let line = |plan: &Plan| {
        let server = server(app, &plan.key).unwrap_or_default();
        let mut lines = plan.lines.iter().filter(|it| it.as_str() != HEALTHY);
        let what = lines.next().map_or("", String::as_str);
        clean(&format!("{server} \"{}\": {what}", plan.title))
    };
    let shown = |plan: &&Plan| app.rows.iter().any(|row| row.key == plan.key);
    let hidden = plans.len() - plans.iter().filter(shown).count();
    let unseen =
        (hidden > 0).then(|| format!("({hidden} of them are not on the screen's list now)"));
    Some(Dialog {
        title: format!("Abort {} sessions", plans.len()),
        scroll: app.ui.dialog_scroll,
        lines: unseen.into_iter().chain(plans.iter().map(line)).collect(),
        foot: DO_IT.to_owned(),
    })
}

fn load(app: &App, key: &SessionKey) -> Option<Dialog> {
    let session = app.store.session(key)?;
    let server = server(app, key)?;
    Some(Dialog {
        title: format!("Load the project of \"{}\" on {server}", rows::title(session)),
        scroll: app.ui.dialog_scroll,
        lines: vec![
            clean(session.info.directory.as_str()),
            "The server has not been asked about this project. Asking starts it: its plugins run, and it stays loaded.".to_owned(),
        ],
        foot: DO_IT.to_owned(),
    })
}

fn load_all(app: &App, asleep: &[(ServerId, Directory)]) -> Dialog {
    let mut lines = vec![
        "The servers have not been asked about these projects. Asking starts each of them: its plugins run, and it stays loaded.".to_owned(),
    ];
    for (id, server) in app.store.servers() {
        let here = asleep.iter().filter(|(of, _)| *of == id);
        let here: Vec<String> = here.map(|(_, it)| clean(it.as_str())).collect();
        if !here.is_empty() {
            let name = clean(&server.spec.name);
            lines.push(format!("{name}: {}", counted(here.len())));
            lines.extend(here.into_iter().map(|it| format!("  {it}")));
        }
    }
    Dialog {
        title: format!("Load {}", counted(asleep.len())),
        scroll: app.ui.dialog_scroll,
        lines,
        foot: DO_IT.to_owned(),
    }
}

fn counted(projects: usize) -> String {
    let plural = if projects == 1 { "" } else { "s" };
    format!("{projects} project{plural}")
}

fn attach(app: &App, key: &SessionKey) -> Option<Dialog> {
    let session = app.store.session(key)?;
    let server = server(app, key)?;
    Some(Dialog {
        title: format!("Attach to \"{}\" on {server}", rows::title(session)),
        scroll: app.ui.dialog_scroll,
        lines: vec![
            clean(session.info.directory.as_str()),
            "This project is asleep. Attaching starts it: its plugins run, and it stays loaded."
                .to_owned(),
        ],
        foot: DO_IT.to_owned(),
    })
}

fn copied(app: &App, copied: &Copied) -> Dialog {
    let note = copied.note.map(str::to_owned);
    let lines = [clean(&copied.text), String::new()].into_iter();
    let how = "It was sent to the clipboard; not every terminal takes it.".to_owned();
    Dialog {
        title: format!("Copied: {}", copied.what),
        scroll: app.ui.dialog_scroll,
        lines: lines.chain(note).chain([how]).collect(),
        foot: LEAVE.to_owned(),
    }
}

fn reset(app: &App, state: &ResetDialog) -> Option<Dialog> {
    let server = server(app, &state.key)?;
    let (lines, foot) = match &state.stage {
        Stage::Reading => (vec!["reading it afresh …".to_owned()], LEAVE),
        Stage::Failed(why) => (vec![clean(&format!("it could not be read: {why}"))], LEAVE),
        Stage::Shown(ladder, _) => {
            let lines = ladder.lines.iter().zip(1..);
            let lines = lines.map(|(line, number)| format!("{number} {}", clean(line)));
            let foot = match ladder.climbs() {
                true if app.has_unread_plan() => READ_ON,
                true => DO_IT,
                false => LEAVE,
            };
            (lines.collect(), foot)
        }
    };
    Some(Dialog {
        title: format!("Reset \"{}\" on {server}", clean(&state.subject.title)),
        scroll: app.ui.dialog_scroll,
        lines,
        foot: foot.to_owned(),
    })
}
