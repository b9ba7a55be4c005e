//! `[ui]` of the configuration: how the dashboard behaves for eye and hand.

use super::section::Section;
use super::wrong::{Wrong, flag, unknown};

/// The section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// The keys of the section.
pub(super) const KEYS: [&str; 2] = ["reduced_motion", "mouse"];

/// What follows from the section.
pub(super) fn read(section: &Section, wrong: &mut Vec<Wrong>) -> Ui {
    let mut ui = Ui::default();
    for line in section.lines() {
        let (key, value) = (line.key.as_str(), &line.value);
        let done = match key {
            "reduced_motion" => flag(key, value).map(|it| ui.reduced_motion = it),
            "mouse" => flag(key, value).map(|it| ui.mouse = it),
            _ => {
                let otherwise = ", expected reduced_motion or mouse";
                Err(unknown("key of [ui]", key, KEYS, otherwise))
            }
        };
        line.note(done, wrong);
    }
    ui
}
