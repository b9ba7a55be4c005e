//! What the environment says: the one place that reads it.
//!
//! What it does: turns variables into plain answers (colour, ASCII, paths' roots, a password). What
//! it does not: keep a password anywhere but in the value that it returns.

use super::args::ColorWhen;
use crate::tui::Depth;
use std::io::IsTerminal;

/// A variable that is set, valid text and not empty.
#[expect(
    clippy::disallowed_methods,
    reason = "the environment is read here and nowhere else"
)]
pub fn var(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// A variable that is set to nothing, which says as little as one that is not set.
#[expect(
    clippy::disallowed_methods,
    reason = "the environment is read here and nowhere else"
)]
pub fn says_nothing(name: &std::ffi::OsStr) -> bool {
    std::env::var_os(name).is_some_and(|value| value.is_empty())
}

/// The values of all variables of this program.
pub fn own() -> impl Iterator<Item = String> {
    let all = std::env::vars_os();
    let ours = all.filter(|(name, _)| name.to_string_lossy().starts_with("OCWATCH_"));
    ours.filter_map(|(_, value)| value.into_string().ok())
}

/// Whether results on stdout are coloured.
pub fn color(when: ColorWhen) -> bool {
    match when {
        ColorWhen::Always => true,
        ColorWhen::Never => false,
        ColorWhen::Auto => {
            std::io::stdout().is_terminal()
                && var("NO_COLOR").is_none()
                && var("TERM").as_deref() != Some("dumb")
        }
    }
}

/// How wide the terminal is that stdout is, in cells; none off one.
pub fn width() -> Option<usize> {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let said = var("COLUMNS").and_then(|text| text.parse().ok());
    let size = || rustix::termios::tcgetwinsize(&stdout).ok();
    let width = said.or_else(|| Some(usize::from(size()?.ws_col)));
    width.filter(|width| *width > 0)
}

/// How much colour the terminal promises.
pub fn depth() -> Depth {
    promised(var("COLORTERM").as_deref(), var("TERM").as_deref())
}

fn promised(colorterm: Option<&str>, term: Option<&str>) -> Depth {
    let term = term.unwrap_or_default();
    let many = term.contains("256color");
    match colorterm {
        // Inherited from the terminal around them, these show what their own name says.
        _ if matches!(term, "linux" | "dumb" | "screen" | "vt100") => Depth::Sixteen,
        Some("truecolor" | "24bit") => Depth::True,
        _ if term.ends_with("-direct") => Depth::True,
        _ if many => Depth::Many,
        _ => Depth::Sixteen,
    }
}

/// Whether only ASCII may be drawn: asked for, or this terminal or locale cannot more.
pub fn ascii(asked: bool) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(var);
    asked || needs_ascii(locale.as_deref(), var("TERM").as_deref())
}

fn needs_ascii(locale: Option<&str>, term: Option<&str>) -> bool {
    let plain = matches!(term, Some("linux" | "dumb"));
    let locale = locale.unwrap_or("C").to_ascii_lowercase();
    plain || !(locale.contains("utf-8") || locale.contains("utf8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_colours_are_used_than_are_promised() {
        assert_eq!(promised(None, Some("xterm")), Depth::Sixteen);
        assert_eq!(promised(None, Some("xterm-256color")), Depth::Many);
        assert_eq!(
            promised(Some("truecolor"), Some("tmux-256color")),
            Depth::True
        );
        assert_eq!(promised(Some("yes"), Some("xterm-256color")), Depth::Many);
        assert_eq!(promised(Some("yes"), Some("xterm")), Depth::Sixteen);
        assert_eq!(promised(Some("truecolor"), Some("screen")), Depth::Sixteen);
        assert_eq!(promised(Some("truecolor"), Some("linux")), Depth::Sixteen);
        assert_eq!(promised(None, None), Depth::Sixteen);
    }

    #[test]
    fn ascii_follows_locale_and_terminal() {
        assert!(!needs_ascii(Some("en_US.UTF-8"), Some("xterm")));
        assert!(!needs_ascii(Some("C.utf8"), None));
        assert!(needs_ascii(Some("C"), Some("xterm")));
        assert!(needs_ascii(None, Some("xterm")));
        assert!(needs_ascii(Some("de_DE.UTF-8"), Some("linux")));
        assert!(needs_ascii(Some("de_DE.UTF-8"), Some("dumb")));
    }
}
