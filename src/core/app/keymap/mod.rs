//! THE key table. Dispatch, footer, help overlay, README and the check for conflicts are all
//! derived from it and from what the user changes in it ([`Keymap`]); nothing else knows which key
//! does what.

mod acting;
mod action;
mod looking;
mod map;
mod moving;

pub use super::key::{Key, NoKey};
pub use action::Action;
pub use map::{Clash, FIXED, Keymap};

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
    /// Its name in the configuration and on the command line.
    pub name: &'static str,
    /// The keys unless the user chose others, the one shown first; none: the command line has it.
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

/// The line of the table for an action.
pub fn binding(action: Action) -> Option<&'static Binding> {
    keymap().find(|binding| binding.action == action)
}

/// Keys as shown: `q Esc`; of digits that follow each other the first and last: `1-9`.
pub fn keys_of(keys: &[Key]) -> String {
    let digits = keys
        .iter()
        .filter(|key| matches!(key, Key::Char('0'..='9')));
    if let [Key::Char(first), .., Key::Char(last)] = keys
        && digits.count() == keys.len()
        && keys.is_sorted()
        && u32::from(*last) - u32::from(*first) + 1 == u32::try_from(keys.len()).unwrap_or(0)
    {
        return format!("{first}-{last}");
    }
    let names: Vec<String> = keys.iter().map(Key::to_string).collect();
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
            assert!(!binding.name.contains(' '));
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
