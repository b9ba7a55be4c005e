//! What a session should show, what it shows, and the table of the differences.
//!
//! What it does: compare one row of `status --json` with the verdicts of its story; count each finding as
//! right, missed or false. What it does not: know why a verdict is right (the stories say that).

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A level and the exact findings that go with it, the leading one first.
#[derive(Debug, Clone)]
pub struct Verdict {
    pub level: String,
    pub findings: Vec<String>,
}

impl Verdict {
    pub fn new(level: &str, findings: &[&str]) -> Self {
        Self {
            level: level.to_owned(),
            findings: findings.iter().map(|&f| f.to_owned()).collect(),
        }
    }
}

/// What the documents say of a session.
#[derive(Debug, Clone, Default)]
pub struct Expected {
    /// The first is the plain reading; the others are allowed where the document leaves the choice.
    pub verdicts: Vec<Verdict>,
    /// `a|b` where both are right; empty: not looked at.
    pub activity: String,
    /// May be named besides, after the leading one.
    pub optional: Vec<String>,
    /// What `settling` must name.
    pub settling: Option<String>,
    /// Nothing may settle.
    pub quiet: bool,
}

/// How often something was right, missed, or claimed falsely.
#[derive(Debug, Default, Clone, Copy)]
struct Count {
    right: usize,
    missed: usize,
    wrong: usize,
}

/// The outcome of one run.
#[derive(Debug, Default)]
pub struct Table {
    counts: BTreeMap<String, Count>,
    pub differences: Vec<String>,
    sessions: usize,
}

fn text<'a>(row: &'a Value, path: &str) -> &'a str {
    row.pointer(path).and_then(Value::as_str).unwrap_or("-")
}

fn names(row: &Value) -> Vec<String> {
    row["findings"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|f| text(f, "/name").to_owned())
        .collect()
}

/// What of `got` does not fit: names that are missing, and names that are too much.
fn unfit<'a>(
    verdict: &'a Verdict,
    optional: &[String],
    got: &'a [String],
) -> (Vec<&'a String>, Vec<&'a String>) {
    let missed = verdict
        .findings
        .iter()
        .filter(|f| !got.contains(f))
        .collect();
    let wrong = got
        .iter()
        .filter(|f| !verdict.findings.contains(f) && !optional.contains(f))
        .collect();
    (missed, wrong)
}

impl Table {
    fn count(&mut self, name: &str) -> &mut Count {
        self.counts.entry(name.to_owned()).or_default()
    }

    /// Judges one row; `reported` is what the server was made to say.
    pub fn session(&mut self, title: &str, reported: &str, expected: &Expected, row: &Value) {
        self.sessions += 1;
        let got = names(row);
        let level = text(row, "/level");
        let best = expected
            .verdicts
            .iter()
            .min_by_key(|v| {
                let (missed, wrong) = unfit(v, &expected.optional, &got);
                (missed.len() + wrong.len()) * 2 + usize::from(v.level != level)
            })
            .expect("each story has a verdict");
        let (missed, wrong) = unfit(best, &expected.optional, &got);
        let (missed, wrong): (Vec<String>, Vec<String>) = (
            missed.into_iter().cloned().collect(),
            wrong.into_iter().cloned().collect(),
        );
        for name in best.findings.iter().filter(|f| !missed.contains(f)) {
            self.count(name).right += 1;
        }
        for name in &missed {
            self.count(name).missed += 1;
        }
        for name in &wrong {
            self.count(name).wrong += 1;
        }
        let mut why = self.other(reported, expected, best, row);
        let leads = best.findings.first() == got.first() || best.findings.is_empty();
        if !missed.is_empty() || !wrong.is_empty() || !leads {
            why.push(format!("findings {:?}, not {got:?}", best.findings));
        }
        if !why.is_empty() {
            let id = text(row, "/id");
            self.differences
                .push(format!("{id} {title:?}: {}", why.join("; ")));
        }
    }

    /// Level, reported, activity and settling.
    fn other(
        &mut self,
        reported: &str,
        expected: &Expected,
        best: &Verdict,
        row: &Value,
    ) -> Vec<String> {
        let mut why = Vec::new();
        let (level, state) = (text(row, "/level"), text(row, "/activity/state"));
        let settling = text(row, "/settling/name");
        let fits_activity =
            expected.activity.is_empty() || expected.activity.split('|').any(|a| a == state);
        let fits_settling = match &expected.settling {
            Some(name) => settling == name,
            None => !expected.quiet || settling == "-",
        };
        let wanted = expected.settling.as_deref().unwrap_or("-");
        for (what, fits, want, got) in [
            ("(level)", level == best.level, best.level.as_str(), level),
            (
                "(reported)",
                text(row, "/reported/type") == reported,
                reported,
                text(row, "/reported/type"),
            ),
            ("(activity)", fits_activity, &expected.activity, state),
            ("(settling)", fits_settling, wanted, settling),
        ] {
            let count = self.count(what);
            if fits {
                count.right += 1;
            } else {
                count.wrong += 1;
                why.push(format!("{what} {want}, not {got}"));
            }
        }
        why
    }

    /// The findings of the server itself; `optional` may stand besides.
    pub fn server(&mut self, wanted: &[&str], optional: &[&str], row: &Value) {
        let verdict = Verdict::new("", wanted);
        let optional: Vec<String> = optional.iter().map(|&o| o.to_owned()).collect();
        let mut got = names(row);
        got.sort_unstable();
        got.dedup();
        let (missed, wrong) = unfit(&verdict, &optional, &got);
        if !missed.is_empty() || !wrong.is_empty() {
            self.differences
                .push(format!("the server: findings {wanted:?}, not {got:?}"));
        }
        for name in &missed {
            self.count(name).missed += 1;
        }
        for name in &wrong {
            self.count(name).wrong += 1;
        }
        for name in verdict.findings.iter().filter(|f| got.contains(f)) {
            self.count(name).right += 1;
        }
    }

    /// Something else that is not as it should be.
    pub fn fault(&mut self, what: String) {
        self.differences.push(what);
    }

    /// The table and every difference, for a person.
    pub fn shown(&self, variant: &str) -> String {
        let mut out = format!(
            "\n{variant}: {} sessions, {} differences\n{:<24} {:>6} {:>6} {:>6}\n",
            self.sessions,
            self.differences.len(),
            "finding",
            "right",
            "missed",
            "false"
        );
        for (name, count) in &self.counts {
            writeln!(
                out,
                "{name:<24} {:>6} {:>6} {:>6}",
                count.right, count.missed, count.wrong
            )
            .expect("a string");
        }
        for difference in &self.differences {
            writeln!(out, "  {difference}").expect("a string");
        }
        out
    }
}
