//! A mistake in a section of the configuration: where it stands and what would be right.
//!
//! What it does: keep the place of a key. What it does not: know any key.

pub(super) use crate::core::app::nearest;
use toml::Value;

/// What is wrong, and where.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    /// In bytes from the beginning of the file.
    pub(super) offset: usize,
    /// The key below that place, where it is one of a table's.
    pub(super) below: Option<String>,
    /// One line.
    pub(super) why: String,
}

/// `unknown key `x`, did you mean `y`?`; where nothing is like it, `otherwise` ends the sentence.
pub(super) fn unknown<'a>(
    what: &str,
    name: &str,
    right: impl IntoIterator<Item = &'a str>,
    otherwise: &str,
) -> String {
    match nearest(name, right) {
        Some(near) => format!("unknown {what} `{name}`, did you mean `{near}`?"),
        None => format!("unknown {what} `{name}`{otherwise}"),
    }
}

impl Wrong {
    /// At this place, and no deeper.
    pub(super) fn at(offset: usize, why: String) -> Self {
        Self {
            offset,
            below: None,
            why,
        }
    }

    /// Where it stands in the text.
    pub(super) fn place(&self, text: &str) -> usize {
        let below = self.below.as_ref().and_then(|key| {
            let rest = text.get(self.offset..)?;
            rest.find(key.as_str()).map(|at| self.offset + at)
        });
        below.unwrap_or(self.offset)
    }
}

/// A switch.
pub(super) fn flag(name: &str, value: &Value) -> Result<bool, String> {
    let flag = value.as_bool();
    flag.ok_or_else(|| format!("`{name}` must be true or false"))
}

/// A text that says something.
pub(super) fn text(name: &str, value: &Value) -> Result<String, String> {
    let text = value.as_str().filter(|it| !it.trim().is_empty());
    let text = text.ok_or_else(|| format!("`{name}` must be a text in quotes"));
    text.map(str::to_owned)
}

/// A list of texts.
pub(super) fn texts(name: &str, value: &Value) -> Result<Vec<String>, String> {
    let list = value.as_array().map(|list| list.iter().map(Value::as_str));
    let texts: Option<Vec<&str>> = list.and_then(Iterator::collect);
    let texts = texts.ok_or_else(|| format!("`{name}` must be a list of texts"))?;
    Ok(texts.into_iter().map(str::to_owned).collect())
}
