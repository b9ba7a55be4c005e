//! What is kept from one run to the next: filters that were typed, and what was seen.

use crate::core::app::{App, Effect, History, SeenMark};
use serde::{Deserialize, Serialize};

/// Kept on a disk as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Memory {
    /// Filters, oldest first.
    #[serde(default)]
    pub filters: Vec<String>,
    /// What is snoozed, oldest first.
    #[serde(default)]
    pub seen: Vec<SeenMark>,
}

impl App {
    /// Takes what an earlier run left.
    pub fn begin_with(&mut self, memory: Memory) {
        self.ui.filter.history = History::new(memory.filters);
        self.recall_seen(memory.seen);
    }

    /// What the next run should know.
    pub(super) fn keep_for_later(&self) -> Effect {
        Effect::Remember(Memory {
            filters: self.ui.filter.history.lines().to_vec(),
            seen: self.seen_marks(),
        })
    }
}
