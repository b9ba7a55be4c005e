//! Exports of the real server's sessions, held against `opencode export` and against `curl`.

use crate::install::opencode;
use crate::ocwatch::{run, until_seen};
use crate::server::{OpenCode, own, shared};
use crate::support::{eventually, say, variable};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tokio::time::Instant;

/// Resident memory at most, beyond that of a run that reads nothing, KiB. The program itself is much
/// of what is resident, in a debug build most.
const MEMORY: u64 = 12 * 1024;
/// Times what `curl` takes.
const RATIO: f64 = 1.5;

#[test]
fn what_is_redacted_is_what_opencode_redacts() {
    let Some(server) = shared() else { return };
    let every = "ses_0000000000ffeAAAAAAAAAAAAAA";
    import(server, &recording("every-part.json"));
    let turn = server.begin("bash:echo redacted");
    until_seen(server, &turn, "idle", "done");
    let failed = server.begin("tool:read {\"filePath\":\"no-such-file\"}");
    until_seen(server, &failed, "idle", "done");
    for id in [every, &turn, &failed] {
        assert_eq!(ours(server, &[id]), theirs(server, &[id]), "{id}");
        let flag = [id, "--sanitize"];
        assert_eq!(ours(server, &flag), theirs(server, &flag), "{id}");
    }
    let text = run(server, &["export", every, "--format", "md", "-o", "-"]);
    assert_eq!(text.code, Some(0), "{text:#?}");
    for words in [
        "#### Tool `bash`: `cat secret`",
        "completed in 1.4 s",
        "`/srv/b.rs`",
    ] {
        assert!(text.stdout.contains(words), "{words}: {}", text.stdout);
    }
}

