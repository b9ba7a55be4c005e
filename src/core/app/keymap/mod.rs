//! THE key table. Dispatch, footer, help overlay, README and the check for conflicts are all
//! derived from it; nothing else knows which key does what.

mod action;

pub use super::key::Key;
pub use action::Action;

/// When the footer offers an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum When {
    /// Moving about: in help, not in the footer.
    Moving,
    /// A row is selected.
    Row,
    /// The findings of the selected row offer to send a prompt.
    Resend,
    /// Something is asked in the selected row or below it.
    Asking,
    /// A permission is asked there.
    Permission,
    /// The selected row is of an asleep project.
    Asleep,
    /// A server is lost.
    Lost,
    /// Something was done here.
    Logged,
    /// Always.
    Always,
}

/// One line of the table.
#[derive(Debug, Clone, Copy)]
pub struct Binding {
    /// What it does.
    pub action: Action,
    /// Its name in the configuration.
    pub name: &'static str,
    /// The keys, the one shown first.
    pub keys: &'static [Key],
    /// One or two words for the footer.
    pub words: &'static str,
    /// A line for help and README.
    pub help: &'static str,
    /// When the footer offers it.
    pub when: When,
}

const fn bind(
    action: Action,
    name: &'static str,
    keys: &'static [Key],
    words: &'static str,
    help: &'static str,
    when: When,
) -> Binding {
    Binding {
        action,
        name,
        keys,
        words,
        help,
        when,
    }
}

