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

use clap::CommandFactory;
use ocwatch::cli::args::Cli;
use program::{Home, Ran};
use std::collections::BTreeSet;
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
fn a_filter_in_the_environment_hides_nothing_from_a_command() {
    let home = Home::new();
    let args = ["status", "--demo", "--settle", "0"];
    let shown = run_with(&home, &args, &[("OCWATCH_FILTER", "nothing-is-called-so")]);
    assert!(shown.out.contains("Web2Epub"), "{shown:#?}");
}

#[test]
fn what_is_refused_is_told_without_its_password_and_in_any_bytes() {
    use std::os::unix::ffi::OsStrExt;
    let home = Home::new();
    let ran = home.run(&["--demo", "status", "http://u:geheim@h:1"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert!(!ran.err.contains("geheim"), "{ran:#?}");
    let mut command = home.command(&["status", "--no-such"]);
    let odd = std::ffi::OsStr::from_bytes(b"\xff");
    let ran = Ran::new(&command.arg(odd).output().expect("the program starts"));
    assert_eq!(ran.code, Some(2), "{ran:#?}");
}

#[test]
fn words_of_the_environment_that_mean_no_leave_it_open() {
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

fn asset(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("assets")
        .join(name);
    std::fs::read_to_string(path).expect(name)
}

/// The program itself stands where the test finds it, not where a user's would.
#[test]
fn the_systemd_unit_is_valid_and_its_command_is_understood() {
    let unit = asset("ocwatch-metrics.service");
    let start = unit
        .lines()
        .find_map(|line| line.strip_prefix("ExecStart=%h/.cargo/bin/ocwatch "));
    let words: Vec<&str> = start.expect("its command").split(' ').collect();
    let home = Home::new();
    let help = home.run(&[&words[..], &["--help"]].concat());
    assert_eq!(help.code, Some(0), "{help:#?}");
    if !is_there("systemd-analyze") {
        return;
    }
    let here = unit.replace("%h/.cargo/bin/ocwatch", env!("CARGO_BIN_EXE_ocwatch"));
    // Its manual page is not installed where the test runs.
    let here = here.replace("Documentation=man:ocwatch-metrics(1)\n", "");
    let path = home.path().join("ocwatch-metrics.service");
    std::fs::write(&path, here).expect("the unit");
    let verify = |path: &Path| {
        let mut command = Command::new("systemd-analyze");
        command.args(["verify", "--user", "--man=no"]).arg(path);
        let command = command.env("XDG_RUNTIME_DIR", home.path());
        command.output().expect("systemd-analyze")
    };
    let good = verify(&path);
    let said = String::from_utf8_lossy(&good.stderr).into_owned();
    assert!(
        good.status.success() && !said.contains("ocwatch-metrics"),
        "{said}"
    );
    // The check itself can fail.
    std::fs::write(
        &path,
        "[Service]\nExecStart=/nonexistent/ocwatch\nBogus=1\n",
    )
    .expect("a unit");
    let bad = verify(&path);
    let said = String::from_utf8_lossy(&bad.stderr).into_owned();
    assert!(said.contains("Bogus"), "{said}");
}

#[test]
fn the_tmux_snippet_is_read_by_tmux_and_its_command_is_understood() {
    let snippet = asset("tmux.conf");
    let from = snippet.find("#(ocwatch ").expect("its command") + "#(ocwatch ".len();
    let words = snippet[from..].split(" 2>").next().expect("its end");
    let mut words: Vec<&str> = words.split(' ').collect();
    words.push("--demo");
    let home = Home::new();
    let ran = home.run(&words);
    assert!(matches!(ran.code, Some(0..=3)), "{ran:#?}");
    assert_eq!(ran.out.lines().count(), 1, "{ran:#?}");
    if !is_there("tmux") {
        return;
    }
    let path = home.path().join("tmux.conf");
    std::fs::write(&path, &snippet).expect("the file");
    let tmux = |words: &[&str]| {
        let mut command = Command::new("tmux");
        command
            .env("TMUX_TMPDIR", home.path())
            .env("TERM", "xterm-256color");
        command
            .args(["-f", "/dev/null"])
            .args(words)
            .output()
            .expect("tmux")
    };
    let file = path.display().to_string();
    let started = tmux(&[
        "new-session",
        "-d",
        ";",
        "source-file",
        &file,
        ";",
        "show",
        "-gv",
        "status-right",
    ]);
    tmux(&["kill-server"]);
    let said = String::from_utf8_lossy(&started.stdout).into_owned();
    assert!(started.status.success(), "{started:?}");
    assert!(said.contains("#(ocwatch check"), "{started:?}");
}

/// A code, and the test that holds it: its file and its name.
type Held = (i32, &'static str, &'static str);

/// Every command of the interface, with the tests that hold its exit codes.
const COMMANDS: &[(&str, &[Held])] = &[
    (
        "status",
        &[
            (0, "e2e.rs", "a_server_without_sessions_says_so"),
            (2, "cli.rs", "wrong_usage_is_exit_2"),
            (3, "cli.rs", "a_closed_port_is_named"),
        ],
    ),
    (
        "check",
        &[
            (0, "scripts.rs", "a_check_is_one_line_and_the_worst_of_all"),
            (1, "scripts.rs", "a_check_is_one_line_and_the_worst_of_all"),
            (2, "scripts.rs", "a_check_is_one_line_and_the_worst_of_all"),
            (3, "scripts.rs", "a_check_is_one_line_and_the_worst_of_all"),
        ],
    ),
    (
        "watch",
        &[
            (
                0,
                "watch.rs",
                "time_that_is_over_is_no_failure_unless_nothing_was_read",
            ),
            (
                3,
                "watch.rs",
                "time_that_is_over_is_no_failure_unless_nothing_was_read",
            ),
        ],
    ),
    (
        "wait",
        &[
            (
                0,
                "scripts.rs",
                "a_turn_is_waited_for_and_one_at_rest_is_believed_after_a_while",
            ),
            (
                1,
                "scripts.rs",
                "a_stream_that_breaks_and_a_server_that_comes_back_are_waited_for",
            ),
            (
                3,
                "scripts.rs",
                "a_server_that_stays_away_is_3_and_a_session_that_is_not_there_4",
            ),
            (
                4,
                "scripts.rs",
                "a_server_that_stays_away_is_3_and_a_session_that_is_not_there_4",
            ),
            (
                124,
                "scripts.rs",
                "time_that_is_over_is_124_and_says_what_still_goes_on",
            ),
            (141, "scripts.rs", "a_reader_that_goes_away_ends_it_quietly"),
        ],
    ),
    (
        "explain",
        &[
            (0, "e2e.rs", "explain_names_every_rule"),
            (3, "cli.rs", "a_closed_port_is_named"),
        ],
    ),
    (
        "abort",
        &[
            (
                0,
                "e2e.rs",
                "an_abort_is_done_only_when_the_server_shows_it",
            ),
            (
                1,
                "e2e.rs",
                "an_abort_is_done_only_when_the_server_shows_it",
            ),
            (
                4,
                "e2e.rs",
                "an_abort_is_done_only_when_the_server_shows_it",
            ),
            (2, "cli.rs", "wrong_usage_is_exit_2"),
        ],
    ),
    (
        "export",
        &[
            (0, "export.rs", "every_exit_code_has_its_cause"),
            (1, "export.rs", "every_exit_code_has_its_cause"),
            (2, "export.rs", "every_exit_code_has_its_cause"),
            (3, "export.rs", "every_exit_code_has_its_cause"),
            (4, "export.rs", "every_exit_code_has_its_cause"),
        ],
    ),
    (
        "reset",
        &[
            (1, "reset.rs", "nothing_is_changed_when_the_export_fails"),
            (0, "reset.rs", "every_exit_code"),
            (2, "reset.rs", "every_exit_code"),
            (3, "reset.rs", "every_exit_code"),
            (4, "reset.rs", "every_exit_code"),
        ],
    ),
    (
        "resend",
        &[
            (0, "resend.rs", "a_failed_turn_is_begun_anew"),
            (1, "resend.rs", "what_the_server_refuses_is_not_looked_for"),
            (
                2,
                "resend.rs",
                "wrong_usage_an_unknown_session_and_a_lost_server_have_codes_of_their_own",
            ),
            (
                3,
                "resend.rs",
                "wrong_usage_an_unknown_session_and_a_lost_server_have_codes_of_their_own",
            ),
            (
                4,
                "resend.rs",
                "wrong_usage_an_unknown_session_and_a_lost_server_have_codes_of_their_own",
            ),
        ],
    ),
    (
        "log",
        &[(0, "audit.rs", "a_torn_line_spoils_no_other_and_is_counted")],
    ),
    (
        "metrics",
        &[
            (
                0,
                "metrics.rs",
                "once_prints_what_was_read_and_says_what_was_not",
            ),
            (
                3,
                "metrics.rs",
                "once_prints_what_was_read_and_says_what_was_not",
            ),
            (
                1,
                "metrics.rs",
                "an_address_that_cannot_be_used_is_told_before_anything_is_asked",
            ),
            (
                2,
                "metrics.rs",
                "an_address_that_cannot_be_used_is_told_before_anything_is_asked",
            ),
        ],
    ),
    (
        "config init",
        &[
            (0, "own.rs", "a_first_file_is_written_once_and_is_valid"),
            (1, "own.rs", "a_first_file_is_written_once_and_is_valid"),
        ],
    ),
    (
        "config show",
        &[
            (0, "own.rs", "what_is_in_force_tells_who_said_it"),
            (2, "own.rs", "every_mistake_is_told_at_once"),
        ],
    ),
    (
        "config path",
        &[(0, "own.rs", "a_first_file_is_written_once_and_is_valid")],
    ),
    (
        "config check",
        &[
            (0, "own.rs", "a_first_file_is_written_once_and_is_valid"),
            (2, "own.rs", "every_mistake_is_told_at_once"),
        ],
    ),
    (
        "completions",
        &[
            (0, "own.rs", "completions_are_valid_and_know_every_command"),
            (2, "own.rs", "completions_are_valid_and_know_every_command"),
        ],
    ),
    (
        "man",
        &[(0, "own.rs", "the_manual_has_a_page_for_every_command")],
    ),
    (
        "answer",
        &[
            (0, "answer.rs", "of_several_asks_one_must_be_named"),
            (1, "answer.rs", "of_several_asks_one_must_be_named"),
            (2, "answer.rs", "of_several_asks_one_must_be_named"),
            (3, "answer.rs", "a_server_that_fails_is_told_as_that"),
        ],
    ),
    (
        "replay",
        &[
            (
                0,
                "record.rs",
                "a_recording_comes_to_the_same_verdicts_and_holds_no_password",
            ),
            (1, "record.rs", "what_is_no_recording_is_told"),
            (2, "record.rs", "what_is_no_recording_is_told"),
        ],
    ),
];

#[test]
fn every_command_of_the_interface_has_help_with_an_example_and_tests_of_its_codes() {
    let home = Home::new();
    let all = Cli::command();
    let all: BTreeSet<&str> = all.get_subcommands().map(clap::Command::get_name).collect();
    let told = COMMANDS
        .iter()
        .map(|(name, _)| name.split(' ').next().unwrap_or(name));
    assert_eq!(told.collect::<BTreeSet<_>>(), all);
    for (command, held) in COMMANDS {
        let mut words: Vec<&str> = command.split(' ').collect();
        words.push("--help");
        let help = home.run(&words);
        assert_eq!(help.code, Some(0), "{help:#?}");
        assert!(help.out.contains("Example"), "{command}: {help:#?}");
        for (code, file, name) in *held {
            let path = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("tests")
                .join(file);
            let text = std::fs::read_to_string(&path).expect(file);
            let from = text.find(&format!("fn {name}("));
            let from = from.unwrap_or_else(|| panic!("{file} has no test {name}"));
            let body = text[from..].split("\n}\n").next().unwrap_or_default();
            let code = code.to_string();
            let mut numbers = body.split(|c: char| !c.is_ascii_alphanumeric());
            assert!(
                numbers.any(|it| it == code),
                "{name} in {file} says nothing of {code}"
            );
        }
    }
}