#[test]
fn a_family_is_whole_archived_subagents_too() {
    let Some(server) = shared() else { return };
    let task = "tool:task {\"description\":\"child\",\"prompt\":\"say:from the child\",\
        \"subagent_type\":\"general\"}";
    let parent = server.begin(task);
    until_seen(server, &parent, "idle", "done");
    let children = server.get(&format!("/session/{parent}/children"));
    let child = children[0]["id"].as_str().unwrap().to_owned();
    let body = json!({"time": {"archived": 1_795_977_998_146_u64}});
    server.patch(&format!("/session/{child}"), &body);
    let folder = server.root.join("exported-family");
    let export = run(
        server,
        &[
            "export",
            &parent,
            "--children",
            "-o",
            folder.to_str().unwrap(),
        ],
    );
    assert_eq!(export.code, Some(0), "{export:#?}");
    let index = read(&folder.join("index.json"));
    let ids: Vec<&Value> = index["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["id"])
        .collect();
    assert_eq!(ids, [&json!(parent), &json!(child)]);
    for entry in index["sessions"].as_array().unwrap() {
        let file = folder.join(entry["file"].as_str().unwrap());
        assert_eq!(
            read(&file),
            theirs(server, &[entry["id"].as_str().unwrap()])
        );
    }
}

/// While 2,000 messages (5 MB) are read, more come; then the cost of reading is compared.
/// `OCWATCH_MEASURED` names another build of the program; the time of a debug build is only shown.
#[test]
fn a_long_session_costs_little_more_than_its_bytes() {
    let Some(server) = own(&["main"]) else { return };
    let file = server.root.join("long.json");
    fs::write(&file, long(2000).to_string()).unwrap();
    import(&server, &file);
    let id = "ses_0000000001ffeAAAAAAAAAAAAAA";

    let growing = std::thread::scope(|scope| {
        let export = scope.spawn(|| ours(&server, &[id]));
        let more = (0..50).take_while(|_| !export.is_finished());
        for _ in more {
            let body = json!({"noReply": true, "parts": [{"type": "text", "text": "more"}]});
            server.post(&format!("/session/{id}/message"), &body);
        }
        export.join().unwrap()
    });
    let mut ids = growing["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(key)
        .collect::<Vec<_>>();
    assert!(ids.len() >= 2000, "{}", ids.len());
    assert!(
        ids.windows(2).all(|two| two[0] < two[1]),
        "in order, each once"
    );
    ids.dedup();

    let urls = page_urls(&server, id);
    let (mut curl, mut export, mut peak) = (Vec::new(), Vec::new(), 0);
    let (_, nothing) = measured(&server, &["check", "127.0.0.1:1"], 3);
    for round in 0..5 {
        curl.push(time_of_curl(&urls));
        let name = format!("{round}.json");
        let args = ["--server", &server.url, "export", id, "-o", &name];
        let (took, memory) = measured(&server, &args, 0);
        assert!(server.root.join(&name).exists(), "it is written");
        export.push(took);
        peak = peak.max(memory);
    }
    let (curl, export) = (median(&mut curl), median(&mut export));
    let ratio = export.as_secs_f64() / curl.as_secs_f64();
    say(&format!(
        "2,000 messages: curl {curl:.2?}, export {export:.2?} ({ratio:.2} times), {:.1} MiB at most, {:.1} MiB without",
        peak as f64 / 1024.0,
        nothing as f64 / 1024.0
    ));
    assert!(peak < nothing + MEMORY, "{peak} KiB");
    let optimised = !cfg!(debug_assertions) || variable("OCWATCH_MEASURED").is_some();
    assert!(!optimised || ratio <= RATIO, "{ratio:.2} times curl");
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn key(message: &Value) -> (u64, String) {
    let info = &message["info"];
    let created = info["time"]["created"].as_u64().unwrap();
    (created, info["id"].as_str().unwrap().to_owned())
}

/// The URLs of all pages that an export asks for.
fn page_urls(server: &OpenCode, id: &str) -> Vec<String> {
    let first = format!("{}/session/{id}/message?limit=100", server.url);
    let mut urls = vec![first.clone()];
    let mut seen = BTreeSet::new();
    loop {
        let url = urls.last().unwrap();
        let out = output(Command::new("curl").args(["-s", "-D", "-", "-o", "/dev/null", url]));
        let heads = out.lines().filter_map(|line| line.split_once(": "));
        let mut cursors = heads.filter(|(name, _)| name.eq_ignore_ascii_case("x-next-cursor"));
        let Some((_, cursor)) = cursors.next() else {
            return urls;
        };
        assert!(seen.insert(cursor.trim().to_owned()), "pages in a circle");
        urls.push(format!("{first}&before={}", cursor.trim()));
    }
}

/// All pages by one process on one connection.
fn time_of_curl(urls: &[String]) -> Duration {
    let mut command = Command::new("curl");
    command.args(["-s", "-f"]);
    for url in urls {
        command.args(["-o", "/dev/null", url]);
    }
    let begun = Instant::now();
    output(&mut command);
    begun.elapsed()
}

/// One run of the program: how long it took, and the most memory that was resident, KiB.
fn measured(server: &OpenCode, args: &[&str], code: i32) -> (Duration, u64) {
    let program = variable("OCWATCH_MEASURED").unwrap_or(env!("CARGO_BIN_EXE_ocwatch").to_owned());
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("HOME", server.root.join("watcher"))
        .args(args)
        .current_dir(&server.root)
        .stdout(Stdio::null());
    let begun = Instant::now();
    let mut child = command.spawn().unwrap();
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut peak = 0;
    loop {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        peak = peak.max(number.map_or(0, |it| it.parse().unwrap()));
        if let Some(ended) = child.try_wait().unwrap() {
            assert_eq!(ended.code(), Some(code), "{args:?}");
            return (begun.elapsed(), peak);
        }
        // The peak only grows: a last look shortly before the end is enough.
        std::thread::park_timeout(Duration::from_millis(2));
    }
}

/// Turns of a prompt and an answer, 2.5 KB each.
fn long(messages: usize) -> Value {
    let session = "ses_0000000001ffeAAAAAAAAAAAAAA";
    let begin = 1_795_000_000_000_u64;
    let text = "All work and no play makes a long session. ".repeat(52);
    let message = |n: usize| {
        let id = format!("msg_2000000{n:05}AAAAAAAAAAAAAA");
        let created = begin + 1000 * u64::try_from(n).unwrap();
        let info = if n.is_multiple_of(2) {
            json!({
                "id": id, "sessionID": session, "role": "user", "time": {"created": created},
                "agent": "build", "model": {"providerID": "scripted", "modelID": "scripted"},
            })
        } else {
            json!({
                "id": id, "sessionID": session, "role": "assistant", "mode": "build", "agent": "build",
                "time": {"created": created, "completed": created + 900}, "finish": "stop",
                "parentID": format!("msg_2000000{:05}AAAAAAAAAAAAAA", n - 1),
                "modelID": "scripted", "providerID": "scripted", "path": {"cwd": "/", "root": "/"},
                "cost": 0, "tokens": {"input": 1, "output": 1, "reasoning": 0, "cache": {"read": 0, "write": 0}},
            })
        };
        let part = json!({
            "id": format!("prt_2000000{n:05}AAAAAAAAAAAAAA"), "sessionID": session, "messageID": id,
            "type": "text", "text": text,
        });
        json!({"info": info, "parts": [part]})
    };
    let messages: Vec<Value> = (0..messages).map(message).collect();
    let info = json!({
        "id": session, "slug": "long", "projectID": "global", "directory": "/", "title": "Long",
        "version": "1.18.33", "time": {"created": begin, "updated": begin},
    });
    json!({"info": info, "messages": messages})
}

fn ours(server: &OpenCode, arguments: &[&str]) -> Value {
    let all = [&["export", "-o", "-"], arguments].concat();
    let export = run(server, &all);
    assert_eq!(export.code, Some(0), "{}", export.stderr);
    serde_json::from_str(&export.stdout).unwrap()
}

/// What `opencode export` prints, without what it tells around it.
fn theirs(server: &OpenCode, arguments: &[&str]) -> Value {
    let program = opencode().to_str().unwrap();
    let printed = output(
        server
            .command(program, "home")
            .arg("export")
            .args(arguments),
    );
    let start = printed.find('{').expect("an object");
    serde_json::from_str(&printed[start..]).unwrap()
}

/// Takes a file into the server's own database; it knows the session from then on.
fn import(server: &OpenCode, file: &Path) {
    let program = opencode().to_str().unwrap();
    let id = read(file)["info"]["id"].as_str().unwrap().to_owned();
    output(server.command(program, "home").arg("import").arg(file));
    eventually("the server knows it", Duration::from_secs(30), || {
        let found = server.get("/api/session?limit=1000").to_string();
        found.contains(&id).then_some(()).ok_or(found)
    });
}

fn recording(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("tests/recordings/v1").join(name)
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn output(command: &mut Command) -> String {
    let out = command.output().expect("a program");
    assert!(out.status.success(), "{command:?}: {out:?}");
    String::from_utf8_lossy(&out.stdout).into_owned()
}
