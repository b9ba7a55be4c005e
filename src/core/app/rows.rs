//! Which sessions stand on the screen: listed and filtered, and where the selection is among them.
//!
//! What it does not: their order (`order`) and their tree (`tree`).

use crate::core::app::App;
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
}

/// Rows kept in sight on both sides of the selected one.
const CONTEXT: usize = 3;

/// The finding of a deleted session that still runs.
const ZOMBIE: &str = "zombie-run";

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
        let mut listed = self.listed();
        tree::join(&mut listed);
        for place in 0..listed.len() {
            if self.passes(&listed[place]) {
                tree::want(&mut listed, place);
            }
        }
        let mut rows = self.zombie_rows();
        rows.extend(tree::rows(&mut listed, self.ui.sort, &self.ui.folded));
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
            trunk: 0,
            below: 0,
            folded: 0,
            worst: None,
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
                    key,
                    server,
                    session,
                    verdict,
                    parent: None,
                    wanted: false,
                    below: 0,
                });
            }
        }
        all
    }

    fn passes(&self, one: &Listed) -> bool {
        if self.ui.attention_only && one.verdict.level < Level::Watch {
            return false;
        }
        let text = self.ui.filter.text.to_lowercase();
        text.is_empty() || haystack(one).contains(&text)
    }
}

/// Everything of a row that a filter text may mean.
fn haystack(one: &Listed) -> String {
    let name = one.server.spec.name.as_str();
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
