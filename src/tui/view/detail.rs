//! The pane that tells one session: under the table, or over it.
//!
//! What it does: wraps the story, cuts the timeline, keeps the newest of it in sight while the
//! pane does not have the keys, scrolls through all of it when it has. What it does not: word it.

use super::layout::Regions;
use super::reader::{Laid, Reader};
use super::{columns, position, search};
use crate::core::app::keymap::Action;
use crate::core::present::{Detail, Line, Piece, Place, Screen, Tab, Target, Tone};
use crate::tui::paint::Pen;
use crate::tui::text::{self, Glyph};
use crate::tui::theme::Theme;
use ratatui::layout::{Position, Rect};

/// Cells by which a wrapped line of the story is indented.
const INDENT: u16 = 2;
/// Cells by which a wrapped answer of a rule is indented: what stands before its reason.
const RULE_INDENT: u16 = 30;
/// Pieces of a line of the timeline that say when, who and what.
const WHAT: usize = 3;
/// Cells of these beyond which how it ended stands too far away.
const MOST_WHAT: u16 = 90;
/// Cells of a title that are always shown.
const LEAST_TITLE: u16 = 12;
/// Cells beyond which a line of prose is hard to read.
const PROSE: u16 = 140;

pub(super) fn draw(screen: &Screen, regions: &Regions, pen: &mut Pen) {
    let (Some(detail), Some(place)) = (&screen.detail, regions.detail) else {
        return;
    };
    if let Some(bar) = regions.bar {
        let glyph = pen.theme.glyphs().bar;
        for y in place.top()..place.bottom() {
            pen.text(bar, y, 1, glyph, Tone::Dim);
        }
    }
    // Where the rule is the table's as well, the detail's part of it begins at the bar.
    let part = part(regions, pen.area());
    if let Some(y) = regions.detail_rule.or(regions.top_rule) {
        let part = &mut pen.within(part);
        let label = position::of_detail(screen, regions, part.theme);
        rule(detail, &label, y, part);
    }
    if let Some(sheet) = &detail.sheet {
        let [above, body] = parted(place);
        put(
            [head(&detail.head, body.width, pen.theme)].into_iter(),
            above,
            pen,
        );
        Reader::from(sheet).draw(body, pen);
        return;
    }
    let height = usize::from(place.height);
    let mut told = Told::new(detail, place.width, pen.theme);
    if screen.detail_open {
        let first = told.first(detail, height, pen.theme);
        told.mark(detail, first, place, pen);
        put(told.all.into_iter().skip(first), place, pen);
    } else {
        put(told.newest(height).into_iter(), place, pen);
    }
}

/// The rule above: the names of the panes, the one that is shown in brackets, and where one is in it.
/// Where not all of that fits, the names of the others give way to how many there are.
fn rule(detail: &Detail, label: &str, y: u16, pen: &mut Pen) {
    let area = pen.area();
    let room = room_of(label, area.width, pen.theme);
    let shown = names(detail, room, pen.theme);
    pen.rule(y, label);
    if detail.tabs.len() > 1 {
        pen.pieces(area.x + 1, y, room, &shown);
    }
}

/// The part of the area that the detail has of each line.
fn part(regions: &Regions, area: Rect) -> Rect {
    let x = regions.bar.unwrap_or(area.x);
    Rect {
        x,
        width: area.right().saturating_sub(x),
        ..area
    }
}

/// Cells for the names beside the label.
fn room_of(label: &str, width: u16, theme: &Theme) -> u16 {
    let taken = if label.is_empty() {
        0
    } else {
        text::width(label, theme) + 2
    };
    width.saturating_sub(taken + 3)
}

fn names(detail: &Detail, room: u16, theme: &Theme) -> Line {
    let all: Line = detail.tabs.iter().map(named).collect();
    if text::total(&text::line(&all, theme)) <= room {
        return all;
    }
    let place = detail.tabs.iter().position(|tab| tab.current);
    let current = place.and_then(|place| Some((place, detail.tabs.get(place)?)));
    let count = current.map(|(place, tab)| {
        let number = format!("{}/{} ", place + 1, detail.tabs.len());
        vec![named(tab), Piece::new(number, Tone::Dim)]
    });
    count.unwrap_or_default()
}

/// What lies at a cell: the detail, or the name of a pane in its rule; where only one name fits, that
/// leads to the next pane.
pub(super) fn hit(
    screen: &Screen,
    regions: &Regions,
    theme: &Theme,
    area: Rect,
    at: Position,
) -> Option<Target> {
    let (detail, place) = (screen.detail.as_ref()?, regions.detail?);
    if place.contains(at) {
        return Some(Target::Detail);
    }
    let part = part(regions, area);
    let is_rule = regions.detail_rule.or(regions.top_rule) == Some(at.y);
    if !is_rule || !part.contains(at) || detail.tabs.len() < 2 {
        return None;
    }
    let label = position::of_detail(screen, regions, theme);
    let room = room_of(&label, part.width, theme);
    let mut right = part.x + 1;
    let names = names(detail, room, theme);
    let place = names.iter().position(|name| {
        let from = right;
        right = right.saturating_add(text::width(&name.text, theme));
        (from..right.min(part.x + 1 + room)).contains(&at.x)
    })?;
    let tab = detail.tabs.get(place);
    match tab.filter(|tab| names.get(place) == Some(&named(tab))) {
        Some(tab) => Some(Target::Pane(tab.name)),
        None => Some(Target::Hint(Action::NextPane)),
    }
}

