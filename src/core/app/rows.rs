//! Which sessions stand on the screen: listed and filtered, and where the selection is among them.
//!
//! What it does not: their order (`order`) and their tree (`tree`).

use crate::core::app::App;
use crate::core::app::counts::{self, Counts};
use crate::core::app::filter::{Facts, Query, ZOMBIE};
use crate::core::app::tree::{self, Listed};
use crate::core::id::SessionKey;
use crate::core::judge::Level;

/// A row before it has words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisibleRow {
    /// Whose.
    pub key: SessionKey,
    /// Depth in the tree, from 0.
    pub depth: u16,
    /// Bit n: of its ancestor (or itself) at depth n, a sibling follows further down.
    pub trunk: u16,
    /// How many rows belong below it, at any depth, folded away or not.
    pub below: usize,
    /// How many of them are folded away.
    pub folded: usize,
    /// Of those that are folded away, the one that needs attention most.
    pub worst: Option<SessionKey>,
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
    /// Those that could be shown, by how urgent they are.
    pub counts: Counts,
}

/// Rows kept in sight on both sides of the selected one.
const CONTEXT: usize = 3;

impl App {
    /// Lays the rows out anew. The selection stays on its session; if that is gone, on its place.
    pub(super) fn refresh_rows(&mut self) {
        let holds = self.ui.moved;
        let place = self.selected_place().filter(|_| holds).unwrap_or(0);
        self.refresh_to(holds, place);
    }

    /// The same where a key chose other rows: a selection that is not among them goes to the first,
    /// which is the most urgent.
    pub(super) fn refresh_rows_from_the_top(&mut self) {
        self.refresh_to(true, 0);
    }

    /// Lays the rows out anew. A selection that does not hold, or is gone, goes to this place.
    fn refresh_to(&mut self, holds: bool, place: usize) {
        (self.rows, self.tally) = self.lay_out();
        self.follow_twin();
        let here = self.ui.selected.as_ref();
        let still = here.is_some_and(|key| self.rows.iter().any(|row| row.key == *key));
        if !holds || !still {
            let place = place.min(self.rows.len().saturating_sub(1));
            let key = self.rows.get(place).map(|row| row.key.clone());
            if key != self.ui.selected {
                self.ui.selected = key;
                self.look_anew();
            }
        }
        self.keep_visible();
    }

    /// Another server on the same data tells of the selected session now: the selection goes with it.
    fn follow_twin(&mut self) {
        let Some(key) = &self.ui.selected else { return };
        let teller = self.verdict(key).and_then(|verdict| verdict.told_by);
        if let Some(server) = teller {
            self.ui.selected = Some(SessionKey::new(server, key.session.clone()));
        }
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
        let mut listed = self.listed();
        tree::join(&mut listed);
        let mut tally = self.find(&mut listed, &query);
        let mut rows = self.zombie_rows(&query);
        tally.all += self.zombies().count();
        tally.hits += rows.len();
        let [.., stuck] = &mut tally.counts;
        stuck.own += self.zombies().count();
        stuck.hits += rows.len();
        rows.extend(tree::rows(&mut listed, self.ui.sort, &self.ui.folded));
        (rows, tally)
    }

    /// What passes the filter and the attention switch, with every ancestor of it; and how many do not.
    fn find(&self, listed: &mut [Listed], query: &Query) -> Tally {
        let mut tally = Tally {
            all: listed.len(),
            ..Tally::default()
        };
        for place in 0..listed.len() {
            let one = &mut listed[place];
            let passes = query.terms.is_empty() || Facts::of(self, one).pass(query);
            if passes && self.ui.attention_only && !wants_attention(one) {
                tally.calm += 1;
            } else if passes {
                tally.hits += 1;
                one.hit = true;
                tree::want(listed, place);
            }
        }
        tally.counts = counts::count(listed);
        tally
    }

    /// Deleted sessions that still run have no row of their own on the server, but here they do: a
    /// person must see them to stop them.
    fn zombie_rows(&self, query: &Query) -> Vec<VisibleRow> {
        let zombies = self.zombies();
        let shown = zombies.filter(|key| Facts::of_zombie(self, key).pass(query));
        let row = |key| VisibleRow {
            key,
            depth: 0,
            trunk: 0,
            below: 0,
            folded: 0,
            worst: None,
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

    fn listed(&self) -> Vec<Listed<'_>> {
        let mut all = Vec::with_capacity(self.rows.len());
        for (key, session) in self.store.sessions() {
            let Some(verdict) = self.verdict(&key) else {
                continue;
            };
            let Some(server) = self.store.server(key.server) else {
                continue;
            };
            if verdict.is_listed(session) {
                all.push(Listed {
                    snoozed: self.is_snoozed(&key),
                    key,
                    server,
                    session,
                    verdict,
                    parent: None,
                    hit: false,
                    wanted: false,
                    below: 0,
                });
            }
        }
        all
    }
}

/// Watch and above, and what is about to be; not what was seen.
fn wants_attention(one: &Listed) -> bool {
    let asks = one.verdict.level >= Level::Watch || one.verdict.settling.is_some();
    asks && !one.snoozed
}
