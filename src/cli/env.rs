//! What the environment says: the one place that reads it.
//!
//! What it does: turns variables into plain answers (colour, ASCII, paths' roots, a password). What
//! it does not: keep a password anywhere but in the value that it returns.

use super::args::ColorWhen;
use std::io::IsTerminal;

/// A variable that is set, valid text and not empty.
#[expect(
    clippy::disallowed_methods,
    reason = "the environment is read here and nowhere else"
)]
pub fn var(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
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
    fn ascii_follows_locale_and_terminal() {
        assert!(!needs_ascii(Some("en_US.UTF-8"), Some("xterm")));
        assert!(!needs_ascii(Some("C.utf8"), None));
        assert!(needs_ascii(Some("C"), Some("xterm")));
        assert!(needs_ascii(None, Some("xterm")));
        assert!(needs_ascii(Some("de_DE.UTF-8"), Some("linux")));
        assert!(needs_ascii(Some("de_DE.UTF-8"), Some("dumb")));
    }
}
