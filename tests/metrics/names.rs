//! The alert rules and the dashboard name what the program tells, and Prometheus's own tool takes all
//! three. `OCWATCH_SKIP_PROMTOOL=1` leaves the tool out, and says so.

use crate::World;
use crate::scrape::{Exporter, Scrape};
use ocwatch::shell::metrics::METRICS;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Labels that Prometheus itself or a person adds.
const GIVEN: [&str; 5] = ["job", "instance", "__name__", "alertname", "severity"];

fn asset(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("assets")
        .join(name)
}

fn read(name: &str) -> String {
    std::fs::read_to_string(asset(name)).expect(name)
}

/// The expressions of a rule file: each on a line of its own.
fn rule_expressions() -> Vec<String> {
    let text = read("prometheus/ocwatch-alerts.yml");
    let lines = text.lines().map(str::trim);
    let found: Vec<String> = lines
        .filter_map(|line| line.strip_prefix("expr: ").map(str::to_owned))
        .collect();
    let rules = text.matches("- alert:").count();
    assert_eq!(found.len(), rules, "each rule's expression is on one line");
    found
}

fn dashboard() -> Value {
    serde_json::from_str(&read("grafana/ocwatch.json")).expect("a dashboard")
}

fn dashboard_expressions() -> Vec<String> {
    let dashboard = dashboard();
    let panels = dashboard["panels"].as_array().expect("panels");
    let targets = panels
        .iter()
        .flat_map(|it| it["targets"].as_array().expect("targets"));
    let queries = targets.map(|it| it["expr"].as_str().expect("an expression").to_owned());
    let variables = dashboard["templating"]["list"]
        .as_array()
        .expect("variables");
    let variables = variables
        .iter()
        .filter_map(|it| it["query"]["query"].as_str());
    queries.chain(variables.map(str::to_owned)).collect()
}

/// A metric that an expression names, and what it asks of its labels: the value where it is exact.
#[derive(Debug)]
struct Named {
    name: String,
    labels: Vec<(String, Option<String>)>,
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Every metric of an expression, by its first letters.
fn named(expression: &str) -> Vec<Named> {
    let mut found = Vec::new();
    let mut rest = expression;
    while let Some(at) = rest.find(['o', 'p', 'u']) {
        let begins = !rest[..at].ends_with(is_word);
        let word: String = rest[at..].chars().take_while(|c| is_word(*c)).collect();
        let after = &rest[at + word.len().max(1)..];
        let ours = word.starts_with("ocwatch_") || word.starts_with("process_") || word == "up";
        if begins && ours {
            let labels = after.strip_prefix('{').and_then(|it| it.split_once('}'));
            let labels = labels.map_or_else(Vec::new, |(labels, _)| matchers(labels));
            found.push(Named { name: word, labels });
        }
        rest = after;
    }
    found
}

fn matchers(labels: &str) -> Vec<(String, Option<String>)> {
    let one = |label: &str| {
        let name: String = label.trim().chars().take_while(|c| is_word(*c)).collect();
        let value = label.trim()[name.len()..].strip_prefix("=\"");
        (name, value.map(|it| it.trim_end_matches('"').to_owned()))
    };
    labels.split(',').map(one).collect()
}

/// The labels in `by (…)`, `on (…)` and `label_values(…, …)`.
fn grouped(expression: &str) -> Vec<String> {
    let mut found = Vec::new();
    for opening in ["by (", "on ("] {
        for part in expression.split(opening).skip(1) {
            let labels = part.split(')').next().unwrap_or_default();
            found.extend(labels.split(',').map(|it| it.trim().to_owned()));
        }
    }
    if let Some(rest) = expression.strip_prefix("label_values(") {
        let label = rest.split(", ").nth(1).unwrap_or_default();
        found.push(label.trim_end_matches(')').to_owned());
    }
    found
}

/// Names with the labels that they have.
fn exported() -> BTreeMap<String, BTreeSet<&'static str>> {
    let all = METRICS.iter();
    all.map(|it| (it.sample(), it.labels.iter().copied().collect()))
        .collect()
}

/// Everything that the expressions name is told, with the labels and words that they want.
fn check(expressions: &[String], told: &Scrape) {
    let exported = exported();
    for expression in expressions {
        let named = named(expression);
        assert!(!named.is_empty(), "nothing of ocwatch in {expression}");
        let mut known: BTreeSet<&str> = GIVEN.into();
        for it in named.iter().filter(|it| it.name != "up") {
            let labels = exported.get(&it.name);
            let labels = labels.unwrap_or_else(|| panic!("no {} in {expression}", it.name));
            known.extend(labels);
            for (label, value) in &it.labels {
                let given = GIVEN.contains(&label.as_str());
                assert!(
                    given || labels.contains(label.as_str()),
                    "{label} in {expression}"
                );
                let Some(value) = value.as_ref().filter(|it| !given && !it.contains('$')) else {
                    continue;
                };
                let wanted = [(label.as_str(), value.as_str())];
                let mut all = told.samples();
                let found = all.any(|one| one.name == it.name && one.has(&wanted));
                assert!(found, "no {} with {wanted:?}", it.name);
            }
        }
        for label in grouped(expression) {
            assert!(known.contains(label.as_str()), "{label} in {expression}");
        }
    }
}

