//! Which directories may be asked. Pure.
//!
//! What it does: decide from facts. What it does not: find them out. Asking a directory that is not
//! loaded starts its project, even one that does not exist; so nothing is asked without a reason.

use super::spec::Inspect;
use crate::core::id::Directory;
use crate::core::time::{Span, UnixMs};

/// The user's policy for one server.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Which directories.
    pub inspect: Inspect,
    /// Only these (canonical names), if any are named.
    pub only: Vec<Directory>,
}

/// What is known of a directory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts, each with its own source"
)]
pub struct Facts {
    /// It is the server's own cwd.
    pub cwd: bool,
    /// An event of it was seen and it was not disposed since.
    pub seen: bool,
    /// A person asked for it.
    pub commanded: bool,
    /// It was disposed since the connection began: starting it again needs a new reason.
    pub disposed: bool,
    /// On a loopback server: the folder does not exist.
    pub missing: bool,
    /// When its newest session changed; server's clock.
    pub newest: Option<UnixMs>,
}

/// The decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// It may be asked.
    Ask,
    /// Asking would start it.
    Asleep,
    /// It no longer exists.
    Gone,
}

impl Policy {
    /// Decides. `now` is the server's clock.
    pub fn choose(&self, directory: &Directory, facts: Facts, now: UnixMs) -> Choice {
        if !self.admits(directory) {
            return Choice::Asleep;
        }
        if facts.seen || (facts.cwd && (facts.commanded || !facts.disposed)) {
            return Choice::Ask;
        }
        if facts.missing {
            return Choice::Gone;
        }
        if !is_askable(directory) {
            return Choice::Asleep;
        }
        let wanted = facts.commanded || (!facts.disposed && self.wants(facts.newest, now));
        if wanted { Choice::Ask } else { Choice::Asleep }
    }

    fn admits(&self, directory: &Directory) -> bool {
        self.only.is_empty() || self.only.contains(directory)
    }

    fn wants(&self, newest: Option<UnixMs>, now: UnixMs) -> bool {
        match self.inspect {
            Inspect::Loaded => false,
            Inspect::Recent { window } => newest.is_some_and(|it| within(it, window, now)),
            Inspect::All => true,
        }
    }
}

/// Changed within the window before `now`.
pub fn within(changed: UnixMs, window: Span, now: UnixMs) -> bool {
    now.since(changed) <= window
}

/// An absolute path other than the root: projects without git are project `global` with worktree
/// `/`, and some events carry the directory `global`.
pub fn is_askable(directory: &Directory) -> bool {
    let text = directory.as_str();
    let drive = text.as_bytes().get(1) == Some(&b':') && text.len() > 3;
    (text.starts_with('/') && text.trim_end_matches('/').len() > 1) || drive
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: UnixMs = UnixMs(1_000_000_000);

    fn policy(inspect: Inspect) -> Policy {
        Policy {
            inspect,
            only: Vec::new(),
        }
    }

    fn changed(ago: Span) -> Facts {
        Facts {
            newest: Some(NOW - ago),
            ..Facts::default()
        }
    }

    #[test]
    fn the_policy_decides_on_what_is_not_seen() {
        let dir = Directory::from("/p");
        let (fresh, old) = (changed(Span::hours(1)), changed(Span::hours(25)));
        let cases = [
            (Inspect::Loaded, fresh, Choice::Asleep),
            (Inspect::default(), fresh, Choice::Ask),
            (Inspect::default(), old, Choice::Asleep),
            (Inspect::default(), Facts::default(), Choice::Asleep),
            (Inspect::All, old, Choice::Ask),
            (
                Inspect::All,
                Facts {
                    missing: true,
                    ..old
                },
                Choice::Gone,
            ),
            (
                Inspect::Loaded,
                Facts {
                    missing: true,
                    ..old
                },
                Choice::Gone,
            ),
            (
                Inspect::Loaded,
                Facts {
                    seen: true,
                    missing: true,
                    ..old
                },
                Choice::Ask,
            ),
            (Inspect::Loaded, Facts { cwd: true, ..old }, Choice::Ask),
            (
                Inspect::Loaded,
                Facts {
                    commanded: true,
                    ..old
                },
                Choice::Ask,
            ),
            (
                Inspect::All,
                Facts {
                    commanded: true,
                    missing: true,
                    ..old
                },
                Choice::Gone,
            ),
        ];
        for (inspect, facts, want) in cases {
            assert_eq!(
                policy(inspect).choose(&dir, facts, NOW),
                want,
                "{inspect:?} {facts:?}"
            );
        }
    }

    #[test]
    fn a_disposed_project_is_not_started_again_without_a_new_reason() {
        let dir = Directory::from("/p");
        let disposed = Facts {
            disposed: true,
            ..changed(Span::hours(1))
        };
        let all = policy(Inspect::All);
        assert_eq!(all.choose(&dir, disposed, NOW), Choice::Asleep);
        assert_eq!(
            all.choose(
                &dir,
                Facts {
                    cwd: true,
                    ..disposed
                },
                NOW
            ),
            Choice::Asleep
        );
        assert_eq!(
            all.choose(
                &dir,
                Facts {
                    seen: true,
                    ..disposed
                },
                NOW
            ),
            Choice::Ask
        );
        assert_eq!(
            all.choose(
                &dir,
                Facts {
                    commanded: true,
                    ..disposed
                },
                NOW
            ),
            Choice::Ask
        );
    }

    #[test]
    fn only_what_the_user_named_and_never_the_root() {
        let mut all = policy(Inspect::All);
        let (root, odd) = (Directory::from("/"), Directory::from("global"));
        assert_eq!(all.choose(&root, changed(Span::ZERO), NOW), Choice::Asleep);
        assert_eq!(all.choose(&odd, changed(Span::ZERO), NOW), Choice::Asleep);
        all.only = vec![Directory::from("/p")];
        assert_eq!(
            all.choose(&Directory::from("/p"), changed(Span::ZERO), NOW),
            Choice::Ask
        );
        let cwd = Facts {
            cwd: true,
            ..changed(Span::ZERO)
        };
        assert_eq!(all.choose(&Directory::from("/q"), cwd, NOW), Choice::Asleep);
    }
}
