//! THE key table. Dispatch, footer, help overlay, README and the check for conflicts are all
//! derived from it; nothing else knows which key does what.

mod acting;
mod action;
mod looking;
mod moving;

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
    /// The detail is seen and has several panes.
    Panes,
    /// Something is looked for.
    Hits,
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

/// The groups of the table with their headings, in the order of help, footer and README.
pub static GROUPS: [(&str, &[Binding]); 3] = [
    ("On sessions", acting::TABLE),
    ("What is shown", looking::TABLE),
    ("Moving about", moving::TABLE),
];

/// The table, in the order of help and footer.
pub fn keymap() -> impl Iterator<Item = &'static Binding> {
    GROUPS.iter().flat_map(|(_, table)| table.iter())
}

/// What a key does.
pub fn action(key: Key) -> Option<Action> {
    keymap()
        .find(|binding| binding.keys.contains(&key))
        .map(|binding| binding.action)
}

/// The keys of an action as shown: `q Esc`, `1-9`.
pub fn keys_of(binding: &Binding) -> String {
    if let [Key::Char('1'), .., last @ Key::Char('9')] = binding.keys {
        return format!("1-{last}");
    }
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
        for binding in keymap() {
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
        for binding in keymap() {
            assert!(!binding.keys.contains(&Key::Ctrl('s')));
            assert!(!binding.keys.contains(&Key::Ctrl('q')));
        }
    }
}
