//! Holds the import table of `src/lib.rs` against the code: which room may name which.
//!
//! Reads every `use` and every path `crate::…` of `src/`, as syntax, not as text.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use syn::visit::Visit;

/// Room (path prefix under `src/`), and what it may name of this crate.
const TABLE: &[(&str, &[&str])] = &[
    ("core/id", &[]),
    ("core/time", &[]),
    ("core/wire", &["core::id", "core::time", "core::wire"]),
    (
        "core/store",
        &["core::id", "core::time", "core::wire", "core::store"],
    ),
    (
        "core/judge",
        &[
            "core::id",
            "core::time",
            "core::wire",
            "core::store",
            "core::judge",
        ],
    ),
    (
        "core/changes",
        &[
            "core::id",
            "core::time",
            "core::wire",
            "core::store",
            "core::judge",
            "core::changes",
        ],
    ),
    (
        "core/wait",
        &[
            "core::id",
            "core::time",
            "core::wire",
            "core::store",
            "core::judge",
            "core::wait",
        ],
    ),
    (
        "core/plan",
        &[
            "core::id",
            "core::time",
            "core::wire",
            "core::store",
            "core::judge",
            "core::plan",
        ],
    ),
    (
        "core/app",
        &[
            "core::id",
            "core::time",
            "core::wire",
            "core::store",
            "core::judge",
            "core::changes",
            "core::plan",
            "core::app",
        ],
    ),
    (
        "core/present",
        &[
            "core::id",
            "core::time",
            "core::wire",
            "core::store",
            "core::judge",
            "core::changes",
            "core::plan",
            "core::app",
            "core::wait",
            "core::present",
        ],
    ),
    (
        "core/export",
        &["core::id", "core::time", "core::present", "core::export"],
    ),
    (
        "core/record",
        &[
            "core::id",
            "core::time",
            "core::wire",
            "core::store",
            "core::record",
        ],
    ),
    ("net", &["core", "net"]),
    ("sim", &["core", "sim"]),
    (
        "tui",
        &["core::present", "core::time", "core::app::keymap", "tui"],
    ),
    ("feed", &["core", "net", "sim", "feed"]),
    ("shell", &["core", "net", "sim", "tui", "feed", "shell"]),
    (
        "cli",
        &["core", "net", "sim", "tui", "feed", "shell", "cli"],
    ),
];

/// Crates of the outer world that the pure core must not name (the compiler proves it too).
const OUTER: &[&str] = &[
    "tokio",
    "reqwest",
    "ratatui",
    "crossterm",
    "axum",
    "tracing",
    "std::fs",
    "std::net",
    "std::env",
    "std::thread",
];

struct Paths {
    module: Vec<String>,
    found: BTreeSet<String>,
}

impl Paths {
    fn note(&mut self, segments: &[String]) {
        let Some(first) = segments.first() else {
            return;
        };
        match first.as_str() {
            "crate" => {
                self.found.insert(segments[1..].join("::"));
            }
            "super" => {
                let ups = segments.iter().take_while(|s| *s == "super").count();
                let keep = self.module.len().saturating_sub(ups);
                let mut path = self.module[..keep].to_vec();
                path.extend(segments[ups..].iter().cloned());
                self.found.insert(path.join("::"));
            }
            _ => {
                self.found.insert(format!("::{}", segments.join("::")));
            }
        }
    }

    fn tree(&mut self, tree: &syn::UseTree, before: &mut Vec<String>) {
        match tree {
            syn::UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.tree(&path.tree, before);
                before.pop();
            }
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|item| self.tree(item, before));
            }
            syn::UseTree::Name(name) => self.leaf(before, &name.ident.to_string()),
            syn::UseTree::Rename(name) => self.leaf(before, &name.ident.to_string()),
            syn::UseTree::Glob(_) => self.note(before),
        }
    }

    fn leaf(&mut self, before: &[String], name: &str) {
        let mut path = before.to_vec();
        if name != "self" {
            path.push(name.to_owned());
        }
        self.note(&path);
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.tree(&item.tree, &mut Vec::new());
    }
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        if matches!(
            segments.first().map(String::as_str),
            Some("crate" | "super")
        ) || segments.len() > 1
        {
            self.note(&segments);
        }
        syn::visit::visit_path(self, path);
    }
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let is_test = item.attrs.iter().any(|a| a.path().is_ident("cfg"));
        if !is_test {
            self.module.push(item.ident.to_string());
            syn::visit::visit_item_mod(self, item);
            self.module.pop();
        }
    }
}