fn named(tab: &Tab) -> Piece {
    if tab.current {
        Piece::new(format!("[{}]", tab.name), Tone::Strong)
    } else {
        Piece::new(format!(" {} ", tab.name), Tone::Dim)
    }
}

/// The head's line, and what lies below it without the margins.
fn parted(place: Rect) -> [Rect; 2] {
    let height = place.height.min(1);
    let above = Rect { height, ..place };
    let body = Rect {
        x: place.x + 1,
        y: place.y + height,
        width: place.width.saturating_sub(2),
        height: place.height - height,
    };
    [above, body]
}

/// First line shown, lines shown, lines in all.
pub(super) fn extent(screen: &Screen, regions: &Regions, theme: &Theme) -> Option<[usize; 3]> {
    let (detail, place) = (screen.detail.as_ref()?, regions.detail?);
    if let Some(sheet) = &detail.sheet {
        let [_, body] = parted(place);
        return Some(Reader::from(sheet).extent(body.width, usize::from(body.height), theme));
    }
    let height = usize::from(place.height);
    let told = Told::new(detail, place.width, theme);
    Some([told.first(detail, height, theme), height, told.all.len()])
}

fn put(lines: impl Iterator<Item = Vec<Glyph>>, place: Rect, pen: &mut Pen) {
    let width = place.width.saturating_sub(2);
    for (glyphs, y) in lines.zip(place.top()..place.bottom()) {
        let glyphs = text::cut(glyphs, width, pen.theme);
        pen.glyphs(place.x + 1, y, width, &glyphs);
    }
}

/// The lines of the story; those up to `fixed` are kept when the rest must give way.
struct Told {
    all: Vec<Vec<Glyph>>,
    fixed: usize,
    /// Where each line that was told begins, after the head.
    laid: Laid,
}

impl Told {
    /// All lines for a pane `width` cells wide.
    fn new(detail: &Detail, width: u16, theme: &Theme) -> Self {
        let width = width.saturating_sub(2);
        let prose =
            |line: &Line, indent| text::wrap(text::line(line, theme), width.min(PROSE), indent);
        let story: Vec<_> = detail
            .story
            .iter()
            .map(|line| prose(line, INDENT))
            .collect();
        let fixed = 1 + story.iter().map(Vec::len).sum::<usize>();
        let mut told = story;
        told.extend(
            timeline(&detail.timeline, width, theme)
                .into_iter()
                .map(|it| vec![it]),
        );
        told.extend(detail.tail.iter().map(|line| vec![tail(line, theme)]));
        told.extend(
            detail
                .hour
                .iter()
                .any(Option::is_some)
                .then(|| vec![hour(detail, width, theme)]),
        );
        let rules = detail.rules.iter().map(|line| prose(line, RULE_INDENT));
        let mut rules: Vec<_> = rules.collect();
        if let Some(first) = rules.first_mut() {
            first.insert(0, Vec::new());
        }
        told.extend(rules);
        let heights = [1].into_iter().chain(told.iter().map(Vec::len));
        let laid = Laid::new(heights);
        let mut all = vec![head(&detail.head, width, theme)];
        all.extend(told.into_iter().flatten());
        Self { all, fixed, laid }
    }

    /// The first line shown while the pane has the keys.
    fn first(&self, detail: &Detail, height: usize, theme: &Theme) -> usize {
        let place = match detail.place {
            Place::Seek { from, line } => Place::Seek {
                from,
                line: line + 1,
            },
            place => place,
        };
        let wanted = search::wanted(detail.found.as_ref(), theme);
        let line = detail.found.as_ref().and_then(|found| found.line);
        let below = line.map_or(0, |line| {
            let [from, to] = self.laid.span(line + 1);
            let lines = self.all.get(from..to).unwrap_or_default();
            lines
                .iter()
                .position(|it| search::has(it, &wanted))
                .unwrap_or(0)
        });
        self.laid.first(place, height, below)
    }

    /// Marks what is found in what is seen.
    fn mark(&mut self, detail: &Detail, first: usize, place: Rect, pen: &mut Pen) {
        let wanted = search::wanted(detail.found.as_ref(), pen.theme);
        let line = detail.found.as_ref().and_then(|found| found.line);
        let [from, to] = line.map_or([0, 0], |line| self.laid.span(line + 1));
        for (at, y) in (first..).zip(place.top()..place.bottom()) {
            let hit = self
                .all
                .get_mut(at)
                .is_some_and(|it| search::mark(it, &wanted));
            if hit && (from..to).contains(&at) {
                search::point(place.x + 1, y, pen);
            }
        }
    }

