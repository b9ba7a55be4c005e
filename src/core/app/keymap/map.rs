//! Which key does what here: the table with what the user changed.
//!
//! What it does: join the two so that no key means two things, and say how a key is called. What it
//! does not: read a configuration. Invariants: a key has one action at most; the [`FIXED`] keys keep
//! theirs, so nobody can lock himself in.

use super::{Action, Key, binding, keymap, keys_of};
use std::collections::BTreeMap;

/// Keys that always do this, beside those that the user chooses.
pub const FIXED: [(Key, Action); 2] = [(Key::Ctrl('c'), Action::Quit), (Key::Esc, Action::Back)];

/// The keys that move, as what they move in knows them.
const MOVES: [(Action, Key); 10] = [
    (Action::Down, Key::Down),
    (Action::Up, Key::Up),
    (Action::Top, Key::Home),
    (Action::Bottom, Key::End),
    (Action::PageDown, Key::PageDown),
    (Action::PageUp, Key::PageUp),
    (Action::HalfDown, Key::PageDown),
    (Action::HalfUp, Key::PageUp),
    (Action::Fold, Key::Left),
    (Action::Unfold, Key::Right),
];

/// Two actions want one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clash {
    /// Which key.
    pub key: Key,
    /// Who was given it by the user.
    pub wished: Action,
    /// Who has it already.
    pub has: Action,
    /// The other one was given it by the user, too; else it is its own by default.
    pub both: bool,
}

/// Every action with its keys, the one shown first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keymap(BTreeMap<Action, Vec<Key>>);

impl Default for Keymap {
    fn default() -> Self {
        Self(keymap().map(|it| (it.action, it.keys.to_vec())).collect())
    }
}

impl Keymap {
    /// The table with these actions on other keys. What is not named keeps its keys: who is given one
    /// of them must be told that, and not find that it took it away.
    ///
    /// # Errors
    /// The first [`Clash`], in the order of the wishes.
    pub fn with(wishes: &[(Action, Vec<Key>)]) -> Result<Self, Clash> {
        let mut map = Self::default();
        for (action, keys) in wishes {
            let mut keys = keys.clone();
            let fixed = FIXED.iter().filter(|(_, of)| of == action);
            for (key, _) in fixed {
                keys.retain(|it| it != key);
                keys.push(*key);
            }
            map.0.insert(*action, keys);
        }
        for (place, (wished, _)) in wishes.iter().enumerate() {
            let before = wishes.iter().take(place).map(|(action, _)| *action);
            let before: Vec<Action> = before.collect();
            map.clash(*wished, &before, wishes)?;
        }
        Ok(map)
    }

    fn clash(
        &self,
        wished: Action,
        before: &[Action],
        wishes: &[(Action, Vec<Key>)],
    ) -> Result<(), Clash> {
        let named = |action: &Action| wishes.iter().any(|(it, _)| it == action);
        for key in self.keys(wished) {
            let mut others = self.0.iter().filter(|(_, keys)| keys.contains(key));
            let has = others
                .find(|(other, _)| **other != wished && (!named(other) || before.contains(other)));
            if let Some((has, _)) = has {
                return Err(Clash {
                    key: *key,
                    wished,
                    has: *has,
                    both: named(has),
                });
            }
        }
        Ok(())
    }

    /// What a key does.
    pub fn action(&self, key: Key) -> Option<Action> {
        let mut all = self.0.iter();
        let found = all.find(|(_, keys)| keys.contains(&key));
        found.map(|(action, _)| *action)
    }

    /// The keys of an action, the one shown first.
    pub fn keys(&self, action: Action) -> &[Key] {
        self.0.get(&action).map_or(&[], Vec::as_slice)
    }

    /// The first key of an action by its name; of one that has none, how the command line calls it.
    pub fn shown(&self, action: Action) -> String {
        match (self.keys(action).first(), binding(action)) {
            (Some(key), _) => key.to_string(),
            (None, Some(binding)) => format!(":{}", binding.name),
            (None, None) => String::new(),
        }
    }

    /// All keys of an action: `q Esc`.
    pub fn all(&self, action: Action) -> String {
        keys_of(self.keys(action))
    }

    /// The arrow (or page key) that means the same, for what knows only arrows: dialogs, forms,
    /// lists. Other keys stay what they are.
    pub fn arrow(&self, key: Key) -> Key {
        let action = self.action(key);
        let arrow = MOVES.iter().find(|(it, _)| Some(*it) == action);
        arrow.map_or(key, |(_, arrow)| *arrow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_another_action_has_is_a_clash_unless_that_one_moves_away() {
        let wish = (Action::Mark, vec![Key::Char('a')]);
        let clash = Keymap::with(std::slice::from_ref(&wish)).expect_err("a is abort's");
        assert_eq!(
            (clash.wished, clash.has, clash.both),
            (Action::Mark, Action::Abort, false)
        );
        for away in [vec![Key::Char('A')], Vec::new()] {
            let map = Keymap::with(&[wish.clone(), (Action::Abort, away.clone())]);
            let map = map.expect("it moved away");
            assert_eq!(map.action(Key::Char('a')), Some(Action::Mark));
            assert_eq!(map.keys(Action::Abort), away);
            assert_eq!(map.action(Key::Char(' ')), None);
        }
        let both = [wish, (Action::Abort, vec![Key::Char('A'), Key::Char('a')])];
        let clash = Keymap::with(&both).expect_err("both want it");
        assert_eq!(
            (clash.wished, clash.has, clash.both),
            (Action::Abort, Action::Mark, true)
        );
    }

    #[test]
    fn who_has_no_key_is_called_by_name_and_quit_and_back_always_have_one() {
        let none = |action| (action, Vec::new());
        let map = Keymap::with(&[none(Action::Quit), none(Action::Back), none(Action::Load)]);
        let map = map.expect("no clash");
        assert_eq!(map.action(Key::Ctrl('c')), Some(Action::Quit));
        assert_eq!(map.action(Key::Esc), Some(Action::Back));
        assert_eq!(map.shown(Action::Load), ":load");
        for (key, _) in FIXED {
            assert!(Keymap::with(&[(Action::Mark, vec![key])]).is_err());
        }
    }

    #[test]
    fn keys_are_shown_shortly_and_moves_are_arrows() {
        let map = Keymap::with(&[(Action::Down, vec![Key::Ctrl('n')])]).expect("free");
        assert_eq!(map.all(Action::Up), "k Up");
        assert_eq!(
            keys_of(&('1'..='9').map(Key::Char).collect::<Vec<_>>()),
            "1-9"
        );
        assert_eq!(keys_of(&[Key::Char('1'), Key::Char('3')]), "1 3");
        assert_eq!(map.arrow(Key::Ctrl('n')), Key::Down);
        assert_eq!(map.arrow(Key::Char('k')), Key::Up);
        assert_eq!(map.arrow(Key::Down), Key::Down);
        assert_eq!(map.arrow(Key::Char('j')), Key::Char('j'));
    }
}
