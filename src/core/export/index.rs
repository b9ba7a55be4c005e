//! The index of a folder with a session and all of its subagents.
//!
//! Fields of the JSON are only added within a schema number. A `String` never fails to be written to.

use super::Format;
use super::markdown::{code, plain};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// Of the document; a folder that holds one of another program's is left alone.
pub const SCHEMA: &str = "ocwatch.export/1";
/// Its file, in every such folder.
pub const JSON_NAME: &str = "index.json";
/// Its file for people, beside sessions in Markdown.
pub const MARKDOWN_NAME: &str = "index.md";

/// The document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    /// [`SCHEMA`].
    pub schema: String,
    /// Texts of sessions are redacted.
    pub sanitized: bool,
    /// The first is the one that was asked for; a subagent stands behind its parent.
    pub sessions: Vec<Entry>,
}

/// One session of the folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its id.
    pub id: String,
    /// As it was exported.
    pub title: String,
    /// Whose subagent it is.
    pub parent: Option<String>,
    /// In this folder.
    pub file: String,
    /// How many it holds.
    pub messages: u64,
    /// Of the file.
    pub bytes: u64,
}

impl Index {
    /// The files of the index itself.
    pub fn own_names(format: Format) -> &'static [&'static str] {
        match format {
            Format::Json => &[JSON_NAME],
            Format::Markdown => &[JSON_NAME, MARKDOWN_NAME],
        }
    }

    /// Whether a file of the folder is of this export.
    pub fn names(&self, file: &str) -> bool {
        let listed = self.sessions.iter().any(|entry| entry.file == file);
        listed || Self::own_names(Format::Markdown).contains(&file)
    }

    /// For people.
    pub fn markdown(&self) -> String {
        let mut out = String::from("# Sessions\n\n");
        for entry in &self.sessions {
            let title = plain(&entry.title);
            let title = if title.is_empty() { "untitled" } else { &title };
            let (file, id, messages) = (&entry.file, code(&entry.id), entry.messages);
            write!(out, "- [{title}]({file}) {id}, {messages} messages").ok();
            if let Some(parent) = &entry.parent {
                write!(out, ", subagent of {}", code(parent)).ok();
            }
            out.push('\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_title_is_only_a_title() {
        let entry = Entry {
            id: "s".to_owned(),
            title: "a](x)\n# b".to_owned(),
            parent: Some("p".to_owned()),
            file: "s.md".to_owned(),
            messages: 3,
            bytes: 9,
        };
        let index = Index {
            schema: SCHEMA.to_owned(),
            sanitized: false,
            sessions: vec![entry],
        };
        let line = "- [a\\](x) \\# b](s.md) `s`, 3 messages, subagent of `p`\n";
        assert_eq!(index.markdown(), format!("# Sessions\n\n{line}"));
        assert!(index.names("s.md") && index.names("index.md") && !index.names("t.md"));
    }
}
