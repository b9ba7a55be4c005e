//! From meaning to looks: [`Tone`] and [`Mark`] to a style, and the glyphs of lines and boxes.
//!
//! What it does: join a theme's colours, what the user changed of them, and what the terminal can
//! show. What it does not: carry meaning. Every tone also differs by a mark or a word, so the mono
//! and the ASCII theme lose nothing.

mod glyphs;
mod paint;
mod palette;

use crate::core::present::{Mark, ThemeName, Tone};
pub use glyphs::Glyphs;
use paint::lowered;
pub use paint::{Depth, Unread, read_style, style_text, style_words};
use palette::palette;
use ratatui::style::{Modifier, Style};

/// What the configuration can change, by the key it has there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The texts of one meaning.
    Tone(Tone),
    /// The selected row.
    Selected,
}

/// Every part with its key.
pub const PARTS: [(&str, Part); 11] = [
    ("plain", Part::Tone(Tone::Plain)),
    ("dim", Part::Tone(Tone::Dim)),
    ("strong", Part::Tone(Tone::Strong)),
    ("stuck", Part::Tone(Tone::Stuck)),
    ("needs-you", Part::Tone(Tone::NeedsYou)),
    ("watch", Part::Tone(Tone::Watch)),
    ("working", Part::Tone(Tone::Working)),
    ("key", Part::Tone(Tone::Key)),
    ("disagree", Part::Tone(Tone::Disagree)),
    ("hit", Part::Tone(Tone::Hit)),
    ("selected", Part::Selected),
];

/// How things look: colours or none, UTF-8 or ASCII.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    name: ThemeName,
    ascii: bool,
    depth: Depth,
    changed: Vec<(Part, Style)>,
}

impl Theme {
    /// `color`: use the terminal's own colours, else bold, dim and reverse only. `ascii`: draw
    /// nothing outside ASCII.
    pub fn new(color: bool, ascii: bool) -> Self {
        let name = if color {
            ThemeName::Terminal
        } else {
            ThemeName::Mono
        };
        Self::named(name, ascii, Depth::Sixteen)
    }

    /// The theme of this name, in no more colours than the terminal has.
    pub fn named(name: ThemeName, ascii: bool, depth: Depth) -> Self {
        Self {
            name,
            ascii,
            depth,
            changed: Vec::new(),
        }
    }

    /// The same with styles of the user's own in place of the theme's.
    #[must_use]
    pub fn with(mut self, changed: Vec<(Part, Style)>) -> Self {
        self.changed = changed;
        self
    }

    /// The same in another theme's colours.
    #[must_use]
    pub fn called(&self, name: ThemeName) -> Self {
        Self {
            name,
            ..self.clone()
        }
    }

    /// Draws nothing outside ASCII.
    pub fn ascii(&self) -> bool {
        self.ascii
    }

    /// Lines, boxes and the like.
    pub fn glyphs(&self) -> &'static Glyphs {
        if self.ascii {
            &glyphs::ASCII
        } else {
            &glyphs::UTF8
        }
    }

    /// The whole screen, before anything is drawn on it.
    pub fn ground(&self) -> Style {
        match palette(self.name).ground {
            Some(colours) => self.pair(colours),
            None => Style::new(),
        }
    }

    /// The style of a meaning.
    pub fn tone(&self, tone: Tone) -> Style {
        if let Some(style) = self.own(Part::Tone(tone)) {
            return style;
        }
        let palette = palette(self.name);
        let hue = palette.hue(tone);
        let faint = tone == Tone::Dim && hue.is_some();
        let style = match hue {
            Some(ink) => Style::new().fg(ink.of(self.many())),
            None => Style::new(),
        };
        if faint {
            style
        } else {
            style.add_modifier(weight(tone))
        }
    }

    /// The style of a mark: its tone, dim while it settles.
    pub fn mark(&self, mark: Mark) -> Style {
        let style = self.tone(mark.tone());
        if !matches!(mark, Mark::Settling(_)) {
            return style;
        }
        let style = style.remove_modifier(Modifier::BOLD);
        if palette(self.name).dim.is_some() {
            // What is dim here is a colour, and the mark has one.
            return style;
        }
        style.add_modifier(Modifier::DIM)
    }

    /// The selected row: one colour for all of it, since red on grey is hard to read and its mark
    /// tells the level anyway. `None` in mono, where the row is reversed instead.
    pub fn selected(&self) -> Option<Style> {
        let own = self.own(Part::Selected);
        let own = own.filter(|style| *style != Style::new());
        own.or_else(|| {
            let colours = palette(self.name).selected?;
            Some(self.pair(colours))
        })
    }

    /// What the user wants for this part, as far as the terminal and a mono theme let it be.
    fn own(&self, part: Part) -> Option<Style> {
        let (_, style) = self.changed.iter().find(|(which, _)| *which == part)?;
        let mut style = *style;
        let mono = self.name == ThemeName::Mono;
        for colour in [&mut style.fg, &mut style.bg] {
            *colour = colour.filter(|_| !mono).map(|it| lowered(it, self.depth));
        }
        Some(style)
    }

    fn many(&self) -> bool {
        self.depth >= Depth::Many
    }

    fn pair(&self, [text, ground]: [palette::Ink; 2]) -> Style {
        let many = self.many();
        Style::new().fg(text.of(many)).bg(ground.of(many))
    }
}

