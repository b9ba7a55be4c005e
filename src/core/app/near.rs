//! The right word that a wrong one is nearest to.

/// Least likeness (Jaro-Winkler, 0 to 1) of a word that is worth naming.
const ALIKE: f64 = 0.7;

/// The one of `words` that is most like `wrong`, if any is like it at all.
pub fn nearest<'a>(wrong: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = words
        .into_iter()
        .map(|word| (strsim::jaro_winkler(wrong, word), word))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    near.filter(|(score, _)| *score > ALIKE)
        .map(|(_, word)| word)
}
