//! One session as OpenCode 1.18.33 would answer for it, told in a line or a few, and what the
//! documents say about it.
//!
//! What it does: build the raw bodies (info, messages, parts, status, asks) with times counted back from
//! the server's "now"; hold the verdict that the documents give. What it does not: speak HTTP, or use any
//! type of the program.

use crate::expect::{Expected, Verdict};
use serde_json::{Map, Value, json};

/// Seconds; every `ago` of this file is in them.
pub const S: i64 = 1;
pub const M: i64 = 60 * S;
pub const H: i64 = 60 * M;
pub const D: i64 = 24 * H;

const BASE62: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SNAPSHOT: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// Ids as OpenCode makes them: a prefix, 12 hex digits of (ms * 4096 + counter), 14 of base62.
pub fn id(prefix: &str, ms: i64, counter: u64) -> String {
    let number = (ms as u64).wrapping_mul(4096).wrapping_add(counter % 4096);
    let number = if prefix == "ses" { !number } else { number } & 0xffff_ffff_ffff;
    let mut seed = counter
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(number);
    let tail: String = (0..14)
        .map(|_| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            BASE62[(seed >> 33) as usize % BASE62.len()] as char
        })
        .collect();
    format!("{prefix}_{number:012x}{tail}")
}

/// A message of a story: its `info` and `parts` as on the wire.
#[derive(Debug, Clone)]
pub struct Message {
    pub info: Value,
    pub parts: Vec<Value>,
}

/// Something asked of a person.
#[derive(Debug, Clone)]
pub enum Ask {
    Permission(Value),
    Question(Value),
}

/// One session.
#[derive(Debug, Clone)]
pub struct Story {
    pub id: String,
    /// The name of its directory (see `places`), not the path.
    pub place: String,
    pub title: String,
    pub parent: Option<String>,
    pub created: i64,
    pub updated: i64,
    pub archived: Option<i64>,
    pub revert: Option<Value>,
    pub agent: String,
    /// What `/session/status` says; `None` is idle.
    pub status: Option<Value>,
    pub messages: Vec<Message>,
    pub asks: Vec<Ask>,
    pub expected: Expected,
    /// What else is right while `/permission` answers 400, if it differs.
    pub without_permissions: Option<Expected>,
    now: i64,
    counter: u64,
    pinned: bool,
}

/// Gives each story its own ids.
pub struct Teller {
    pub now: i64,
    told: u64,
}

impl Teller {
    /// `now` is the server's clock, in ms.
    pub fn new(now: i64) -> Self {
        Self { now, told: 0 }
    }

    /// A session that the server calls idle.
    pub fn idle(&mut self, place: &str, title: &str) -> Story {
        self.told += 1;
        Story {
            id: id("ses", self.now - 30 * D * 1000, self.told),
            place: place.to_owned(),
            title: title.to_owned(),
            parent: None,
            created: i64::MAX,
            updated: 0,
            archived: None,
            revert: None,
            agent: "build".to_owned(),
            status: None,
            messages: Vec::new(),
            asks: Vec::new(),
            expected: Expected::default(),
            without_permissions: None,
            now: self.now,
            counter: self.told * 10_000,
            pinned: false,
        }
    }

    /// A session that the server calls busy.
    pub fn busy(&mut self, place: &str, title: &str) -> Story {
        let mut story = self.idle(place, title);
        story.status = Some(json!({"type": "busy"}));
        story
    }

    /// A session that waits to try again: `next` in seconds from now, negative when past.
    pub fn retry(
        &mut self,
        place: &str,
        title: &str,
        (attempt, next, message): (u32, i64, &str),
    ) -> Story {
        let mut story = self.idle(place, title);
        let next = self.now + next * 1000;
        story.status =
            Some(json!({"type": "retry", "attempt": attempt, "message": message, "next": next}));
        story
    }

    /// A prompt that was answered `ago`, the plainest healthy session there is.
    pub fn done(&mut self, place: &str, title: &str, ago: i64) -> Story {
        self.idle(place, title)
            .prompt(ago + 20, "Say what this function does.")
            .step(ago + 19)
            .text(ago + 15, ago + 1, "It adds two numbers.")
            .ends(ago, "stop")
    }
}

