//! A mistake in a section of the configuration: where it stands and what would be right.
//!
//! What it does: keep the place of a key, find the nearest right one. What it does not: know any key.

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

/// The word that is most like `wrong`, if any is like it: by the fewest letters that are wrong, else
/// by a common beginning.
pub(super) fn nearest<'a>(
    wrong: &str,
    words: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let words: Vec<&str> = words.into_iter().collect();
    let most_like = |measure: fn(&str, &str) -> f64, least: f64| {
        let scored = words.iter().map(|word| (measure(wrong, word), *word));
        let near = scored.max_by(|a, b| a.0.total_cmp(&b.0));
        near.filter(|(score, _)| *score > least)
            .map(|(_, word)| word)
    };
    most_like(strsim::normalized_damerau_levenshtein, 0.5)
        .or_else(|| most_like(strsim::jaro_winkler, 0.8))
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn wrong_letters_count_before_a_common_beginning() {
        let words = ["green", "red", "stale_busy", "stalled_start"];
        assert_eq!(nearest("rde", words), Some("red"));
        assert_eq!(nearest("stale", words), Some("stale_busy"));
        assert_eq!(nearest("xyz", words), None);
    }
}
