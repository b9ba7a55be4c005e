//! A mistake in a section of the configuration: where it stands and what would be right.
//!
//! What it does: keep the place of a key, find the nearest right one. What it does not: know any key.

/// Least likeness (Jaro-Winkler, 0 to 1) of a key that is worth naming.
const ALIKE: f64 = 0.7;

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

impl Wrong {
    /// Where it stands in the text.
    pub(super) fn place(&self, text: &str) -> usize {
        let below = self.below.as_ref().and_then(|key| {
            let rest = text.get(self.offset..)?;
            rest.find(key.as_str()).map(|at| self.offset + at)
        });
        below.unwrap_or(self.offset)
    }
}

/// The right key that is most like this one, if any is like it.
pub(super) fn nearest<'a>(name: &str, keys: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = keys
        .map(|key| (strsim::jaro_winkler(name, key), key))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    near.filter(|(score, _)| *score > ALIKE).map(|(_, key)| key)
}
