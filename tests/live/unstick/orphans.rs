//! What a killed server leaves: parts that run for ever, of every kind that can be caught open.

use super::made::{
    begin, outside, shell, task, until_called, until_child, until_printed, until_reported,
    until_streams,
};
use super::proof::Stuck;
use super::record::{Done, Record};
use crate::ocwatch::run;
use crate::server::{OpenCode, own};
use crate::turns::Gate;
use pretty_assertions::assert_eq;
use serde_json::json;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

/// An MCP server, of one tool that never answers.
const MCP: &str = r#"
while read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    version=$(printf '%s' "$line" | sed -n 's/.*"protocolVersion":"\([^"]*\)".*/\1/p')
    case "$line" in
    *'"initialize"'*) result='{"protocolVersion":"'$version'","capabilities":{"tools":{}},"serverInfo":{"name":"mute","version":"1"}}' ;;
    *'"tools/list"'*) result='{"tools":[{"name":"wait","description":"waits","inputSchema":{"type":"object","properties":{}}}]}' ;;
    *) continue ;;
    esac
    printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;

struct Orphan {
    name: String,
    id: String,
    directory: PathBuf,
}

impl Orphan {
    fn stuck<'a>(&'a self, server: &'a OpenCode) -> Stuck<'a> {
        Stuck {
            server,
            directory: &self.directory,
            id: &self.id,
        }
    }
}

/// Parts that were open; none: the answer alone is.
fn make(server: &OpenCode, gate: &Gate, silent: &TcpListener) -> Vec<Orphan> {
    let main = &server.projects[0];
    let tools = &server.projects[1];
    let url = format!("http://{}/", silent.local_addr().expect("an address"));
    let fetch = format!("tool:webfetch {}", json!({"url": url, "format": "text"}));
    let mut orphans = Vec::new();
    let mut add = |name: &str, directory: &Path, prompt: &str| {
        let id = begin(server, directory, &format!("orphan {name}"), prompt);
        orphans.push(Orphan {
            name: name.to_owned(),
            id,
            directory: directory.to_owned(),
        });
    };
    add("bash", main, &format!("bash:echo ready; {}", gate.command));
    add("question", main, "question");
    add("task", main, &task("hang"));
    add("webfetch", main, &fetch);
    for tool in ["read", "glob", "grep", "edit"] {
        add(tool, main, &outside(tool));
    }
    add("write", main, "half:write");
    add("text", main, "hang");
    add("reasoning", main, "ponder");
    add("retry", main, "err:500");
    add("mute_wait", tools, "tool:mute_wait {}");
    let typed = server.session(main, "orphan shell");
    shell(server, &typed, &format!("echo ready; {}", gate.command));
    orphans.push(Orphan {
        name: "shell".to_owned(),
        id: typed,
        directory: main.clone(),
    });
    orphans
}

fn until_stuck(server: &OpenCode, orphan: &Orphan) {
    let Orphan {
        name,
        id,
        directory,
    } = orphan;
    match name.as_str() {
        "bash" | "shell" => until_printed(server, id, "ready"),
        "task" => until_streams(server, &until_child(server, id), "text"),
        "text" | "reasoning" => until_streams(server, id, name),
        "retry" => until_reported(server, directory, id, "retry"),
        tool => until_called(server, id, tool),
    }
}

#[test]
fn what_a_killed_server_left_is_repaired_and_answers() {
    let Some(mut server) = own(&["main", "tools"]) else {
        return;
    };
    let mcp = json!({"mcp": {"mute": {"type": "local", "command": ["sh", "-c", MCP]}}});
    fs::write(server.projects[1].join("opencode.json"), mcp.to_string()).unwrap();
    let gate = Gate::new(&server, "orphans");
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let orphans = make(&server, &gate, &silent);
    for orphan in &orphans {
        until_stuck(&server, orphan);
    }
    server.kill9();
    server.restart();
    assert_asks_first(&server, &orphans[0]);
    // R says it in its plan, and Enter there agrees to it.
    let (by_key, orphans) = orphans.split_last().expect("orphans");
    let title = format!("orphan {}", by_key.name);
    by_key
        .stuck(&server)
        .assert_reset_by_key(&title, "mark a tool part", Done::Repaired);
    // Each waits more than it works: it looks whether its session stands still.
    std::thread::scope(|scope| {
        for some in orphans.chunks(orphans.len().div_ceil(2)) {
            let server = &*server;
            scope.spawn(move || some.iter().for_each(|it| assert_repaired(server, it)));
        }
    });
    gate.open();
}

/// Whether another process runs it cannot be known at first sight: that is asked before its parts are set.
fn assert_asks_first(server: &OpenCode, orphan: &Orphan) {
    let before = Record::read(server, &orphan.id);
    let refused = run(server, &["reset", &orphan.id, "--yes"]);
    assert_eq!(refused.code, Some(1), "{refused:#?}");
    let said = refused.stdout + &refused.stderr;
    assert!(said.contains("--allow elsewhere"), "{said}");
    assert_eq!(before, Record::read(server, &orphan.id));
}

fn assert_repaired(server: &OpenCode, orphan: &Orphan) {
    let before = Record::read(server, &orphan.id);
    let open = before.open_tools().len();
    let stuck = orphan.stuck(server);
    let said = stuck.assert_reset(Done::Repaired, &["--allow", "elsewhere"]);
    match orphan.name.as_str() {
        "text" | "reasoning" | "retry" => {
            assert_eq!(open, 0, "{before:#?}");
            assert!(!said.contains("tool part"), "{said}");
            assert!(said.contains("the next prompt continues"), "{said}");
        }
        _ => {
            assert_eq!(open, 1, "{}: {before:#?}", orphan.name);
            assert!(said.contains("1 tool part"), "{}: {said}", orphan.name);
        }
    }
}
