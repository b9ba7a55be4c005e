//! Sequences that a terminal takes as a notification or as text for the clipboard.
//!
//! What it does: write them, wrapped so that tmux or GNU screen hand them on; tell by what the
//! environment says which kind this terminal understands. What it does not: write to a terminal.
//! Invariant: no text can end the sequence that holds it, whatever it contains.

use crate::core::present::{NoticeWords, clean};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Which notification a terminal understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OscKind {
    /// `OSC 9 ; text` (iTerm2, and others after it).
    Nine,
    /// `OSC 777 ; notify ; heading ; body` (rxvt, foot, WezTerm, Ghostty).
    SevenSevenSeven,
    /// `OSC 99` with heading and body (kitty).
    NinetyNine,
}

/// What lies between ocwatch and the terminal and must be told to hand a sequence on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wrap {
    /// Nothing.
    #[default]
    Plain,
    /// tmux (with `allow-passthrough on`).
    Tmux,
    /// GNU screen.
    Screen,
}

/// How variables are looked up.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Bytes that GNU screen takes in one string.
const SCREEN_STRING: usize = 512;
/// Bytes of text that are put on the clipboard at most: terminals cut or drop what is longer, the
/// strictest after some 8 KB of base64.
pub const CLIPBOARD_MOST: usize = 6000;

/// The kind that this terminal understands, as far as the environment tells. `None`: not known.
pub fn detect(env: Lookup<'_>) -> Option<OscKind> {
    let is = |name: &str| env(name).is_some();
    let term = env("TERM").unwrap_or_default();
    let program = env("TERM_PROGRAM").unwrap_or_default();
    let begins = |names: &[&str]| names.iter().any(|name| term.starts_with(name));
    if is("KITTY_WINDOW_ID") || begins(&["xterm-kitty"]) {
        return Some(OscKind::NinetyNine);
    }
    let seven = ["WezTerm", "ghostty"].contains(&program.as_str())
        || is("WEZTERM_PANE")
        || is("GHOSTTY_RESOURCES_DIR")
        || begins(&["xterm-ghostty", "wezterm", "foot", "rxvt-unicode"]);
    if seven {
        return Some(OscKind::SevenSevenSeven);
    }
    let nine = ["iTerm.app", "WarpTerminal"].contains(&program.as_str())
        || is("ITERM_SESSION_ID")
        || env("LC_TERMINAL").as_deref() == Some("iTerm2");
    nine.then_some(OscKind::Nine)
}

/// What sequences must pass through.
pub fn wrap(env: Lookup<'_>) -> Wrap {
    if env("TMUX").is_some() {
        Wrap::Tmux
    } else if env("STY").is_some() {
        Wrap::Screen
    } else {
        Wrap::Plain
    }
}

/// The bytes of a notification.
pub fn notification(kind: OscKind, words: &NoticeWords, wrap: Wrap) -> Vec<u8> {
    let sequence = match kind {
        // A number and `;` in front would be another command of OSC 9.
        OscKind::Nine => format!("\x1b]9;{}\x07", words.line().replace(';', ",")),
        OscKind::SevenSevenSeven => {
            let heading = words.heading.replace(';', ",");
            format!(
                "\x1b]777;notify;{heading};{}\x07",
                words.body.replace(';', ",")
            )
        }
        OscKind::NinetyNine => {
            let coded = |text: &str| STANDARD.encode(text);
            let heading = coded(&words.heading);
            let body = match words.body.as_str() {
                "" => return wrapped(&format!("\x1b]99;i=ocwatch:e=1;{heading}\x07"), wrap),
                body => coded(body),
            };
            let first = format!("\x1b]99;i=ocwatch:d=0:e=1;{heading}\x07");
            format!("{first}\x1b]99;i=ocwatch:p=body:e=1;{body}\x07")
        }
    };
    wrapped(&sequence, wrap)
}

/// The bytes that put a text on the clipboard (OSC 52); why not, if it is too long.
pub fn clipboard(text: &str, wrap: Wrap) -> Result<Vec<u8>, String> {
    let text = clean(text);
    if text.len() > CLIPBOARD_MOST {
        return Err(format!(
            "it is too long for a terminal's clipboard ({} bytes, {CLIPBOARD_MOST} at most)",
            text.len()
        ));
    }
    let sequence = format!("\x1b]52;c;{}\x07", STANDARD.encode(text));
    let mut bytes = Vec::new();
    if wrap == Wrap::Tmux {
        // tmux may also be set to take it itself (`set-clipboard on`) and not to hand it on.
        bytes.extend_from_slice(sequence.as_bytes());
    }
    bytes.extend(wrapped(&sequence, wrap));
    Ok(bytes)
}

