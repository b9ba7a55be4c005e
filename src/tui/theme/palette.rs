//! The colours of each theme, as data.
//!
//! What it does: say which colour a meaning has, of the 256 and of the 16 that every terminal has.
//! What it does not: decide what is bold or reversed; that is the same in all of them. The tests
//! measure contrast, and what is left of the differences for colour-blind eyes.

use crate::core::present::{ThemeName, Tone};
use ratatui::style::Color;

/// A colour: its number among the 256, and what stands for it among the 16.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ink(Color, Color);

impl Ink {
    /// The colour for a terminal with 256 of them, or with 16.
    pub fn of(self, many: bool) -> Color {
        if many { self.0 } else { self.1 }
    }
}

const fn ink(number: u8, basic: Color) -> Ink {
    Ink(Color::Indexed(number), basic)
}

/// The terminal's own.
const fn own(basic: Color) -> Ink {
    Ink(basic, basic)
}

/// The colours of one theme. None: the terminal's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Palette {
    /// Text and background of the whole screen.
    pub ground: Option<[Ink; 2]>,
    /// Text and background of the selected row.
    pub selected: Option<[Ink; 2]>,
    /// What is less important; none: the terminal's way to be dim.
    pub dim: Option<Ink>,
    stuck: Option<Ink>,
    needs_you: Option<Ink>,
    watch: Option<Ink>,
    working: Option<Ink>,
}

impl Palette {
    /// The colour of a meaning.
    pub fn hue(&self, tone: Tone) -> Option<Ink> {
        match tone {
            Tone::Stuck => self.stuck,
            Tone::NeedsYou => self.needs_you,
            Tone::Watch => self.watch,
            Tone::Working => self.working,
            Tone::Dim => self.dim,
            Tone::Plain | Tone::Strong | Tone::Key | Tone::Disagree | Tone::Hit => None,
        }
    }
}

const MONO: Palette = Palette {
    ground: None,
    selected: None,
    dim: None,
    stuck: None,
    needs_you: None,
    watch: None,
    working: None,
};

const TERMINAL: Palette = Palette {
    selected: Some([own(Color::White), own(Color::DarkGray)]),
    stuck: Some(own(Color::Red)),
    needs_you: Some(own(Color::Magenta)),
    watch: Some(own(Color::Yellow)),
    working: Some(own(Color::Green)),
    ..MONO
};

const DARK: Palette = Palette {
    ground: Some([ink(252, Color::White), ink(234, Color::Black)]),
    selected: Some([ink(231, Color::White), ink(24, Color::Blue)]),
    dim: Some(ink(246, Color::Gray)),
    stuck: Some(ink(203, Color::LightRed)),
    needs_you: Some(ink(177, Color::LightMagenta)),
    watch: Some(ink(221, Color::LightYellow)),
    working: Some(ink(114, Color::LightGreen)),
};

const LIGHT: Palette = Palette {
    ground: Some([ink(235, Color::Black), ink(231, Color::White)]),
    selected: Some([ink(231, Color::White), ink(25, Color::Blue)]),
    dim: Some(ink(242, Color::DarkGray)),
    stuck: Some(ink(160, Color::Red)),
    needs_you: Some(ink(127, Color::Magenta)),
    // Yellow on white cannot be read.
    watch: Some(ink(94, Color::Blue)),
    working: Some(ink(28, Color::Green)),
};

const HIGH_CONTRAST: Palette = Palette {
    ground: Some([ink(231, Color::White), ink(16, Color::Black)]),
    selected: Some([ink(16, Color::Black), ink(226, Color::LightYellow)]),
    dim: Some(ink(231, Color::White)),
    stuck: Some(ink(210, Color::LightRed)),
    needs_you: Some(ink(213, Color::LightMagenta)),
    watch: Some(ink(226, Color::LightYellow)),
    working: Some(ink(120, Color::LightGreen)),
};

const COLOUR_BLIND: Palette = Palette {
    selected: Some([ink(231, Color::White), ink(238, Color::DarkGray)]),
    stuck: Some(ink(202, Color::Yellow)),
    needs_you: Some(ink(129, Color::Blue)),
    watch: Some(ink(30, Color::Cyan)),
    ..MONO
};

/// The colours of a theme.
pub(super) fn palette(theme: ThemeName) -> &'static Palette {
    match theme {
        ThemeName::Terminal => &TERMINAL,
        ThemeName::Dark => &DARK,
        ThemeName::Light => &LIGHT,
        ThemeName::HighContrast => &HIGH_CONTRAST,
        ThemeName::ColourBlind => &COLOUR_BLIND,
        ThemeName::Mono => &MONO,
    }
}

