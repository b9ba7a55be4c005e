//! `[ui]` of the configuration: how the dashboard behaves for the eye.

use serde::Deserialize;

/// The section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ui {
    /// Ages, countdowns and the clock move every ten seconds instead of every second.
    pub reduced_motion: bool,
}
