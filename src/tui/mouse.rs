//! From the terminal library's mouse events to what we know of, and the modes that bring them.
//!
//! Clicks and the wheel only: a terminal that also reported motion would wake us for nothing.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

/// Report presses and the wheel (1000), with places beyond column 223 (1006). Not the library's own
/// sequence, which also asks for motion.
pub(super) const TAKE: &[u8] = b"\x1b[?1000h\x1b[?1006h";
/// Every mode by which a program that was killed may have left the mouse taken, switched off.
pub(super) const LEFT_BEHIND: &[u8] = b"\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l";
/// No more of that.
pub(super) const LEAVE: &[u8] = b"\x1b[?1006l\x1b[?1000l";

/// What a hand did with the mouse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Press {
    /// The left button went down.
    Click,
    /// The wheel was turned by one notch; `true`: towards the end.
    Wheel(bool),
}

/// What was done; `None` for releases and buttons that mean nothing here.
pub fn press(event: MouseEvent) -> Option<Press> {
    match event.kind {
        MouseEventKind::Down(MouseButton::Left) => Some(Press::Click),
        MouseEventKind::ScrollDown => Some(Press::Wheel(true)),
        MouseEventKind::ScrollUp => Some(Press::Wheel(false)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::KeyModifiers;

    #[test]
    fn a_release_motion_or_another_button_is_nothing() {
        let pressed = |kind| {
            press(MouseEvent {
                kind,
                column: 0,
                row: 0,
                modifiers: KeyModifiers::NONE,
            })
        };
        let left = MouseButton::Left;
        assert_eq!(pressed(MouseEventKind::Down(left)), Some(Press::Click));
        assert_eq!(pressed(MouseEventKind::ScrollUp), Some(Press::Wheel(false)));
        for kind in [
            MouseEventKind::Up(left),
            MouseEventKind::Drag(left),
            MouseEventKind::Moved,
            MouseEventKind::Down(MouseButton::Right),
            MouseEventKind::Down(MouseButton::Middle),
            MouseEventKind::ScrollLeft,
        ] {
            assert_eq!(pressed(kind), None, "{kind:?}");
        }
    }
}
