//! From the bytes of an event stream to whole lines, in bounded memory.
//!
//! What it does: gives whole lines only (the parser behind it is quadratic in the size of an event
//! that comes in pieces), drops `sync` doubles by a look at their first bytes, shortens long
//! strings in flight ([`Squeezer`]), and cuts a line that is still larger than [`LINE_CAP`]: it
//! then ends in [`OVERSIZED`] and decodes as malformed. What it does not: parse events. Invariants:
//! identity on short lines; the same lines however the bytes are cut into chunks.

use super::squeeze::Squeezer;
use crate::core::wire::v1::{OVERSIZED, event_kind, is_dropped};
use bytes::Bytes;
use futures_util::Stream;
use std::collections::VecDeque;
use std::io::BufRead;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

/// The largest line that passes, after shortening of its strings.
pub const LINE_CAP: usize = 4 * 1024 * 1024;
/// How much of a line is looked at to tell its kind, and kept of one that is cut.
const LOOK: usize = 1024;

/// The re-chunker.
#[derive(Debug, Default)]
pub struct Lines {
    buffer: Vec<u8>,
    squeezer: Squeezer,
    mode: Mode,
    /// Bytes of the event so far: data may stand on several lines.
    event: usize,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// The kind is not known yet.
    #[default]
    Look,
    /// The line passes.
    Pass,
    /// The rest of the line is skipped.
    Drop,
    /// The line is too large: its beginning is in the buffer, the rest is skipped.
    Cut,
}

impl Lines {
    /// Takes the next bytes; whole lines, each with its line feed, go to `out`.
    pub fn push(&mut self, mut chunk: &[u8], out: &mut VecDeque<Bytes>) {
        while !chunk.is_empty() {
            let mut rest = chunk;
            // Reading from memory cannot fail.
            let taken = rest.skip_until(b'\n').unwrap_or(chunk.len());
            let (line, tail) = chunk.split_at(taken);
            match line.strip_suffix(b"\n") {
                None => self.take(line),
                Some(line) => {
                    self.take(line);
                    self.end(out);
                }
            }
            chunk = tail;
        }
    }

    fn take(&mut self, mut bytes: &[u8]) {
        if self.mode == Mode::Look {
            let (head, tail) = bytes.split_at(bytes.len().min(LOOK - self.buffer.len().min(LOOK)));
            self.squeezer.feed(head, &mut self.buffer);
            if self.buffer.len() >= LOOK {
                self.decide();
            }
            bytes = tail;
        }
        if self.mode == Mode::Pass {
            self.squeezer.feed(bytes, &mut self.buffer);
            if self.buffer.len() > LINE_CAP {
                self.buffer.truncate(LOOK);
                self.buffer.shrink_to(64 * 1024);
                self.mode = Mode::Cut;
            }
        }
    }

    fn decide(&mut self) {
        let head = String::from_utf8_lossy(&self.buffer[..self.buffer.len().min(LOOK)]);
        let kind = head
            .strip_prefix("data:")
            .and_then(|data| event_kind(data.trim_start()));
        self.mode = if kind.is_some_and(is_dropped) {
            Mode::Drop
        } else {
            Mode::Pass
        };
    }

    fn end(&mut self, out: &mut VecDeque<Bytes>) {
        if self.mode == Mode::Look {
            self.decide();
        }
        if self.mode == Mode::Cut {
            let mut mark = [0; 4];
            self.buffer
                .extend_from_slice(OVERSIZED.encode_utf8(&mut mark).as_bytes());
        }
        let blank = self.buffer.is_empty() || self.buffer == b"\r";
        self.event = if blank {
            0
        } else {
            self.event + self.buffer.len()
        };
        if self.mode != Mode::Drop && self.event <= 2 * LINE_CAP {
            let mut line = String::from_utf8_lossy(&self.buffer).into_owned();
            line.push('\n');
            out.push_back(Bytes::from(line));
        }
        self.buffer.clear();
        self.buffer.shrink_to(64 * 1024);
        self.squeezer = Squeezer::default();
        self.mode = Mode::Look;
    }
}