fn weight(tone: Tone) -> Modifier {
    match tone {
        Tone::Plain | Tone::Watch | Tone::Working => Modifier::empty(),
        Tone::Dim => Modifier::DIM,
        Tone::Strong | Tone::Stuck | Tone::NeedsYou | Tone::Key => Modifier::BOLD,
        Tone::Disagree | Tone::Hit => Modifier::REVERSED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::Color;

    #[test]
    fn what_the_user_changed_holds_in_every_theme_and_has_no_colour_in_mono() {
        let changed = vec![
            (
                Part::Tone(Tone::Stuck),
                read_style("208 underlined").unwrap(),
            ),
            (Part::Selected, read_style("white on blue").unwrap()),
        ];
        let theme = Theme::named(ThemeName::Dark, false, Depth::Many).with(changed);
        let stuck = theme.tone(Tone::Stuck);
        assert_eq!(stuck.fg, Some(Color::Indexed(208)));
        assert_eq!(stuck.add_modifier, Modifier::UNDERLINED, "no longer bold");
        assert_eq!(theme.selected().unwrap().bg, Some(Color::Blue));
        let light = theme.called(ThemeName::Light);
        assert_eq!(light.tone(Tone::Stuck), stuck);
        assert_ne!(light.tone(Tone::Watch), theme.tone(Tone::Watch));
        let mono = theme.called(ThemeName::Mono);
        assert_eq!(mono.tone(Tone::Stuck).fg, None);
        assert_eq!(mono.tone(Tone::Stuck).add_modifier, Modifier::UNDERLINED);
        assert_eq!(mono.selected(), None, "reversed, as ever");
    }

    #[test]
    fn a_terminal_of_16_colours_is_asked_for_no_others() {
        for name in ThemeName::ALL {
            let changed = vec![(Part::Tone(Tone::Key), read_style("#ff8700 on 230").unwrap())];
            let theme = Theme::named(name, false, Depth::Sixteen).with(changed);
            let mut styles = vec![theme.ground(), theme.selected().unwrap_or_default()];
            for (_, part) in PARTS {
                if let Part::Tone(tone) = part {
                    styles.push(theme.tone(tone));
                }
            }
            for colour in styles.iter().flat_map(|it| [it.fg, it.bg]).flatten() {
                let more = matches!(colour, Color::Indexed(_) | Color::Rgb(..));
                assert!(!more, "{name:?}: {colour:?}");
            }
        }
    }

    #[test]
    fn every_level_has_a_style_of_its_own_where_there_is_colour() {
        for name in ThemeName::ALL
            .into_iter()
            .filter(|it| *it != ThemeName::Mono)
        {
            for depth in [Depth::Sixteen, Depth::Many] {
                let theme = Theme::named(name, false, depth);
                let styles = [Tone::Stuck, Tone::NeedsYou, Tone::Watch, Tone::Plain]
                    .map(|tone| theme.tone(tone));
                for (at, style) in styles.iter().enumerate() {
                    assert!(!styles[..at].contains(style), "{name:?} {depth:?} {at}");
                }
            }
        }
    }
}
