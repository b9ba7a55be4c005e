//! What the rows are sorted by: a value of each session for each column, and how values compare.
//!
//! What it does not: lay out the tree; `tree` does. Invariants: the order is total (ties by the last
//! change, then by key), so that rows do not change places by themselves; a value that is not known
//! stands last in either direction; an age is compared by when it began, so time alone changes nothing.

use crate::core::app::tree::Listed;
use crate::core::app::{Column, Sort};
use crate::core::changes::Standing;
use crate::core::judge::{Level, Verdict};
use crate::core::store::{Reported, Server, Why};
use crate::core::time::UnixMs;
use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};

/// What one session is sorted by.
#[derive(Debug, PartialEq)]
pub(super) enum Value<'a> {
    /// Not known, or there is none.
    Blank,
    Whole(i64),
    Real(f64),
    Text(Cow<'a, str>),
}

impl Value<'_> {
    fn compare(&self, other: &Self, largest_first: bool) -> Ordering {
        let ordering = match (self, other) {
            (Value::Blank, Value::Blank) => return Ordering::Equal,
            (Value::Blank, _) => return Ordering::Greater,
            (_, Value::Blank) => return Ordering::Less,
            (Value::Whole(one), Value::Whole(other)) => one.cmp(other),
            (Value::Real(one), Value::Real(other)) => one.total_cmp(other),
            (Value::Text(one), Value::Text(other)) => one.cmp(other),
            // One column has values of one kind.
            _ => Ordering::Equal,
        };
        if largest_first {
            ordering.reverse()
        } else {
            ordering
        }
    }
}

/// How urgent a row is; higher stands higher. What was seen is as good as at rest.
pub(super) fn rank(one: &Listed) -> Standing {
    if one.snoozed {
        Standing::Rest
    } else {
        Standing::of(one.verdict)
    }
}

impl Sort {
    /// These sessions in this order, each for itself.
    pub(super) fn put(self, all: &[Listed<'_>], places: &mut [usize]) {
        let values: Vec<Value> = all.iter().map(|one| self.value(one)).collect();
        let largest_first = self.has_largest_first() != self.reversed;
        let tie = |place: usize| {
            let one = &all[place];
            (Reverse(one.session.info.updated), &one.key)
        };
        places.sort_unstable_by(|&a, &b| {
            let by_value = values[a].compare(&values[b], largest_first);
            by_value.then_with(|| tie(a).cmp(&tie(b)))
        });
    }

    /// A tree stands where the first of all of it would stand: a grandchild that needs attention, or
    /// is the largest, is what is looked for. Not where the reverse is asked for: nearly every tree
    /// has something small and calm in it.
    pub(super) fn is_by_subtree(self) -> bool {
        let of_all = match self.column {
            None => true,
            Some(column) => matches!(
                column,
                Column::Cost | Column::Tokens | Column::Messages | Column::Updated
            ),
        };
        of_all && !self.reversed
    }

    fn has_largest_first(self) -> bool {
        self.column.is_none_or(Column::is_number)
    }

    fn value<'a>(self, one: &Listed<'a>) -> Value<'a> {
        let (info, verdict) = (&one.session.info, one.verdict);
        let Some(column) = self.column else {
            return Value::Whole(rank(one) as i64);
        };
        let activity = &verdict.activity;
        match column {
            Column::Server => text(&one.server.spec.name),
            Column::Session if info.title.trim().is_empty() => text(info.id.as_str()),
            Column::Session => text(&info.title),
            Column::Reported => reported(&verdict.reported),
            Column::Activity => {
                let tool = activity.tool.as_deref().unwrap_or_default();
                Value::Text(format!("{} {tool}", activity.state.word()).into())
            }
            Column::Age => began(verdict, one.server)
                .map_or(Value::Blank, |at| Value::Whole(at.0.saturating_neg())),
            Column::Why => why(verdict),
            Column::Tool => maybe(activity.tool.as_deref()),
            Column::Model => maybe(info.model.as_ref().map(|it| it.model.as_str())),
            Column::Agent => maybe(info.agent.as_deref()),
            Column::Directory => Value::Text(info.directory.as_str().into()),
            Column::Cost => Value::Real(info.cost),
            Column::Tokens => whole(info.tokens.input.saturating_add(info.tokens.output)),
            Column::Messages => messages(one),
            Column::Updated => Value::Whole(watchers(info.updated, one.server).0),
            Column::Created => Value::Whole(watchers(info.created, one.server).0),
            Column::Id => Value::Text(info.id.as_str().into()),
            Column::Children => whole(one.below.try_into().unwrap_or(u64::MAX)),
        }
    }
}

/// A point in time of the server's clock, by the watcher's: so those of two servers compare.
fn watchers(at: UnixMs, server: &Server) -> UnixMs {
    UnixMs(at.0.saturating_sub(server.skew.0))
}

/// When what the age tells began; watcher's clock.
pub(super) fn began(verdict: &Verdict, server: &Server) -> Option<UnixMs> {
    if let Reported::Unknown(Why::ServerLost(_)) = &verdict.reported {
        return server.link_since;
    }
    verdict.activity.since.map(|at| watchers(at, server))
}

fn text(text: &str) -> Value<'_> {
    Value::Text(text.to_lowercase().into())
}

fn maybe(text: Option<&str>) -> Value<'_> {
    text.map_or(Value::Blank, |text| Value::Text(text.into()))
}

fn whole(number: u64) -> Value<'static> {
    Value::Whole(i64::try_from(number).unwrap_or(i64::MAX))
}

/// What runs first.
fn reported(reported: &Reported) -> Value<'static> {
    match reported {
        Reported::Retry(_) => Value::Whole(0),
        Reported::Busy => Value::Whole(1),
        Reported::Other(_) => Value::Whole(2),
        Reported::Idle => Value::Whole(3),
        Reported::Unknown(_) => Value::Blank,
    }
}

fn why(verdict: &Verdict) -> Value<'_> {
    let finding = verdict.leading().filter(|it| it.level > Level::Ok);
    let settling = verdict.settling.as_ref().map(|it| it.name);
    maybe(finding.map(|it| it.name).or(settling))
}

/// What is surely more than known stands before the same number that is all.
fn messages(one: &Listed) -> Value<'static> {
    let tail = &one.session.tail;
    if !tail.is_read() {
        return Value::Blank;
    }
    let known = u64::try_from(tail.messages.len()).unwrap_or(u64::MAX);
    whole(known.saturating_mul(2) + u64::from(!tail.whole))
}