    /// At most `height` lines: head and story, then the newest of what happened.
    fn newest(mut self, height: usize) -> Vec<Vec<Glyph>> {
        let over = self.all.len().saturating_sub(height);
        let end = self.fixed.saturating_add(over).min(self.all.len());
        self.all.drain(self.fixed.min(end)..end);
        self.all
    }
}

/// The head: a long title gives way, so that the id behind it is seen.
fn head(line: &Line, width: u16, theme: &Theme) -> Vec<Glyph> {
    let Some((title, rest)) = line.split_first() else {
        return Vec::new();
    };
    let id = rest.first().map_or(0, |id| text::width(&id.text, theme));
    let room = width.saturating_sub(id + 2).max(LEAST_TITLE);
    let title = text::cut(text::glyphs(&title.text, title.tone, theme), room, theme);
    let mut glyphs = title;
    glyphs.extend(text::blanks(2));
    glyphs.extend(apart(rest, 2, theme));
    glyphs
}

/// The pieces with at least `gap` blanks between them.
fn apart(line: &[Piece], gap: u16, theme: &Theme) -> Vec<Glyph> {
    let mut glyphs: Vec<Glyph> = Vec::new();
    for piece in line.iter().filter(|piece| !piece.text.is_empty()) {
        let there = glyphs.iter().rev().take_while(|g| g.symbol == " ").count();
        let there = u16::try_from(there).unwrap_or(gap);
        if !glyphs.is_empty() {
            glyphs.extend(text::blanks(gap.saturating_sub(there)));
        }
        glyphs.extend(text::glyphs(&piece.text, piece.tone, theme));
    }
    glyphs
}

/// The timeline: when, who and what, then (kept when the what is cut, and all at one place) how
/// long and how it ended.
fn timeline(lines: &[Line], width: u16, theme: &Theme) -> Vec<Vec<Glyph>> {
    let told: Vec<[Vec<Glyph>; 2]> = lines
        .iter()
        .map(|line| {
            let (what, end) = line.split_at(WHAT.min(line.len()));
            [apart(what, 1, theme), outcome(end, theme)]
        })
        .collect();
    let with_end = || told.iter().filter(|[_, end]| !end.is_empty());
    let longest = with_end().map(|[_, end]| text::total(end)).max();
    let room = width.saturating_sub(longest.unwrap_or(0) + 2);
    let widest = with_end().map(|[what, _]| text::total(what)).max();
    let column = widest.unwrap_or(0).min(room).min(MOST_WHAT);
    told.into_iter()
        .map(|[what, end]| joined(what, end, column, theme))
        .collect()
}

/// How long (right-aligned, or its place left blank) and how it ended.
fn outcome(end: &[Piece], theme: &Theme) -> Vec<Glyph> {
    let is_age = |piece: &Piece| {
        piece.text.starts_with(|c: char| c.is_ascii_digit())
            && text::width(&piece.text, theme) <= columns::AGE
    };
    let (age, state) = match end.split_first() {
        Some((age, state)) if is_age(age) => (text::glyphs(&age.text, age.tone, theme), state),
        _ => (Vec::new(), end),
    };
    if age.is_empty() && state.is_empty() {
        return Vec::new();
    }
    let pad = columns::AGE.saturating_sub(text::total(&age));
    let mut glyphs: Vec<Glyph> = text::blanks(pad).chain(age).collect();
    if !state.is_empty() {
        glyphs.extend(text::blanks(1));
        glyphs.extend(apart(state, 1, theme));
    }
    glyphs
}

fn joined(what: Vec<Glyph>, end: Vec<Glyph>, column: u16, theme: &Theme) -> Vec<Glyph> {
    if end.is_empty() {
        return what;
    }
    let mut line = text::cut(what, column, theme);
    line.extend(text::blanks(column + 2 - text::total(&line)));
    line.extend(end);
    line
}

/// The last hour, a cell for one or more minutes: the worst of them, blank where nothing is known.
fn hour(detail: &Detail, width: u16, theme: &Theme) -> Vec<Glyph> {
    const NAME: &str = "LAST HOUR ";
    let mut glyphs = text::glyphs(NAME, Tone::Dim, theme);
    let room = usize::from(width.saturating_sub(text::total(&glyphs))).max(1);
    for minutes in detail.hour.chunks(detail.hour.len().div_ceil(room)) {
        match minutes.iter().flatten().max_by_key(|mark| mark.rank()) {
            Some(mark) => {
                glyphs.extend(text::glyphs(mark.glyph(theme.ascii()), mark.tone(), theme));
            }
            None => glyphs.extend(text::blanks(1)),
        }
    }
    glyphs
}

/// A line of what streams now, told from ours by a bar.
fn tail(line: &Line, theme: &Theme) -> Vec<Glyph> {
    let bar = format!("{} ", theme.glyphs().bar);
    let mut glyphs = text::glyphs(&bar, Tone::Dim, theme);
    glyphs.extend(text::line(line, theme));
    glyphs
}
