//! A mistake in a section of the configuration: where it stands and what would be right.
//!
//! What it does: keep the place of a key. What it does not: know any key.

pub(super) use crate::core::app::nearest;

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
