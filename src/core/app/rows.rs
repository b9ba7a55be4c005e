//! Which sessions stand on the screen, in which order: a tree, attention first, filtered, folded.

use crate::core::app::App;
use crate::core::app::filter::{Facts, Query};
use crate::core::id::{SessionId, SessionKey};
use crate::core::judge::{Level, Verdict};
use crate::core::store::Session;
use std::collections::{BTreeMap, BTreeSet};

/// A row before it has words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisibleRow {
    /// Whose.
    pub key: SessionKey,
    /// Depth in the tree, from 0.
    pub depth: u16,
    /// Children that are folded away.
    pub folded: usize,
    /// It is here only because of what is below it: it does not pass the filter itself.
    pub context: bool,
}

/// How many rows there are, folded ones included, and what keeps some of them off the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Sessions that could be shown.
    pub all: usize,
    /// Those that pass the filter and, where only attention is shown, need it.
    pub hits: usize,
    /// Those that pass the filter and are off the screen because they need no attention.
    pub calm: usize,
}

/// Rows kept in sight on both sides of the selected one.
const CONTEXT: usize = 3;

/// The finding of a deleted session that still runs.
const ZOMBIE: &str = "zombie-run";

/// No tree is drawn deeper; deeper children stand at this depth.
const MAX_DEPTH: u16 = 12;

/// How urgent a row is; higher stands higher.
fn rank(verdict: &Verdict, snoozed: bool) -> u8 {
    match (verdict.level, &verdict.settling) {
        _ if snoozed => 1,
        (Level::Stuck, _) => 6,
        (Level::NeedsYou, _) => 5,
        (Level::Watch, _) => 4,
        (Level::Ok, Some(_)) => 3,
        (Level::Ok, None) if verdict.reported.is_running() => 2,
        (Level::Ok, None) => 1,
        (Level::Unknown, _) => 0,
    }
}

struct Candidate<'a> {
    key: SessionKey,
    session: &'a Session,
    verdict: &'a Verdict,
    snoozed: bool,
}

impl App {
    /// Lays the rows out anew. The selection stays on its session; if that is gone, on its place.
    pub(super) fn refresh_rows(&mut self) {
        let old_place = self.selected_place();
        (self.rows, self.tally) = self.lay_out();
        let here = self.ui.selected.as_ref();
        let still = here.is_some_and(|key| self.rows.iter().any(|row| row.key == *key));
        if !self.ui.moved || !still {
            let place = match (self.ui.moved, old_place) {
                (true, Some(place)) => place.min(self.rows.len().saturating_sub(1)),
                _ => 0,
            };
            let key = self.rows.get(place).map(|row| row.key.clone());
            if key != self.ui.selected {
                self.ui.selected = key;
                self.look_anew();
            }
        }
        self.keep_visible();
    }

    /// Moves the table as little as is needed to keep the selected row in sight.
    pub(super) fn keep_visible(&mut self) {
        let height = usize::from(self.ui.table_rows);
        let around = CONTEXT.min(height.saturating_sub(1) / 2);
        if let Some(place) = self.selected_place() {
            let least = (place + 1 + around).saturating_sub(height);
            let most = place.saturating_sub(around).max(least);
            self.ui.offset = self.ui.offset.clamp(least, most);
        }
        self.ui.offset = self.ui.offset.min(self.rows.len().saturating_sub(height));
    }

    /// The place of the selected row.
    pub fn selected_place(&self) -> Option<usize> {
        let key = self.ui.selected.as_ref()?;
        self.rows.iter().position(|row| row.key == *key)
    }

    fn lay_out(&self) -> (Vec<VisibleRow>, Tally) {
        let query = self.ui.filter.query();
        let listed = self.candidates();
        let (hits, mut tally) = self.hits(&listed, &query);
        let wanted = with_ancestors(&hits, &listed);
        let mut children: BTreeMap<&SessionKey, Vec<&Candidate>> = BTreeMap::new();
        let mut roots = Vec::new();
        for one in listed.values() {
            match parent_of(one, &listed) {
                Some(parent) => children.entry(parent).or_default().push(one),
                None => roots.push(one),
            }
        }
        sort(&mut roots);
        let mut rows = self.zombie_rows(&query);
        tally.all += self.zombies().count();
        tally.hits += rows.len();
        let mut seen = BTreeSet::new();
        let mut stack: Vec<(&Candidate, u16)> = roots.into_iter().rev().map(|r| (r, 0)).collect();
        while let Some((one, depth)) = stack.pop() {
            let mut below = children.remove(&one.key).unwrap_or_default();
            if !wanted.contains(&one.key) || !seen.insert(one.key.clone()) {
                continue;
            }
            let is_folded = self.ui.folded.contains(&one.key);
            rows.push(VisibleRow {
                key: one.key.clone(),
                depth: depth.min(MAX_DEPTH),
                folded: if is_folded { below.len() } else { 0 },
                context: !hits.contains(&one.key),
            });
            if is_folded {
                continue;
            }
            sort(&mut below);
            let deeper = depth.saturating_add(1);
            stack.extend(below.into_iter().rev().map(|child| (child, deeper)));
        }
        add_cycles(&listed, &wanted, &seen, &mut rows);
        (rows, tally)
    }

