//! Scenario files: what a server said, with times as offsets, and what must follow from it.
//!
//! `tests/scenarios/*.toml`: at least one file that shows each finding, and at least two that only
//! look like it and are healthy: a false alarm is as bad as a miss. Every moment of every file is
//! judged from scratch, by the cache and by a cache that begins there, which must agree. At the end
//! a table says, finding by finding, how often it was right, missed or false.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may fail loudly"
)]

#[path = "scenarios/recorded.rs"]
mod recorded;
#[path = "scenarios/spec.rs"]
mod spec;
#[path = "scenarios/world.rs"]
mod world;

use ocwatch::core::id::{ServerId, SessionId, SessionKey};
use ocwatch::core::judge::{
    Agreement, Answer, Explanation, FAMILY_FINDINGS, Judge, Judgement, Limits, RULES,
    SERVER_FINDINGS, Tried, Verdict, explain, judge, judge_all,
};
use ocwatch::core::store::{ServerSpec, Store};
use ocwatch::core::time::UnixMs;
use spec::{BASE, Expect, ExpectServer, Scenario, at};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

#[derive(Default)]
struct Score {
    right: u32,
    missed: u32,
    wrong: u32,
    shown: u32,
    look_alikes: u32,
}

#[derive(Default)]
struct Report {
    scores: BTreeMap<String, Score>,
    faults: String,
}

#[test]
fn every_scenario_is_judged_truthfully() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "toml"))
        .collect();
    files.sort();
    let mut report = Report::default();
    for file in &files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(file).unwrap();
        match toml::from_str::<Scenario>(&text) {
            Ok(scenario) => run(&name, &scenario, &mut report),
            Err(error) => report.fault(&name, &format!("cannot be read: {error}")),
        }
    }
    report.demand_coverage();
    println!("{}", report.table(files.len()));
    assert!(report.faults.is_empty(), "\n{}", report.faults);
}

fn run(name: &str, scenario: &Scenario, report: &mut Report) {
    if let Some(id) = &scenario.shows {
        report.score(id).shown += 1;
    }
    for id in &scenario.looks_like {
        report.score(id).look_alikes += 1;
    }
    let mut inputs = scenario.inputs().into_iter().peekable();
    let mut store = empty(scenario.servers());
    let limits = scenario.limits();
    let mut cache = Judge::new(limits.clone());
    let mut found = Vec::new();
    for expect in &scenario.expect {
        let now = at(&expect.at);
        while let Some(input) = inputs.next_if(|input| input.at <= now) {
            let then = input.at;
            let change = store.apply(input);
            cache.update(&store, &[change], then);
        }
        cache.update(&store, &[], now);
        let fresh = judge_all(&store, now, &limits);
        let key = SessionKey::new(
            ServerId(expect.server),
            SessionId::from(expect.session.as_str()),
        );
        let mut late = Judge::new(limits.clone());
        late.update(&store, &[], now);
        for why in [cache.judgement(), late.judgement()]
            .into_iter()
            .filter_map(|cache| difference(cache, &fresh))
            .chain(differs_alone(&store, &key, &fresh, now, &limits))
        {
            report.fault(name, &format!("at {}: {why}", expect.at));
        }
        match fresh.verdicts.get(&key) {
            None => report.fault(name, &format!("no session {}", expect.session)),
            Some(verdict) => compare(name, expect, verdict, report),
        }
        let listed = fresh.verdicts.get(&key).zip(store.session(&key));
        let listed = listed.map(|(verdict, session)| verdict.is_listed(session));
        if expect.listed.is_some() && expect.listed != listed {
            report.fault(name, &format!("{} listed: {listed:?}", expect.session));
        }
        found.extend(fresh.verdicts.values().flat_map(names));
        let told = explain(&store, &key, now, &limits);
        if let Some(told) = told {
            explained(name, &store, &told, expect, report);
        }
    }
    for expect in &scenario.expect_server {
        found.extend(server_names(name, scenario, expect, report));
    }
    if let Some(id) = scenario.shows.as_ref().filter(|id| !found.contains(id)) {
        report.fault(name, &format!("does not show {id}"));
    }
    for id in scenario.looks_like.iter().filter(|id| found.contains(id)) {
        report.fault(name, &format!("only looks like {id}, but is called so"));
    }
}

/// A session with nothing below it is judged by itself as among all.
fn differs_alone(
    store: &Store,
    key: &SessionKey,
    fresh: &Judgement,
    now: UnixMs,
    limits: &Limits,
) -> Option<String> {
    let mut children = store.server(key.server)?.children(&key.session);
    let alone = judge(store, key, now, limits);
    let same = children.next().is_some() || alone.as_ref() == fresh.verdicts.get(key);
    (!same).then(|| format!("judged by itself it differs: {alone:#?}"))
}

