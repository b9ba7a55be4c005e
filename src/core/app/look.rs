//! The names of the themes. What they look like is the terminal side's affair.

/// A theme, by what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ThemeName {
    /// The terminal's own 16 colours, on its own background.
    #[default]
    Terminal,
    /// Light text on a dark background of its own.
    Dark,
    /// Dark text on a white background of its own.
    Light,
    /// White, black and the strongest colours; nothing is dim.
    HighContrast,
    /// Colours that people with the common kinds of colour blindness tell apart, on the terminal's
    /// own background, dark or light.
    ColourBlind,
    /// No colour: bold, dim and reversed only.
    Mono,
}

impl ThemeName {
    /// Every theme, in the order of the README.
    pub const ALL: [ThemeName; 6] = [
        ThemeName::Terminal,
        ThemeName::Dark,
        ThemeName::Light,
        ThemeName::HighContrast,
        ThemeName::ColourBlind,
        ThemeName::Mono,
    ];

    /// As it is written in the configuration and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            ThemeName::Terminal => "terminal",
            ThemeName::Dark => "dark",
            ThemeName::Light => "light",
            ThemeName::HighContrast => "high-contrast",
            ThemeName::ColourBlind => "colour-blind",
            ThemeName::Mono => "mono",
        }
    }

    /// What it is for, in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            ThemeName::Terminal => "your terminal's own colours",
            ThemeName::Dark => "light on a dark ground",
            ThemeName::Light => "dark on a white ground",
            ThemeName::HighContrast => "the strongest colours, nothing dim",
            ThemeName::ColourBlind => "orange, violet and teal, on your terminal's ground",
            ThemeName::Mono => "no colour",
        }
    }

    /// The theme of this name.
    pub fn named(word: &str) -> Option<Self> {
        let word = if word == "color-blind" {
            "colour-blind"
        } else {
            word
        };
        Self::ALL.into_iter().find(|theme| theme.word() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_back() {
        for theme in ThemeName::ALL {
            assert_eq!(ThemeName::named(theme.word()), Some(theme));
        }
        assert_eq!(
            ThemeName::named("color-blind"),
            Some(ThemeName::ColourBlind)
        );
        assert_eq!(ThemeName::named("Dark"), None);
    }
}
