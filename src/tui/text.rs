//! Text measured in cells: made safe, cut, wrapped.
//!
//! What it does: turns any text into [`Glyph`]s that occupy exactly the cells they claim on every
//! terminal. What it does not: draw. Invariants: a cut text is never wider than asked; nothing a
//! terminal obeys comes out; a cluster on whose width terminals disagree (joined emoji, variation
//! selectors) is drawn as its first character, so columns stay straight.

use super::theme::Theme;
use crate::core::present::{Mark, Piece, Tone, clean};
use ratatui::buffer::CellWidth;
use ratatui::style::Style;
use ratatui::text::Span;
use std::borrow::Cow;
use unicode_bidi::{BidiClass, bidi_class};

/// Characters of one text that are looked at; no screen shows more.
const MOST_CHARS: usize = 16 * 1024;
/// Characters in one cluster that are drawn; more are stacked marks that leave their line.
const MOST_MARKS: usize = 8;

/// What stands in one or two cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Glyph {
    /// One cluster, free of control characters.
    pub symbol: Cow<'static, str>,
    /// One or two cells.
    pub width: u16,
    /// Its meaning.
    pub tone: Tone,
}

/// The glyphs of a text, in order; characters without a width of their own are left out.
pub(super) fn glyphs(text: &str, tone: Tone, theme: &Theme) -> Vec<Glyph> {
    if text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        return text
            .bytes()
            .take(MOST_CHARS)
            .map(|byte| plain(byte, tone))
            .collect();
    }
    let bounded: String = text.chars().take(MOST_CHARS).collect();
    let span = Span::raw(safe(&bounded, theme));
    span.styled_graphemes(Style::new())
        .map(|cluster| sure(cluster.symbol))
        .filter(|symbol| !symbol.is_empty())
        .map(|symbol| Glyph {
            width: symbol.cell_width(),
            symbol: Cow::Owned(symbol.to_owned()),
            tone,
        })
        .filter(|glyph| (1..=2).contains(&glyph.width))
        .collect()
}

/// What ASCII can show, from the blank on.
const ASCII: &str = " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~";

/// A character that ASCII can show: most of what is drawn, and drawn often.
fn plain(byte: u8, tone: Tone) -> Glyph {
    let at = usize::from(byte.saturating_sub(b' '));
    Glyph {
        symbol: ASCII.get(at..=at).unwrap_or(" ").into(),
        width: 1,
        tone,
    }
}

/// The cluster, or only its first character where its width is a matter of opinion.
fn sure(cluster: &str) -> &str {
    let sum: u16 = cluster.chars().map(char_width).sum();
    if sum == cluster.cell_width() && cluster.chars().count() <= MOST_MARKS {
        return cluster;
    }
    let first = cluster.chars().next().map_or(0, char::len_utf8);
    cluster.get(..first).unwrap_or_default()
}

fn char_width(c: char) -> u16 {
    c.encode_utf8(&mut [0; 4]).cell_width()
}

/// The cells that a text takes.
pub(super) fn width(text: &str, theme: &Theme) -> u16 {
    total(&glyphs(text, Tone::Plain, theme))
}

/// Ends a stretch of text that is written from right to left: without it a terminal that reorders
/// such text takes the digits of the next column along. It has no width.
pub(super) const LEFT_TO_RIGHT: char = '\u{200e}';

/// Whether any of it is written from right to left.
pub(super) fn turns(glyphs: &[Glyph]) -> bool {
    let turns = |c| matches!(bidi_class(c), BidiClass::R | BidiClass::AL | BidiClass::AN);
    // What is ASCII is most of all, and asked for often.
    let foreign = glyphs.iter().filter(|glyph| !glyph.symbol.is_ascii());
    foreign.flat_map(|glyph| glyph.symbol.chars()).any(turns)
}

/// The cells that a text takes on a terminal.
pub fn cells(text: &str, theme: &Theme) -> usize {
    usize::from(width(text, theme))
}

