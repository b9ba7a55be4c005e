//! The commands that are about ocwatch itself, and what the environment says: `config`, `completions`,
//! `man`, `OCWATCH_…`. None of them speaks to a server.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test that cannot go on fails; PATH is needed to find the checkers, and what is not there is said"
)]

mod program;

use program::{Home, Ran};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs it with these variables as well.
fn run_with(home: &Home, args: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = home.command(args);
    command.envs(variables.iter().copied());
    Ran::new(&command.output().expect("the program starts"))
}

fn one_line(ran: &Ran, code: i32, words: &[&str]) {
    assert_eq!(ran.code, Some(code), "{ran:#?}");
    assert_eq!(ran.err.lines().count(), 1, "{ran:#?}");
    for word in words {
        assert!(ran.err.contains(word), "{word}: {ran:#?}");
    }
}

fn usual(home: &Home) -> PathBuf {
    home.path().join("config/ocwatch/config.toml")
}

/// Writes the usual file.
fn configure(home: &Home, text: &str) {
    let path = usual(home);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(&path, text).expect("the file");
}

/// The value of a key, and where it is said to come from.
fn in_force(ran: &Ran, key: &str) -> (serde_json::Value, String) {
    let document = ran.json();
    assert_eq!(document["schema"], "ocwatch.config/1");
    let values = document["values"].as_array().expect("values").clone();
    let found = values.into_iter().find(|it| it["key"] == key);
    let found = found.unwrap_or_else(|| panic!("no {key}: {ran:#?}"));
    let from = found["from"].as_str().expect("from").to_owned();
    (found["value"].clone(), from)
}

#[test]
fn a_first_file_is_written_once_and_is_valid() {
    let home = Home::new();
    let path = home.run(&["config", "path"]);
    one_line(&path, 0, &["not there", "config init"]);
    assert_eq!(Path::new(path.out.trim_end()), usual(&home));
    let checked = home.run(&["config", "check"]);
    assert_eq!((checked.code, checked.err.as_str()), (Some(0), ""));
    assert!(checked.out.contains("not there"), "{checked:#?}");

    let made = home.run(&["config", "init"]);
    assert_eq!((made.code, made.err.as_str()), (Some(0), ""), "{made:#?}");
    assert_eq!(Path::new(made.out.trim_end()), usual(&home));
    let mode = std::fs::metadata(usual(&home))
        .expect("the file")
        .permissions();
    assert_eq!(
        mode.mode() & 0o777,
        0o600,
        "a password may come to stand in it"
    );
    let checked = home.run(&["config", "check"]);
    assert_eq!(checked.code, Some(0), "{checked:#?}");
    assert!(
        checked.out.ends_with("config.toml: no mistakes\n"),
        "{checked:#?}"
    );
    let path = home.run(&["config", "path"]);
    assert_eq!((path.code, path.err.as_str()), (Some(0), ""));

    configure(&home, "inspect = \"all\"\n");
    let again = home.run(&["config", "init"]);
    one_line(&again, 1, &["it is there already", "--force"]);
    let kept = std::fs::read_to_string(usual(&home)).expect("the file");
    assert_eq!(kept, "inspect = \"all\"\n");
    assert_eq!(home.run(&["config", "init", "--force"]).code, Some(0));
    let elsewhere = home.run(&["config", "init", "--config", "sub/mine.toml"]);
    assert_eq!(elsewhere.code, Some(0), "{elsewhere:#?}");
    assert!(home.path().join("sub/mine.toml").exists());
    std::fs::write(home.path().join("file"), "").expect("a file");
    let blocked = home.run(&["config", "init", "--config", "file/mine.toml"]);
    one_line(&blocked, 1, &["failed to write file/mine.toml"]);
}

