//! Names of files that come from a server's ids.
//!
//! Invariant: a name is one component of a path, begins with a letter, digit or `_`, has at most 100
//! characters, and none that means anything to a file system, a shell or a terminal.

use crate::core::id::SessionId;
use std::collections::BTreeSet;

/// Longest stem.
const LONGEST: usize = 100;

/// The name without its ending.
pub fn stem(session: &SessionId) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let letters = session.as_str().chars().take(LONGEST);
    let mut stem: String = letters.map(|c| if safe(c) { c } else { '_' }).collect();
    // Programs would take it for an option.
    if stem.starts_with('-') {
        stem.replace_range(..1, "_");
    }
    if stem.is_empty() {
        "session".to_owned()
    } else {
        stem
    }
}

/// Names of one folder, each given once: also on file systems that take `a` and `A` for the same.
#[derive(Debug, Default)]
pub struct Names(BTreeSet<String>);

impl Names {
    /// Names that are taken from the start.
    pub fn taken<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self(names.into_iter().map(str::to_lowercase).collect())
    }

    /// A free name for a session.
    pub fn give(&mut self, session: &SessionId, extension: &str) -> String {
        let stem = stem(session);
        let mut name = format!("{stem}.{extension}");
        let mut number = 1;
        while !self.0.insert(name.to_lowercase()) {
            number += 1;
            name = format!("{stem}-{number}.{extension}");
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leaves_its_directory_or_is_an_option() {
        let cases = [
            ("ses_1a-B", "ses_1a-B"),
            ("../../etc/passwd", "______etc_passwd"),
            ("a\u{1b}[2Jb", "a__2Jb"),
            ("-rf", "_rf"),
            ("..", "__"),
            ("", "session"),
            ("größe", "gr__e"),
        ];
        for (id, name) in cases {
            assert_eq!(stem(&id.into()), name);
        }
        assert_eq!(stem(&"x".repeat(300).into()).len(), LONGEST);
    }

    #[test]
    fn no_name_is_given_twice() {
        let mut names = Names::taken(["index.json"]);
        assert_eq!(names.give(&"a/b".into(), "json"), "a_b.json");
        assert_eq!(names.give(&"a_b".into(), "json"), "a_b-2.json");
        assert_eq!(names.give(&"A_b".into(), "json"), "A_b-3.json");
        assert_eq!(names.give(&"index".into(), "json"), "index-2.json");
    }
}
