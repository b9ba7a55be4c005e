//! `[limits]` of the configuration: thresholds of the judge.
//!
//! What it does: set the rows of [`LIMITS`] by their keys; a mistake is told with its place, its key
//! and the nearest right one. What it does not: know any threshold; the table does.

use super::section::Section;
use super::wrong::{self, Wrong};
use crate::core::judge::{AFTER_TIMEOUT, LIMITS, LimitRow, Limits, Slot, Stages};
use crate::core::time::Span;
use toml::Value;

/// The thresholds that follow from a section.
pub(super) fn read(section: &Section, wrong: &mut Vec<Wrong>) -> Limits {
    let mut limits = Limits::default();
    for line in section.lines() {
        let value = &line.value;
        let done = match line.key.as_str() {
            "tool" => tools(&mut limits, value),
            name => set(&mut limits, name, value).map_err(|why| (None, why)),
        };
        line.note_below(done, wrong);
    }
    limits
}

fn set(limits: &mut Limits, name: &str, value: &Value) -> Result<(), String> {
    let row = LIMITS.iter().find(|row| row.key == name);
    let row = row.ok_or_else(|| unknown(name))?;
    match row.slot {
        Slot::Span(slot) => *slot(limits) = span(name, value)?,
        Slot::Count(slot) => *slot(limits) = count(name, value)?,
        Slot::Stages(slot) => {
            let stages = stages(name, value, *slot(limits))?;
            *slot(limits) = stages;
        }
    }
    Ok(())
}

fn unknown(name: &str) -> String {
    let keys = LIMITS.iter().map(|row: &LimitRow| row.key).chain(["tool"]);
    wrong::unknown("threshold", name, keys, "; the README lists them")
}

fn span(name: &str, value: &Value) -> Result<Span, String> {
    let span = value.as_str().and_then(Span::parse);
    span.ok_or_else(|| format!("`{name}` must be a span like \"15s\" or \"1h30m\""))
}

fn count(name: &str, value: &Value) -> Result<u32, String> {
    let count = value.as_integer().and_then(|n| u32::try_from(n).ok());
    let count = count.filter(|n| *n > 0);
    count.ok_or_else(|| format!("`{name}` must be a whole number from 1"))
}

fn stages(name: &str, value: &Value, mut stages: Stages) -> Result<Stages, String> {
    let table = value.as_table();
    let table = table
        .ok_or_else(|| format!("`{name}` must be like {{ watch = \"3m\", stuck = \"10m\" }}"))?;
    for (key, value) in table {
        match key.as_str() {
            "watch" => stages.watch = span(name, value)?,
            "stuck" => stages.stuck = span(name, value)?,
            other => return Err(format!("`{name}` has `watch` and `stuck`, not `{other}`")),
        }
    }
    let Stages { watch, stuck } = stages;
    if stuck < watch {
        let (watch, stuck) = (watch.exact(), stuck.exact());
        return Err(format!(
            "`{name}`: stuck ({stuck}) lies before watch ({watch})"
        ));
    }
    Ok(stages)
}

/// `[limits.tool]`: `default`, `bash`, `"mcp:*"`, or the name of a tool.
fn tools(limits: &mut Limits, value: &Value) -> Result<(), (Option<String>, String)> {
    let table = value.as_table();
    let table = table.ok_or_else(|| (None, "`tool` must be a table: [limits.tool]".to_owned()))?;
    for (tool, value) in table {
        set_tool(limits, tool, value).map_err(|why| (Some(tool.clone()), why))?;
    }
    Ok(())
}

fn set_tool(limits: &mut Limits, tool: &str, value: &Value) -> Result<(), String> {
    let name = format!("tool.{tool}");
    let after = value.as_str().and_then(|it| it.strip_prefix(AFTER_TIMEOUT));
    match (tool, after) {
        ("bash", Some(grace)) => {
            limits.bash_grace = span(&name, &Value::String(grace.to_owned()))?;
        }
        ("default", _) => limits.tool = span(&name, value)?,
        ("mcp:*", _) => limits.mcp = span(&name, value)?,
        _ => {
            let span = span(&name, value)?;
            limits.tool_named.insert(tool.to_owned(), span);
        }
    }
    Ok(())
}