#[test]
fn every_mistake_is_told_at_once() {
    let home = Home::new();
    configure(
        &home,
        "inspct = 1\n[limits]\nstale_bussy = \"1s\"\n[keys]\nabort = \"Alt-a\"\n",
    );
    let ran = home.run(&["config", "check"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:#?}");
    let lines: Vec<&str> = ran.err.lines().collect();
    assert_eq!(lines.len(), 3, "{ran:#?}");
    for (line, want) in lines.iter().zip([":1: ", ":3: ", ":5: "]) {
        assert!(line.contains(&format!("config.toml{want}")), "{line}");
    }
    one_line(&home.run(&["config", "show"]), 2, &[":1: ", "inspect"]);
    one_line(&home.run(&["status"]), 2, &[":1: ", "inspect"]);
    one_line(
        &home.run(&["config", "check", "none.toml"]),
        2,
        &["none.toml"],
    );

    std::fs::write(home.path().join("pw"), "hunter2\n").expect("a file");
    let servers = "[[server]]\nname = \"a\"\nurl = \"a:1\"\npassword_env = \"UNSET\"\n[[server]]\nname = \"b\"\nurl = \"b:1\"\npassword_file = \"../../pw\"\n";
    configure(&home, servers);
    let open = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(home.path().join("pw"), open).expect("a mode");
    let ran = home.run(&["config", "check"]);
    assert_eq!(
        (ran.code, ran.err.lines().count()),
        (Some(2), 2),
        "{ran:#?}"
    );
    for want in ["no password for a: $UNSET is not set", "others can read it"] {
        assert!(ran.err.contains(want), "{want}: {ran:#?}");
    }
    assert!(!ran.err.contains("hunter2"), "{ran:#?}");
}

#[test]
fn what_is_in_force_tells_who_said_it() {
    let home = Home::new();
    let none = home.run(&["config", "show"]);
    assert_eq!(none.code, Some(0), "{none:#?}");
    assert!(
        none.out.starts_with("# ") && none.out.contains("not there"),
        "{none:#?}"
    );
    configure(
        &home,
        "inspect = \"loaded\"\n[[server]]\nname = \"home\"\nurl = \"http://nas:1\"\npassword_env = \"PW\"\n[theme]\nname = \"dark\"\n[table]\nsort = \"cost\"\n",
    );
    let variables = [
        ("PW", "hunter2"),
        ("OCWATCH_THEME", "light"),
        ("OCWATCH_SORT", "-age"),
        ("OCWATCH_SERVER", "http://me:hunter2@far:1 home"),
        ("OCWATCH_FPS", ""),
        ("OCWATCH_READ_ONLY", "yes"),
        ("OCWATCH_NO_MOUSE", "1"),
    ];
    let args = ["config", "show", "--json", "--sort", "why"];
    let ran = run_with(&home, &args, &variables);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(
        !ran.out.contains("hunter2") && !ran.err.contains("hunter2"),
        "{ran:#?}"
    );
    for (key, value, from) in [
        ("inspect", "loaded".into(), "file"),
        ("server.home.url", "http://nas:1".into(), "file"),
        ("server.home.password_env", "PW".into(), "file"),
        ("theme.name", "light".into(), "environment"),
        ("table.sort", "why".into(), "flag"),
        ("limits.stale_busy", "15s".into(), "default"),
        ("ui.mouse", serde_json::Value::from(false), "environment"),
        (
            "options.read_only",
            serde_json::Value::from(true),
            "environment",
        ),
        ("options.fps", serde_json::Value::from(30), "default"),
        ("options.color", "auto".into(), "default"),
    ] {
        assert_eq!(in_force(&ran, key), (value, from.to_owned()), "{key}");
    }
    let (servers, from) = in_force(&ran, "options.server");
    assert_eq!(
        (servers, from.as_str()),
        ("\"http://far:1\" \"home\"".into(), "environment")
    );
    let shown = run_with(&home, &["config", "show"], &variables);
    for want in [
        "\"PW\" (set, not shown)",
        "config.toml:1\n",
        "OCWATCH_THEME (environment)",
    ] {
        assert!(shown.out.contains(want), "{want}: {shown:#?}");
    }
}

#[test]
fn the_environment_wins_over_the_file_and_flags_over_both() {
    let home = Home::new();
    let closed = "127.0.0.1:1";
    let named = |args: &[&str], variables: &[(&str, &str)]| {
        let ran = run_with(&home, args, variables);
        assert_eq!(ran.code, Some(3), "{ran:#?}");
        let servers = ran.json()["servers"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let urls = servers
            .iter()
            .map(|it| it["url"].as_str().unwrap_or_default().to_owned());
        urls.collect::<Vec<_>>()
    };
    let servers = [(
        "OCWATCH_SERVER",
        "127.0.0.1:1   http://u:hunter2@127.0.0.1:2",
    )];
    let status = ["status", "--json"];
    assert_eq!(
        named(&status, &servers),
        ["http://127.0.0.1:1", "http://127.0.0.1:2"]
    );
    let more = ["status", "--json", "127.0.0.1:3"];
    assert_eq!(named(&more, &servers), ["http://127.0.0.1:3"]);
    let flagged = ["status", "--json", "--server", "127.0.0.1:4"];
    assert_eq!(named(&flagged, &servers), ["http://127.0.0.1:4"]);
    let demo = run_with(
        &home,
        &["status", "--demo", "--json", "--settle", "0"],
        &servers,
    );
    assert_eq!(demo.code, Some(0), "{demo:#?}");

    // A file that is named there is read, one that is not there is a mistake.
    let missing = run_with(
        &home,
        &["status", closed],
        &[("OCWATCH_CONFIG", "none.toml")],
    );
    one_line(&missing, 2, &["none.toml"]);
    let empty = run_with(&home, &["config", "show"], &[("OCWATCH_CONFIG", "")]);
    assert_eq!(empty.code, Some(0), "{empty:#?}");
    let wrong = run_with(
        &home,
        &["status", closed],
        &[("OCWATCH_INSPECT", "everything")],
    );
    assert_eq!(wrong.code, Some(2), "{wrong:#?}");
    assert!(
        wrong.err.contains("in the environment: OCWATCH_INSPECT"),
        "{wrong:#?}"
    );
    let flag = ["status", closed, "--inspect", "everything"];
    let flag = run_with(&home, &flag, &[("OCWATCH_INSPECT", "all")]);
    assert_eq!(flag.code, Some(2), "{flag:#?}");
    assert!(!flag.err.contains("OCWATCH_INSPECT\n"), "{flag:#?}");
}

#[test]
fn what_the_environment_makes_read_only_is_only_read() {
    let home = Home::new();
    let args = ["abort", "any", "--demo", "--yes"];
    let ran = run_with(&home, &args, &[("OCWATCH_READ_ONLY", "0")]);
    assert_eq!(ran.code, Some(4), "{ran:#?}");
    let document = run_with(
        &home,
        &["config", "show", "--json"],
        &[("OCWATCH_READ_ONLY", "false")],
    );
    assert_eq!(in_force(&document, "options.read_only").0, false);
}

/// Whether a program that checks the result is there; says so where it is not.
fn is_there(program: &str) -> bool {
    let path = std::env::var("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|dir| dir.join(program).exists());
    if !found {
        println!("not checked by {program}: it is not installed");
    }
    found
}

#[test]
fn completions_are_valid_and_know_every_command() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = home.run(&["completions", shell]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:#?}");
        for word in [
            "status",
            "explain",
            "--inspect",
            "completions",
            "--read-only",
        ] {
            let word = if shell == "fish" {
                word.trim_start_matches('-')
            } else {
                word
            };
            assert!(ran.out.contains(word), "{shell}: no {word}");
        }
        assert!(!ran.out.contains("panic-for-test") || cfg!(debug_assertions));
        if matches!(shell, "bash" | "zsh" | "fish") && is_there(shell) {
            let file = home.path().join(shell);
            std::fs::write(&file, &ran.out).expect("a file");
            let checked = Command::new(shell)
                .arg("-n")
                .arg(&file)
                .output()
                .expect(shell);
            assert!(checked.status.success(), "{shell}: {checked:#?}");
        }
    }
    let ran = home.run(&["completions", "tcsh"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:#?}");
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let home = Home::new();
    let whole = home.run(&["man"]);
    assert_eq!(
        (whole.code, whole.err.as_str()),
        (Some(0), ""),
        "{whole:#?}"
    );
    assert!(whole.out.contains(".TH ocwatch 1"), "{whole:#?}");
    let ran = home.run(&["man", "--dir", "pages/man1"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:#?}");
    let pages: Vec<&str> = ran.out.lines().collect();
    for name in [
        "ocwatch",
        "ocwatch-status",
        "ocwatch-reset",
        "ocwatch-config",
        "ocwatch-config-init",
    ] {
        let page = format!("pages/man1/{name}.1");
        assert!(pages.contains(&page.as_str()), "{page}: {ran:#?}");
    }
    for page in pages {
        let path = home.path().join(page);
        let text = std::fs::read_to_string(&path).expect(page);
        assert!(
            text.contains(".SH NAME") && text.contains("Example"),
            "{page}: {text}"
        );
        if is_there("groff") {
            let checked = Command::new("groff")
                .args(["-man", "-Tutf8", "-ww", "-z"])
                .arg(&path)
                .output()
                .expect("groff");
            let said = String::from_utf8_lossy(&checked.stderr);
            assert!(
                checked.status.success() && said.is_empty(),
                "{page}: {said}"
            );
        }
    }
    std::fs::write(home.path().join("file"), "").expect("a file");
    one_line(&home.run(&["man", "--dir", "file/man1"]), 1, &["file/man1"]);
}