/// The conversation.
impl Story {
    fn at(&self, ago: i64) -> i64 {
        self.now - ago * 1000
    }

    fn fresh(&mut self, prefix: &str, ms: i64) -> String {
        self.counter += 1;
        id(prefix, ms, self.counter)
    }

    /// The session changed then.
    fn touch(&mut self, ago: i64) {
        if !self.pinned {
            self.updated = self.updated.max(self.at(ago));
        }
        self.created = self.created.min(self.at(ago) - 900);
    }

    /// `time.created` and `time.updated`, where the messages do not tell.
    pub fn dated(mut self, created: i64, updated: i64) -> Self {
        (self.created, self.updated) = (self.at(created), self.at(updated));
        self.pinned = true;
        self
    }

    fn last(&mut self) -> &mut Message {
        self.messages.last_mut().expect("a message first")
    }

    fn user(mut self, ago: i64, parts: Vec<Value>) -> Self {
        let at = self.at(ago);
        let id = self.fresh("msg", at);
        let info = json!({"id": id, "sessionID": self.id, "role": "user", "time": {"created": at},
            "summary": {"diffs": []}, "agent": self.agent,
            "model": {"providerID": "acme", "modelID": "big-1"}});
        self.messages.push(Message {
            info,
            parts: Vec::new(),
        });
        for part in parts {
            self = self.part(ago, part);
        }
        self.touch(ago);
        self
    }

    /// The person wrote `text`.
    pub fn prompt(self, ago: i64, text: &str) -> Self {
        self.user(ago, vec![json!({"type": "text", "text": text})])
    }

    /// OpenCode wrote `text` in the person's name.
    pub fn synthetic(self, ago: i64, text: &str) -> Self {
        self.user(
            ago,
            vec![json!({"type": "text", "text": text, "synthetic": true})],
        )
    }

    /// OpenCode asked for a summary.
    pub fn compaction(self, ago: i64) -> Self {
        self.user(ago, vec![json!({"type": "compaction", "auto": true})])
    }

    /// A step of the assistant begins, open, for the newest user message, without parts.
    pub fn blank(mut self, ago: i64) -> Self {
        let parent = self
            .messages
            .iter()
            .rev()
            .find(|m| m.info["role"] == "user")
            .map_or(json!("msg_gone"), |m| m.info["id"].clone());
        let at = self.at(ago);
        let id = self.fresh("msg", at);
        let info = json!({"id": id, "sessionID": self.id, "role": "assistant",
            "time": {"created": at}, "parentID": parent, "modelID": "big-1", "providerID": "acme",
            "mode": self.agent, "agent": self.agent,
            "path": {"cwd": format!("@{}@", self.place), "root": format!("@{}@", self.place)},
            "cost": 0, "tokens": no_tokens()});
        self.messages.push(Message {
            info,
            parts: Vec::new(),
        });
        self
    }

    /// A step of the assistant begins: open, with its step-start.
    pub fn step(self, ago: i64) -> Self {
        self.blank(ago)
            .part(ago, json!({"type": "step-start", "snapshot": SNAPSHOT}))
    }

    /// The step is a summary.
    pub fn summary(mut self) -> Self {
        let info = &mut self.last().info;
        info["summary"] = json!(true);
        info["mode"] = json!("compaction");
        info["agent"] = json!("compaction");
        self
    }

    /// Adds to the newest message's `info`.
    pub fn info(mut self, key: &str, value: Value) -> Self {
        self.last().info[key] = value;
        self
    }

    fn part(mut self, ago: i64, body: Value) -> Self {
        let at = self.at(ago);
        let mut part = Map::new();
        part.insert("id".into(), json!(self.fresh("prt", at)));
        part.insert("sessionID".into(), json!(self.id));
        part.insert("messageID".into(), self.last().info["id"].clone());
        part.extend(body.as_object().expect("an object").clone());
        self.last().parts.push(Value::Object(part));
        self
    }