    /// Deleted sessions that still run have no row of their own on the server, but here they do: a
    /// person must see them to stop them.
    fn zombie_rows(&self, query: &Query) -> Vec<VisibleRow> {
        let zombies = self.zombies();
        let shown = zombies.filter(|key| Facts::of_zombie(self, key).pass(query));
        let row = |key| VisibleRow {
            key,
            depth: 0,
            folded: 0,
            context: false,
        };
        shown.map(row).collect()
    }

    /// Deleted sessions that still run, whatever is shown.
    pub fn zombies(&self) -> impl Iterator<Item = SessionKey> + '_ {
        self.judgement().servers.iter().flat_map(|judged| {
            let found = judged.findings.iter().filter(|it| it.name == ZOMBIE);
            let ids = found.filter_map(|it| it.evidence.get("session")?.as_str());
            ids.map(|id| SessionKey::new(judged.server, id.into()))
        })
    }

    fn candidates(&self) -> BTreeMap<SessionKey, Candidate<'_>> {
        let all = self.store.sessions().filter_map(|(key, session)| {
            let verdict = self.verdict(&key)?;
            verdict.is_listed(session).then(|| {
                let one = Candidate {
                    key: key.clone(),
                    session,
                    verdict,
                    snoozed: self.is_snoozed(&key),
                };
                (key, one)
            })
        });
        all.collect()
    }

    /// What passes the filter and the attention switch, and how many do not.
    fn hits<'a>(
        &self,
        listed: &'a BTreeMap<SessionKey, Candidate<'a>>,
        query: &Query,
    ) -> (BTreeSet<&'a SessionKey>, Tally) {
        let passes = |one: &&Candidate| {
            query.terms.is_empty() || Facts::of(self, one.session, one.verdict).pass(query)
        };
        let mut hits = BTreeSet::new();
        let mut calm = 0;
        for one in listed.values().filter(passes) {
            if self.ui.attention_only && !wants_attention(one) {
                calm += 1;
            } else {
                hits.insert(&one.key);
            }
        }
        let tally = Tally {
            all: listed.len(),
            hits: hits.len(),
            calm,
        };
        (hits, tally)
    }
}

/// Watch and above, and what is about to be; not what was seen.
fn wants_attention(one: &Candidate) -> bool {
    let (verdict, seen) = (one.verdict, one.snoozed);
    !seen && (verdict.level >= Level::Watch || verdict.settling.is_some())
}

/// These rows and every ancestor of them.
fn with_ancestors<'a>(
    hits: &BTreeSet<&'a SessionKey>,
    listed: &'a BTreeMap<SessionKey, Candidate<'a>>,
) -> BTreeSet<&'a SessionKey> {
    let mut wanted = BTreeSet::new();
    for key in hits {
        let mut at = listed.get(*key);
        while let Some(here) = at {
            if !wanted.insert(&here.key) {
                break;
            }
            let parent = parent_of(here, listed);
            at = parent.and_then(|key| listed.get(key));
        }
    }
    wanted
}

fn parent_of<'a>(
    one: &Candidate,
    listed: &'a BTreeMap<SessionKey, Candidate>,
) -> Option<&'a SessionKey> {
    let parent: SessionId = one.session.info.parent.clone()?;
    let key = SessionKey::new(one.key.server, parent);
    listed.get_key_value(&key).map(|(key, _)| key)
}

/// Sessions that are their own ancestors hang on no root: they stand at the top level.
fn add_cycles(
    listed: &BTreeMap<SessionKey, Candidate>,
    wanted: &BTreeSet<&SessionKey>,
    seen: &BTreeSet<SessionKey>,
    rows: &mut Vec<VisibleRow>,
) {
    for one in listed.values() {
        if wanted.contains(&one.key) && !seen.contains(&one.key) && in_cycle(one, listed) {
            rows.push(VisibleRow {
                key: one.key.clone(),
                depth: 0,
                folded: 0,
                context: false,
            });
        }
    }
}

fn in_cycle(one: &Candidate, listed: &BTreeMap<SessionKey, Candidate>) -> bool {
    let mut met = BTreeSet::new();
    let mut at = Some(&one.key);
    while let Some(key) = at {
        if !met.insert(key.clone()) {
            return true;
        }
        let here = listed.get(key);
        at = here.and_then(|here| parent_of(here, listed));
    }
    false
}

/// Attention first; within a level the newest first, so that rows rarely move.
fn sort(rows: &mut [&Candidate]) {
    rows.sort_by_cached_key(|one| {
        let newest = std::cmp::Reverse(one.session.info.updated);
        (
            std::cmp::Reverse(rank(one.verdict, one.snoozed)),
            newest,
            one.key.clone(),
        )
    });
}
