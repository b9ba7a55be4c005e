//! `t`: OpenCode itself, on this session. Whether that is possible, and with what command.
//!
//! What it does: refuse with a word, ask where it starts a project, name the command. What it does not:
//! know a password or start anything.

use crate::core::app::{App, DialogState, Effect};
use crate::core::id::{ServerId, SessionKey};
use crate::core::plan;
use crate::core::wire::Dialect;
use std::collections::BTreeMap;

/// What is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachRules {
    /// The program and its arguments; `{url}`, `{session}` and `{directory}` stand for the session's. Not
    /// empty.
    pub command: Vec<String>,
    /// Why there is nothing to attach to here.
    pub unavailable: Option<&'static str>,
    /// Of servers that are reached through `ssh`: the URL on this machine that leads there once
    /// [`Effect::OpenPort`] was carried out.
    pub through: BTreeMap<ServerId, String>,
}

impl Default for AttachRules {
    fn default() -> Self {
        let words = ["opencode", "attach", "{url}", "--session", "{session}"];
        Self {
            command: words.map(str::to_owned).to_vec(),
            unavailable: None,
            through: BTreeMap::new(),
        }
    }
}

impl AttachRules {
    /// Each place holder is taken once: what stands in for it is data.
    fn filled(&self, places: &[(&str, &str)]) -> Vec<String> {
        self.command.iter().map(|it| fill(it, places)).collect()
    }
}

fn fill(word: &str, places: &[(&str, &str)]) -> String {
    let first = places
        .iter()
        .filter_map(|(name, value)| Some((word.find(name)?, name, value)));
    match first.min_by_key(|it| it.0) {
        Some((at, name, value)) => {
            let rest = fill(&word[at + name.len()..], places);
            format!("{}{value}{rest}", &word[..at])
        }
        None => word.to_owned(),
    }
}

/// An id goes onto a command line: one that could be taken for an option does not.
fn is_plain(id: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-' || c == '.';
    id.starts_with(|c: char| c.is_ascii_alphanumeric()) && id.chars().all(plain)
}

impl App {
    /// This server is reached through `ssh`, and by this URL on this machine, if by any.
    pub fn attach_through(&mut self, server: ServerId, url: Option<String>) {
        self.attach_rules.through.extend(url.map(|it| (server, it)));
    }

    /// `t`: asks first where it starts a project.
    pub(super) fn ask_attach(&mut self) -> Vec<Effect> {
        let Some(key) = self.ui.selected.clone() else {
            return Vec::new();
        };
        if let Some(why) = self.unattachable(&key) {
            return self.tell(&why);
        }
        if self.is_asleep(&key) {
            self.ui.dialog = Some(DialogState::Attach(key));
            return Vec::new();
        }
        self.attach(key)
    }

    /// The world may have moved since the dialog opened.
    pub(super) fn attach(&mut self, key: SessionKey) -> Vec<Effect> {
        if let Some(why) = self.unattachable(&key) {
            return self.tell(&why);
        }
        match self.attach_command(&key) {
            Some(command) => {
                let mut effects = self.open_port(&key);
                effects.push(Effect::Attach { key, command });
                effects
            }
            None => Vec::new(),
        }
    }

    /// Why nobody can be attached to this session from here.
    pub fn unattachable(&self, key: &SessionKey) -> Option<String> {
        let server = self.store.server(key.server)?;
        let why = if server.dialect == Some(Dialect::V2) {
            "its server is an OpenCode 2.x: ocwatch does not attach to it yet"
        } else if server.spec.read_only.is_some() {
            let why = plan::refused(&self.store, key)?;
            return Some(format!("{why}, and who is attached can change anything"));
        } else if self.store.session(key).is_none() {
            "it was deleted: there is nothing to attach to"
        } else if !is_plain(key.session.as_str()) {
            "its id is none that OpenCode gives: it is not put on a command line"
        } else if server.spec.url.starts_with("ssh://")
            && !self.attach_rules.through.contains_key(&key.server)
        {
            "no port of this machine could be taken that leads there"
        } else if let Some(why) = self.attach_rules.unavailable {
            why
        } else {
            self.not_to_be_touched(key)?
        };
        Some(why.to_owned())
    }

    /// The program and its arguments. Without a password.
    pub(super) fn attach_command(&self, key: &SessionKey) -> Option<Vec<String>> {
        let server = self.store.server(key.server)?;
        let session = self.store.session(key)?;
        let through = self.attach_rules.through.get(&key.server);
        Some(self.attach_rules.filled(&[
            ("{url}", through.unwrap_or(&server.spec.url)),
            ("{session}", key.session.as_str()),
            ("{directory}", session.info.directory.as_str()),
        ]))
    }

    /// What opens the way that the command takes, where it is not open by itself.
    pub(super) fn open_port(&self, key: &SessionKey) -> Vec<Effect> {
        let through = self.attach_rules.through.contains_key(&key.server);
        through
            .then_some(Effect::OpenPort(key.server))
            .into_iter()
            .collect()
    }

    /// Whoever was attached is back.
    pub(super) fn attach_ended(
        &mut self,
        key: SessionKey,
        ended: Result<(), String>,
    ) -> Vec<Effect> {
        if let Err(why) = ended {
            self.tell(&format!("attach: {why}"));
        }
        if self.is_asleep(&key) {
            return Vec::new();
        }
        vec![Effect::Read { key }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_for_a_place_is_not_looked_at_again() {
        let places = [("{url}", "http://h/{session}"), ("{session}", "ses_1")];
        assert_eq!(fill("{url}", &places), "http://h/{session}");
        assert_eq!(
            fill("a{session}b{url}{x}", &places),
            "ases_1bhttp://h/{session}{x}"
        );
    }

    #[test]
    fn an_id_is_never_an_option() {
        assert!(is_plain("ses_14d5A-b"));
        for bad in ["", "-x", "--fork", "a b", "a;b", "$(a)", "_"] {
            assert!(!is_plain(bad), "{bad}");
        }
    }
}
