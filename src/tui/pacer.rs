//! When to draw: at most so many times a second, and only what changed.
//!
//! What it does: arithmetic on times that it is given. What it does not: wait, or ask for the
//! time. Invariants: two looks at what a screen should show are at least one frame apart; what only
//! servers say is looked at [`CALM`] times a second, what a person did as soon as may be; a screen
//! equal to the one that is on the terminal is not drawn again.

use crate::core::present::Screen;
use crate::core::time::{Span, UnixMs};

/// So many frames a second are enough for what nobody waits for.
const CALM: i64 = 5;

/// How soon the screen is to be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Wish {
    None,
    Calm,
    Soon,
}

/// Decides when the next frame is due and whether it is worth drawing.
#[derive(Debug)]
pub struct Pacer {
    gap: Span,
    wish: Wish,
    looked_at: Option<UnixMs>,
    shown: Option<Screen>,
}

impl Pacer {
    /// At most `fps` frames a second, 1..=1000; the first is due at once.
    pub fn new(fps: u16) -> Self {
        let fps = i64::from(fps.clamp(1, 1000));
        Self {
            gap: Span((1000 + fps - 1) / fps),
            wish: Wish::Soon,
            looked_at: None,
            shown: None,
        }
    }

    /// Something may look different now: a server said something.
    pub fn touch(&mut self) {
        self.wish = self.wish.max(Wish::Calm);
    }

    /// Something may look different now, and somebody waits for it.
    pub fn hurry(&mut self) {
        self.wish = Wish::Soon;
    }

    /// What the terminal shows is not known any more (resized, cleared): draw even if equal.
    pub fn forget(&mut self) {
        self.shown = None;
        self.hurry();
    }

    /// When to draw next: `None` when nothing changed, `now` when it is due, never further ahead
    /// than one frame, whatever the clock does.
    pub fn next_frame_at(&self, now: UnixMs) -> Option<UnixMs> {
        let gap = match self.wish {
            Wish::None => return None,
            Wish::Calm => self.gap.max(Span(1000 / CALM)),
            Wish::Soon => self.gap,
        };
        let due = self.looked_at.map_or(now, |looked| looked + gap);
        Some(due.clamp(now, now + gap))
    }

    /// What the terminal shows, if that is known.
    pub fn shown(&self) -> Option<&Screen> {
        self.shown.as_ref()
    }

    /// Takes the screen of this frame; answers it back if it differs from the one shown.
    pub fn frame(&mut self, screen: Screen, now: UnixMs) -> Option<&Screen> {
        self.wish = Wish::None;
        self.looked_at = Some(now);
        if self.shown.as_ref() == Some(&screen) {
            return None;
        }
        Some(self.shown.insert(screen))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A screen with nothing on it but a clock.
    pub(in crate::tui) fn screen(clock: &str) -> Screen {
        Screen {
            clock: clock.to_owned(),
            ..Screen::default()
        }
    }

    #[test]
    fn frames_keep_their_distance() {
        let mut pacer = Pacer::new(30);
        assert_eq!(pacer.next_frame_at(UnixMs(1000)), Some(UnixMs(1000)));
        assert!(pacer.frame(screen("1"), UnixMs(1000)).is_some());
        assert_eq!(pacer.next_frame_at(UnixMs(1001)), None, "nothing changed");
        pacer.touch();
        assert_eq!(
            pacer.next_frame_at(UnixMs(1001)),
            Some(UnixMs(1200)),
            "calm"
        );
        pacer.hurry();
        pacer.touch();
        assert_eq!(
            pacer.next_frame_at(UnixMs(1001)),
            Some(UnixMs(1034)),
            "a key"
        );
        assert_eq!(pacer.next_frame_at(UnixMs(5000)), Some(UnixMs(5000)));
    }

    #[test]
    fn a_clock_set_back_does_not_freeze_the_screen() {
        let mut pacer = Pacer::new(10);
        assert!(pacer.frame(screen("1"), UnixMs(1_000_000)).is_some());
        pacer.hurry();
        assert_eq!(pacer.next_frame_at(UnixMs(5)), Some(UnixMs(105)));
    }

    #[test]
    fn an_equal_screen_is_drawn_only_after_a_resize() {
        let mut pacer = Pacer::new(30);
        assert!(pacer.frame(screen("1"), UnixMs(0)).is_some());
        pacer.touch();
        assert!(pacer.frame(screen("1"), UnixMs(100)).is_none());
        assert_eq!(pacer.next_frame_at(UnixMs(100)), None);
        pacer.forget();
        assert!(pacer.frame(screen("1"), UnixMs(200)).is_some());
        assert!(pacer.frame(screen("2"), UnixMs(300)).is_some());
    }
}
