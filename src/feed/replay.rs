//! A recording as a source of inputs, with a clock of its own.
//!
//! What it does: read the file line by line, and hand out each input when the replay's clock has come
//! to the time at which it was received. What it does not: know the present. Invariant: the clock
//! begins with the recording and stops with it, so that nothing seems to fall silent after its end.

use crate::core::record::{Header, RecordError, input};
use crate::core::time::{Clock, UnixMs};
use crate::core::wire::Input;
use crate::feed::live::LiveFeed;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use thiserror::Error;
use tokio::fs::File;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep};

/// Inputs that may wait.
const WAITING: usize = 1024;
/// The longest first line.
const LONGEST_HEADER: u64 = 1 << 20;

/// Why nothing can be replayed. Fits after "failed to replay FILE: ".
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The file.
    #[error("{0}")]
    File(#[from] io::Error),
    /// What is in it.
    #[error("{0}")]
    Record(#[from] RecordError),
}

/// A recording that has been opened.
pub struct Replay {
    path: PathBuf,
    /// Its first line.
    pub header: Header,
    pace: Arc<Pace>,
}

/// How the replay's clock runs.
struct Pace {
    begins: UnixMs,
    speed: f64,
    started: OnceLock<Instant>,
    /// Where it stops, once that is known.
    end: AtomicI64,
}

impl Pace {
    fn now(&self) -> UnixMs {
        let started = self.started.get_or_init(Instant::now);
        let passed = started.elapsed().as_secs_f64() * 1000.0 * self.speed;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a cast of a float saturates"
        )]
        let now = self.begins.0.saturating_add(passed as i64);
        UnixMs(now.min(self.end.load(Ordering::Relaxed)))
    }

    /// How long it takes until then.
    fn until(&self, at: UnixMs) -> Duration {
        let left = (at - self.now()).as_ms().max(0);
        Duration::from_millis(left.unsigned_abs()).div_f64(self.speed)
    }
}

impl Replay {
    /// Reads the first line. `speed`: above zero; 1 is as it was.
    pub fn open(path: &Path, speed: f64) -> Result<Self, ReplayError> {
        use std::io::{BufRead, Read};
        let file = std::fs::File::open(path)?;
        let mut first = String::new();
        let read = io::BufReader::new(file.take(LONGEST_HEADER)).read_line(&mut first);
        read.map_err(|why| match why.kind() {
            io::ErrorKind::InvalidData => ReplayError::Record(RecordError::NoRecording),
            _ => ReplayError::File(why),
        })?;
        let header = Header::parse(&first)?;
        let pace = Pace {
            begins: header.at,
            speed,
            started: OnceLock::new(),
            end: AtomicI64::new(i64::MAX),
        };
        Ok(Self {
            path: path.to_owned(),
            header,
            pace: Arc::new(pace),
        })
    }

    /// The time of the recording.
    pub fn clock(&self) -> Clock {
        let pace = Arc::clone(&self.pace);
        Arc::new(move || pace.now())
    }

    /// Begins. What is told when it has ended says so in words. Needs a runtime.
    pub fn start(&self) -> (LiveFeed, oneshot::Receiver<String>) {
        let (to_feed, inputs) = mpsc::channel(WAITING);
        let (tell, ended) = oneshot::channel();
        let mut feed = LiveFeed::without_links(inputs);
        let (path, header, pace) = (self.path.clone(), self.header.clone(), self.pace.clone());
        feed.links.spawn(async move {
            let words = play(&path, &header, &pace, &to_feed).await;
            // Nobody need hear it.
            tell.send(words).ok();
            // A feed that ends is a fault; this one has only nothing more to say.
            to_feed.closed().await;
        });
        (feed, ended)
    }
}

/// Hands all of it out; says how it ended.
async fn play(path: &Path, header: &Header, pace: &Pace, out: &mpsc::Sender<Input>) -> String {
    let mut last = header.at;
    let mut bad = 0;
    let why = hand_out(path, header, pace, out, (&mut last, &mut bad)).await;
    // Nothing is heard of what came after it.
    pace.end.store(last.0, Ordering::Relaxed);
    let mut words = "the recording ends here".to_owned();
    if bad > 0 {
        let lines = if bad == 1 { "line was" } else { "lines were" };
        words.extend([", ", &bad.to_string(), " ", lines, " not understood"]);
    }
    if let Err(why) = why {
        words.extend([": ", &why.to_string()]);
    }
    words
}

async fn hand_out(
    path: &Path,
    header: &Header,
    pace: &Pace,
    out: &mpsc::Sender<Input>,
    (last, bad): (&mut UnixMs, &mut usize),
) -> io::Result<()> {
    let mut file = BufReader::new(File::open(path).await?);
    let mut line = Vec::new();
    file.read_until(b'\n', &mut line).await?;
    loop {
        line.clear();
        if file.read_until(b'\n', &mut line).await? == 0 {
            return Ok(());
        }
        let text = std::str::from_utf8(&line).unwrap_or_default();
        match input(text, header) {
            Some(input) => {
                sleep(pace.until(input.at)).await;
                *last = input.at.max(*last);
                if out.send(input).await.is_err() {
                    return Ok(());
                }
            }
            // A torn last line: whoever wrote it was ended.
            None if !line.ends_with(b"\n") => return Ok(()),
            None => *bad += 1,
        }
    }
}
