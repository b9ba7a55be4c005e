//! The right word that a wrong one is nearest to.

/// The word that is most like `wrong`, if any is like it: by the fewest letters that are wrong, else
/// by a common beginning.
pub fn nearest<'a>(wrong: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
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
