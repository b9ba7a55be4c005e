//! The command line: what stands there, what it may become, why it was not run.

use super::footer::applies;
use super::{Command, Offered, clean};
use crate::core::app::App;
use crate::core::app::keymap::binding;

pub(super) fn command(app: &App) -> Option<Command> {
    let command = app.ui.command.as_ref()?;
    let applies = applies(app);
    let offered = app.completions().into_iter().map(|it| Offered {
        keys: it
            .action
            .map(|action| app.keymap.all(action))
            .unwrap_or_default(),
        dim: it
            .action
            .and_then(binding)
            .is_some_and(|line| !applies(line)),
        word: clean(&it.word),
        help: clean(&it.help),
    });
    Some(Command {
        text: clean(&command.line.text),
        cursor: command.line.cursor,
        offered: offered.collect(),
        chosen: command.chosen,
        wrong: command.wrong.as_deref().map(clean),
    })
}