/// The table, in the order of help and footer.
pub static KEYMAP: &[Binding] = &[
    bind(
        Action::Reply,
        "reply",
        &[Key::Char('r')],
        "reply",
        "reply to what is asked, in a form; on a session above the one that asks as well",
        When::Asking,
    ),
    bind(
        Action::AllowOnce,
        "allow-once",
        &[Key::Char('y')],
        "once",
        "grant the permission that is asked, this once",
        When::Permission,
    ),
    bind(
        Action::AllowAlways,
        "allow-always",
        &[Key::Char('Y')],
        "always",
        "grant it from now on: shows for what, and asks",
        When::Permission,
    ),
    bind(
        Action::Deny,
        "deny",
        &[Key::Char('d')],
        "deny",
        "reject what is asked, with words if you like; dismiss what nobody waits for any more",
        When::Asking,
    ),
    bind(
        Action::Abort,
        "abort",
        &[Key::Char('a')],
        "abort",
        "abort the session, verified; at once if it runs and is stuck, else it asks first",
        When::Row,
    ),
    bind(
        Action::Resend,
        "resend",
        &[Key::Char('s')],
        "resend",
        "send its prompt again, or tell it to go on; the text is shown first, and sent once",
        When::Resend,
    ),
    bind(
        Action::Export,
        "export",
        &[Key::Char('e')],
        "export",
        "export the session to a JSON file that `opencode import` takes",
        When::Row,
    ),
    bind(
        Action::Reset,
        "reset",
        &[Key::Char('R')],
        "reset",
        "bring the session to where its next prompt is answered; shows the plan first",
        When::Row,
    ),
    bind(
        Action::Mark,
        "mark",
        &[Key::Char(' ')],
        "mark",
        "mark the session: abort and export then act on all that are marked; Esc unmarks",
        When::Moving,
    ),
    bind(
        Action::Explain,
        "explain",
        &[Key::Char('x')],
        "explain",
        "show every rule that was tried, with its answer",
        When::Row,
    ),
    bind(
        Action::Open,
        "open",
        &[Key::Enter],
        "open",
        "open the detail; Enter again closes it",
        When::Row,
    ),
    bind(
        Action::Load,
        "load",
        &[Key::Char('L')],
        "load project",
        "load the asleep project of this row (this starts the project on the server)",
        When::Asleep,
    ),
    bind(
        Action::Servers,
        "servers",
        &[Key::Char('S')],
        "retry now",
        "try lost servers again now",
        When::Lost,
    ),
    bind(
        Action::Filter,
        "filter",
        &[Key::Char('/')],
        "filter",
        "show only rows that contain a text; Esc clears it",
        When::Always,
    ),
    bind(
        Action::Attention,
        "attention",
        &[Key::Char('!')],
        "attention only",
        "show only what needs attention",
        When::Always,
    ),
    bind(
        Action::Help,
        "help",
        &[Key::Char('?')],
        "help",
        "show or leave this help",
        When::Always,
    ),
    bind(
        Action::Back,
        "back",
        &[Key::Char('q'), Key::Esc],
        "quit",
        "go back; at the top, q quits",
        When::Always,
    ),
    bind(
        Action::Log,
        "log",
        &[Key::Tab],
        "log",
        "show or leave the log: what was done here and how it ended",
        When::Logged,
    ),
    bind(
        Action::Quit,
        "quit",
        &[Key::Char('Q'), Key::Ctrl('c')],
        "quit",
        "quit from anywhere",
        When::Moving,
    ),
    bind(
        Action::Down,
        "down",
        &[Key::Char('j'), Key::Down],
        "down",
        "next row",
        When::Moving,
    ),
    bind(
        Action::Up,
        "up",
        &[Key::Char('k'), Key::Up],
        "up",
        "previous row",
        When::Moving,
    ),
    bind(
        Action::Top,
        "top",
        &[Key::Char('g'), Key::Home],
        "top",
        "first row",
        When::Moving,
    ),
    bind(
        Action::Bottom,
        "bottom",
        &[Key::Char('G'), Key::End],
        "bottom",
        "last row",
        When::Moving,
    ),
    bind(
        Action::PageDown,
        "page-down",
        &[Key::PageDown],
        "page down",
        "a screenful down",
        When::Moving,
    ),
    bind(
        Action::PageUp,
        "page-up",
        &[Key::PageUp],
        "page up",
        "a screenful up",
        When::Moving,
    ),
    bind(
        Action::HalfDown,
        "half-down",
        &[Key::Ctrl('d')],
        "half down",
        "half a screenful down",
        When::Moving,
    ),
    bind(
        Action::HalfUp,
        "half-up",
        &[Key::Ctrl('u')],
        "half up",
        "half a screenful up",
        When::Moving,
    ),
    bind(
        Action::Fold,
        "fold",
        &[Key::Char('h'), Key::Left],
        "fold",
        "fold the children of this row; on a child, go to its parent",
        When::Moving,
    ),
    bind(
        Action::Unfold,
        "unfold",
        &[Key::Char('l'), Key::Right],
        "unfold",
        "unfold the children of this row",
        When::Moving,
    ),
    bind(
        Action::Redraw,
        "redraw",
        &[Key::Ctrl('l')],
        "redraw",
        "draw the whole screen again",
        When::Moving,
    ),
    bind(
        Action::Suspend,
        "suspend",
        &[Key::Ctrl('z')],
        "suspend",
        "put ocwatch in the background (fg brings it back)",
        When::Moving,
    ),
];

/// What a key does.
pub fn action(key: Key) -> Option<Action> {
    KEYMAP
        .iter()
        .find(|binding| binding.keys.contains(&key))
        .map(|binding| binding.action)
}

/// The keys of an action as shown: `q Esc`.
pub fn keys_of(binding: &Binding) -> String {
    let names: Vec<String> = binding.keys.iter().map(Key::to_string).collect();
    names.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn no_key_and_no_name_stands_twice() {
        let mut keys: BTreeMap<Key, &str> = BTreeMap::new();
        let mut names = BTreeSet::new();
        let mut actions = BTreeSet::new();
        for binding in KEYMAP {
            assert!(names.insert(binding.name), "{} twice", binding.name);
            assert!(actions.insert(binding.action), "{} twice", binding.name);
            assert!(!binding.keys.is_empty());
            for key in binding.keys {
                if let Some(other) = keys.insert(*key, binding.name) {
                    panic!("{key} is both {other} and {}", binding.name);
                }
            }
        }
    }

    #[test]
    fn keys_that_terminals_or_their_users_keep_are_not_used() {
        for binding in KEYMAP {
            assert!(!binding.keys.contains(&Key::Ctrl('s')));
            assert!(!binding.keys.contains(&Key::Ctrl('q')));
        }
    }
}
