//! Takes pictures of the real program: runs it in a pseudo terminal, types keys, waits for what the
//! screen must show, and writes the screen as SVG. `screenshots/take.sh` takes all of them.
//!
//! What it does: the steps given, in order. What it does not: sleep, or draw anything itself.
//!
//! ```text
//! shot --program target/release/ocwatch --size 80x24 'wait:stuck' key:? 'wait:Keys' save:help.svg -- --demo
//! ```

#[path = "../tests/bench/pty.rs"]
mod pty;
mod svg;

use clap::Parser;
use pty::{Failure, Pty};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Runs a program in a terminal and takes pictures of it.
#[derive(Parser)]
struct Args {
    /// The program.
    #[arg(long)]
    program: PathBuf,
    /// Columns and rows.
    #[arg(long, default_value = "120x40", value_parser = size)]
    size: (u16, u16),
    /// Seconds that each wait may take.
    #[arg(long, default_value_t = 30)]
    limit: u64,
    /// `wait:TEXT`, `gone:TEXT`, `key:NAME`, `press:KEY:TEXT`, `type:TEXT` or `save:FILE.svg`, in this order.
    #[arg(required = true)]
    steps: Vec<Step>,
    /// For the program.
    #[arg(last = true)]
    passed: Vec<String>,
}

#[derive(Clone)]
enum Step {
    /// Until the screen shows this text.
    Wait(String),
    /// Until the screen does not show it.
    Gone(String),
    /// Type these bytes.
    Type(Vec<u8>),
    /// Type a character until the screen shows a text: what has just changed takes no key yet.
    Press(Vec<u8>, String),
    /// Write the screen to this file.
    Save(PathBuf),
}

impl FromStr for Step {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (verb, rest) = text.split_once(':').ok_or("VERB:TEXT is wanted")?;
        match verb {
            "wait" => Ok(Self::Wait(rest.to_owned())),
            "gone" => Ok(Self::Gone(rest.to_owned())),
            "type" => Ok(Self::Type(rest.as_bytes().to_vec())),
            "press" => {
                let (name, text) = rest.split_once(':').ok_or("press:KEY:TEXT is wanted")?;
                Ok(Self::Press(key_bytes(name)?, text.to_owned()))
            }
            "save" => Ok(Self::Save(rest.into())),
            "key" => key_bytes(rest).map(Self::Type),
            _ => Err(format!("no such step: {verb}")),
        }
    }
}

fn key_bytes(name: &str) -> Result<Vec<u8>, String> {
    let bytes: &[u8] = match name {
        "Enter" => b"\r",
        "Esc" => b"\x1b",
        "Tab" => b"\t",
        "Up" => b"\x1b[A",
        "Down" => b"\x1b[B",
        "Right" => b"\x1b[C",
        "Left" => b"\x1b[D",
        "PageDown" => b"\x1b[6~",
        "PageUp" => b"\x1b[5~",
        one if one.chars().count() == 1 => one.as_bytes(),
        _ => return Err(format!("no such key: {name}")),
    };
    Ok(bytes.to_vec())
}

fn size(text: &str) -> Result<(u16, u16), String> {
    let sides = text.split_once('x').ok_or("COLUMNSxROWS is wanted")?;
    let side = |side: &str| side.parse().map_err(|e| format!("{side}: {e}"));
    Ok((side(sides.0)?, side(sides.1)?))
}

fn main() -> Result<(), Failure> {
    let args = Args::parse();
    let home = tempfile::tempdir()?;
    let program = args.program.canonicalize()?;
    let limit = Duration::from_secs(args.limit);
    let mut pty = Pty::start(&program, &args.passed, args.size, home.path())?;
    for step in args.steps {
        run(&mut pty, step, limit)?;
    }
    Ok(())
}

fn run(pty: &mut Pty, step: Step, limit: Duration) -> Result<(), Failure> {
    match step {
        Step::Wait(text) => pty.wait(&text, limit, |screen| screen.contents().contains(&text)),
        Step::Gone(text) => pty.wait(&format!("the end of {text}"), limit, |screen| {
            !screen.contents().contains(&text)
        }),
        Step::Type(bytes) => pty.send(&bytes),
        Step::Press(bytes, text) => {
            let mut tries = limit.as_secs().max(1);
            loop {
                pty.send(&bytes)?;
                let seen = pty.wait(&text, Duration::from_secs(1), |screen| {
                    screen.contents().contains(&text)
                });
                tries -= 1;
                if seen.is_ok() || tries == 0 {
                    return seen;
                }
            }
        }
        Step::Save(path) => Ok(std::fs::write(path, svg::picture(pty.screen()))?),
    }
}
