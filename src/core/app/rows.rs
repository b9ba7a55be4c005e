//! Which sessions stand on the screen, in which order: a tree, attention first, filtered, folded.

use crate::core::app::App;
use crate::core::id::{SessionId, SessionKey};
use crate::core::judge::{Level, Verdict};
use crate::core::store::{Server, Session};
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
}

/// Rows kept in sight on both sides of the selected one.
const CONTEXT: usize = 3;

/// The finding of a deleted session that still runs.
const ZOMBIE: &str = "zombie-run";

/// No tree is drawn deeper; deeper children stand at this depth.
const MAX_DEPTH: u16 = 12;

/// How urgent a row is; higher stands higher.
fn rank(verdict: &Verdict) -> u8 {
    match (verdict.level, &verdict.settling) {
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
}

impl App {
    /// Lays the rows out anew. The selection stays on its session; if that is gone, on its place.
    pub(super) fn refresh_rows(&mut self) {
        let old_place = self.selected_place();
        let rows = self.lay_out();
        self.rows = rows;
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

    fn lay_out(&self) -> Vec<VisibleRow> {
        let listed = self.candidates();
        let wanted: BTreeSet<&SessionKey> = self.wanted(&listed);
        let mut children: BTreeMap<&SessionKey, Vec<&Candidate>> = BTreeMap::new();
        let mut roots = Vec::new();
        for one in listed.values() {
            match parent_of(one, &listed) {
                Some(parent) => children.entry(parent).or_default().push(one),
                None => roots.push(one),
            }
        }
        sort(&mut roots);
        let mut rows = self.zombie_rows();
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
            });
            if is_folded {
                continue;
            }
            sort(&mut below);
            let deeper = depth.saturating_add(1);
            stack.extend(below.into_iter().rev().map(|child| (child, deeper)));
        }
        add_cycles(&listed, &wanted, &seen, &mut rows);
        rows
    }

    /// Deleted sessions that still run have no row of their own on the server, but here they do: a
    /// person must see them to stop them.
    fn zombie_rows(&self) -> Vec<VisibleRow> {
        let text = self.ui.filter.text.to_lowercase();
        let shown = self.zombies().filter(|key| {
            let hay = format!("{ZOMBIE} stuck deleted {}", key.session).to_lowercase();
            text.is_empty() || hay.contains(&text)
        });
        let row = |key| VisibleRow {
            key,
            depth: 0,
            folded: 0,
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
                };
                (key, one)
            })
        });
        all.collect()
    }

    /// What passes the filter and the attention switch, with every ancestor of it.
    fn wanted<'a>(
        &self,
        listed: &'a BTreeMap<SessionKey, Candidate<'a>>,
    ) -> BTreeSet<&'a SessionKey> {
        let mut wanted = BTreeSet::new();
        for one in listed.values().filter(|one| self.passes(one)) {
            let mut at = Some(one);
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

    fn passes(&self, one: &Candidate) -> bool {
        if self.ui.attention_only && one.verdict.level < Level::Watch {
            return false;
        }
        let text = self.ui.filter.text.to_lowercase();
        text.is_empty() || self.haystack(one).contains(&text)
    }

    /// Everything of a row that a filter text may mean.
    fn haystack(&self, one: &Candidate) -> String {
        let server = self.store.server(one.key.server);
        let name = server.map_or("", |server: &Server| server.spec.name.as_str());
        let info = &one.session.info;
        let finding = one.verdict.leading().map_or("", |f| f.name);
        let activity = &one.verdict.activity;
        [
            name,
            info.id.as_str(),
            &info.title,
            info.directory.as_str(),
            one.verdict.reported.word(),
            activity.state.word(),
            activity.tool.as_deref().unwrap_or_default(),
            one.verdict.level.word(),
            finding,
        ]
        .join("\n")
        .to_lowercase()
    }
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
            std::cmp::Reverse(rank(one.verdict)),
            newest,
            one.key.clone(),
        )
    });
}