#[cfg(test)]
mod tests {
    use super::super::paint::rgb_of;
    use super::*;

    const TONES: [Tone; 5] = [
        Tone::Dim,
        Tone::Stuck,
        Tone::NeedsYou,
        Tone::Watch,
        Tone::Working,
    ];
    const BLACK: [f64; 3] = [0.0; 3];
    const WHITE: [f64; 3] = [1.0; 3];

    /// Linear light of red, green and blue, 0 to 1.
    fn light(ink: Ink) -> [f64; 3] {
        let Color::Indexed(number) = ink.of(true) else {
            panic!("{ink:?} is the terminal's own: nobody knows it");
        };
        rgb_of(number).map(|byte| {
            let part = f64::from(byte) / 255.0;
            if part <= 0.04045 {
                part / 12.92
            } else {
                ((part + 0.055) / 1.055).powf(2.4)
            }
        })
    }

    fn luminance([r, g, b]: [f64; 3]) -> f64 {
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    /// As the Web Content Accessibility Guidelines count it: 1 to 21.
    fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
        let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
        one.max(other) / one.min(other)
    }

    #[test]
    fn what_is_written_on_a_ground_of_its_own_can_be_read_on_it() {
        for (theme, least) in [
            (ThemeName::Dark, 4.5),
            (ThemeName::Light, 4.5),
            (ThemeName::HighContrast, 7.0),
        ] {
            let palette = palette(theme);
            let [text, ground] = palette.ground.unwrap().map(light);
            let [chosen, bar] = palette.selected.unwrap().map(light);
            assert!(contrast(text, ground) >= 7.0, "{theme:?}");
            assert!(contrast(chosen, bar) >= 4.5, "{theme:?}");
            assert!(contrast(bar, ground) >= 1.5, "{theme:?}: the bar is seen");
            for tone in TONES {
                let seen = contrast(light(palette.hue(tone).unwrap()), ground);
                assert!(seen >= least, "{theme:?} {tone:?}: {seen:.1}");
            }
        }
    }

    #[test]
    fn colour_blind_is_read_on_black_and_on_white() {
        let palette = palette(ThemeName::ColourBlind);
        for tone in [Tone::Stuck, Tone::NeedsYou, Tone::Watch] {
            let light = light(palette.hue(tone).unwrap());
            for ground in [BLACK, WHITE] {
                // Enough for marks and bold words; what is plain has the terminal's own colour.
                assert!(contrast(light, ground) >= 2.9, "{tone:?}");
            }
        }
    }

    /// What eyes without red, green or blue receptors see (Machado, Oliveira, Fernandes 2009).
    const EYES: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
        [
            [1.255_528, -0.076_749, -0.178_779],
            [-0.078_411, 0.930_809, 0.147_602],
            [0.004_733, 0.691_367, 0.303_900],
        ],
    ];

    /// As an even space of colours has it (CIE L*a*b*).
    fn even(light: [f64; 3]) -> [f64; 3] {
        let root = |t: f64| {
            if t > 0.008_856 {
                t.cbrt()
            } else {
                7.787 * t + 16.0 / 116.0
            }
        };
        let [red, green, blue] = light;
        let x = root((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047);
        let y = root(luminance(light));
        let z = root((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883);
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// How far two colours are apart for the eyes that tell them apart least.
    fn apart(one: Ink, other: Ink) -> f64 {
        let seen = |ink: Ink, eye: &[[f64; 3]; 3]| {
            let light = light(ink);
            even(eye.map(|row| {
                let sum: f64 = row.iter().zip(light).map(|(a, b)| a * b).sum();
                sum.clamp(0.0, 1.0)
            }))
        };
        let distance = |eye: &[[f64; 3]; 3]| {
            let pairs = seen(one, eye).into_iter().zip(seen(other, eye));
            pairs.map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
        };
        EYES.iter().map(distance).fold(f64::MAX, f64::min)
    }

    #[test]
    fn colour_blind_eyes_tell_the_levels_apart() {
        let levels = |theme| {
            let palette = palette(theme);
            let [a, b, c] =
                [Tone::Stuck, Tone::NeedsYou, Tone::Watch].map(|tone| palette.hue(tone).unwrap());
            apart(a, b).min(apart(b, c)).min(apart(a, c))
        };
        assert!(levels(ThemeName::ColourBlind) >= 50.0);
        assert!(levels(ThemeName::Light) < 50.0, "the measure measures");
    }
}
