//! The only way in: [`Store::apply`].

use crate::core::store::{Change, Store};
use crate::core::wire::Input;

impl Store {
    /// Takes one input. Idempotent; never an error.
    pub fn apply(&mut self, input: Input) -> Change {
        Change::Stale(input.server)
    }
}