/// Judges a server at one moment, from the beginning. Returns what was found.
fn server_names(
    name: &str,
    scenario: &Scenario,
    expect: &ExpectServer,
    report: &mut Report,
) -> Vec<String> {
    let now = at(&expect.at);
    let mut store = empty(scenario.servers());
    for input in scenario.inputs().into_iter().filter(|it| it.at <= now) {
        store.apply(input);
    }
    let judgement = judge_all(&store, now, &scenario.limits());
    let verdict = &judgement.servers[usize::from(expect.server)];
    let names: Vec<String> = verdict.findings.iter().map(|f| f.name.into()).collect();
    let text = verdict.findings.first().map_or("", |f| f.text.as_str());
    let state = expect.state.as_deref().unwrap_or(verdict.state);
    let told = expect.text.iter().all(|want| text.contains(want));
    if names != expect.findings || state != verdict.state || !told {
        let got = format!("{} {names:?} {text}", verdict.state);
        report.fault(name, &format!("server at {}: got {got}", expect.at));
    }
    for id in &expect.findings {
        let score = report.score(id);
        if names.contains(id) {
            score.right += 1;
        } else {
            score.missed += 1;
        }
    }
    for id in names.iter().filter(|id| !expect.findings.contains(id)) {
        report.score(id).wrong += 1;
    }
    names
}

fn empty(servers: u16) -> Store {
    let spec = |n| ServerSpec {
        name: ["home", "away"][usize::from(n)].into(),
        url: format!("http://127.0.0.1:{}", 4096 + n),
        read_only: None,
    };
    Store::new((0..servers).map(spec).collect())
}

fn names(verdict: &Verdict) -> Vec<String> {
    let names = verdict.findings.iter().map(|f| f.name.to_owned());
    names.collect()
}

/// Ages inside evidence are those of the last look, so they are left out.
fn difference(cache: &Judgement, fresh: &Judgement) -> Option<String> {
    let strip = |judgement: &Judgement| {
        let mut judgement = judgement.clone();
        for finding in judgement
            .verdicts
            .values_mut()
            .flat_map(|v| &mut v.findings)
        {
            finding
                .evidence
                .retain(|key, _| !matches!(key.as_str(), "age_ms" | "quiet_ms"));
        }
        judgement
    };
    let (cache, fresh) = (strip(cache), strip(fresh));
    (cache != fresh).then(|| format!("the cache differs: {cache:#?}\nfrom scratch: {fresh:#?}"))
}

fn explained(name: &str, store: &Store, told: &Explanation, expect: &Expect, report: &mut Report) {
    let tried: Vec<_> = told.tried.iter().map(|tried| tried.rule).collect();
    let rules = RULES.iter().map(|rule| rule.id);
    let all: Vec<_> = rules.chain(FAMILY_FINDINGS.map(|(id, _)| id)).collect();
    if tried != all {
        report.fault(name, &format!("explain tried {tried:?}"));
    }
    let yes = |tried: &&Tried| matches!(tried.answer, Answer::Yes { .. });
    let mut said: Vec<_> = told.tried.iter().filter(yes).map(|t| t.rule).collect();
    let mut found: Vec<_> = told.verdict.findings.iter().map(|f| f.name).collect();
    said.sort_unstable();
    found.sort_unstable();
    if said != found {
        report.fault(name, &format!("explain says {said:?}, found {found:?}"));
    }
    let why = told.activity_why.as_ref();
    if expect.why.as_ref().is_some_and(|want| !why.contains(want)) {
        report.fault(name, &format!("its activity is so because {why}"));
    }
    let session = store.session(&told.verdict.key);
    let parent = session.and_then(|it| it.info.parent.as_ref());
    let server = store.server(told.verdict.key.server);
    let parent = parent.filter(|id| server.is_some_and(|it| it.sessions.contains_key(*id)));
    let named = told.facts.iter().find(|(name, _)| name == "parent");
    if named.map(|(_, id)| id.as_str()) != parent.map(SessionId::as_str) {
        report.fault(name, "explain does not know its parent");
    }
    let untold = session.is_some_and(|it| it.status.since == UnixMs::default());
    let says_so =
        |(name, value): &(String, String)| name == "reported since" && value == "not told yet";
    if untold != told.facts.iter().any(says_so) {
        report.fault(name, "explain does not know since when it is reported");
    }
    for (rule, want) in &expect.no {
        let answer = told.tried.iter().find(|tried| tried.rule == rule);
        let answer = answer.map(|tried| &tried.answer);
        let why = match answer {
            Some(Answer::No(why) | Answer::Later { why, .. }) => why,
            _ => "",
        };
        if !why.contains(want) {
            report.fault(name, &format!("{rule} answers {answer:?}, not {want}"));
        }
    }
}

