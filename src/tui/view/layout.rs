//! Where everything goes, from the size alone and from what the screen has.
//!
//! What it does: arithmetic on lines. What it does not: measure texts or draw.
//! Invariant: all regions lie inside the area and do not overlap.

use crate::core::present::Screen;
use ratatui::layout::Rect;

/// Columns below which, and lines below which, there is no table.
const TINY: (u16, u16) = (20, 5);
/// Columns from which a session is one line.
const ONE_LINE: u16 = 60;
/// Lines below which a detail over the table has no rule with its panes.
const LEAST_OVER: u16 = 6;
/// Lines from which the detail may stand beside the table.
const HIGH_ENOUGH: u16 = 14;
/// Lines from which the detail stands under the table.
const DOCKED: u16 = 34;

/// Columns from which the detail stands beside the table.
const BESIDE: u16 = 160;
/// Cells of a detail beside the table, at least and at most.
const BESIDE_WIDTH: [u16; 2] = [64, 110];

/// How a screen of this size is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Too small for a table.
    Tiny,
    /// Two lines a session, one line of header.
    Narrow,
    /// One line a session.
    Full,
}

/// The shape for this size.
pub(super) fn shape(area: Rect) -> Shape {
    if area.width < TINY.0 || area.height < TINY.1 {
        Shape::Tiny
    } else if area.width < ONE_LINE {
        Shape::Narrow
    } else {
        Shape::Full
    }
}

/// The places: lines as `y`, areas as rectangles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Regions {
    pub shape: Shape,
    /// The servers and the clock.
    pub servers: Option<u16>,
    /// The counts.
    pub counts: u16,
    pub top_rule: Option<u16>,
    /// The column headings.
    pub heads: Option<u16>,
    /// The rows; what the detail covers is still part of it.
    pub table: Rect,
    /// The rule above a docked detail.
    pub detail_rule: Option<u16>,
    /// The cell between table and detail, where they stand side by side.
    pub bar: Option<u16>,
    /// The detail: under the table, beside it, or over it.
    pub detail: Option<Rect>,
    pub bottom_rule: Option<u16>,
    /// The filter; may stand in the bottom rule.
    pub filter: Option<u16>,
    pub footer: u16,
}

impl Regions {
    /// Lines of one session.
    pub fn row_height(&self) -> u16 {
        if self.shape == Shape::Narrow { 2 } else { 1 }
    }
    /// Sessions that the table shows.
    pub fn visible_rows(&self) -> u16 {
        self.table.height / self.row_height()
    }
    /// The detail lies over the table.
    pub fn covered(&self) -> bool {
        self.detail.is_some() && self.detail_rule.is_none() && self.bar.is_none()
    }
}

/// Hands out lines from both ends of an area.
struct Lines {
    top: u16,
    bottom: u16,
}

impl Lines {
    fn first(&mut self, wanted: bool) -> Option<u16> {
        let free = wanted && self.top < self.bottom;
        free.then(|| {
            self.top += 1;
            self.top - 1
        })
    }
    fn last(&mut self, wanted: bool) -> Option<u16> {
        let free = wanted && self.top < self.bottom;
        free.then(|| {
            self.bottom -= 1;
            self.bottom
        })
    }
    fn left(&self) -> u16 {
        self.bottom - self.top
    }
}

/// The places of everything in `area`.
pub(super) fn regions(area: Rect, screen: &Screen, shape: Shape) -> Regions {
    let full = shape == Shape::Full;
    let high = |lines: u16| full && area.height >= lines;
    let mut lines = Lines {
        top: area.y,
        bottom: area.bottom(),
    };
    let footer = lines.last(true).unwrap_or(area.y);
    let bottom_rule = lines.last(high(14));
    let filter = match bottom_rule {
        _ if screen.filter.is_none() => None,
        Some(rule) => Some(rule),
        None => lines.last(true),
    };
    let amiss = screen.servers.iter().any(super::header::amiss);
    let servers = lines.first(high(7) || (!full && amiss && area.height >= 14));
    let counts = lines.first(true).unwrap_or(area.y);
    let spare = !full && area.height >= 10 && lines.left() % 2 == 1;
    let top_rule = lines.first(high(10) || spare);
    let heads = lines.first(high(6));
    let mut regions = Regions {
        shape,
        servers,
        counts,
        top_rule,
        heads,
        table: Rect::new(area.x, lines.top, area.width, lines.left()),
        detail_rule: None,
        bar: None,
        detail: None,
        bottom_rule,
        filter,
        footer,
    };
    if high(HIGH_ENOUGH) && area.width >= BESIDE {
        place_beside(&mut regions, screen);
    } else {
        place_detail(&mut regions, screen, high(DOCKED));
    }
    regions
}

/// From the rule to the footer; as wide whether it has the keys or not, so that no column moves.
fn place_beside(regions: &mut Regions, screen: &Screen) {
    if screen.detail.is_none() {
        return;
    }
    let body = regions.table;
    let [least, most] = BESIDE_WIDTH;
    let width = (body.width * 2 / 5).clamp(least, most);
    regions.table.width = body.width - width - 1;
    let bar = regions.table.right();
    regions.bar = Some(bar);
    let top = regions.heads.unwrap_or(body.y);
    regions.detail = Some(Rect::new(bar + 1, top, width, body.bottom() - top));
}

fn place_detail(regions: &mut Regions, screen: &Screen, docked: bool) {
    if screen.detail.is_none() {
        return;
    }
    let body = regions.table;
    if !docked {
        let mut top = regions.heads.unwrap_or(body.y);
        if screen.detail_open && regions.top_rule.is_none() && body.height > LEAST_OVER {
            regions.top_rule = Some(top);
            top += 1;
        }
        let over = Rect::new(body.x, top, body.width, body.bottom() - top);
        regions.detail = screen.detail_open.then_some(over);
        return;
    }
    let share = if screen.detail_open { 3 } else { 6 };
    let most = (body.height * share / 10).max(5);
    let rows = u16::try_from(screen.all_rows()).unwrap_or(u16::MAX);
    let height = rows.clamp(5.min(most), most);
    regions.table.height = height;
    let rule = body.y + height;
    regions.detail_rule = Some(rule);
    let below = body.bottom().saturating_sub(rule + 1);
    regions.detail = Some(Rect::new(body.x, rule + 1, body.width, below));
}
