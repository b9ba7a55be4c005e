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
    // Whoever is ended before the first input still leaves a recording.
    recorder.flush();
    // A file may be slow: it has a thread of its own, which ends with the program.
    std::thread::spawn(move || {
        'inputs: while let Some(input) = inputs.blocking_recv() {
            let mut one = vec![input];
            scope.narrow(&mut one);
            for input in one {
                recorder.write(line(&input));
                if inputs.is_empty() {
                    recorder.flush();
                }
                if on.blocking_send(input).is_err() {
                    break 'inputs;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::id::{Epoch, ServerId};
    use crate::core::time::UnixMs;
    use crate::core::wire::Body;
    use std::time::Duration;
    use tokio::time::timeout;

    #[tokio::test]
    async fn it_begins_at_once_and_ends_with_whoever_takes_the_inputs() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (inputs, from) = mpsc::channel(8);
        let header = Header::new(std::iter::empty(), UnixMs(1));
        let again = file.reopen().unwrap();
        let out = tee(from, Scope::default(), again, &header, |_| {});
        let begun = std::fs::read(file.path()).unwrap();
        assert!(begun.ends_with(b"\n"), "its first line, before any input");
        drop(out);
        let input = Input {
            server: ServerId(0),
            epoch: Epoch(1),
            at: UnixMs(1),
            body: Body::ClockJumped,
        };
        inputs.send(input).await.unwrap();
        let ended = timeout(Duration::from_secs(10), inputs.closed()).await;
        assert!(ended.is_ok());
    }
}