fn compare(name: &str, expect: &Expect, verdict: &Verdict, report: &mut Report) {
    let mut wrong = Vec::new();
    let mut check = |what: &str, want: &str, got: &str| {
        if want != got {
            wrong.push(format!("{what}: expected {want}, got {got}"));
        }
    };
    check("level", &expect.level, verdict.level.word());
    check(
        "findings",
        &expect.findings.join(" "),
        &names(verdict).join(" "),
    );
    compare_settling(expect, verdict, &mut check);
    if let Some(want) = &expect.reported {
        check("reported", want, verdict.reported.word());
    }
    if let Some(want) = &expect.activity {
        check("activity", want, verdict.activity.state.word());
    }
    if let Some(want) = &expect.detail {
        let got = verdict.activity.detail.as_deref();
        check("detail", want, got.unwrap_or("none"));
    }
    if let Some(want) = expect.agree {
        let got = verdict.agreement == Agreement::Agree;
        check("agree", &want.to_string(), &got.to_string());
    }
    compare_leading(expect, verdict, &mut check);
    let blind = verdict.blind.as_deref().unwrap_or("none");
    let unknown = verdict.level.word() == "unknown" && verdict.reported.is_known();
    check(
        "blind",
        &unknown.to_string(),
        &(blind != "none").to_string(),
    );
    if let Some(want) = expect.blind.iter().find(|want| !blind.contains(*want)) {
        check("blind", want, blind);
    }
    let note = verdict.note.as_deref().unwrap_or("none");
    if let Some(want) = expect.note.iter().find(|want| !note.contains(*want)) {
        check("note", want, note);
    }
    if let Some(want) = expect.asks {
        check("asks", &want.to_string(), &verdict.asks.len().to_string());
    }
    if let Some(want) = expect.queued {
        let got = verdict.activity.queued_prompts;
        check("queued", &want.to_string(), &got.to_string());
    }
    report.count(expect, verdict);
    for what in wrong {
        report.fault(
            name,
            &format!("{} at {}: {what}", expect.session, expect.at),
        );
    }
}

fn compare_settling(expect: &Expect, verdict: &Verdict, check: &mut impl FnMut(&str, &str, &str)) {
    let settling = verdict.settling.as_ref();
    let want = expect.settling.as_deref().unwrap_or("none");
    check("settling", want, settling.map_or("none", |s| s.name));
    if let Some(want) = &expect.settling_level {
        check(
            "settling",
            want,
            settling.map_or("none", |s| s.level.word()),
        );
    }
    if let Some(want) = &expect.settles_at {
        let until = settling.map(|s| s.at.since(BASE).exact());
        check("settling until", want, &until.unwrap_or_default());
    }
}

fn compare_leading(expect: &Expect, verdict: &Verdict, check: &mut impl FnMut(&str, &str, &str)) {
    let leading = verdict.leading();
    if let Some(want) = &expect.offers {
        let offers = leading.map(|f| f.offers.iter().map(|o| o.word()).collect::<Vec<_>>());
        check(
            "offers",
            &want.join(" "),
            &offers.unwrap_or_default().join(" "),
        );
    }
    if let Some(want) = &expect.path {
        let path = leading.map(|f| f.path.iter().map(SessionId::as_str).collect::<Vec<_>>());
        check("path", &want.join(" "), &path.unwrap_or_default().join(" "));
    }
    let text = leading.map_or("", |f| f.text.as_str());
    for want in expect.text.iter().filter(|want| !text.contains(*want)) {
        check("text", want, text);
    }
    for (key, want) in &expect.evidence {
        let got = leading.and_then(|f| f.evidence.get(key));
        let got = got.map(ToString::to_string).unwrap_or_default();
        check(key, &want.to_string(), &got);
    }
    for word in expect.unsaid.iter().filter(|word| text.contains(*word)) {
        check("text", &format!("nothing of {word}"), text);
    }
}

impl Report {
    fn score(&mut self, id: &str) -> &mut Score {
        self.scores.entry(id.to_owned()).or_default()
    }

    fn fault(&mut self, name: &str, what: &str) {
        let _ = writeln!(self.faults, "{name}: {what}");
    }

    fn count(&mut self, expect: &Expect, verdict: &Verdict) {
        let got = names(verdict);
        for id in &expect.findings {
            if got.contains(id) {
                self.score(id).right += 1;
            } else {
                self.score(id).missed += 1;
            }
        }
        for id in got.iter().filter(|id| !expect.findings.contains(id)) {
            self.score(id).wrong += 1;
        }
    }

    /// Every finding has a file that shows it and two that only look like it.
    fn demand_coverage(&mut self) {
        for rule in RULES {
            let score = self.score(rule.id);
            if score.shown == 0 || score.look_alikes < 2 {
                self.fault(rule.id, "wants one file that shows it and two look-alikes");
            }
        }
        for (id, ..) in SERVER_FINDINGS {
            let score = self.score(id);
            if score.shown == 0 || score.right == 0 {
                self.fault(id, "wants one file that shows it of a server");
            }
        }
        for (id, _) in FAMILY_FINDINGS {
            if self.score(id).right == 0 {
                self.fault(id, "is never expected");
            }
        }
    }

    fn table(&self, files: usize) -> String {
        let mut table = format!("{files} scenario files\n");
        let _ = writeln!(table, "{:22} right missed false", "finding");
        for (id, s) in &self.scores {
            let _ = writeln!(table, "{id:22} {:5} {:6} {:5}", s.right, s.missed, s.wrong);
        }
        table
    }
}
