//! The mouse in the loop: what lies under the pointer on the screen that the terminal shows.

use super::{Dashboard, DashboardError, Show};
use crate::core::app::Msg;
use crate::core::time::{Span, UnixMs};
use crate::tui::{self, Press};
use crossterm::event::MouseEvent;

/// Two clicks at one cell that follow so closely are one double click.
const DOUBLE: Span = Span(500);

/// Where and when the last click was.
pub(super) type Clicked = Option<(u16, u16, UnixMs)>;

impl Dashboard {
    /// What a hand does with the mouse is meant for what it sees: until a screen is drawn, for nothing.
    pub(super) fn mouse(
        &mut self,
        show: &mut Show,
        event: MouseEvent,
    ) -> Result<(), DashboardError> {
        let area = show.terminal.area()?;
        let (column, row) = (event.column, event.row);
        let (Some(press), Some(screen)) = (tui::press(event), show.pacer.shown()) else {
            return Ok(());
        };
        let Some(target) = tui::hit(screen, &self.theme, area, column, row) else {
            return Ok(());
        };
        let msg = match press {
            Press::Wheel(down) => Msg::Wheel { target, down },
            Press::Click => {
                let now = (self.clock)();
                let last = show.clicked.replace((column, row, now));
                // The table may have moved under it.
                let again = last.is_some_and(|(x, y, at)| {
                    (x, y) == (column, row) && (Span::ZERO..DOUBLE).contains(&now.since(at))
                });
                Msg::Click { target, again }
            }
        };
        self.take(show, msg)
    }
}
