//! The first screen of a new user: no server is named, and none is found.
//!
//! What it does: word it. What it does not: look for servers.

use crate::core::present::{Greeting, Hint, Line, Piece, Screen, Tone, clean};

/// What the first screen has to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Welcome {
    /// Where a server was looked for: `127.0.0.1:4096`.
    pub address: String,
    /// What was looked at, and what is there instead.
    pub looked: Vec<String>,
    /// Its port.
    pub port: u16,
    /// Where the configuration belongs; none: this user has no home.
    pub config: Option<String>,
    /// Seconds until it is looked for again.
    pub every: u64,
    /// What came of the last look that was asked for.
    pub said: Option<String>,
}

/// The first screen.
pub fn welcome(it: &Welcome) -> Screen {
    let file = it
        .config
        .as_deref()
        .map_or_else(|| "config.toml (--config FILE)".to_owned(), clean);
    let step = |words: &str, how: String| -> Line {
        vec![
            Piece::new(format!("- {words} "), Tone::Plain),
            Piece::new(how, Tone::Strong),
        ]
    };
    let steps = vec![
        step("start one:", format!("opencode serve --port {}", it.port)),
        step("or name one:", "ocwatch http://HOST:PORT".to_owned()),
        step("or write yours, once, into", file),
        step("or press d for the demo:", "simulated servers".to_owned()),
    ];
    let greeting = Greeting {
        title: format!(
            "ocwatch watches OpenCode servers; none is found on {}.",
            clean(&it.address)
        ),
        steps,
        waits: format!(
            "Looked at: {}. It is looked again every {} s.",
            clean(&it.looked.join("; ")),
            it.every
        ),
    };
    Screen {
        greeting: Some(greeting),
        notice: it
            .said
            .as_deref()
            .map(|said| Piece::new(clean(said), Tone::Watch)),
        footer: vec![
            Hint::new("d", "demo"),
            Hint::new("r", "look again"),
            Hint::new("q", "quit"),
        ],
        ..Screen::default()
    }
}
