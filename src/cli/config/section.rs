//! The keys of one section of the configuration, as they stand in the file.
//!
//! What it does: keep each key with its place and its value, in the order of the file. What it does
//! not: know any key; each section does.

use super::wrong::Wrong;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use toml::de::DeValue;
use toml::{Spanned, Value};

/// One key with its value.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// In bytes from the beginning of the file.
    pub(super) offset: usize,
    /// The key.
    pub(super) key: String,
    /// What it is set to.
    pub(super) value: Value,
}

/// The keys of a section, in the order of the file.
#[derive(Debug, Clone, Default)]
pub(super) struct Section(Vec<Line>);

impl Section {
    /// Of a table of the file; what is none is told, `form` being what it should look like.
    pub(super) fn of(table: &Spanned<DeValue>, form: &str, wrong: &mut Vec<Wrong>) -> Self {
        let Some(keys) = table.get_ref().as_table() else {
            wrong.push(Wrong::at(table.span().start, form.to_owned()));
            return Self::default();
        };
        let mut lines = Vec::new();
        for (key, value) in keys {
            let offset = key.span().start;
            match Value::deserialize(value.clone().into_deserializer()) {
                Ok(value) => lines.push(Line {
                    offset,
                    key: key.get_ref().to_string(),
                    value,
                }),
                Err(why) => wrong.push(Wrong::at(offset, why.message().to_owned())),
            }
        }
        lines.sort_by_key(|line| line.offset);
        Self(lines)
    }

    /// Its keys.
    pub(super) fn lines(&self) -> impl Iterator<Item = &Line> {
        self.0.iter()
    }
}

impl Line {
    /// Notes what is wrong with it.
    pub(super) fn note(&self, done: Result<(), String>, wrong: &mut Vec<Wrong>) {
        self.note_below(done.map_err(|why| (None, why)), wrong);
    }

    /// The same, where what is wrong may stand at a word behind the key.
    pub(super) fn note_below(
        &self,
        done: Result<(), (Option<String>, String)>,
        wrong: &mut Vec<Wrong>,
    ) {
        wrong.extend(done.err().map(|(below, why)| Wrong {
            offset: self.offset,
            below,
            why,
        }));
    }
}