    /// Text that was written.
    pub fn text(self, from: i64, to: i64, text: &str) -> Self {
        let time = json!({"start": self.at(from), "end": self.at(to)});
        self.part(from, json!({"type": "text", "text": text, "time": time}))
    }

    /// Text that is being written: a read shows none of it.
    pub fn writing(self, from: i64) -> Self {
        let time = json!({"start": self.at(from)});
        self.part(from, json!({"type": "text", "text": "", "time": time}))
    }

    /// Reasoning that ended.
    pub fn thought(self, from: i64, to: i64) -> Self {
        let time = json!({"start": self.at(from), "end": self.at(to)});
        self.part(
            from,
            json!({"type": "reasoning", "text": "Let me see.", "time": time}),
        )
    }

    /// Reasoning that goes on.
    pub fn thinking(self, from: i64) -> Self {
        let time = json!({"start": self.at(from)});
        self.part(from, json!({"type": "reasoning", "text": "", "time": time}))
    }

    fn tool(mut self, ago: i64, tool: &str, state: &Value) -> Self {
        self.counter += 1;
        let call = format!("call_{}{:06}", self.at(ago), self.counter % 1_000_000);
        self.part(
            ago,
            json!({"type": "tool", "callID": call, "tool": tool, "state": state}),
        )
    }

    /// A tool whose arguments are being written since `ago`.
    pub fn arguments(self, ago: i64, tool: &str) -> Self {
        self.tool(
            ago,
            tool,
            &json!({"status": "pending", "input": {}, "raw": ""}),
        )
    }

    /// A tool that runs since `ago`.
    pub fn runs(self, ago: i64, tool: &str, input: Value) -> Self {
        let start = self.at(ago);
        self.tool(
            ago,
            tool,
            &json!({"status": "running", "input": input, "time": {"start": start}}),
        )
    }

    /// A running bash with its `timeout` in ms (0: none given) and what it has printed.
    pub fn bash(self, ago: i64, command: &str, timeout: i64, output: &str) -> Self {
        let state = json!({"status": "running", "input": bash_input(command, timeout),
            "metadata": {"output": output}, "time": {"start": self.at(ago)}});
        self.tool(ago, "bash", &state)
    }

    /// A bash that has not begun: it waits for a permission, so its metadata has no `output`.
    pub fn bash_not_begun(self, ago: i64, command: &str, timeout: i64) -> Self {
        self.runs(ago, "bash", bash_input(command, timeout))
    }

    /// `!command` of the person: its own user message, its own step, a bash without timeout.
    pub fn shell(self, ago: i64, command: &str) -> Self {
        self.synthetic(ago, "The following tool was executed by the user")
            .blank(ago)
            .runs(ago, "bash", json!({"command": command}))
    }

    /// A task that runs the child `child`.
    pub fn task(self, ago: i64, child: &Story) -> Self {
        let state = json!({"status": "running", "input": task_input(),
            "title": "look around",
            "metadata": {"parentSessionId": self.id, "sessionId": child.id,
                "model": {"modelID": "big-1", "providerID": "acme"}},
            "time": {"start": self.at(ago)}});
        self.tool(ago, "task", &state)
    }

    /// A task that returned; `state` is what its output says of the child.
    pub fn task_returned(self, (from, to): (i64, i64), child: &Story, state: &str) -> Self {
        let output = format!(
            "<task id=\"{}\" state=\"{state}\">\n<task_result>\nfound it\n</task_result>\n</task>",
            child.id
        );
        let state = json!({"status": "completed", "input": task_input(), "output": output,
            "title": "look around",
            "metadata": {"parentSessionId": self.id, "sessionId": child.id,
                "model": {"modelID": "big-1", "providerID": "acme"}, "truncated": false},
            "time": {"start": self.at(from), "end": self.at(to)}});
        self.tool(from, "task", &state)
    }

    /// A question that is open since `ago`.
    pub fn question(self, ago: i64, text: &str) -> Self {
        let input = json!({"questions": [questions(text)]});
        self.runs(ago, "question", input)
    }

