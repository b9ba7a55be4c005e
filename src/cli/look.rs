//! How the dashboard looks: from arguments, environment and configuration to a theme.
//!
//! What it does: decide which of them counts. What it does not: know colours. The order: where no
//! colour is wanted, mono; then `--theme` (or OCWATCH_THEME), the configuration, the terminal's own.

use super::args::Common;
use super::config::Look;
use super::env;
use crate::core::app::ThemeName;
use crate::tui::Theme;

/// The theme of the dashboard.
pub(super) fn theme(common: &Common, look: &Look) -> Theme {
    let wanted = common.theme.or(look.name).unwrap_or_default();
    let name = if env::color(common.color) {
        wanted
    } else {
        ThemeName::Mono
    };
    let theme = Theme::named(name, env::ascii(common.ascii), env::depth());
    theme.with(look.changed.clone())
}