fn files(dir: &Path, into: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, into);
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
}

fn module_of(relative: &Path) -> Vec<String> {
    let mut parts: Vec<String> = relative
        .with_extension("")
        .components()
        .map(|c| c.as_os_str().to_string_lossy().into_owned())
        .collect();
    if matches!(
        parts.last().map(String::as_str),
        Some("mod" | "lib" | "main")
    ) {
        parts.pop();
    }
    parts
}

/// What a source text of a room names and must not.
fn offences(room: &str, module: Vec<String>, source: &str) -> Vec<String> {
    let (_, allowed) = TABLE
        .iter()
        .find(|(name, _)| *name == room)
        .expect("a room of the table");
    let file = syn::parse_file(source).expect("parses");
    let mut paths = Paths {
        module,
        found: BTreeSet::new(),
    };
    paths.visit_file(&file);
    let own = room.replace('/', "::");
    let mut bad = Vec::new();
    for path in paths.found.into_iter().filter(|p| !p.is_empty()) {
        let inside = |prefix: &str| path == prefix || path.starts_with(&format!("{prefix}::"));
        if let Some(outer) = path.strip_prefix("::") {
            let named = |name: &&&str| outer == **name || outer.starts_with(&format!("{name}::"));
            if room.starts_with("core") && OUTER.iter().any(|name| named(&name)) {
                bad.push(format!("the core names {outer}"));
            }
        } else if !inside(&own) && !allowed.iter().any(|prefix| inside(prefix)) {
            bad.push(format!("{room} names {path}"));
        }
    }
    bad
}

#[test]
fn every_room_names_only_what_the_table_allows() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    files(&src, &mut all);
    let mut bad = Vec::new();
    for path in &all {
        let relative = path.strip_prefix(&src).unwrap();
        let text = relative
            .with_extension("")
            .to_string_lossy()
            .replace('\\', "/");
        let top = ["lib", "main", "core/mod"];
        if top.contains(&text.as_str()) {
            continue;
        }
        let room = TABLE
            .iter()
            .find(|(room, _)| text == *room || text.starts_with(&format!("{room}/")));
        let Some((room, _)) = room else {
            bad.push(format!("{text}.rs stands in no room of the table"));
            continue;
        };
        let source = fs::read_to_string(path).unwrap();
        for offence in offences(room, module_of(relative), &source) {
            bad.push(format!("{}: {offence}", relative.display()));
        }
    }
    assert!(bad.is_empty(), "walls broken:\n{}", bad.join("\n"));
}

#[test]
fn a_view_that_imports_the_store_is_found() {
    let view = "use crate::core::{present::Screen, store::Store};\nfn f(_: &Store, _: &Screen) {}";
    let found = offences("tui", vec!["tui".into(), "view".into()], view);
    assert_eq!(found, ["tui names core::store::Store"]);
    let path = "fn f(_: &crate::core::store::Store) {}";
    assert!(!offences("tui", vec!["tui".into()], path).is_empty());
}

#[test]
fn a_core_that_names_the_outer_world_is_found() {
    let judge = "use std::fs::File;\nfn f(_: File) { let _ = tokio::spawn(async {}); }";
    let found = offences("core/judge", vec!["core".into(), "judge".into()], judge);
    assert_eq!(found.len(), 2, "{found:?}");
}

/// Lines before the tests of a file.
fn length(source: &str) -> usize {
    source
        .lines()
        .take_while(|line| line.trim() != "#[cfg(test)]")
        .count()
}

#[test]
fn files_stay_readable_and_say_what_they_are() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    files(&src, &mut all);
    let mut bad = Vec::new();
    for path in &all {
        let source = fs::read_to_string(path).unwrap();
        if !source.starts_with("//!") {
            bad.push(format!("{}: no //! header", path.display()));
        }
        let lines = length(&source);
        if lines > 400 {
            bad.push(format!("{}: {lines} lines", path.display()));
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
