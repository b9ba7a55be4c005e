//! How a notice reaches somebody: the terminal's bell, a notification by the terminal, the user's
//! command.
//!
//! What it does: carry out what [`crate::core::app::notify`] decided. What it does not: decide
//! anything, or write to the terminal; the bytes go back to the loop, which owns it.

mod hook;
mod osc;

pub use hook::{Hook, Hooks};
pub use osc::{OscKind, Wrap, clipboard, detect, wrap};

use crate::core::app::notify::{Channel, Notice, Noticed};
use crate::core::present::{notice_json, notice_words};
use osc::notification;

/// The ways to tell that there are.
#[derive(Debug, Clone, Default)]
pub struct Ways {
    /// What this terminal understands; `None`: nothing is known of it, or it is not wanted.
    pub osc: Option<OscKind>,
    /// What sequences must pass through.
    pub wrap: Wrap,
    /// The user's command.
    pub hooks: Option<Hooks>,
}

impl Ways {
    /// Has the command run, and gives the bytes for the terminal; may be none.
    pub fn tell(&self, notice: &Notice) -> Vec<u8> {
        let by = |channel: Channel| -> Vec<&Noticed> {
            let all = notice.sessions.iter();
            all.filter(|it| it.channels.contains(&channel)).collect()
        };
        let told = by(Channel::Command);
        if let Some(hooks) = self.hooks.as_ref().filter(|_| !told.is_empty()) {
            hooks.tell(notice_json(notice, &told).to_string());
        }
        let mut bytes = Vec::new();
        let told = by(Channel::Osc);
        if let Some(kind) = self.osc.filter(|_| !told.is_empty()) {
            bytes.extend(notification(kind, &notice_words(&told), self.wrap));
        }
        if !by(Channel::Bell).is_empty() {
            bytes.push(b'\x07');
        }
        bytes
    }
}
