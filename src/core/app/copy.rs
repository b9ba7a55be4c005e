//! `c`, `C`, `E`: text for the clipboard. It is always shown as well, since no terminal says whether
//! it took it.

use crate::core::app::keymap::Action;
use crate::core::app::{App, DialogState, Effect};
use crate::core::id::SessionKey;

/// Text that was sent to the clipboard, shown until a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// What it is: `the attach command`.
    pub what: &'static str,
    /// The text, not cleaned.
    pub text: String,
    /// A word about it.
    pub note: Option<&'static str>,
}

/// What nobody should look for in the command.
const PASSWORD: &str = "a password is not part of it: it goes into OPENCODE_SERVER_PASSWORD";

/// Where it leads through a port of ours.
const THROUGH: &str = "it leads through ssh as long as this ocwatch runs; \
     a password is not part of it: it goes into OPENCODE_SERVER_PASSWORD";

impl App {
    /// `c`: the session's id.
    pub(super) fn copy_id(&mut self) -> Vec<Effect> {
        let Some(key) = self.ui.selected.clone() else {
            return Vec::new();
        };
        let id = key.session.as_str().to_owned();
        self.ui.notice = Some(format!("sent to the clipboard: {id}"));
        vec![Effect::Copy(id)]
    }

    /// What the screen showed lies there now.
    pub(super) fn saved(&mut self, path: String) -> Vec<Effect> {
        drop(self.tell(&format!("saved to {path}, its path sent to the clipboard")));
        vec![Effect::Copy(path)]
    }

    /// `C`: the command that `t` runs, for another terminal.
    pub(super) fn copy_attach(&mut self) -> Vec<Effect> {
        let selected = self.ui.selected.clone();
        let command = selected.and_then(|key| Some((self.attach_command(&key)?, key)));
        let Some((command, key)) = command else {
            return self.tell("there is nothing to attach to");
        };
        let words: Vec<String> = command.iter().map(|it| quoted(it)).collect();
        let mut effects = self.open_port(&key);
        let note = if effects.is_empty() {
            PASSWORD
        } else {
            THROUGH
        };
        effects.extend(self.copy("the attach command", words.join(" "), Some(note)));
        effects
    }

    /// An export lies there now.
    pub(super) fn exported(&mut self, key: SessionKey, path: String) -> Vec<Effect> {
        self.exports.insert(key, path);
        Vec::new()
    }

    /// `E`: where the last export of this session lies.
    pub(super) fn copy_export(&mut self) -> Vec<Effect> {
        let selected = self.ui.selected.clone();
        let path = selected.and_then(|key| self.exports.get(&key).cloned());
        let Some(path) = path else {
            let key = self.key_of(Action::Export);
            return self.tell(&format!(
                "nothing of this session was exported from here: {key} exports it"
            ));
        };
        self.copy("the path of its last export", path, None)
    }

    fn copy(
        &mut self,
        what: &'static str,
        text: String,
        note: Option<&'static str>,
    ) -> Vec<Effect> {
        let copied = Copied {
            what,
            text: text.clone(),
            note,
        };
        self.ui.dialog = Some(DialogState::Copied(copied));
        vec![Effect::Copy(text)]
    }
}

/// As a shell takes it for one word.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stays_one_word_in_a_shell() {
        assert_eq!(quoted("http://h:1/a"), "http://h:1/a");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's $(x)"), "'it'\\''s $(x)'");
        assert_eq!(quoted(""), "''");
    }
}
