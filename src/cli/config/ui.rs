//! `[ui]` of the configuration: how the dashboard behaves for eye and hand.

use serde::Deserialize;

/// The section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ui {
    /// Ages, countdowns and the clock move every ten seconds instead of every second.
    pub reduced_motion: bool,
    /// Clicks and the wheel are for the dashboard, not for the terminal.
    pub mouse: bool,
}

impl Default for Ui {
    fn default() -> Self {
        Self {
            reduced_motion: false,
            mouse: true,
        }
    }
}