    /// A tool that ended well.
    pub fn ran(self, (from, to): (i64, i64), tool: &str, input: &Value, output: &str) -> Self {
        let state = json!({"status": "completed", "input": input, "output": output,
            "title": tool, "metadata": {"output": output, "truncated": false},
            "time": {"start": self.at(from), "end": self.at(to)}});
        self.tool(from, tool, &state)
    }

    /// A tool that ended in an error.
    pub fn broke(self, (from, to): (i64, i64), tool: &str, input: &Value, error: &str) -> Self {
        let state = json!({"status": "error", "input": input, "error": error,
            "time": {"start": self.at(from), "end": self.at(to)}});
        self.tool(from, tool, &state)
    }

    /// The step closes: step-finish and `finish`, and `time.completed`.
    pub fn ends(self, ago: i64, finish: &str) -> Self {
        self.closing(ago, finish).completed(ago)
    }

    /// The step is about to close: `finish` stands, `time.completed` does not yet.
    pub fn closing(self, ago: i64, finish: &str) -> Self {
        let tokens = json!({"total": 110, "input": 100, "output": 10, "reasoning": 0,
            "cache": {"read": 0, "write": 0}});
        self.part(
            ago,
            json!({"type": "step-finish", "reason": finish, "snapshot": SNAPSHOT, "cost": 0,
                "tokens": tokens}),
        )
        .info("tokens", tokens.clone())
        .info("finish", json!(finish))
    }

    /// Sets `time.completed`, nothing else.
    pub fn completed(mut self, ago: i64) -> Self {
        let at = self.at(ago);
        self.last().info["time"]["completed"] = json!(at);
        self.touch(ago);
        self
    }

    /// The step ends with an error of the provider.
    pub fn fails(self, ago: i64, error: Value) -> Self {
        self.info("error", error).completed(ago)
    }

    /// The person stopped it.
    pub fn aborted(self, ago: i64) -> Self {
        self.fails(
            ago,
            json!({"name": "MessageAbortedError", "data": {"message": "Aborted"}}),
        )
    }

    /// `times` finished steps of one bash each, every `every` seconds, the newest ended `ago`.
    pub fn steps(mut self, times: i64, ago: i64, every: i64) -> Self {
        for n in (0..times).rev() {
            let end = ago + n * every;
            let command = json!({"command": format!("cargo test part_{n}"), "description": "test"});
            self = self
                .step(end + every - 1)
                .ran(
                    (end + 1, end),
                    "bash",
                    &command,
                    &format!("{n} tests passed"),
                )
                .ends(end, "tool-calls");
        }
        self
    }
}

/// What surrounds the conversation.
impl Story {
    /// A session made by a task of this one.
    pub fn child(&self, teller: &mut Teller, title: &str, busy: bool) -> Story {
        let mut child = if busy {
            teller.busy(&self.place, title)
        } else {
            teller.idle(&self.place, title)
        };
        child.parent = Some(self.id.clone());
        "general".clone_into(&mut child.agent);
        child
    }

    /// It belongs to another directory than its parent.
    pub fn moved(mut self, place: &str) -> Self {
        place.clone_into(&mut self.place);
        self
    }

    /// It was made by a task of a session that is gone.
    pub fn of_nobody(mut self) -> Self {
        self.parent = Some(id("ses", self.now - 40 * D * 1000, self.counter));
        self
    }

    pub fn archived(mut self, ago: i64) -> Self {
        self.archived = Some(self.at(ago));
        self
    }

    /// The person went back to the newest user message.
    pub fn reverted(mut self) -> Self {
        let user = self
            .messages
            .iter()
            .rev()
            .find(|m| m.info["role"] == "user")
            .expect("a prompt");
        self.revert = Some(json!({"messageID": user.info["id"], "snapshot": SNAPSHOT, "diff": ""}));
        self
    }

    /// The provider names what the person must do.
    pub fn action(mut self, title: &str) -> Self {
        self.status.as_mut().expect("a retry")["action"] = json!({"reason": "quota",
            "provider": "acme", "title": title, "message": "Your plan is used up.",
            "label": "Open", "link": "https://acme.test/billing"});
        self
    }

