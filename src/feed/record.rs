//! A recorder between the links and whoever takes their inputs.
//!
//! What it does: write each input that counts to a file, whole lines, and pass it on. What it does
//! not: hold up anybody for ever: when the file is full or cannot be written it stops, and says so.

use crate::core::record::{Header, line};
use crate::core::wire::Input;
use crate::feed::scope::Scope;
use std::fs::File;
use std::io::{BufWriter, Write};
use tokio::sync::mpsc::{self, Receiver};

/// Bytes after which a recording ends.
pub const MOST: u64 = 1 << 30;
/// Inputs that may wait for whoever takes them.
const WAITING: usize = 1024;

/// Records from now on; what comes out is what went in. `tell` hears why a recording ended early.
pub fn tee(
    mut inputs: Receiver<Input>,
    scope: Scope,
    file: File,
    header: &Header,
    tell: impl Fn(String) + Send + 'static,
) -> Receiver<Input> {
    let (on, out) = mpsc::channel(WAITING);
    let mut recorder = Recorder {
        file: Some(BufWriter::new(file)),
        written: 0,
        tell: Box::new(tell),
    };
    recorder.write(line(header));
    // A file may be slow: it has a thread of its own, which ends with the program.
    std::thread::spawn(move || {
        while let Some(input) = inputs.blocking_recv() {
            let mut one = vec![input];
            scope.narrow(&mut one);
            for input in one {
                recorder.write(line(&input));
                if inputs.is_empty() {
                    recorder.flush();
                }
                if on.blocking_send(input).is_err() {
                    break;
                }
            }
        }
        recorder.flush();
    });
    out
}

struct Recorder {
    file: Option<BufWriter<File>>,
    written: u64,
    tell: Box<dyn Fn(String) + Send>,
}

impl Recorder {
    fn write(&mut self, line: Option<Vec<u8>>) {
        let Some((file, line)) = self.file.as_mut().zip(line) else {
            return;
        };
        self.written += line.len() as u64;
        if self.written > MOST {
            self.stop(format!(
                "the recording is full ({} MiB): it ends here",
                MOST >> 20
            ));
        } else if let Err(why) = file.write_all(&line) {
            self.stop(format!("the recording ends here: {why}"));
        }
    }

    fn flush(&mut self) {
        let flushed = self.file.as_mut().map(Write::flush);
        if let Some(Err(why)) = flushed {
            self.stop(format!("the recording ends here: {why}"));
        }
    }

    fn stop(&mut self, why: String) {
        self.file = None;
        (self.tell)(why);
    }
}