#[test]
fn rules_and_dashboard_name_what_is_told_and_all_of_it() {
    let world = World::new();
    let exporter = world.start(&["--session-ids"]);
    let told = world.settled(&exporter);
    let (rules, dashboard) = (rule_expressions(), dashboard_expressions());
    assert!(rules.len() >= 7 && dashboard.len() >= 20);
    check(&rules, &told);
    check(&dashboard, &told);
    let shown = dashboard.iter().chain(&rules).flat_map(|it| named(it));
    let shown: BTreeSet<String> = shown.map(|it| it.name).collect();
    for name in exported().keys() {
        assert!(
            shown.contains(name),
            "neither rules nor dashboard show {name}"
        );
    }
    let told: BTreeSet<&str> = told.samples().map(|it| it.name).collect();
    for name in exported().keys() {
        assert!(told.contains(name.as_str()), "{name} is not told");
    }
    for name in told {
        assert!(exported().contains_key(name), "{name} is not in the table");
    }
}

#[test]
fn a_wrong_name_would_be_found() {
    let all = named(
        "sum by (level) (ocwatch_x{server=~\"$server\", level=\"a\"}) + rate(ocwatch_y_total[5m]) * up",
    );
    let names: Vec<&str> = all.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["ocwatch_x", "ocwatch_y_total", "up"]);
    let level = ("level".to_owned(), Some("a".to_owned()));
    assert_eq!(all[0].labels, [("server".to_owned(), None), level]);
    assert_eq!(
        grouped("sum by (a, b) (x) unless on (c) y"),
        ["a", "b", "c"]
    );
    assert_eq!(grouped("label_values(ocwatch_x, server)"), ["server"]);
}

#[test]
fn the_dashboard_is_whole() {
    let dashboard = dashboard();
    let panels = dashboard["panels"].as_array().expect("panels");
    let ids: BTreeSet<u64> = panels.iter().filter_map(|it| it["id"].as_u64()).collect();
    assert_eq!(ids.len(), panels.len(), "each panel has an id of its own");
    for panel in panels {
        assert!(
            panel["title"].as_str().is_some_and(|it| !it.is_empty()),
            "{panel:#}"
        );
        assert_eq!(panel["datasource"]["uid"], "${datasource}", "{panel:#}");
        let place = |name: &str| panel["gridPos"][name].as_u64().expect("a place");
        assert!(place("x") + place("w") <= 24, "{panel:#}");
    }
}

/// False, after saying what is left out.
fn wanted() -> bool {
    let skip = std::env::var_os("OCWATCH_SKIP_PROMTOOL").is_some_and(|it| it == "1");
    if skip {
        let said = "skipped (OCWATCH_SKIP_PROMTOOL=1): promtool on rules and metrics";
        writeln!(std::io::stderr(), "{said}").ok();
    }
    !skip
}

/// Runs promtool; what it said, if it is not content.
fn promtool(args: &[&str], input: &str) -> Result<(), String> {
    let mut command = Command::new("promtool");
    let command = command.args(args).current_dir(asset("prometheus"));
    let piped = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap_or_else(|why| {
        panic!(
            "promtool does not start ({why}): install the package `prometheus` (Debian: apt-get install prometheus), \
             or set OCWATCH_SKIP_PROMTOOL=1 to leave it out"
        )
    });
    let mut stdin = child.stdin.take().expect("its stdin");
    // It may have seen enough.
    stdin.write_all(input.as_bytes()).ok();
    drop(stdin);
    let ended = child.wait_with_output().expect("its end");
    let said = [ended.stdout, ended.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    if ended.status.success() {
        Ok(())
    } else {
        Err(said)
    }
}

#[test]
fn promtool_takes_the_rules_and_they_do_what_they_say() {
    if wanted() {
        promtool(&["check", "rules", "ocwatch-alerts.yml"], "").expect("good rules");
        promtool(&["test", "rules", "ocwatch-alerts-test.yml"], "").expect("their tests");
        let wrong = promtool(&["check", "rules", "ocwatch-alerts-test.yml"], "");
        assert!(wrong.is_err(), "it does tell what is no rule file");
    }
}

#[test]
fn promtool_takes_the_metrics() {
    if !wanted() {
        return;
    }
    let world = World::new();
    let exporter = world.start(&["--session-ids"]);
    world.settled(&exporter);
    let text = plain(&exporter);
    assert!(
        text.contains("ocwatch_session_attention_seconds{"),
        "{text}"
    );
    promtool(&["check", "metrics"], &text).expect("metrics without a fault");
    let wrong = text.replace(
        "# TYPE ocwatch_events_total counter",
        "# TYPE ocwatch_events_total x",
    );
    assert!(
        promtool(&["check", "metrics"], &wrong).is_err(),
        "it does tell"
    );
}

fn plain(exporter: &Exporter) -> String {
    let request = "GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: text/plain\r\n\r\n";
    exporter.ask(request).body().to_owned()
}
