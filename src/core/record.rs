//! A recording: what servers said, input by input, so that it can be shown again.
//!
//! The format, `ocwatch.recording/1`: a text file, a JSON document on each line. The first is the
//! [`Header`]: the format, which ocwatch wrote it, when it began, and the servers in their order.
//! Each further line is one [`Input`] as it went into the model: `server` (place in the header's
//! list), `epoch` (number of the connection), `at` (when it was received, watcher's clock) and `body`.
//! Lines of a format of the same number are understood by each later ocwatch; a line that is not
//! understood is left out and counted; a last line that is torn counts as none.
//!
//! Invariant: no credentials: an input holds none, and the URL of a server is without them. Titles,
//! folders, first words of prompts, commands and outputs are in it, as on the screen.

use crate::core::store::ServerSpec;
use crate::core::time::UnixMs;
use crate::core::wire::Input;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The format that is written.
pub const FORMAT: &str = "ocwatch.recording/1";
/// What all its versions begin with.
const FAMILY: &str = "ocwatch.recording/";

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// The version of the ocwatch that wrote it.
    pub program: String,
    /// When it began; watcher's clock.
    pub at: UnixMs,
    /// In the order of [`crate::core::id::ServerId`].
    pub servers: Vec<Named>,
}

/// A server, as it was shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    /// Its name.
    pub name: String,
    /// Its URL, without credentials.
    pub url: String,
}

/// Why a file is no recording that can be shown. Fits after "failed to replay FILE: ".
#[derive(Debug, Error, PartialEq, Eq)]
pub enum RecordError {
    /// The first line is something else.
    #[error("it is no recording of ocwatch")]
    NoRecording,
    /// Another version of the format.
    #[error("its format is {0:?}, and this ocwatch reads {FORMAT}")]
    OtherFormat(String),
}

impl Header {
    /// Of a recording that begins now.
    pub fn new<'a>(specs: impl Iterator<Item = &'a ServerSpec>, now: UnixMs) -> Self {
        let named = specs.map(|spec| Named {
            name: spec.name.clone(),
            url: spec.url.clone(),
        });
        Self {
            format: FORMAT.to_owned(),
            program: env!("CARGO_PKG_VERSION").to_owned(),
            at: now,
            servers: named.collect(),
        }
    }

    /// Reads the first line.
    pub fn parse(line: &str) -> Result<Self, RecordError> {
        let value: serde_json::Value =
            serde_json::from_str(line).map_err(|_| RecordError::NoRecording)?;
        let format = value["format"].as_str().unwrap_or_default();
        if !format.starts_with(FAMILY) {
            return Err(RecordError::NoRecording);
        }
        if format != FORMAT {
            return Err(RecordError::OtherFormat(format.to_owned()));
        }
        serde_json::from_value(value).map_err(|_| RecordError::NoRecording)
    }
}

/// A whole line, its end included; none for what cannot be written down.
pub fn line(of: &impl Serialize) -> Option<Vec<u8>> {
    let mut line = serde_json::to_vec(of).ok()?;
    line.push(b'\n');
    Some(line)
}

/// Reads a further line. None: it is not understood, or about a server that the header does not name.
pub fn input(line: &str, header: &Header) -> Option<Input> {
    let input: Input = serde_json::from_str(line).ok()?;
    let known = usize::from(input.server.0) < header.servers.len();
    known.then_some(input)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::id::{Epoch, ServerId};
    use crate::core::wire::{Body, Dialect, Event, LinkReport, LostCause, v1};

    fn header() -> Header {
        let spec = ServerSpec {
            name: "home".to_owned(),
            url: "http://home:4096".to_owned(),
            read_only: None,
        };
        Header::new(std::iter::once(&spec), UnixMs(5))
    }

    fn back(body: Body) {
        let known = Input {
            server: ServerId(0),
            epoch: Epoch(3),
            at: UnixMs(7),
            body,
        };
        let text = String::from_utf8(line(&known).unwrap()).unwrap();
        assert_eq!(text.matches('\n').count(), 1);
        assert_eq!(input(&text, &header()), Some(known));
    }

    #[test]
    fn what_is_written_is_read_back() {
        let text = String::from_utf8(line(&header()).unwrap()).unwrap();
        assert_eq!(Header::parse(&text), Ok(header()));
        back(Body::Link(LinkReport::Identified {
            dialect: Dialect::V1,
            version: Some("1.18.33".to_owned()),
            skew: None,
            unsecured: false,
        }));
        back(Body::Link(LinkReport::Lost {
            cause: LostCause::Refused,
            text: "two\nlines".to_owned(),
            retry_at: UnixMs(9),
        }));
        let event = |kind: &str, properties: &str| -> Event {
            let data = format!(
                r#"{{"directory":"/d","payload":{{"type":"{kind}","properties":{properties}}}}}"#
            );
            v1::decode_event(&data)
        };
        for (kind, properties) in [
            (
                "session.status",
                r#"{"sessionID":"s","status":{"type":"retry","attempt":2,"message":"m","next":9}}"#,
            ),
            (
                "message.updated",
                r#"{"info":{"id":"m","sessionID":"s","role":"assistant","time":{"created":1},"finish":"stop"}}"#,
            ),
            (
                "message.part.updated",
                r#"{"part":{"id":"p","sessionID":"s","messageID":"m","type":"tool","tool":"bash","callID":"c","state":{"status":"running","input":{"command":"x"},"time":{"start":3}}}}"#,
            ),
            (
                "session.error",
                r#"{"sessionID":"s","error":{"name":"E","data":{"message":"w"}}}"#,
            ),
            ("no.such.event", "{}"),
        ] {
            back(Body::Event(event(kind, properties)));
        }
    }

    #[test]
    fn another_file_and_another_format_are_told_apart() {
        for text in ["", "{}", "not json", r#"{"format":"ocwatch.status/1"}"#] {
            assert_eq!(Header::parse(text), Err(RecordError::NoRecording), "{text}");
        }
        let newer = r#"{"format":"ocwatch.recording/2","at":1,"servers":[]}"#;
        let error = Header::parse(newer).unwrap_err().to_string();
        assert!(
            error.contains("ocwatch.recording/2") && error.contains(FORMAT),
            "{error}"
        );
        let stranger = r#"{"server":1,"epoch":1,"at":1,"body":"ClockJumped"}"#;
        assert_eq!(input(stranger, &header()), None);
        assert_eq!(
            input(r#"{"server":0,"epoch":1,"at"#, &header()),
            None,
            "torn"
        );
        let known = stranger.replace("\"server\":1", "\"server\":0");
        assert!(input(&known, &header()).is_some());
    }
}
