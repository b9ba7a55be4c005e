//! Configurations that are refused: each file of `tests/config_bad` begins with what is told of it,
//! behind the file's name.

use ocwatch::cli::config::parse;
use std::path::{Path, PathBuf};

#[test]
fn what_is_wrong_is_told_with_its_line_and_the_way_out() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/config_bad");
    let files = std::fs::read_dir(folder).expect("the folder");
    let mut seen = 0;
    for file in files {
        let path = file.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("its text");
        let first = text.lines().next().expect("a line");
        let want = first.strip_prefix("# ").expect("what is told");
        let told = parse(Path::new("c.toml"), &text).map(|_| ());
        let told = told.expect_err(&path.display().to_string()).to_string();
        assert_eq!(told, format!("c.toml{want}"), "{}", path.display());
        seen += 1;
    }
    assert!(seen >= 13, "{seen} files");
}
