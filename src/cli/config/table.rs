//! `[table]` of the configuration: the columns of the dashboard and their order, and what they are
//! sorted by.
//!
//! What it does: read names; a mistake is told with its place and the nearest right name. What it does
//! not: know any column; the table of columns does.

use super::section::Section;
use super::wrong::{self, Wrong};
use crate::core::app::{ATTENTION, COLUMNS, Column, Sort};
use toml::Value;

/// The keys of the section.
pub(super) const KEYS: [&str; 2] = ["columns", "sort"];

/// What follows from it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    /// The columns, from left to right; none: what suits the width.
    pub columns: Vec<Column>,
    /// The order of the rows.
    pub sort: Sort,
}

pub(super) fn read(section: &Section, wrong: &mut Vec<Wrong>) -> Table {
    let mut table = Table::default();
    for line in section.lines() {
        let value = &line.value;
        let done = match line.key.as_str() {
            "columns" => columns(value).map(|it| table.columns = it),
            "sort" => sort(value)
                .map(|it| table.sort = it)
                .map_err(|why| (None, why)),
            other => Err((None, unknown("key", other, &KEYS))),
        };
        line.note_below(done, wrong);
    }
    table
}

fn columns(value: &Value) -> Result<Vec<Column>, (Option<String>, String)> {
    let list = value.as_array().filter(|list| !list.is_empty());
    let list = list.ok_or((
        None,
        "`columns` must be a list like [\"session\", \"why\"]".to_owned(),
    ))?;
    let mut columns = Vec::new();
    for value in list {
        let name = value
            .as_str()
            .ok_or((None, format!("{value} in `columns` must be a text")))?;
        let here = Some(name.to_owned());
        let Some(column) = Column::named(name) else {
            return Err((here, unknown("column", name, &names())));
        };
        if columns.contains(&column) {
            return Err((here, format!("the column `{name}` stands twice")));
        }
        columns.push(column);
    }
    Ok(columns)
}

fn sort(value: &Value) -> Result<Sort, String> {
    let name = value
        .as_str()
        .ok_or("`sort` must be the name of a column")?;
    sort_named(name)
}

/// What `--sort` and `sort` name: a column, or attention; with a `-` before it reversed.
pub fn sort_named(text: &str) -> Result<Sort, String> {
    let wrong = || {
        let name = text.strip_prefix('-').unwrap_or(text);
        let names: Vec<&str> = [ATTENTION].into_iter().chain(names()).collect();
        unknown("column", name, &names)
    };
    Sort::parse(text).ok_or_else(wrong)
}

fn names() -> Vec<&'static str> {
    COLUMNS.iter().map(|it| it.name).collect()
}

fn unknown(what: &str, name: &str, right: &[&str]) -> String {
    let otherwise = format!("; there are {}", right.join(", "));
    wrong::unknown(what, name, right.iter().copied(), &otherwise)
}

#[cfg(test)]
mod tests {
    use crate::cli::config::parse;
    use crate::core::app::{Column, Sort};
    use std::path::Path;

    #[test]
    fn columns_and_their_order_are_read() {
        let text = "[table]\ncolumns = [\"session\", \"cost\", \"why\"]\nsort = \"-cost\"\n";
        let table = parse(Path::new("c"), text)
            .map(|it| it.table)
            .unwrap_or_default();
        assert_eq!(table.columns, [Column::Session, Column::Cost, Column::Why]);
        let want = Sort {
            column: Some(Column::Cost),
            reversed: true,
        };
        assert_eq!(table.sort, want);
    }

    #[test]
    fn a_mistake_names_its_line_and_the_nearest_right_name() {
        for (text, want) in [
            (
                "columns = [\"session\",\n\"kost\"]",
                "4: unknown column `kost`, did you mean `cost`?",
            ),
            (
                "columns = [\"session\", \"session\"]",
                "3: the column `session` stands twice",
            ),
            (
                "columns = []",
                "3: `columns` must be a list like [\"session\", \"why\"]",
            ),
            ("columns = [3]", "3: 3 in `columns` must be a text"),
            (
                "sort = \"-atention\"",
                "3: unknown column `atention`, did you mean `attention`?",
            ),
            ("sort = 3", "3: `sort` must be the name of a column"),
            (
                "column = [\"session\"]",
                "3: unknown key `column`, did you mean `columns`?",
            ),
        ] {
            let read = parse(Path::new("/c"), &format!("[table]\n\n{text}\n"));
            let told = read.map_err(|it| it.to_string()).err();
            assert_eq!(told, Some(format!("/c:{want}")));
        }
    }
}