/// A text cut or filled with blanks to exactly this many cells, safe to print.
pub fn filled(text: &str, width: usize, theme: &Theme) -> String {
    let room = u16::try_from(width).unwrap_or(u16::MAX);
    let kept = cut(glyphs(text, Tone::Plain, theme), room, theme);
    let blank = width.saturating_sub(usize::from(total(&kept)));
    let turns = turns(&kept);
    let mut text: String = kept.into_iter().map(|glyph| glyph.symbol).collect();
    text.extend(turns.then_some(LEFT_TO_RIGHT));
    format!("{text}{:blank$}", "")
}

/// One line of text as it may be printed: nothing a terminal obeys, and in ASCII where the theme
/// is; its length is not bounded.
pub fn safe(text: &str, theme: &Theme) -> String {
    let safe = clean(text);
    if theme.ascii() { to_ascii(&safe) } else { safe }
}

/// The cells that these glyphs take.
pub(super) fn total(glyphs: &[Glyph]) -> u16 {
    glyphs
        .iter()
        .fold(0, |sum: u16, glyph| sum.saturating_add(glyph.width))
}

/// The cells of a text of which every byte is a character of one cell; none of any other text.
pub(super) fn plain_cells(text: &str) -> Option<usize> {
    let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    plain.then(|| text.len().min(MOST_CHARS))
}

/// Breaks glyphs wherever a line of `width` cells is full.
pub(super) fn chunks(glyphs: Vec<Glyph>, width: u16) -> Vec<Vec<Glyph>> {
    let mut lines = vec![Vec::new()];
    let mut used = 0;
    for glyph in glyphs {
        if used + glyph.width > width.max(1) && used > 0 {
            lines.push(Vec::new());
            used = 0;
        }
        used += glyph.width;
        if let Some(line) = lines.last_mut() {
            line.push(glyph);
        }
    }
    lines
}

/// The glyphs of a line of pieces.
pub(super) fn line(pieces: &[Piece], theme: &Theme) -> Vec<Glyph> {
    pieces
        .iter()
        .flat_map(|piece| glyphs(&piece.text, piece.tone, theme))
        .collect()
}

/// As many glyphs as fit into `width` cells; an ellipsis says that some did not.
pub(super) fn cut(glyphs: Vec<Glyph>, width: u16, theme: &Theme) -> Vec<Glyph> {
    if total(&glyphs) <= width {
        return glyphs;
    }
    let Some(room) = width.checked_sub(1) else {
        return Vec::new();
    };
    let mut used = 0;
    let mut kept: Vec<Glyph> = glyphs
        .into_iter()
        .take_while(|glyph| {
            used += glyph.width;
            used <= room
        })
        .collect();
    let tone = kept.last().map_or(Tone::Plain, |glyph| glyph.tone);
    while kept.last().is_some_and(|glyph| glyph.symbol == " ") {
        kept.pop();
    }
    kept.push(Glyph {
        symbol: theme.glyphs().ellipsis.into(),
        width: 1,
        tone,
    });
    kept
}

/// The same, cut at its beginning: of a path the end tells more.
pub(super) fn cut_front(mut glyphs: Vec<Glyph>, width: u16, theme: &Theme) -> Vec<Glyph> {
    let whole = total(&glyphs);
    if whole <= width {
        return glyphs;
    }
    let mut over = whole.saturating_sub(width.saturating_sub(1));
    let cut = glyphs.iter().take_while(|glyph| {
        let goes = over > 0;
        over = over.saturating_sub(glyph.width);
        goes
    });
    let cut = cut.count();
    let rest = glyphs.split_off(cut);
    let tone = rest.first().map_or(Tone::Plain, |glyph| glyph.tone);
    let ellipsis = (width > 0).then(|| Glyph {
        symbol: theme.glyphs().ellipsis.into(),
        width: 1,
        tone,
    });
    ellipsis.into_iter().chain(rest).collect()
}

