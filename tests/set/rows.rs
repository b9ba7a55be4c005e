//! What a row must hold besides its verdict: its family, its asks, what is queued, and findings that can
//! be checked by hand.
//!
//! What it does: compare them with the raw set. What it does not: judge.

use crate::server::World;
use crate::story::{Ask, Story};
use serde_json::Value;
use std::collections::BTreeSet;

/// Everything about the row that does not fit the story.
pub fn faults(world: &World, story: &Story, row: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let mut same = |what: &str, wanted: &Value, got: &Value| {
        if wanted != got {
            faults.push(format!("{what} {wanted}, not {got}"));
        }
    };
    same("title", &story.title.clone().into(), &row["title"]);
    same(
        "directory",
        &world.path(&story.place).into(),
        &row["directory"],
    );
    same(
        "archived",
        &story.archived.is_some().into(),
        &row["archived"],
    );
    same("updated", &story.updated.into(), &row["updated"]);
    same("parent", &story.parent.clone().into(), &row["parent"]);
    let children: BTreeSet<&str> = below(world, story, 1).iter().map(|s| &*s.id).collect();
    same(
        "children",
        &sorted(children),
        &sorted(strings(&row["children"])),
    );
    if row["activity"]["state"] != "unread" {
        same("queued", &queued(story).into(), &row["queued_prompts"]);
    }
    let asks: BTreeSet<&str> = strings_at(&row["asks"], "id");
    let wanted = asks_of(world, story);
    if !wanted.is_empty() && (row["level"] == "needs-you" || asks.is_empty()) {
        same("asks", &sorted(wanted), &sorted(asks));
    }
    for finding in row["findings"].as_array().into_iter().flatten() {
        faults.extend(finding_faults(world, story, finding));
    }
    let first = row["findings"].get(0).map(|f| &f["level"]);
    if first.is_some_and(|level| *level != row["level"]) {
        faults.push(format!("the leading finding's level is {first:?}"));
    }
    faults
}

fn sorted(set: BTreeSet<&str>) -> Value {
    set.into_iter().collect::<Vec<_>>().into()
}

fn strings(list: &Value) -> BTreeSet<&str> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(Value::as_str).collect()
}

fn strings_at<'a>(list: &'a Value, key: &str) -> BTreeSet<&'a str> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(|item| item[key].as_str()).collect()
}

/// The descendants of `story`, down to `depth` generations, as far as they are shown.
fn below<'a>(world: &'a World, story: &Story, depth: usize) -> Vec<&'a Story> {
    let mut all = Vec::new();
    let children = world
        .stories
        .iter()
        .filter(|s| s.parent.as_ref() == Some(&story.id) && !s.expected.verdicts.is_empty());
    for child in children {
        all.push(child);
        if depth > 1 {
            all.extend(below(world, child, depth - 1));
        }
    }
    all
}

/// User messages newer than an open assistant message.
fn queued(story: &Story) -> usize {
    let open = story
        .messages
        .iter()
        .rposition(|m| m.info["role"] == "assistant" && m.info["time"].get("completed").is_none());
    let last = story
        .messages
        .iter()
        .rposition(|m| m.info["role"] == "assistant");
    match open {
        Some(open) if Some(open) == last => story.messages[open..]
            .iter()
            .filter(|m| m.info["role"] == "user")
            .count(),
        _ => 0,
    }
}

/// Ids of the asks that are listed for the session and for those below it.
fn asks_of<'a>(world: &'a World, story: &'a Story) -> BTreeSet<&'a str> {
    let family = std::iter::once(story).chain(below(world, story, 5));
    family
        .filter(|s| {
            let places = &world.places[&s.place];
            !places.forbidden
        })
        .flat_map(|s| s.asks.iter().map(move |ask| (s, ask)))
        .filter_map(|(s, ask)| match ask {
            Ask::Question(ask) => ask["id"].as_str(),
            Ask::Permission(ask) => {
                let read =
                    !world.variant.no_permissions && world.places[&s.place].unreadable.is_none();
                ask["id"].as_str().filter(|_| read)
            }
        })
        .collect()
}

/// Evidence that names what is not there, or a time that is none.
fn finding_faults(world: &World, story: &Story, finding: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let name = finding["name"].as_str().unwrap_or("?");
    let evidence = &finding["evidence"];
    if evidence.as_object().is_none_or(serde_json::Map::is_empty) {
        faults.push(format!("{name} has no evidence"));
    }
    if let Some(message) = evidence["message"].as_str()
        && !story.messages.iter().any(|m| m.info["id"] == message)
    {
        faults.push(format!("{name} rests on {message}, which is not there"));
    }
    if let Some(part) = evidence["part"].as_str() {
        let mut parts = story.messages.iter().flat_map(|m| {
            let message = m.info["id"].as_str().unwrap_or_default();
            let parts = m.parts.iter().enumerate();
            parts.map(move |(place, p)| match p["id"].as_str() {
                Some(id) if !world.variant.bare => id.to_owned(),
                _ => format!("{message}.{place}"),
            })
        });
        if !parts.any(|id| id == part) {
            faults.push(format!("{name} rests on {part}, which is not there"));
        }
    }
    if let Some(since) = finding["since"].as_i64()
        && !(1..=(world.clock)() + world.variant.skew).contains(&since)
    {
        faults.push(format!("{name} since {since}"));
    }
    if finding["text"].as_str().is_none_or(str::is_empty) {
        faults.push(format!("{name} has no text"));
    }
    if name.starts_with("subagent-") {
        let last = finding["path"].as_array().and_then(|p| p.last());
        let family = below(world, story, 5);
        if !family.iter().any(|s| Some(&Value::from(&*s.id)) == last) {
            faults.push(format!("{name}: its path leads to {last:?}"));
        }
    }
    faults
}