/// A stream of chunks as a stream of lines. What stands after the last line feed is lost with the
/// connection, as it must be.
pub struct Rechunk<S> {
    inner: S,
    lines: Lines,
    ready: VecDeque<Bytes>,
    received: Arc<AtomicU64>,
}

impl<S> Rechunk<S> {
    /// Around a stream of chunks.
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            lines: Lines::default(),
            ready: VecDeque::new(),
            received: Arc::default(),
        }
    }
    /// A counter of all bytes received: a sign of life while a long event is on its way.
    pub fn received(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.received)
    }
}

impl<S, E> Stream for Rechunk<S>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
{
    type Item = Result<Bytes, E>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if let Some(line) = this.ready.pop_front() {
                return Poll::Ready(Some(Ok(line)));
            }
            match ready!(Pin::new(&mut this.inner).poll_next(cx)) {
                Some(Ok(chunk)) => {
                    this.received
                        .fetch_add(chunk.len() as u64, Ordering::Relaxed);
                    this.lines.push(&chunk, &mut this.ready);
                }
                end => return Poll::Ready(end),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::wire::EventKind;
    use crate::core::wire::v1::decode_event;
    use proptest::prelude::*;

    fn lines(text: &[u8], size: usize) -> Vec<String> {
        let mut lines = Lines::default();
        let mut out = VecDeque::new();
        for chunk in text.chunks(size.max(1)) {
            lines.push(chunk, &mut out);
        }
        out.iter()
            .map(|line| String::from_utf8(line.to_vec()).unwrap())
            .collect()
    }

    fn part(output: &str, kind: &str) -> String {
        let part = serde_json::json!({"id": "prt_1", "sessionID": "ses_1", "messageID": "msg_1", "type": "tool",
            "tool": "bash", "callID": "c", "state": {"status": "completed", "input": {"command": "x"}, "output": output}});
        let properties = serde_json::json!({"sessionID": "ses_1", "part": part});
        format!(
            "data: {{\"directory\":\"/d\",\"payload\":{{\"id\":\"e\",\"type\":\"{kind}\",\"properties\":{properties}}}}}\n\n"
        )
    }

    #[test]
    fn a_huge_output_is_measured_not_kept() {
        let text = part(&"0123456789\n".repeat(200_000), "message.part.updated");
        let out = lines(text.as_bytes(), 8192);
        assert!(out[0].len() < 4096);
        let event = decode_event(out[0].trim_end().strip_prefix("data: ").unwrap());
        let EventKind::PartUpdated(part) = event.kind else {
            panic!("{event:?}")
        };
        assert_eq!(part.tool().unwrap().output.bytes, 2_200_000);
    }

    #[test]
    fn doubles_are_dropped_and_the_rest_is_identical() {
        let one = part("short", "message.part.updated");
        let text = format!("{one}{}: comment\n\n{one}", part(&"x".repeat(9000), "sync"));
        let want = format!("{one}\n: comment\n\n{one}");
        assert_eq!(lines(text.as_bytes(), 7).concat(), want);
    }

    #[test]
    fn an_event_past_the_cap_is_cut_and_counted() {
        let many = "\"a\",".repeat(LINE_CAP / 3);
        let text = format!(
            "data: {{\"payload\":{{\"id\":\"e\",\"type\":\"message.part.updated\",\"properties\":{{\"sessionID\":\"ses_1\",\"x\":[{many}1]}}}}}}\n\ndata: {{}}\n"
        );
        let out = lines(text.as_bytes(), 10_000);
        assert_eq!((out.len(), out[2].as_str()), (3, "data: {}\n"));
        let event = decode_event(
            out[0]
                .trim_end_matches('\n')
                .strip_prefix("data: ")
                .unwrap(),
        );
        assert!(
            matches!(event.kind, EventKind::Malformed { kind: Some(kind), .. } if kind == "message.part.updated")
        );
    }

    proptest! {
        #[test]
        fn chunks_do_not_matter(text in "(data: \\{\"payload\":\\{\"type\":\"(sync|x)\"\\}\\}|[a-zü\"\\\\]{0,40}|\r?\n){0,20}", size in 1..50usize) {
            let whole = lines(text.as_bytes(), text.len());
            prop_assert_eq!(lines(text.as_bytes(), size), whole);
        }
    }
}
