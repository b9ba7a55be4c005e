//! The log: a file in the state directory that rolls daily; nothing on the terminal.
//!
//! Invariants: control characters of what is logged are escaped, one event is one line; passwords
//! never get here because no `Debug` shows them.

use super::args::LogLevel;
use std::io::{self, Write};
use std::path::Path;
use tracing_appender::non_blocking::{NonBlocking, WorkerGuard};
use tracing_appender::rolling::{Builder, Rotation};
use tracing_subscriber::filter::LevelFilter;

/// How many days are kept.
const KEPT_FILES: usize = 5;

/// Starts logging. Keep what it returns until the end: dropping it writes what is still buffered.
/// `None`: nothing is logged, because it was not wanted or no file could be made.
pub fn start(level: LogLevel, dir: Option<&Path>) -> Option<WorkerGuard> {
    let filter = level_filter(level)?;
    let dir = dir?;
    std::fs::create_dir_all(dir).ok()?;
    let file = Builder::new()
        .rotation(Rotation::DAILY)
        .filename_prefix("ocwatch")
        .filename_suffix("log")
        .max_log_files(KEPT_FILES)
        .build(dir)
        .ok()?;
    let (writer, guard) = tracing_appender::non_blocking(file);
    tracing_subscriber::fmt()
        .with_max_level(filter)
        .with_ansi(false)
        .with_writer(move || OneLine(writer.clone()))
        .try_init()
        .ok()?;
    Some(guard)
}

fn level_filter(level: LogLevel) -> Option<LevelFilter> {
    match level {
        LogLevel::Off => None,
        LogLevel::Error => Some(LevelFilter::ERROR),
        LogLevel::Warn => Some(LevelFilter::WARN),
        LogLevel::Info => Some(LevelFilter::INFO),
        LogLevel::Debug => Some(LevelFilter::DEBUG),
        LogLevel::Trace => Some(LevelFilter::TRACE),
    }
}

/// Writes each event, which comes in one piece, as one line of visible characters.
struct OneLine(NonBlocking);

impl Write for OneLine {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        self.0.write_all(one_line(event).as_bytes())?;
        Ok(event.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn one_line(event: &[u8]) -> String {
    let text = String::from_utf8_lossy(event);
    let mut line = String::with_capacity(text.len() + 1);
    for c in text.trim_end_matches('\n').chars() {
        if c.is_control() {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line_whatever_it_holds() {
        assert_eq!(one_line(b"a\x1b[2J\nb\x07\n"), "a\\u{1b}[2J\\nb\\u{7}\n");
    }
}