/// The part of a line being typed that is seen in `width` cells with the cursor at cell `at` of the
/// whole, and the cursor's cell in it. The cursor is always inside.
pub(super) fn window(mut glyphs: Vec<Glyph>, at: u16, width: u16) -> (Vec<Glyph>, u16) {
    let mut at = at.min(total(&glyphs));
    while at + 1 > width && !glyphs.is_empty() {
        at = at.saturating_sub(glyphs.remove(0).width);
    }
    (glyphs, at)
}

/// Breaks glyphs into lines of at most `width` cells, at blanks where there are some; every line
/// but the first is indented by `indent` cells.
pub(super) fn wrap(mut rest: Vec<Glyph>, width: u16, indent: u16) -> Vec<Vec<Glyph>> {
    let indent = indent.min(width / 2);
    let mut lines = Vec::new();
    let mut room = width;
    while total(&rest) > room && room > 0 {
        let tail = rest.split_off(break_at(&rest, room));
        lines.push(indented(rest, indent, lines.is_empty()));
        rest = without_blanks(tail);
        room = width - indent;
    }
    if !rest.is_empty() || lines.is_empty() {
        lines.push(indented(rest, indent, lines.is_empty()));
    }
    lines
}

/// Where to break: after the last blank that fits, else after the last glyph that fits; never 0.
fn break_at(glyphs: &[Glyph], room: u16) -> usize {
    let mut used = 0;
    let fitting = glyphs
        .iter()
        .take_while(|glyph| {
            used += glyph.width;
            used <= room
        })
        .count();
    let blank = |place: &usize| glyphs.get(*place).is_some_and(|g| g.symbol == " ");
    let text = glyphs.iter().position(|g| g.symbol != " ").unwrap_or(0);
    (text + 1..=fitting)
        .rev()
        .find(blank)
        .unwrap_or(fitting)
        .max(1)
}

fn without_blanks(glyphs: Vec<Glyph>) -> Vec<Glyph> {
    glyphs.into_iter().skip_while(|g| g.symbol == " ").collect()
}

fn indented(mut glyphs: Vec<Glyph>, indent: u16, first: bool) -> Vec<Glyph> {
    if !first {
        glyphs.splice(0..0, blanks(indent));
    }
    glyphs
}

/// Blanks, one cell each.
pub(super) fn blanks(count: u16) -> impl Iterator<Item = Glyph> {
    (0..count).map(|_| Glyph {
        symbol: " ".into(),
        width: 1,
        tone: Tone::Plain,
    })
}

/// The same text in ASCII: known signs become their twins, others `?` for each cell they took.
/// A dot at the start is the mark of a session at rest, elsewhere it separates.
fn to_ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (place, c) in text.chars().enumerate() {
        match twin(c) {
            Some(_) if c == '·' && place == 0 => out.push_str(Mark::Rest.glyph(true)),
            Some(twin) => out.push_str(twin),
            None if c.is_ascii() => out.push(c),
            None => (0..char_width(c)).for_each(|_| out.push('?')),
        }
    }
    out
}

