//! Everything that a real 1.18.33 server was recorded saying decodes, and nothing else can hurt.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests may fail loudly"
)]

use ocwatch::core::id::SessionId;
use ocwatch::core::wire::v1;
use ocwatch::core::wire::{EventKind, Message, PartBody, Role, Status, ToolState};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use std::path::PathBuf;

fn recording(name: &str) -> Vec<u8> {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests/recordings/v1", name]
        .iter()
        .collect();
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn frames(name: &str) -> Vec<String> {
    let text = String::from_utf8(recording(name)).unwrap();
    text.lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(str::to_owned)
        .collect()
}

fn session() -> SessionId {
    SessionId::from("ses_1")
}

fn messages(name: &str) -> Vec<Message> {
    let decoded = v1::decode_messages(&recording(name), &session()).unwrap();
    assert_eq!(decoded.missing, 0, "{name}");
    let decoded = decoded.rows;
    assert_eq!(decoded.skipped, 0, "{name}: {:?}", decoded.why);
    decoded.items
}

#[test]
fn recorded_streams_hold_nothing_unknown() {
    // (recording, frames, of these noise)
    let streams = [
        ("sse-global-text.txt", 43, 18),
        ("sse-global-bash.txt", 70, 32),
        ("sse-global-question.txt", 66, 29),
        ("sse-global-permission.txt", 66, 29),
        ("sse-global-retry-abort.txt", 27, 10),
        ("sse-global-abort-tool.txt", 37, 15),
        ("sse-global-subagent.txt", 106, 48),
        ("sse-global-v2turn.txt", 29, 27),
        ("sse-global-dispose.txt", 120, 80),
        ("sse-event-dir-dispose.txt", 28, 4),
    ];
    let mut seen = Vec::new();
    for (name, _, _) in streams {
        let (mut all, mut noise) = (0, 0);
        for frame in frames(name) {
            let event = v1::decode_event(&frame);
            all += 1;
            match event.kind {
                EventKind::Noise => noise += 1,
                EventKind::Unknown { kind } => panic!("{name}: unknown {kind}"),
                EventKind::Malformed { kind, why } => panic!("{name}: {kind:?}: {why}"),
                _ => {}
            }
        }
        seen.push((name, all, noise));
    }
    assert_eq!(seen, streams);
}

#[test]
fn kinds_are_told_by_the_first_bytes() {
    for name in [
        "sse-global-subagent.txt",
        "sse-global-dispose.txt",
        "sse-event-dir-dispose.txt",
    ] {
        for frame in frames(name) {
            let value: serde_json::Value = serde_json::from_str(&frame).unwrap();
            let payload = value.get("payload").unwrap_or(&value);
            assert_eq!(v1::event_kind(&frame), payload["type"].as_str(), "{frame}");
        }
    }
    assert_eq!(
        v1::event_kind(r#"{"directory":"\"payload\":{\"type\":\"sync\"","payload":{"type":"x""#),
        Some("x")
    );
    assert_eq!(v1::event_kind(r#"{"payload":{"type":"syn"#), None);
}

#[test]
fn tails_hold_what_judging_needs() {
    let bash = messages("v1-messages-bash-running.json");
    let tool = bash[1].parts[1].tool().unwrap();
    assert!(bash[1].is_open() && bash[1].parts[1].is_live());
    assert_eq!(tool.subject, "echo one; sleep 3; echo two");
    assert_eq!(
        (tool.timeout_ms, tool.output.present, tool.output.bytes),
        (Some(600_000), true, 4)
    );
    assert_eq!(tool.input_keys, ["command", "description", "timeout"]);

    let aborted = messages("v1-messages-aborted-tool.json");
    assert!(aborted[1].error.as_ref().unwrap().is_abort());
    assert_eq!(
        aborted[1].parts[1].tool().unwrap().state,
        ToolState::Completed
    );

    let rejected = messages("v1-messages-permission-rejected.json");
    let tool = rejected[1].parts[1].tool().unwrap();
    assert_eq!(tool.state, ToolState::Error);
    assert!(tool.error.as_ref().unwrap().contains("no thanks"));

    let question = messages("v1-messages-question.json");
    let asked = question[1].parts[1]
        .tool()
        .unwrap()
        .questions
        .as_ref()
        .unwrap();
    assert_eq!(asked[0]["header"], "Pick");

    let subagent = messages("v1-messages-subagent.json");
    let task = subagent[1].parts[1].tool().unwrap();
    assert_eq!(
        task.child,
        Some(SessionId::from("ses_dd752049dffeVVVWINhl2Wc0zw"))
    );
    assert!(!task.background);

    let page = messages("v1-messages-page.json");
    assert_eq!(page[0].role, Role::User);
    assert_eq!(page[1].parent.as_ref(), Some(&page[0].id));
    assert_eq!(page[1].model.as_ref().unwrap().model, "scripted");
    for name in [
        "v1-messages-text.json",
        "v1-messages-bash.json",
        "v1-messages-error400.json",
        "v1-messages-streaming.json",
        "v1-messages-dangling-after-sigkill.json",
        "v1-messages-bash-permission.json",
    ] {
        assert!(!messages(name).is_empty());
    }
}

/// A server may say no more than this: who else they belong to follows from where they stand.
#[test]
fn messages_and_parts_need_not_name_what_they_belong_to() {
    let body = br#"[{"info":{"id":"msg_1","role":"user","time":{"created":1}},"parts":[{"type":"text","text":"hi"}]},
      {"info":{"id":"msg_2","role":"assistant","parentID":"msg_1","time":{"created":2}},
       "parts":[{"type":"step-start"},{"id":"prt_x","type":"tool","tool":"bash","state":{"status":"running","time":{"start":3}}}]}]"#;
    let decoded = v1::decode_messages(body, &session()).unwrap().rows;
    assert_eq!((decoded.skipped, decoded.why), (0, None));
    let ids = |m: &Message| -> Vec<String> { m.parts.iter().map(|p| p.id.to_string()).collect() };
    assert_eq!(ids(&decoded.items[0]), ["msg_1.0"]);
    assert_eq!(ids(&decoded.items[1]), ["msg_2.0", "prt_x"]);
    for message in &decoded.items {
        assert_eq!(message.session, session());
        let parts = message.parts.iter();
        assert!(
            parts
                .map(|p| (&p.session, &p.message))
                .all(|it| it == (&session(), &message.id))
        );
    }
    assert!(decoded.items[1].parts[1].is_live());
}

/// Nothing around an event's part says which it is, or when a message was written.
#[test]
fn an_event_names_its_session_once() {
    let update = |kind: &str, properties: &str| {
        v1::decode_event(&format!(
            r#"{{"payload":{{"type":"message.{kind}","properties":{properties}}}}}"#
        ))
        .kind
    };
    let info = r#""info":{"id":"msg_1","role":"user","time":{"created":1}}"#;
    let part = r#""part":{"id":"prt_1","messageID":"msg_1","type":"text","text":"hi"}"#;
    let told = update("updated", &format!(r#"{{"sessionID":"ses_1",{info}}}"#));
    assert!(matches!(told, EventKind::MessageUpdated(it) if it.session == session()));
    let told = update(
        "part.updated",
        &format!(r#"{{"sessionID":"ses_1",{part}}}"#),
    );
    assert!(matches!(told, EventKind::PartUpdated(it) if it.session == session()));
    for (kind, short) in [
        ("updated", format!("{{{info}}}")),
        (
            "updated",
            r#"{"sessionID":"ses_1","info":{"id":"msg_1","role":"user","time":{}}}"#.to_owned(),
        ),
        ("part.updated", format!("{{{part}}}")),
        (
            "part.updated",
            r#"{"sessionID":"ses_1","part":{"id":"prt_1","type":"text"}}"#.to_owned(),
        ),
        (
            "part.updated",
            r#"{"sessionID":"ses_1","part":{"messageID":"msg_1","type":"text"}}"#.to_owned(),
        ),
    ] {
        assert!(
            matches!(update(kind, &short), EventKind::Malformed { .. }),
            "{short}"
        );
    }
}

#[test]
fn a_task_that_runs_on_in_the_background_is_told_by_its_output() {
    let body = br#"[{"info":{"id":"msg_1","sessionID":"ses_1","role":"assistant","time":{"created":1}},
      "parts":[{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"tool","tool":"task","callID":"c",
        "state":{"status":"completed","input":{"prompt":"go"},"metadata":{"sessionId":"ses_2"},
                 "output":"<task id=\"ses_2\" state=\"running\">\nstarted</task>","time":{"start":1,"end":2}}}]}]"#;
    let decoded = v1::decode_messages(body, &session()).unwrap().rows;
    let task = decoded.items[0].parts[0].tool().unwrap().clone();
    assert!(task.background);
    assert_eq!(
        (task.subject.as_str(), task.child),
        ("go", Some(SessionId::from("ses_2")))
    );
}

#[test]
fn the_same_call_has_the_same_digest_in_whatever_order_its_keys_stand() {
    let digest = |input: &str| {
        let body = format!(
            r#"[{{"info":{{"id":"m","role":"assistant","time":{{"created":1}}}},"parts":[
              {{"type":"tool","tool":"x","state":{{"status":"completed","input":{input}}}}}]}}]"#
        );
        let decoded = v1::decode_messages(body.as_bytes(), &session()).unwrap();
        decoded.rows.items[0].parts[0].tool().unwrap().input_digest
    };
    let one = digest(r#"{"command":"ls","t":[1,{"a":"x","b":{"c":null,"d":2}}]}"#);
    assert_eq!(
        one,
        digest(r#"{"t": [1, {"b":{"d":2,"c":null},"a":"x"}], "command":"ls"}"#)
    );
    for other in [
        r#"{"command":"ls","t":[{"a":"x","b":{"c":null,"d":2}},1]}"#,
        r#"{"command":"ls","t":[1,{"a":"x","b":{"c":2,"d":null}}]}"#,
        r#"{"command":"t","ls":[1,{"a":"x","b":{"c":null,"d":2}}]}"#,
        r#"{"command":"ls"}"#,
        "{}",
        "[]",
        r#""""#,
    ] {
        assert_ne!(one, digest(other), "{other}");
    }
    assert_ne!(digest(r#"{"\ud83d":1}"#), digest(r#"{"\ud83d":2}"#));
    assert_ne!(digest("{}"), digest("[]"));
    let deep = |leaf: &str| format!("{}{leaf}{}", r#"{"a":"#.repeat(100), "}".repeat(100));
    assert_ne!(digest(&deep("1")), digest(&deep("2")));
}

#[test]
fn lists_decode_in_each_wrapping() {
    let plain = v1::decode_sessions(&recording("v1-experimental-session.json")).unwrap();
    assert_eq!((plain.items.len(), plain.skipped), (5, 0));
    let page = v1::decode_api_sessions(&recording("v1-api-session.json")).unwrap();
    assert_eq!((page.count, page.rows.items.len()), (3, 3));
    assert!(page.next.is_some());
    assert_eq!(page.rows.items[0].directory.as_str(), "/srv/dev/projB");
    assert!(page.rows.items[2].parent.is_some());
    let old = v1::decode_api_sessions(br#"{"items":[],"cursor":{}}"#).unwrap();
    assert_eq!((old.count, old.next), (0, None));

    let retry = v1::decode_status(&recording("v1-status-retry.json")).unwrap();
    assert!(matches!(retry.items.values().next(), Some(Status::Retry(it)) if it.attempt == 2));
    let bare = br#"{"a":{"type":"retry"},"b":{"type":"retry","attempt":2,"next":"soon"}}"#;
    let bare = v1::decode_status(bare).unwrap();
    assert!(
        bare.items
            .values()
            .all(|it| matches!(it, Status::Retry(retry) if retry.next.is_none()))
    );
    let busy = v1::decode_status(&recording("v1-status-busy.json")).unwrap();
    assert!(busy.items.values().all(|it| *it == Status::Busy));

    let asks = v1::decode_permissions(&recording("v1-permission-list.json")).unwrap();
    assert_eq!(asks.items[0].text(), "bash echo hello");
    assert!(asks.items[0].tool.is_some());
    let asks = v1::decode_questions(&recording("v1-question-list.json")).unwrap();
    assert_eq!(asks.items[0].questions[0].options.len(), 2);

    assert_eq!(
        v1::decode_health(&recording("v1-global-health.json"))
            .unwrap()
            .version,
        "1.18.33"
    );
    assert!(
        v1::decode_health(&recording("v1-api-health.json")).is_err(),
        "no version there"
    );
    assert_eq!(
        v1::decode_path(&recording("v1-path.json"))
            .unwrap()
            .as_str(),
        "/srv/dev/projA"
    );
}

#[test]
fn one_hostile_row_costs_only_itself() {
    let good = r#"{"info":{"id":"m","sessionID":"s","role":"assistant","time":{"created":1},"tokens":"many","error":7},
                   "parts":[{"id":"p","sessionID":"s","messageID":"m","type":"hologram"},{"id":3},
                            {"id":"q","sessionID":"s","messageID":"m","type":"text","text":null}]}"#;
    let decoded = v1::decode_messages(format!("[42,{good},{{}}]").as_bytes(), &session()).unwrap();
    assert_eq!(
        decoded.missing, 2,
        "a part of the newest answer, and what follows it"
    );
    let decoded = decoded.rows;
    assert_eq!((decoded.items.len(), decoded.skipped), (1, 3));
    let parts = &decoded.items[0].parts;
    assert_eq!(parts[0].body, PartBody::Other("hologram".to_owned()));
    assert_eq!(parts.len(), 2);

    let row = r#"{"id":"s","title":"t","directory":"/d","time":{"created":1,"updated":2}}"#;
    let decoded = v1::decode_sessions(format!("[null,{row},{{\"id\":\"x\"}}]").as_bytes()).unwrap();
    assert_eq!((decoded.items.len(), decoded.skipped), (1, 2));
    let status = br#"{"a":{"type":"busy"},"b":3,"c":{"type":"dreaming"}}"#;
    let decoded = v1::decode_status(status).unwrap();
    assert_eq!((decoded.items.len(), decoded.skipped), (3, 1));
    let odd = &decoded.items[&SessionId::from("b")];
    assert_eq!(
        *odd,
        Status::Other("unreadable".into()),
        "named, so not idle"
    );

    assert_eq!(
        v1::decode_problem(br#"{"name":"X","data":{"message":"a\n b"}}"#).unwrap(),
        "a b"
    );
    assert_eq!(
        v1::decode_problem(br#"{"_tag":"BadRequest"}"#).unwrap(),
        "BadRequest"
    );
}

/// What is left out before the newest answer hides nothing that is going on.
#[test]
fn what_is_missing_is_counted_from_the_newest_answer_on() {
    let row = |id: u8, role: &str, parts: &str| {
        format!(
            r#"{{"info":{{"id":"m{id}","role":"{role}","time":{{"created":{id}}}}},"parts":[{parts}]}}"#
        )
    };
    let (bad, text) = (r#"{"id":"p"}"#, r#"{"type":"text","text":"hi"}"#);
    let user = |id, parts| row(id, "user", parts);
    let answer = |id, parts| row(id, "assistant", parts);
    for (rows, skipped, missing) in [
        (vec![user(1, text), answer(2, text)], 0, 0),
        (vec![user(1, bad), "7".into(), answer(2, text)], 2, 0),
        (vec![user(1, text), answer(2, bad), answer(3, text)], 1, 0),
        (
            vec![user(1, text), answer(2, &format!("{bad},{text},{bad}"))],
            2,
            2,
        ),
        (vec![answer(2, text), "{}".into(), user(3, bad)], 2, 2),
        (vec!["7".into(), user(3, text)], 1, 1),
        (vec!["7".into(), "{}".into()], 2, 2),
    ] {
        let body = format!("[{}]", rows.join(","));
        let decoded = v1::decode_messages(body.as_bytes(), &session()).unwrap();
        assert_eq!(
            (decoded.rows.skipped, decoded.missing),
            (skipped, missing),
            "{body}"
        );
    }
}

#[test]
fn what_is_not_understood_is_named() {
    let event = v1::decode_event(
        r#"{"payload":{"id":"e","type":"session.status","properties":{"sessionID":7}}}"#,
    );
    assert!(
        matches!(event.kind, EventKind::Malformed { kind: Some(kind), .. } if kind == "session.status")
    );
    let event = v1::decode_event(r#"{"payload":{"id":"e","type":"moon.phase","properties":{}}}"#);
    assert_eq!(
        event.kind,
        EventKind::Unknown {
            kind: "moon.phase".to_owned()
        }
    );
    let cut = "{\"payload\":{\"id\":\"e\",\"type\":\"message.part.updated\",\"properties\":{\"sessionID\":\"ses_1\",\0";
    assert!(
        matches!(v1::decode_event(cut).kind, EventKind::Malformed { kind: Some(_), why } if why.contains("cap"))
    );
    assert_eq!(v1::session_hint(cut), Some(SessionId::from("ses_1")));
}

proptest! {
    #[test]
    fn nothing_panics(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let text = String::from_utf8_lossy(&bytes);
        let _ = v1::decode_event(&text);
        let _ = v1::event_kind(&text);
        let _ = (v1::decode_messages(&bytes, &session()), v1::decode_sessions(&bytes), v1::decode_api_sessions(&bytes));
        let _ = (v1::decode_status(&bytes), v1::decode_permissions(&bytes), v1::decode_problem(&bytes));
    }

    /// A recorded frame with a few bytes changed is still one event.
    #[test]
    fn damaged_frames_are_events(pick in any::<prop::sample::Index>(), hits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let all = frames("sse-global-subagent.txt");
        let mut bytes = pick.get(&all).clone().into_bytes();
        for (at, byte) in hits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let text = String::from_utf8_lossy(&bytes);
        let _ = v1::decode_event(&text);
        let _ = v1::decode_messages(format!("[{text}]").as_bytes(), &session());
    }
}