    fn call(&self) -> Value {
        let message = self.messages.last().expect("a message");
        let part = message
            .parts
            .iter()
            .rev()
            .find(|p| p["type"] == "tool")
            .expect("a tool");
        json!({"messageID": message.info["id"], "callID": part["callID"]})
    }

    /// A permission is asked for the newest tool part since `ago`.
    pub fn asks(mut self, ago: i64, permission: &str, pattern: &str) -> Self {
        let call = self.call();
        let ask = self.ask(ago, permission, pattern, Some(call));
        self.asks.push(Ask::Permission(ask));
        self
    }

    /// A permission is asked that names no tool call.
    pub fn asks_for_itself(mut self, ago: i64, permission: &str, pattern: &str) -> Self {
        let ask = self.ask(ago, permission, pattern, None);
        self.asks.push(Ask::Permission(ask));
        self
    }

    fn ask(&mut self, ago: i64, permission: &str, pattern: &str, call: Option<Value>) -> Value {
        let at = self.at(ago);
        let mut ask = json!({"id": self.fresh("per", at), "sessionID": self.id,
            "permission": permission, "patterns": [pattern], "metadata": {"command": pattern},
            "always": [format!("{} *", pattern.split(' ').next().unwrap_or("*"))]});
        if let Some(call) = call {
            ask["tool"] = call;
        }
        ask
    }

    /// The question of the newest tool part is listed since `ago`.
    pub fn asked(mut self, ago: i64, text: &str) -> Self {
        let (at, call) = (self.at(ago), self.call());
        let ask = json!({"id": self.fresh("que", at), "sessionID": self.id,
            "questions": [questions(text)], "tool": call});
        self.asks.push(Ask::Question(ask));
        self
    }
}

/// What the documents say.
impl Story {
    fn expects(mut self, verdict: Verdict) -> Self {
        self.expected.verdicts.push(verdict);
        self
    }

    /// `level`, `activity` (several allowed: `a|b`), and exactly these findings, the leading one first.
    pub fn is(mut self, level: &str, activity: &str, findings: &[&str]) -> Self {
        activity.clone_into(&mut self.expected.activity);
        self.expects(Verdict::new(level, findings))
    }

    /// Nothing to see, and nothing that settles.
    pub fn ok(mut self, activity: &str) -> Self {
        self.expected.quiet = true;
        self.is("ok", activity, &[])
    }

    /// Nothing to see yet.
    pub fn fine(self, activity: &str) -> Self {
        self.is("ok", activity, &[])
    }

    /// The document leaves the choice: this is right too.
    pub fn or(self, level: &str, findings: &[&str]) -> Self {
        self.expects(Verdict::new(level, findings))
    }

    /// May be named besides, at no higher level.
    pub fn may(mut self, finding: &str) -> Self {
        self.expected.optional.push(finding.to_owned());
        self
    }

    /// 3 s do not suffice to say it: `settling` names this.
    pub fn settles(mut self, finding: &str) -> Self {
        self.expected.quiet = false;
        self.expected.settling = Some(finding.to_owned());
        self
    }

    /// While `/permission` answers 400 this is right instead (called again: this too).
    pub fn blind(mut self, level: &str, findings: &[&str]) -> Self {
        let activity = self.expected.activity.clone();
        let blind = self.without_permissions.get_or_insert_with(|| Expected {
            activity: if activity == "asking" {
                "asking|running-tool".to_owned()
            } else {
                activity
            },
            ..Expected::default()
        });
        blind.verdicts.push(Verdict::new(level, findings));
        self
    }
}

fn no_tokens() -> Value {
    json!({"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}})
}

fn bash_input(command: &str, timeout: i64) -> Value {
    let mut input = json!({"command": command, "description": "run it"});
    if timeout > 0 {
        input["timeout"] = json!(timeout);
    }
    input
}

fn task_input() -> Value {
    json!({"description": "look around", "prompt": "Find it.", "subagent_type": "general"})
}

fn questions(text: &str) -> Value {
    json!({"question": text, "header": "Choose", "options": [
        {"label": "Yes", "description": "go on"}, {"label": "No", "description": "leave it"}]})
}