fn twin(c: char) -> Option<&'static str> {
    Some(match c {
        '·' | '•' | '–' | '—' | '─' | '━' => "-",
        '≠' => "!=",
        '│' | '▏' | '├' => "|",
        '↓' => "v",
        '└' => "`",
        '→' => "->",
        '←' => "<-",
        '“' | '”' | '„' => "\"",
        '‘' | '’' => "'",
        '×' => "x",
        '✖' | '✗' => "X",
        '▲' => "!",
        '…' | '◌' => "~",
        '●' => "*",
        '○' => "o",
        '▁' => "_",
        '▂'..='█' => "#",
        '↑' | '\u{2400}'..='\u{241f}' => "^",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn shown(glyphs: &[Glyph]) -> String {
        glyphs.iter().map(|glyph| glyph.symbol.as_ref()).collect()
    }

    fn fit(text: &str, width: u16) -> String {
        let theme = Theme::new(true, false);
        shown(&cut(glyphs(text, Tone::Plain, &theme), width, &theme))
    }

    /// What is ASCII takes a shorter way to the same glyphs.
    #[test]
    fn ascii_is_drawn_as_it_is_written() {
        let theme = Theme::new(true, false);
        let all: String = (b' '..=b'~').map(char::from).collect();
        let alone = glyphs(&all, Tone::Key, &theme);
        assert_eq!(shown(&alone), all);
        let beside = glyphs(&format!("{all}é"), Tone::Key, &theme);
        assert_eq!(alone[..], beside[..all.len()]);
        assert_eq!(
            shown(&glyphs("a\tb\u{1b}[1m", Tone::Key, &theme)).find('\u{1b}'),
            None
        );
    }

    #[test]
    fn a_cut_counts_cells_not_characters() {
        assert_eq!(fit("short", 5), "short");
        assert_eq!(fit("longer", 5), "long…");
        assert_eq!(fit("the end of", 4), "the…", "no blank before the ellipsis");
        assert_eq!(fit("日本語", 6), "日本語");
        assert_eq!(fit("日本語", 5), "日本…");
        assert_eq!(fit("日本語", 4), "日…", "half a wide character is none");
        assert_eq!(fit("e\u{301}te\u{301}", 3), "e\u{301}te\u{301}");
        assert_eq!(fit("x", 0), "");
    }

    #[test]
    fn a_cut_at_the_beginning_keeps_the_end() {
        let theme = Theme::new(true, false);
        let front =
            |text: &str, width| shown(&cut_front(glyphs(text, Tone::Plain, &theme), width, &theme));
        assert_eq!(front("short", 5), "short");
        assert_eq!(front("/srv/web2epub", 6), "…2epub");
        assert_eq!(front("日本語", 4), "…語", "half a wide character is none");
        assert_eq!(front("日本語", 1), "…");
        assert_eq!(front("日本語", 0), "");
    }

    #[test]
    fn what_terminals_disagree_on_is_drawn_as_its_first_character() {
        assert_eq!(fit("👩‍👩‍👧!", 9), "👩!");
        assert_eq!(fit("❤\u{fe0f}!", 9), "❤!");
        assert_eq!(fit("\u{200b}\u{200d}a\u{2060}b", 9), "ab");
        let stacked = format!("a{}b", "\u{301}".repeat(500));
        assert_eq!(fit(&stacked, 9), "ab");
    }

    #[test]
    fn text_from_right_to_left_is_known_and_ended() {
        let theme = Theme::new(true, false);
        let turned = |text: &str| turns(&glyphs(text, Tone::Plain, &theme));
        assert!(turned("a שלום") && turned("مرحبا"));
        assert!(!turned("日本語 é 12"));
        assert_eq!(filled("שלום", 6, &theme), "שלום\u{200e}  ");
        assert_eq!(filled("abc", 4, &theme), "abc ");
        assert_eq!(filled("שלום", 3, &theme), "של…\u{200e}");
        let ascii = Theme::new(true, true);
        assert_eq!(filled("שלום", 5, &ascii), "???? ");
    }

    #[test]
    fn lines_break_at_blanks_and_long_words_anywhere() {
        let theme = Theme::new(true, false);
        let wrapped = |text: &str, width, indent| -> Vec<String> {
            let lines = wrap(glyphs(text, Tone::Plain, &theme), width, indent);
            lines.iter().map(|line| shown(line)).collect()
        };
        assert_eq!(wrapped("one two three", 8, 2), ["one two", "  three"]);
        assert_eq!(wrapped("abcdefghij", 4, 0), ["abcd", "efgh", "ij"]);
        assert_eq!(wrapped("日本語", 1, 0), ["日", "本", "語"]);
        assert_eq!(wrapped("", 4, 0), [""]);
        assert_eq!(wrapped("    deep word", 8, 4), ["    deep", "    word"]);
    }

    #[test]
    fn ascii_has_a_twin_for_every_sign_of_ours() {
        for sign in "·…≠─│├└→↓↑“”✖◆▲◌●○".chars() {
            let text = to_ascii(&sign.to_string());
            assert!(
                text.is_ascii() && !text.is_empty(),
                "{sign} became {text:?}"
            );
        }
        assert_eq!(to_ascii("Größe 日本"), "Gr??e ????");
    }
}
