//! Effects for other programs: whoever attaches, and the clipboard.
//!
//! What it does: hand them what they need and no more. What it does not: start anything that has our
//! terminal; the loop does.

use super::{Control, Effects};
use crate::core::app::Msg;
use crate::core::id::{ServerId, SessionKey};
use crate::net::tunnel::LocalPort;
use crate::shell::attach::{self, Errand};
use crate::shell::notify::clipboard;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How other programs come to a session.
#[derive(Debug, Default)]
pub struct Attaching {
    /// Whoever attaches gets a tmux window of his own.
    pub in_window: bool,
    /// Ports of this machine that lead to servers behind `ssh`.
    pub ports: BTreeMap<ServerId, LocalPort>,
    /// Variables that hold passwords: nobody gets them.
    pub hidden: Arc<[String]>,
}

impl Effects {
    /// In a window of its own nobody has to be waited for.
    pub(super) fn attach(&self, key: SessionKey, command: Vec<String>) -> Option<Control> {
        let client = self.client(key.server)?;
        let credentials = client.credentials().cloned();
        let errand = Errand {
            command,
            credentials,
            hidden: Arc::clone(&self.attaching.hidden),
        };
        if !self.attaching.in_window {
            return Some(Control::Attach(key, errand));
        }
        let answers = self.answers.clone();
        tokio::spawn(async move {
            let ended = attach::open(&errand).await;
            // A closed channel: the program is ending, nobody waits for it.
            answers.send(Msg::AttachEnded { key, ended }).await.ok();
        });
        None
    }

    pub(super) fn open_port(&self, server: ServerId) {
        let opened = self
            .attaching
            .ports
            .get(&server)
            .map_or(Ok(()), LocalPort::open);
        if let Err(why) = opened {
            let text = format!("no way through ssh for other programs: {why}");
            // A loop with so many answers waiting has more to tell than this.
            self.answers.try_send(Msg::Told(text)).ok();
        }
    }

    pub(super) fn copy(&self, text: &str) -> Option<Control> {
        match clipboard(text, self.ways.wrap) {
            Ok(bytes) => Some(Control::Say(bytes)),
            Err(why) => {
                // A loop with so many answers waiting has more to tell than this.
                self.answers
                    .try_send(Msg::Told(format!("not copied: {why}")))
                    .ok();
                None
            }
        }
    }
}
