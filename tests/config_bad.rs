//! Configurations that are refused: each file of `tests/config_bad` begins with what is told of it,
//! behind the file's name.

#![expect(clippy::expect_used, reason = "a test that cannot go on fails")]

use ocwatch::cli::config::{parse, parse_all};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Every file with its text.
fn files() -> Vec<(PathBuf, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/config_bad");
    let files = std::fs::read_dir(folder).expect("the folder");
    let files = files.map(|file| {
        let path = file.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("its text");
        (path, text)
    });
    files.collect()
}

#[test]
fn what_is_wrong_is_told_with_its_line_and_the_way_out() {
    let files = files();
    let mut wrong = String::new();
    for (path, text) in &files {
        let first = text.lines().next().expect("a line");
        let want = first.strip_prefix("# ").expect("what is told");
        let told = parse(Path::new("c.toml"), text).map(|_| ());
        let told = told.map_or_else(|why| why.to_string(), |()| "nothing".to_owned());
        if told != format!("c.toml{want}") {
            let name = path.file_name().unwrap_or_default().display();
            writeln!(wrong, "{name}\n  want c.toml{want}\n  told {told}").expect("room");
        }
        assert!(!told.contains("hunter"), "{told}");
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(files.len() >= 70, "{} files", files.len());
}

/// Every section has a file for each kind of mistake, so a new section cannot be forgotten.
#[test]
fn every_section_has_its_mistakes() {
    let names: Vec<String> = files()
        .iter()
        .filter_map(|(path, _)| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    for section in ocwatch::cli::config::TOP {
        let of = names.iter().filter(|name| name.starts_with(section));
        assert!(of.count() >= 2, "{section} has no file in tests/config_bad");
    }
}

#[test]
fn all_mistakes_of_a_file_are_told_in_the_order_of_its_lines() {
    let text = "inspct = \"all\"\n[[server]]\nname = \"a b\"\nurll = \"h:1\"\n[limits]\nquiet = 1\nslow_tol = \"1s\"\n[keys]\nabort = \"Alt-a\"\nmark = 5\n";
    let (_, told) = parse_all(Path::new("c"), text, false);
    let lines: Vec<String> = told.iter().map(ToString::to_string).collect();
    let numbers = lines
        .iter()
        .map(|it| it.split(':').nth(1).unwrap_or_default());
    assert_eq!(
        numbers.collect::<Vec<_>>(),
        ["1", "3", "4", "6", "7", "9", "10"],
        "{lines:#?}"
    );
}
