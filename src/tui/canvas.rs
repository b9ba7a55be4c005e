//! What ratatui draws on: bytes that are composed here and written elsewhere.
//!
//! What it does: keeps what one frame writes together, and leaves out what changes nothing (a cursor
//! that stays where it is, a frame without a cell). What it does not: write to the terminal.
//! Invariant: a frame that changes nothing that can be seen is empty.

use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};
use std::io;

/// A backend that keeps its bytes.
#[derive(Debug, Default)]
pub(super) struct Canvas {
    bytes: Vec<u8>,
    /// Where the cursor is shown; hidden: none.
    cursor: Option<Position>,
    /// It is elsewhere: cells were drawn.
    strayed: bool,
}

impl Canvas {
    /// What was composed since it was last asked.
    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// The terminal was taken over anew: nothing is composed, and no cursor shown.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    fn inner(&mut self) -> CrosstermBackend<&mut Vec<u8>> {
        CrosstermBackend::new(&mut self.bytes)
    }
}

impl Backend for Canvas {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let mut content = content.peekable();
        if content.peek().is_none() {
            return Ok(());
        }
        self.strayed = true;
        self.inner().draw(content)
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        match self.cursor.take() {
            Some(_) => self.inner().hide_cursor(),
            None => Ok(()),
        }
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        if self.cursor.is_some() {
            return Ok(());
        }
        // Its place comes with the next call.
        self.strayed = true;
        self.cursor = Some(Position::ORIGIN);
        self.inner().show_cursor()
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        // Never by asking the terminal: the reader of keys may take its answer away.
        Ok(self.cursor.unwrap_or_default())
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        let position = position.into();
        if std::mem::take(&mut self.strayed) || self.cursor != Some(position) {
            self.cursor = self.cursor.map(|_| position);
            return self.inner().set_cursor_position(position);
        }
        Ok(())
    }

    fn clear(&mut self) -> io::Result<()> {
        self.clear_region(ClearType::All)
    }

    fn clear_region(&mut self, region: ClearType) -> io::Result<()> {
        self.inner().clear_region(region)
    }

    fn size(&self) -> io::Result<Size> {
        CrosstermBackend::new(io::sink()).size()
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        self.inner().window_size()
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_that_changes_nothing_is_empty() {
        let mut canvas = Canvas::default();
        let cell = Cell::new("x");
        canvas.hide_cursor().unwrap();
        canvas.draw(std::iter::empty()).unwrap();
        assert!(canvas.take().is_empty());
        canvas.draw([(3, 4, &cell)].into_iter()).unwrap();
        assert!(String::from_utf8(canvas.take()).unwrap().contains('x'));
    }

    #[test]
    fn the_cursor_is_put_back_after_cells_were_drawn_and_else_left_alone() {
        let mut canvas = Canvas::default();
        let cell = Cell::new("x");
        let mut frame = |cells: &[(u16, u16, &Cell)]| {
            canvas.draw(cells.iter().copied()).unwrap();
            canvas.show_cursor().unwrap();
            canvas.set_cursor_position((5, 6)).unwrap();
            String::from_utf8(canvas.take()).unwrap()
        };
        assert!(frame(&[]).contains("\x1b[7;6H"), "the first time");
        assert_eq!(frame(&[]), "");
        assert!(frame(&[(3, 4, &cell)]).ends_with("\x1b[7;6H"));
        canvas.hide_cursor().unwrap();
        assert!(!canvas.take().is_empty());
    }
}