fn wrapped(sequence: &str, wrap: Wrap) -> Vec<u8> {
    match wrap {
        Wrap::Plain => sequence.as_bytes().to_vec(),
        Wrap::Tmux => {
            let doubled = sequence.replace('\x1b', "\x1b\x1b");
            format!("\x1bPtmux;{doubled}\x1b\\").into_bytes()
        }
        Wrap::Screen => {
            let chunks = sequence.as_bytes().chunks(SCREEN_STRING);
            let framed = chunks.flat_map(|chunk| [b"\x1bP", chunk, b"\x1b\\"].concat());
            framed.collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(heading: &str, body: &str) -> NoticeWords {
        NoticeWords {
            heading: heading.to_owned(),
            body: body.to_owned(),
        }
    }

    fn written(kind: OscKind, said: &NoticeWords, wrap: Wrap) -> String {
        String::from_utf8(notification(kind, said, wrap)).unwrap()
    }

    #[test]
    fn each_kind_has_its_form() {
        let said = words("\"A; b\" is stuck", "hung-tool: x; y");
        let plain = |kind| written(kind, &said, Wrap::Plain);
        assert_eq!(
            plain(OscKind::Nine),
            "\x1b]9;\"A, b\" is stuck: hung-tool: x, y\x07"
        );
        let seven = "\x1b]777;notify;\"A, b\" is stuck;hung-tool: x, y\x07";
        assert_eq!(plain(OscKind::SevenSevenSeven), seven);
        let kitty = plain(OscKind::NinetyNine);
        let (heading, body) = (STANDARD.encode(&said.heading), STANDARD.encode(&said.body));
        let want = format!(
            "\x1b]99;i=ocwatch:d=0:e=1;{heading}\x07\x1b]99;i=ocwatch:p=body:e=1;{body}\x07"
        );
        assert_eq!(kitty, want);
        let alone = written(OscKind::NinetyNine, &words("x", ""), Wrap::Plain);
        assert_eq!(alone, "\x1b]99;i=ocwatch:e=1;eA==\x07");
    }

    #[test]
    fn tmux_and_screen_are_told_to_hand_it_on() {
        let said = words("x", "");
        let tmux = written(OscKind::Nine, &said, Wrap::Tmux);
        assert_eq!(tmux, "\x1bPtmux;\x1b\x1b]9;x\x07\x1b\\");
        let screen = written(OscKind::Nine, &said, Wrap::Screen);
        assert_eq!(screen, "\x1bP\x1b]9;x\x07\x1b\\");
        // What is long comes in pieces, and is whole once the frames are taken off.
        let long = words(&"y".repeat(1500), "");
        let screen = written(OscKind::Nine, &long, Wrap::Screen);
        assert_eq!(screen.matches("\x1bP").count(), 3);
        let whole = screen.replace("\x1b\\", "").replace("\x1bP", "");
        assert_eq!(whole, format!("\x1b]9;{}\x07", long.heading));
    }

    #[test]
    fn the_clipboard_takes_text_and_says_when_it_is_too_long() {
        let plain = clipboard("ses_1", Wrap::Plain).unwrap();
        assert_eq!(plain, b"\x1b]52;c;c2VzXzE=\x07");
        let tmux = clipboard("ses_1", Wrap::Tmux).unwrap();
        let want = "\x1b]52;c;c2VzXzE=\x07\x1bPtmux;\x1b\x1b]52;c;c2VzXzE=\x07\x1b\\";
        assert_eq!(String::from_utf8(tmux).unwrap(), want);
        let why = clipboard(&"x".repeat(6001), Wrap::Plain).unwrap_err();
        assert!(why.contains("6001 bytes"), "{why}");
    }

    #[test]
    fn the_terminal_is_known_by_what_it_sets() {
        let kind = |set: &[(&str, &str)]| {
            detect(&|name| {
                let mut found = set.iter().filter(|it| it.0 == name);
                found.next().map(|it| it.1.to_owned())
            })
        };
        let seven = Some(OscKind::SevenSevenSeven);
        assert_eq!(kind(&[("TERM", "xterm-kitty")]), Some(OscKind::NinetyNine));
        assert_eq!(
            kind(&[("TERM", "screen"), ("KITTY_WINDOW_ID", "1")]),
            Some(OscKind::NinetyNine)
        );
        assert_eq!(kind(&[("TERM_PROGRAM", "iTerm.app")]), Some(OscKind::Nine));
        assert_eq!(
            kind(&[("TERM_PROGRAM", "tmux"), ("LC_TERMINAL", "iTerm2")]),
            Some(OscKind::Nine)
        );
        assert_eq!(
            kind(&[("TERM_PROGRAM", "tmux"), ("WEZTERM_PANE", "0")]),
            seven
        );
        assert_eq!(kind(&[("TERM", "foot-extra")]), seven);
        assert_eq!(kind(&[("TERM_PROGRAM", "ghostty")]), seven);
        assert_eq!(
            kind(&[("TERM", "xterm-256color"), ("VTE_VERSION", "7600")]),
            None
        );
        assert_eq!(
            kind(&[
                ("TERM", "xterm-256color"),
                ("TERM_PROGRAM", "Apple_Terminal")
            ]),
            None
        );
    }
}
