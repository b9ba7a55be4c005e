//! What was typed into a line before, to be had again with Up and Down.
//!
//! What it does: keep lines and a place among them. What it does not: keep anything on a disk.

/// No more lines are kept.
pub const KEPT: usize = 100;

/// Lines that were typed, oldest first, each once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct History {
    lines: Vec<String>,
    /// The line that is looked at, and what was being typed before.
    at: Option<(usize, String)>,
}

impl History {
    /// With lines of an earlier run.
    pub fn new(lines: impl IntoIterator<Item = String>) -> Self {
        let mut history = Self::default();
        for line in lines {
            history.add(&line);
        }
        history
    }

    /// All lines, oldest first.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Takes a line that was sent off; `false` if there is nothing new to keep.
    pub fn add(&mut self, line: &str) -> bool {
        self.at = None;
        let line = line.trim();
        if line.is_empty() || self.lines.last().is_some_and(|last| last == line) {
            return false;
        }
        self.lines.retain(|it| it != line);
        self.lines.push(line.to_owned());
        let over = self.lines.len().saturating_sub(KEPT);
        self.lines.drain(..over);
        true
    }

    /// The line before the one that is looked at; `typed` is kept for the way back.
    pub fn earlier(&mut self, typed: &str) -> Option<String> {
        let begun = self.at.take();
        let (at, draft) = begun.unwrap_or_else(|| (self.lines.len(), typed.to_owned()));
        let before = at.saturating_sub(1);
        let line = self.lines.get(before).cloned()?;
        self.at = Some((before, draft));
        Some(line)
    }

    /// The line after it; behind the newest what was being typed.
    pub fn later(&mut self) -> Option<String> {
        let (at, draft) = self.at.take()?;
        match self.lines.get(at + 1) {
            Some(line) => {
                self.at = Some((at + 1, draft));
                Some(line.clone())
            }
            None => Some(draft),
        }
    }

    /// What is shown was changed: it is a new line now.
    pub fn leave(&mut self) {
        self.at = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlier_and_later_lead_back_to_what_was_typed() {
        let mut history = History::new(["a".to_owned(), "b".to_owned(), "a".to_owned()]);
        assert_eq!(history.lines(), ["b", "a"]);
        assert_eq!(history.later(), None);
        assert_eq!(history.earlier("dra").as_deref(), Some("a"));
        assert_eq!(history.earlier("a").as_deref(), Some("b"));
        assert_eq!(history.earlier("b").as_deref(), Some("b"), "the oldest");
        assert_eq!(history.later().as_deref(), Some("a"));
        assert_eq!(history.later().as_deref(), Some("dra"));
        assert_eq!(history.later(), None);
        assert_eq!(History::default().earlier("x"), None);
    }

    #[test]
    fn a_line_is_kept_once_and_not_for_ever() {
        let mut history = History::new((0..KEPT + 5).map(|n| n.to_string()));
        assert_eq!(history.lines().len(), KEPT);
        assert!(!history.add(" "));
        assert!(!history.add("104"), "already the last");
        assert!(history.add("7"));
        assert_eq!(history.lines().iter().filter(|it| *it == "7").count(), 1);
    }
}
