//! The command line: everything that a key can do, by its name; and what has no key.
//!
//! What it does: take keys while it is typed, go through what it may become and what was typed before,
//! and run it. What it does not: act by itself; a command runs through the same [`App::act`] as its
//! key, with the same guards. Invariant: what is meant for the selected session is not done when
//! another one came under the line while it was typed.

mod argument;
mod complete;

pub use complete::Completion;

use crate::core::app::keymap::{Action, Key, When, binding};
use crate::core::app::{App, Effect, TextLine};
use crate::core::id::SessionKey;
use crate::core::time::UnixMs;

/// Short names that fingers know, beside those of the key table.
const ALIASES: [(&str, Action); 2] = [("q", Action::Quit), ("h", Action::Help)];

/// The line while it is typed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommandLine {
    /// What stands there.
    pub line: TextLine,
    /// What was typed of it; completions begin with this.
    pub stem: String,
    /// The candidate that `Tab` put there.
    pub chosen: Option<usize>,
    /// Why it was not run.
    pub wrong: Option<String>,
    /// The selected session when it was opened.
    on: Option<SessionKey>,
}

impl CommandLine {
    /// With this typed.
    fn typed(text: String, on: Option<SessionKey>) -> Self {
        Self {
            line: TextLine::new(text.clone()),
            stem: text,
            on,
            ..Self::default()
        }
    }

    fn edited(&mut self) {
        self.stem.clone_from(&self.line.text);
        self.chosen = None;
        self.wrong = None;
    }
}

/// Whether it is about the selected session.
fn is_of_a_row(action: Action) -> bool {
    let of_a_row = |when| {
        matches!(
            when,
            When::Row | When::Resend | When::Asking | When::Permission | When::Asleep
        )
    };
    action == Action::Mark || binding(action).is_some_and(|it| of_a_row(it.when))
}

/// The action of this name.
fn named(name: &str) -> Option<Action> {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
    let table = crate::core::app::keymap::keymap().find(|it| it.name == name);
    let action = table.map(|it| it.action);
    action.or(alias.map(|(_, action)| *action))
}

impl App {
    /// Opens the line with this in it.
    pub(super) fn open_command(&mut self, text: &str) -> Vec<Effect> {
        let on = self.ui.selected.clone();
        self.ui.command = Some(CommandLine::typed(text.to_owned(), on));
        self.commands.leave();
        Vec::new()
    }

    /// A key while it is typed.
    pub(super) fn type_command(&mut self, key: Key, now: UnixMs) -> Vec<Effect> {
        match key {
            Key::Esc => self.ui.command = None,
            Key::Enter => return self.run_typed(now),
            Key::Tab => self.complete(1),
            Key::BackTab => self.complete(-1),
            Key::Up => {
                let typed = self.ui.command.as_ref().map(|it| it.line.text.clone());
                let earlier = self.commands.earlier(&typed.unwrap_or_default());
                self.recall(earlier);
            }
            Key::Down => {
                let later = self.commands.later();
                self.recall(later);
            }
            _ => self.edit_command(key),
        }
        Vec::new()
    }

    fn edit_command(&mut self, key: Key) {
        let Some(command) = &mut self.ui.command else {
            return;
        };
        if key == Key::Backspace && command.line.text.is_empty() {
            self.ui.command = None;
        } else if command.line.key(key) {
            command.edited();
            self.commands.leave();
        }
    }

    /// Pasted text goes into the line.
    pub(super) fn paste_command(&mut self, text: &str) {
        if let Some(command) = &mut self.ui.command {
            command.line.paste(text);
            command.edited();
            self.commands.leave();
        }
    }

    /// What the line may become.
    pub fn completions(&self) -> Vec<Completion> {
        let command = self.ui.command.as_ref();
        command.map_or_else(Vec::new, |it| complete::completions(self, &it.stem))
    }

    fn complete(&mut self, by: isize) {
        let Some(mut command) = self.ui.command.take() else {
            return;
        };
        let all = complete::completions(self, &command.stem);
        let count = isize::try_from(all.len()).unwrap_or(0);
        let place = command.chosen.and_then(|it| isize::try_from(it).ok());
        let next = place.map_or(if by > 0 { 0 } else { -1 }, |it| it + by);
        let next = usize::try_from(next.rem_euclid(count.max(1))).unwrap_or(0);
        if let Some(candidate) = all.get(next) {
            command.line = TextLine::new(candidate.text.clone());
            command.chosen = Some(next);
            command.wrong = None;
        }
        if let [only] = all.as_slice()
            && only.takes
        {
            // The only one: on to what stands behind it.
            command.line = TextLine::new(format!("{} ", only.text));
            command.edited();
        }
        self.ui.command = Some(command);
    }

    fn recall(&mut self, text: Option<String>) {
        if let (Some(command), Some(text)) = (&mut self.ui.command, text) {
            command.line = TextLine::new(text);
            command.edited();
        }
    }

    /// `Enter`. What cannot be run stays, with the reason.
    fn run_typed(&mut self, now: UnixMs) -> Vec<Effect> {
        let Some(mut command) = self.ui.command.take() else {
            return Vec::new();
        };
        let text = command.line.text.trim().to_owned();
        if text.is_empty() {
            return Vec::new();
        }
        let done = self
            .runnable(&text, &command)
            .and_then(|(action, rest)| self.run(action, rest, now));
        match done {
            Ok(effects) => {
                self.commands.add(&text);
                effects
            }
            Err(why) => {
                command.on.clone_from(&self.ui.selected);
                command.wrong = Some(why);
                self.ui.command = Some(command);
                Vec::new()
            }
        }
    }

    /// The action and what stands behind its name, or why it cannot be run.
    fn runnable<'a>(
        &self,
        text: &'a str,
        command: &CommandLine,
    ) -> Result<(Action, &'a str), String> {
        let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let action = named(name).ok_or_else(|| complete::unknown(name))?;
        let rest = rest.trim();
        if !rest.is_empty() && argument::of(action).is_none() {
            return Err(format!("`{name}` takes nothing behind it"));
        }
        if is_of_a_row(action) && command.on != self.ui.selected {
            let why = "another session was selected while this was typed: look, then Enter again";
            return Err(why.to_owned());
        }
        Ok((action, rest))
    }

    fn run(&mut self, action: Action, rest: &str, now: UnixMs) -> Result<Vec<Effect>, String> {
        match argument::of(action) {
            Some(argument) if !rest.is_empty() => (argument.run)(self, rest, now),
            _ => {
                let mut keys = self.keymap.keys(action).iter();
                // Esc only goes back; a command is no slip of an escape sequence.
                let key = keys.find(|key| **key != Key::Esc).copied();
                Ok(self.act(action, key.unwrap_or(Key::Enter), now))
            }
        }
    }
}
