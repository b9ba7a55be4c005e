//! The top: who is watched and how it stands. Shortens itself, the calm before the alarming.

use super::columns;
use super::layout::{Regions, Shape};
use super::names::Names;
use crate::core::present::{Count, Mark, Piece, Screen, ServerChip, Tone};
use crate::tui::paint::Pen;
use crate::tui::text;
use crate::tui::theme::Theme;

/// A server that is not read at the moment, or has a finding of its own.
pub(super) fn amiss(chip: &ServerChip) -> bool {
    chip.mark != Mark::Working
}

pub(super) fn draw(screen: &Screen, regions: &Regions, pen: &mut Pen) {
    if let Some(y) = regions.servers {
        servers(screen, y, pen, regions.shape);
    }
    // What the rule says elsewhere: that not everything is shown.
    let only = screen.attention_only && regions.top_rule.is_none();
    counts(screen, regions.counts, only, pen);
}

fn plain(text: impl Into<String>) -> Piece {
    Piece::new(text, Tone::Plain)
}

fn servers(screen: &Screen, y: u16, pen: &mut Pen, shape: Shape) {
    let area = pen.area();
    let clock = [Piece::new(screen.clock.clone(), Tone::Dim)];
    let right = pen.right(area.right() - 1, y, area.width - 2, &clock);
    let room = right.saturating_sub(area.x + 2);
    let mut used = 1;
    if shape == Shape::Full {
        let name = if screen.demo {
            "ocwatch demo"
        } else {
            "ocwatch"
        };
        used += pen.text(area.x + 1, y, room, name, Tone::Strong) + 2;
    }
    let tags = screen.several_servers && area.width < columns::NAMES;
    let chips = fitting_chips(screen, tags, room.saturating_sub(used), pen.theme);
    pen.pieces(area.x + used, y, room.saturating_sub(used), &chips);
}

/// The fullest form of the servers that fits: with what is told of each, with what is told of those that
/// are amiss, their names alone, what stands in the table for them; in the last two the amiss first.
fn fitting_chips(screen: &Screen, tags: bool, room: u16, theme: &Theme) -> Vec<Piece> {
    let names = Names::new(screen, tags, theme);
    let full = |chip: &ServerChip| names.in_header(&chip.name);
    let short = |chip: &ServerChip| names.of(&chip.name).to_owned();
    let mut amiss_first: Vec<&ServerChip> = screen.servers.iter().collect();
    let in_order = amiss_first.clone();
    amiss_first.sort_by_key(|chip| !amiss(chip));
    let forms = [
        chips(&in_order, full, |_| true, theme),
        chips(&in_order, full, amiss, theme),
        chips(&amiss_first, full, |_| false, theme),
        chips(&amiss_first, short, |_| false, theme),
    ];
    let fits = |form: &Vec<Piece>| text::total(&text::line(form, theme)) <= room;
    let shortest = forms.last().cloned().unwrap_or_default();
    forms.into_iter().find(fits).unwrap_or(shortest)
}
fn chips(
    servers: &[&ServerChip],
    name: impl Fn(&ServerChip) -> String,
    tell: impl Fn(&ServerChip) -> bool,
    theme: &Theme,
) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for chip in servers {
        if !pieces.is_empty() {
            let dot = format!(" {} ", theme.glyphs().dot);
            pieces.push(Piece::new(dot, Tone::Dim));
        }
        pieces.push(plain(format!("{} ", name(chip))));
        let glyph = chip.mark.glyph(theme.ascii());
        pieces.push(Piece::new(glyph, chip.mark.tone()));
        if tell(chip) && !chip.text.is_empty() {
            pieces.push(Piece::new(format!(" {}", chip.text), chip.tone));
        }
    }
    pieces
}

fn counts(screen: &Screen, y: u16, only: bool, pen: &mut Pen) {
    let area = pen.area();
    let room = area.width - 2;
    let still = !screen.frozen.is_empty();
    let (left, right) = if only && !still {
        attention(screen, pen.theme)
    } else {
        fitting_counts(screen, room, pen.theme)
    };
    let tone = if still { Tone::Watch } else { Tone::Dim };
    let right = [Piece::new(right, tone)];
    let end = pen.right(area.right() - 1, y, room, &right);
    let gap = if right[0].text.is_empty() { 0 } else { 2 };
    pen.pieces(area.x + 1, y, end.saturating_sub(area.x + 1 + gap), &left);
}

/// The counts of what is shown, and that no more is.
fn attention(screen: &Screen, theme: &Theme) -> (Vec<Piece>, String) {
    let shown = screen.counts.iter().filter(|count| is_alarming(count));
    let shown: Vec<Count> = shown.cloned().collect();
    let tally = tally(&shown, |_| false, true, theme);
    (tally, "attention only".to_owned())
}

fn is_alarming(count: &Count) -> bool {
    matches!(count.mark, Mark::Stuck | Mark::NeedsYou | Mark::Watch)
}

/// The fullest form of the counts and of what is asleep that fits, two blanks between them.
fn fitting_counts(screen: &Screen, room: u16, theme: &Theme) -> (Vec<Piece>, String) {
    let [long, short] = match screen.frozen.as_slice() {
        [long, short, ..] => [long.clone(), short.clone()],
        _ => asleep(screen.asleep),
    };
    let all = tally(&screen.counts, |_| true, true, theme);
    let some = tally(&screen.counts, is_alarming, true, theme);
    let none = tally(&screen.counts, |_| false, true, theme);
    let least = tally(&screen.counts, |_| false, false, theme);
    // Where the screen stands still, since when is worth more than words for the counts.
    let shorter = if screen.frozen.is_empty() {
        [(all.clone(), short.clone()), (some.clone(), long.clone())]
    } else {
        [(some.clone(), long.clone()), (none.clone(), long.clone())]
    };
    let forms = [(all, long)].into_iter().chain(shorter);
    let forms = forms.chain([(some, short.clone()), (none.clone(), short.clone())]);
    let fits = |(left, right): &(Vec<Piece>, String)| {
        let gap = if right.is_empty() { 0 } else { 2 };
        text::total(&text::line(left, theme)) + gap + text::width(right, theme) <= room
    };
    // That it stands still is said whatever has no room.
    let last = if screen.frozen.is_empty() {
        (least, String::new())
    } else {
        (least, short)
    };
    { forms }.find(fits).unwrap_or(last)
}

fn asleep(projects: usize) -> [String; 2] {
    match projects {
        0 => [String::new(), String::new()],
        1 => ["1 project asleep".to_owned(), "1 asleep".to_owned()],
        n => [format!("{n} projects asleep"), format!("{n} asleep")],
    }
}

/// The counts, with words for some; `echoes`: with the rows that only tell of others, `5+3`.
fn tally(
    counts: &[Count],
    word: impl Fn(&Count) -> bool,
    echoes: bool,
    theme: &Theme,
) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for count in counts {
        if !pieces.is_empty() {
            pieces.push(plain("  "));
        }
        let tone = |tone| {
            if count.number + count.echoes == 0 {
                Tone::Dim
            } else {
                tone
            }
        };
        let mark = count.mark.glyph(theme.ascii());
        let mut text = match count.hits {
            Some(hits) => format!("{mark} {hits}/{}", count.number),
            None => format!("{mark} {}", count.number),
        };
        if count.echoes > 0 && count.hits.is_none() && echoes {
            text = format!("{text}+{}", count.echoes);
        }
        pieces.push(Piece::new(text, tone(count.mark.tone())));
        if word(count) {
            let words = format!(" {}", count.word);
            pieces.push(Piece::new(words, tone(Tone::Plain)));
        }
    }
    pieces
}
