//! The tree of sessions, laid out as rows: children below their parents, sorted among themselves,
//! folded away where that was asked for.
//!
//! What it does not: decide who is shown (`rows`) or in which order (`order`). Invariant: each
//! session that is wanted stands once, or inside a folded one, whatever its server says of parents.

use crate::core::app::{Sort, VisibleRow, order};
use crate::core::id::SessionKey;
use crate::core::judge::Verdict;
use crate::core::store::{Server, Session};
use std::collections::{BTreeSet, HashMap};

/// No tree is drawn deeper; deeper children stand at this depth.
pub(super) const MAX_DEPTH: u16 = 12;

/// A session that may have a row.
pub(super) struct Listed<'a> {
    pub key: SessionKey,
    pub server: &'a Server,
    pub session: &'a Session,
    pub verdict: &'a Verdict,
    /// It was seen as it is.
    pub snoozed: bool,
    /// The place of its parent.
    pub parent: Option<usize>,
    /// It passes.
    pub hit: bool,
    /// It passes, or something below it does.
    pub wanted: bool,
    /// How many wanted ones stand below it, at any depth.
    pub below: usize,
}

/// Finds the parents; those of a circle have none from where it is entered last.
pub(super) fn join(all: &mut [Listed]) {
    let places: HashMap<SessionKey, usize> = all
        .iter()
        .enumerate()
        .map(|(place, one)| (one.key.clone(), place))
        .collect();
    for one in all.iter_mut() {
        let parent = one.session.info.parent.clone();
        let key = parent.map(|id| SessionKey::new(one.key.server, id));
        one.parent = key.and_then(|key| places.get(&key).copied());
    }
    break_circles(all);
}

/// A session that is its own ancestor hangs on no root: the first by key of such a circle becomes one.
fn break_circles(all: &mut [Listed]) {
    let mut met_from = vec![usize::MAX; all.len()];
    for start in 0..all.len() {
        let mut at = start;
        while met_from[at] == usize::MAX {
            met_from[at] = start;
            match all[at].parent {
                Some(parent) => at = parent,
                None => break,
            }
        }
        if met_from[at] == start && all[at].parent.is_some() {
            let first = first_of_circle(all, at);
            all[first].parent = None;
        }
    }
}

fn first_of_circle(all: &[Listed], start: usize) -> usize {
    let mut first = start;
    let mut at = start;
    while let Some(next) = all[at].parent.filter(|next| *next != start) {
        if all[next].key < all[first].key {
            first = next;
        }
        at = next;
    }
    first
}

/// Wants this one, and every ancestor of it so that it hangs on something.
pub(super) fn want(all: &mut [Listed], place: usize) {
    let mut at = Some(place);
    while let Some(place) = at.filter(|place| !all[*place].wanted) {
        all[place].wanted = true;
        at = all[place].parent;
    }
}

/// The rows of all that is wanted.
pub(super) fn rows(
    all: &mut [Listed],
    sort: Sort,
    folded: &BTreeSet<SessionKey>,
) -> Vec<VisibleRow> {
    count_below(all);
    let mut places: Vec<usize> = (0..all.len()).filter(|it| all[*it].wanted).collect();
    sort.put(all, &mut places);
    if sort.is_by_subtree() {
        by_subtree(all, &mut places);
    }
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); all.len()];
    let mut roots = Vec::new();
    for place in places {
        match all[place].parent {
            Some(parent) => children[parent].push(place),
            None => roots.push(place),
        }
    }
    walk(all, &roots, &children, folded)
}

/// From the leaves up, each once: a chain of sessions may be as long as a server likes.
fn count_below(all: &mut [Listed]) {
    let mut waiting = vec![0_usize; all.len()];
    for one in all.iter().filter(|one| one.wanted) {
        if let Some(parent) = one.parent {
            waiting[parent] += 1;
        }
    }
    let leaves = (0..all.len()).filter(|place| all[*place].wanted && waiting[*place] == 0);
    let mut ready: Vec<usize> = leaves.collect();
    while let Some(place) = ready.pop() {
        let Some(parent) = all[place].parent else {
            continue;
        };
        all[parent].below += all[place].below + 1;
        waiting[parent] -= 1;
        if waiting[parent] == 0 {
            ready.push(parent);
        }
    }
}

/// Each tree where the first of all of it stands.
fn by_subtree(all: &[Listed], places: &mut [usize]) {
    let mut best = vec![usize::MAX; all.len()];
    for (rank, place) in places.iter().enumerate() {
        let mut at = Some(*place);
        // Who comes later is no better, and neither are those above it.
        while let Some(here) = at.filter(|here| best[*here] > rank) {
            best[here] = rank;
            at = all[here].parent;
        }
    }
    places.sort_by_key(|place| best[*place]);
}

/// A node that is to be visited.
struct Node {
    place: usize,
    depth: u16,
    trunk: u16,
}

fn walk(
    all: &[Listed],
    roots: &[usize],
    children: &[Vec<usize>],
    folded: &BTreeSet<SessionKey>,
) -> Vec<VisibleRow> {
    let mut rows = Vec::with_capacity(all.len());
    let mut stack: Vec<Node> = Vec::new();
    push(&mut stack, roots, 0, 0);
    while let Some(node) = stack.pop() {
        let one = &all[node.place];
        let below = &children[node.place];
        let is_folded = !below.is_empty() && folded.contains(&one.key);
        let worst = is_folded.then(|| worst_below(all, children, node.place));
        rows.push(VisibleRow {
            key: one.key.clone(),
            depth: node.depth,
            trunk: node.trunk,
            below: one.below,
            folded: if is_folded { one.below } else { 0 },
            worst: worst.flatten(),
            context: !one.hit,
        });
        if !is_folded {
            push(
                &mut stack,
                below,
                (node.depth + 1).min(MAX_DEPTH),
                node.trunk,
            );
        }
    }
    rows
}

/// The children of one, the first on top of the stack. Bit n of a trunk: a sibling follows at depth n.
fn push(stack: &mut Vec<Node>, places: &[usize], depth: u16, trunk: u16) {
    let above = trunk & !(u16::MAX << depth);
    for (n, place) in places.iter().rev().enumerate() {
        let follows = n > 0 && depth > 0;
        let here = if follows { 1 << depth } else { 0 };
        stack.push(Node {
            place: *place,
            depth,
            trunk: above | here,
        });
    }
}

/// The one inside that needs attention most.
fn worst_below(all: &[Listed], children: &[Vec<usize>], place: usize) -> Option<SessionKey> {
    let mut stack: Vec<usize> = children[place].clone();
    let mut worst: Option<usize> = None;
    while let Some(at) = stack.pop() {
        let rank = |place: usize| order::rank(&all[place]);
        if worst.is_none_or(|it| rank(at) > rank(it)) {
            worst = Some(at);
        }
        stack.extend(&children[at]);
    }
    worst.map(|place| all[place].key.clone())
}
