//! What a filter can ask of a row, and whether the row passes.
//!
//! What it does: hold the words of one session, compare. What it does not: choose rows or order.

use super::field::{Field, Kind, STATES, ZOMBIE};
use super::query::{Query, Term, Test, Than};
use crate::core::app::App;
use crate::core::app::order::began;
use crate::core::app::tree::Listed;
use crate::core::id::SessionKey;
use crate::core::judge::{Agreement, Verdict};
use crate::core::store::Server;
use crate::core::time::{Span, UnixMs};

/// How long what is true of a session has lasted; nothing when that is not known. Of a session whose
/// state is not known: how long it has not been. `now` is the watcher's clock.
pub fn age(verdict: &Verdict, server: &Server, now: UnixMs) -> Option<Span> {
    began(verdict, server).map(|at| now.since(at))
}

/// The words and numbers of one row. Borrowed: they are made for each row at each look.
#[derive(Debug, Default)]
pub(in crate::core::app) struct Facts<'a> {
    level: &'a str,
    findings: Vec<&'a str>,
    states: Vec<&'a str>,
    reported: &'a str,
    age: Option<Span>,
    cost: f64,
    server: &'a str,
    dir: &'a str,
    tool: &'a str,
    model: String,
    agent: &'a str,
    title: &'a str,
    id: &'a str,
    /// What else stands in the row.
    more: Vec<&'a str>,
}

impl<'a> Facts<'a> {
    /// Of a session.
    pub fn of(app: &App, one: &Listed<'a>) -> Self {
        let (server, session, verdict) = (one.server, one.session, one.verdict);
        let info = &session.info;
        let activity = &verdict.activity;
        let leading = verdict.leading().map(|it| it.text.as_str());
        let more = [leading, activity.detail.as_deref(), verdict.note.as_deref()];
        Self {
            level: verdict.level.word(),
            findings: verdict.findings.iter().map(|it| it.name).collect(),
            states: states(app, one),
            reported: verdict.reported.word(),
            age: age(verdict, server, app.taken_at),
            cost: info.cost,
            server: &server.spec.name,
            dir: info.directory.as_str(),
            tool: activity.tool.as_deref().unwrap_or_default(),
            model: info
                .model
                .as_ref()
                .map_or_else(String::new, |it| format!("{}/{}", it.provider, it.model)),
            agent: info.agent.as_deref().unwrap_or_default(),
            title: &info.title,
            id: info.id.as_str(),
            more: more.into_iter().flatten().collect(),
        }
    }

    /// Of a deleted session that still runs: only its server's findings know it.
    pub fn of_zombie(app: &'a App, key: &'a SessionKey) -> Self {
        let server = app.store.server(key.server);
        let stranger = server.and_then(|server| server.strangers.get(&key.session));
        Self {
            level: "stuck",
            findings: vec![ZOMBIE],
            reported: "busy",
            age: stranger.map(|it| app.taken_at.since(it.seen_at)),
            server: server.map_or("", |it| it.spec.name.as_str()),
            title: "deleted session",
            id: key.session.as_str(),
            ..Self::default()
        }
    }

    /// Whether all terms hold.
    pub fn pass(&self, query: &Query) -> bool {
        query.terms.iter().all(|term| self.hold(term))
    }

    fn hold(&self, term: &Term) -> bool {
        let held = match &term.test {
            Test::Anything(texts) => texts.iter().any(|text| self.contain(text)),
            Test::Named(field, texts) => texts.iter().any(|text| self.fit(*field, text)),
            Test::Age(ages) => self.age.is_some_and(|age| within(ages, &age)),
            Test::Cost(costs) => within(costs, &self.cost),
        };
        held != term.inverted
    }

    /// Whether any word of the row contains it.
    fn contain(&self, text: &str) -> bool {
        let one = [
            self.level,
            self.reported,
            self.server,
            self.dir,
            self.tool,
            self.model.as_str(),
            self.agent,
            self.title,
            self.id,
        ];
        let all = one.iter().chain(&self.findings).chain(&self.states);
        { all }.chain(&self.more).any(|it| contains(it, text))
    }

    fn fit(&self, field: Field, text: &str) -> bool {
        let words = match field {
            Field::Level => vec![self.level],
            Field::Finding => self.findings.clone(),
            Field::Is => self.states.clone(),
            Field::Reported => vec![self.reported],
            Field::Server => vec![self.server],
            Field::Dir => vec![self.dir],
            Field::Tool => vec![self.tool],
            Field::Model => vec![self.model.as_str()],
            Field::Agent => vec![self.agent],
            Field::Title => vec![self.title],
            Field::Id => vec![self.id],
            // These have tests of their own.
            Field::Age | Field::Cost => Vec::new(),
        };
        let mut words = words.into_iter();
        match field.row().kind {
            Kind::Word => words.any(|word| begins(word, text)),
            _ => words.any(|word| contains(word, text)),
        }
    }
}

/// What is true of it, in the words of `is:`.
fn states<'a>(app: &App, one: &Listed) -> Vec<&'a str> {
    let verdict = one.verdict;
    let so = [
        verdict.settling.is_some(),
        verdict.agreement == Agreement::Disagree,
        one.session.info.parent.is_some(),
        app.ui.marked.contains(&verdict.key),
        one.snoozed,
    ];
    let more = STATES.iter().zip(so).filter(|(_, so)| *so);
    let state = verdict.activity.state.word();
    [state].into_iter().chain(more.map(|(it, _)| *it)).collect()
}

/// Without regard to case; `text` is in lower case.
fn contains(word: &str, text: &str) -> bool {
    word.contains(text) || word.to_lowercase().contains(text)
}

fn begins(word: &str, text: &str) -> bool {
    word.starts_with(text) || word.to_lowercase().starts_with(text)
}

fn within<T: PartialOrd>(limits: &[(Than, T)], value: &T) -> bool {
    limits.iter().any(|(side, limit)| match side {
        Than::More => value > limit,
        Than::Less => value < limit,
    })
}
