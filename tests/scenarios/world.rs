//! A scenario turned into the inputs that a link would have sent.
//!
//! Times inside messages are written in true time and sent in the server's clock, so that a file
//! can have a skew.

use super::spec::{
    AskRow, Dir, ErrorRow, Happening, InboxRow, MessageRow, PartRow, RetryRow, Row, Scenario, at,
    span,
};
use ocwatch::core::id::{AskId, CallId, Directory, Epoch, MessageId, PartId, ServerId, SessionId};
use ocwatch::core::time::{Span, UnixMs};
use ocwatch::core::wire::{
    Ask, AskKind, AsksRead, Body, Dialect, DirectoryReport, DirectoryState, Endpoint, Event,
    EventKind, Failure, InboxItem, InboxKind, InboxRead, Input, LinkReport, LostCause, McpRead,
    Message, ModelRef, Part, PartBody, Prose, Question, ReadFailed, Retry, Role, SessionInfo,
    SessionList, Status, StatusRead, TailRead, Tokens, ToolOutput, ToolPart, ToolRef, ToolState,
};
use std::collections::{BTreeMap, BTreeSet};

impl Scenario {
    /// Everything that is sent, in order of time.
    pub fn inputs(&self) -> Vec<Input> {
        let clock = Writer {
            skew: span(&self.skew),
        };
        let first = at(&self.first_look);
        let servers = 0..self.servers();
        let snapshots =
            servers.map(|n| self.server(n).snapshot(&clock, first, (n, Epoch(1)), None));
        let mut inputs: Vec<Input> = snapshots.flatten().collect();
        let mut epochs = BTreeMap::new();
        for event in &self.event {
            let when = at(&event.at);
            let epoch = epochs.entry(event.server).or_insert(Epoch(1));
            if let Some(running) = &event.reconnected {
                *epoch = Epoch(epoch.0 + 1);
                let source = (event.server, *epoch);
                let view = self.server(event.server);
                inputs.extend(view.snapshot(&clock, when, source, Some(running)));
                continue;
            }
            let home = self
                .session
                .iter()
                .find(|row| Some(&row.id) == event.session.as_ref());
            let asks = home.and_then(|row| event.asks_read(&row.directory, when));
            inputs.push(Input {
                server: ServerId(event.server),
                epoch: *epoch,
                at: when,
                body: asks.unwrap_or_else(|| event.body(&clock, when)),
            });
        }
        for text in &self.reread {
            inputs.extend(self.tails(&clock, at(text)));
        }
        inputs.sort_by_key(|input| input.at);
        inputs
    }

    /// The messages of every session of the first connection once more, unchanged.
    fn tails(&self, clock: &Writer, when: UnixMs) -> Vec<Input> {
        let tail = |row: &Row| Input {
            server: ServerId(row.server),
            epoch: Epoch(1),
            at: when,
            body: Body::Tail(TailRead {
                session: SessionId::from(row.id.as_str()),
                asked_at: when,
                messages: row.messages(clock),
                whole: !row.partial,
                missing: 0,
            }),
        };
        self.session.iter().map(tail).collect()
    }

    pub fn servers(&self) -> u16 {
        1 + self.session.iter().map(|row| row.server).max().unwrap_or(0)
    }

    /// What one server knows.
    fn server(&self, n: u16) -> View<'_> {
        let rows = self.session.iter();
        View {
            version: &self.version,
            unsecured: self.unsecured,
            partial_list: self.partial_list,
            directory: &self.directory,
            session: rows.filter(|row| row.server == n).collect(),
        }
    }
}

struct View<'a> {
    version: &'a str,
    unsecured: bool,
    partial_list: bool,
    directory: &'a [Dir],
    session: Vec<&'a Row>,
}

impl View<'_> {
    /// What a new connection reads. `running`: who is not idle, after a restart.
    fn snapshot(
        &self,
        clock: &Writer,
        when: UnixMs,
        (server, epoch): (u16, Epoch),
        running: Option<&BTreeMap<String, String>>,
    ) -> Vec<Input> {
        let mut bodies = vec![
            Body::Link(LinkReport::Connecting { attempt: 1 }),
            Body::Link(LinkReport::Identified {
                dialect: self.dialect(),
                version: Some(self.version.to_owned()),
                skew: Some(clock.skew),
                unsecured: self.unsecured,
            }),
            Body::Sessions(SessionList {
                rows: self
                    .listed(running.is_some())
                    .map(|row| row.info(clock))
                    .collect(),
                asked_at: when,
                complete: !self.partial_list,
            }),
        ];
        for directory in self.directories() {
            bodies.extend(self.directory_bodies(clock, &directory, when, running));
        }
        for row in self.listed(running.is_some()).filter(|row| !row.unread) {
            let messages = row.messages(clock);
            bodies.push(Body::Tail(TailRead {
                session: SessionId::from(row.id.as_str()),
                asked_at: when,
                messages,
                whole: !row.partial && row.missing == 0,
                missing: row.missing,
            }));
            if self.dialect() == Dialect::V2 {
                bodies.push(inbox(clock, &row.id, &row.inbox, when));
            }
        }
        bodies.push(Body::Link(LinkReport::Live));
        let wrap = |body| Input {
            server: ServerId(server),
            epoch,
            at: when,
            body,
        };
        bodies.into_iter().map(wrap).collect()
    }

    fn dialect(&self) -> Dialect {
        if self.version.starts_with("2.") {
            Dialect::V2
        } else {
            Dialect::V1
        }
    }

    fn listed(&self, again: bool) -> impl Iterator<Item = &&Row> {
        let rows = self.session.iter().filter(|row| !row.unlisted);
        rows.filter(move |row| !(again && row.forgotten))
    }

    fn directories(&self) -> BTreeSet<String> {
        let rows = self.session.iter().map(|row| row.directory.clone());
        rows.chain(self.directory.iter().map(|d| d.path.clone()))
            .collect()
    }

    fn directory_bodies(
        &self,
        clock: &Writer,
        path: &str,
        when: UnixMs,
        running: Option<&BTreeMap<String, String>>,
    ) -> Vec<Body> {
        let directory = Directory::from(path);
        let spec = self.directory.iter().find(|d| d.path == path);
        let state = directory_state(spec);
        let mut bodies = vec![Body::Directory(DirectoryReport {
            directory: directory.clone(),
            state,
        })];
        if state != DirectoryState::Loaded {
            return bodies;
        }
        if let Some(servers) = spec.and_then(|d| d.mcp.clone()) {
            let directory = directory.clone();
            bodies.push(Body::Mcp(McpRead { directory, servers }));
        }
        let failed = |endpoint, status| {
            Body::Failed(ReadFailed {
                endpoint,
                directory: Some(directory.clone()),
                session: None,
                status: Some(status),
                text: format!("status {status}"),
            })
        };
        if spec.is_some_and(|d| d.state == "failed") {
            bodies.push(failed(Endpoint::Status, 500));
            return bodies;
        }
        let here = || self.session.iter().filter(|row| row.directory == path);
        let entries = here()
            .filter_map(|row| Some((SessionId::from(row.id.as_str()), row.told(clock, running)?)));
        bodies.push(Body::Status(StatusRead {
            directory: directory.clone(),
            asked_at: when,
            entries: entries.collect(),
        }));
        for kind in [AskKind::Permission, AskKind::Question] {
            let (name, endpoint) = match kind {
                AskKind::Permission => ("permission", Endpoint::Permission),
                AskKind::Question => ("question", Endpoint::Question),
            };
            match spec.map(|d| (d.gap.as_deref(), d.gap_status)) {
                Some((Some("unread"), _)) => continue,
                Some((Some(gap), status)) if gap == name => {
                    bodies.push(failed(endpoint, status));
                    bodies.push(failed(endpoint, status));
                    continue;
                }
                _ => {}
            }
            let all = here().flat_map(|row| row.ask.iter().map(|ask| ask.ask(&row.id)));
            let asks = all.filter(|ask| ask.kind == kind && running.is_none());
            bodies.push(Body::Asks(AsksRead {
                directory: directory.clone(),
                kind,
                asked_at: when,
                asks: asks.collect(),
            }));
        }
        bodies
    }
}

fn directory_state(spec: Option<&Dir>) -> DirectoryState {
    match spec.map_or("", |d| d.state.as_str()) {
        "" | "loaded" | "failed" => DirectoryState::Loaded,
        "asleep" => DirectoryState::Asleep,
        "gone" => DirectoryState::Gone,
        other => panic!("unknown state {other}"),
    }
}

struct Writer {
    skew: Span,
}

impl Writer {
    /// Server's time.
    fn at(&self, text: &str) -> UnixMs {
        at(text) + self.skew
    }
    fn maybe(&self, text: Option<&String>) -> Option<UnixMs> {
        text.map(|text| self.at(text))
    }
    fn retry(&self, row: &RetryRow) -> Status {
        Status::Retry(Retry {
            attempt: row.attempt,
            message: row.message.clone(),
            next: self.maybe(row.next.as_ref()),
            action: row.action.clone(),
        })
    }
}

fn inbox(clock: &Writer, session: &str, rows: &[InboxRow], when: UnixMs) -> Body {
    let item = |row: &InboxRow| InboxItem {
        id: MessageId::from(row.id.as_str()),
        kind: match row.kind.as_str() {
            "user" => InboxKind::Prompt,
            other => InboxKind::Other(other.to_owned()),
        },
        created: clock.at(&row.at),
        text: row.text.clone(),
    };
    Body::Inbox(InboxRead {
        session: SessionId::from(session),
        asked_at: when,
        items: rows.iter().map(item).collect(),
    })
}

fn status(word: &str) -> Status {
    match word {
        "idle" => Status::Idle,
        "busy" => Status::Busy,
        other => Status::Other(other.to_owned()),
    }
}

impl Row {
    fn info(&self, clock: &Writer) -> SessionInfo {
        let newest = self.message.iter().flat_map(|m| {
            let end = m.completed.as_ref().map(|end| clock.at(end));
            [Some(clock.at(&m.at)), end]
        });
        let updated = self.updated.as_ref().map(|text| clock.at(text));
        let newest = newest.flatten().max();
        SessionInfo {
            id: SessionId::from(self.id.as_str()),
            title: self.title.clone().unwrap_or(format!("Session {}", self.id)),
            directory: Directory::from(self.directory.as_str()),
            parent: self.parent.as_deref().map(SessionId::from),
            agent: Some("build".into()),
            model: Some(ModelRef {
                provider: "provider".into(),
                model: "model".into(),
            }),
            created: clock.at(&self.created),
            updated: updated.or(newest).unwrap_or(clock.at(&self.created)),
            archived: clock.maybe(self.archived.as_ref()),
            reverted: self.reverted,
            cost: 0.0,
            tokens: Tokens::default(),
        }
    }

    fn told(&self, clock: &Writer, running: Option<&BTreeMap<String, String>>) -> Option<Status> {
        let told = match (running, &self.retry) {
            (Some(running), _) => status(running.get(&self.id)?),
            (None, Some(retry)) => clock.retry(retry),
            (None, None) => status(&self.status),
        };
        (told != Status::Idle).then_some(told)
    }

    fn messages(&self, clock: &Writer) -> Vec<Message> {
        messages(clock, &self.id, &self.message)
    }
}

fn event(kind: EventKind) -> Body {
    Body::Event(Event {
        directory: None,
        kind,
    })
}

fn messages(clock: &Writer, session: &str, rows: &[MessageRow]) -> Vec<Message> {
    let mut prompt = None;
    rows.iter()
        .map(|row| {
            if row.from == "user" {
                prompt = Some(row.id.clone());
            }
            row.message(clock, session, prompt.as_deref())
        })
        .collect()
}

impl MessageRow {
    fn message(&self, clock: &Writer, session: &str, prompt: Option<&str>) -> Message {
        let role = match self.from.as_str() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            // The end of a turn in 2.x; `finish` is its outcome.
            "idle" => Role::Other("idle".into()),
            other => panic!("unknown role {other}"),
        };
        let answers = role == Role::Assistant;
        let parent = self.parent.as_deref().or(prompt).filter(|_| answers);
        let parts = self.parts.iter().enumerate();
        Message {
            id: MessageId::from(self.id.as_str()),
            session: SessionId::from(session),
            role,
            parent: parent.map(MessageId::from),
            created: clock.at(&self.at),
            completed: clock.maybe(self.completed.as_ref()),
            finish: self.finish.clone(),
            error: self.error.as_ref().map(ErrorRow::failure),
            summary: self.summary,
            structured: self.structured,
            agent: None,
            model: None,
            cost: 0.0,
            tokens: Tokens::default(),
            parts: parts
                .map(|(n, part)| part.part(clock, session, &self.id, n))
                .collect(),
        }
    }
}

impl ErrorRow {
    fn failure(&self) -> Failure {
        Failure {
            name: self.name.clone(),
            message: self.message.clone(),
            status_code: self.status,
        }
    }
}

impl PartRow {
    fn part(&self, clock: &Writer, session: &str, message: &str, n: usize) -> Part {
        let id = self.id.clone().unwrap_or(format!("{message}.{n}"));
        Part {
            id: PartId::from(id),
            session: SessionId::from(session),
            message: MessageId::from(message),
            body: self.body(clock),
        }
    }

    fn body(&self, clock: &Writer) -> PartBody {
        if let Some(tool) = &self.tool {
            return PartBody::Tool(Box::new(self.tool(clock, tool)));
        }
        if self.compaction {
            return PartBody::Compaction;
        }
        if let Some(kind) = &self.kind {
            return PartBody::Other(kind.clone());
        }
        match (&self.text, &self.reasoning, self.step.as_deref()) {
            (Some(text), ..) => PartBody::Text(self.prose(clock, text)),
            (_, Some(text), _) => PartBody::Reasoning(self.prose(clock, text)),
            (_, _, Some("start")) => PartBody::StepStart,
            (_, _, Some(reason)) => PartBody::StepFinish(reason.to_owned()),
            _ => panic!("a part is a tool, text, reasoning or step"),
        }
    }

    /// As it stands in `state.input`.
    fn questions(&self) -> Option<serde_json::Value> {
        let question = self.question.as_ref()?;
        let options = self.options.iter();
        let options = options.map(|label| serde_json::json!({ "label": label }));
        let options: Vec<_> = options.collect();
        Some(serde_json::json!([{ "question": question, "options": options }]))
    }

    fn prose(&self, clock: &Writer, text: &str) -> Prose {
        Prose {
            excerpt: text.to_owned(),
            bytes: text.len(),
            synthetic: self.synthetic,
            start: clock.maybe(self.start.as_ref()),
            end: clock.maybe(self.end.as_ref()),
        }
    }

    fn tool(&self, clock: &Writer, tool: &str) -> ToolPart {
        let output = self.output.as_ref();
        ToolPart {
            call: self.call.as_deref().map(CallId::from),
            tool: tool.to_owned(),
            state: match self.state.as_str() {
                "pending" => ToolState::Pending,
                "running" => ToolState::Running,
                "completed" => ToolState::Completed,
                "error" => ToolState::Error,
                "new" => ToolState::Other("new".into()),
                other => panic!("unknown tool state {other}"),
            },
            subject: self.subject.clone(),
            timeout_ms: self.timeout.as_ref().map(|text| span(text).as_ms()),
            input_keys: self.keys.clone(),
            input_digest: self.input.bytes().map(u64::from).sum(),
            questions: self.questions(),
            output: ToolOutput {
                present: output.is_some(),
                bytes: output.map_or(0, String::len),
                digest: output.map_or(0, |text| text.bytes().map(u64::from).sum()),
            },
            child: self.child.as_deref().map(SessionId::from),
            interrupted: false,
            background: self.background,
            error: self.error.clone(),
            start: clock.maybe(self.start.as_ref()),
            end: clock.maybe(self.end.as_ref()),
        }
    }
}

impl AskRow {
    fn ask(&self, session: &str) -> Ask {
        let kind = match self.kind.as_str() {
            "permission" => AskKind::Permission,
            "question" => AskKind::Question,
            other => panic!("unknown kind {other}"),
        };
        let questions = self.question.iter().map(|text| Question {
            question: text.clone(),
            header: String::new(),
            options: Vec::new(),
            multiple: false,
        });
        Ask {
            id: AskId::from(self.id.as_str()),
            session: SessionId::from(session),
            kind,
            tool: self.tool.as_ref().map(|(message, call)| ToolRef {
                message: MessageId::from(message.as_str()),
                call: CallId::from(call.as_str()),
            }),
            permission: self.permission.clone(),
            patterns: self.patterns.clone(),
            always: Vec::new(),
            command: None,
            diff: None,
            questions: questions.collect(),
        }
    }
}

impl Happening {
    fn body(&self, clock: &Writer, when: UnixMs) -> Body {
        if let Some(cause) = &self.lost {
            return Body::Link(LinkReport::Lost {
                cause: match cause.as_str() {
                    "refused" => LostCause::Refused,
                    "unreachable" => LostCause::Unreachable,
                    "wedged" => LostCause::Wedged,
                    "unauthorized" => LostCause::Unauthorized,
                    "not-opencode" => LostCause::NotOpencode,
                    other => panic!("unknown cause {other}"),
                },
                text: format!("connection {cause}"),
                retry_at: when + Span::secs(1),
            });
        }
        if self.clock_jumped {
            return Body::ClockJumped;
        }
        if let Some(directory) = &self.disposed {
            return event(EventKind::InstanceDisposed(directory.as_str().into()));
        }
        self.of_session(clock, when)
            .unwrap_or_else(|| event(self.kind(clock)))
    }

    /// What is no event, but of one session.
    fn of_session(&self, clock: &Writer, when: UnixMs) -> Option<Body> {
        let name = self.session.as_deref().expect("an event has a session");
        let session = SessionId::from(name);
        if self.abort_sent {
            return Some(Body::AbortSent(session));
        }
        if let Some(rows) = &self.inbox {
            return Some(inbox(clock, name, rows, when));
        }
        if let Some(rows) = &self.read {
            return Some(Body::Tail(TailRead {
                messages: messages(clock, name, rows),
                session,
                asked_at: when,
                whole: true,
                missing: 0,
            }));
        }
        match self.gone.as_deref() {
            Some("404") => Some(Body::SessionGone(session)),
            Some("deleted") => Some(event(EventKind::SessionDeleted(session))),
            Some(other) => panic!("unknown end {other}"),
            None => None,
        }
    }

    /// A list of asks of one directory.
    fn asks_read(&self, directory: &str, when: UnixMs) -> Option<Body> {
        let session = self.session.as_deref().unwrap_or_default();
        let kind = match self.asks_read.as_deref()? {
            "permission" => AskKind::Permission,
            "question" => AskKind::Question,
            other => panic!("unknown kind {other}"),
        };
        Some(Body::Asks(AsksRead {
            directory: directory.into(),
            kind,
            asked_at: when,
            asks: self.asks.iter().map(|ask| ask.ask(session)).collect(),
        }))
    }

    fn kind(&self, clock: &Writer) -> EventKind {
        let name = self.session.as_deref().expect("an event has a session");
        let session = SessionId::from(name);
        if let Some(word) = &self.status {
            let status = status(word);
            return EventKind::Status { session, status };
        }
        if let Some(retry) = &self.retry {
            let status = clock.retry(retry);
            return EventKind::Status { session, status };
        }
        if let Some(row) = &self.message {
            return EventKind::MessageUpdated(Box::new(row.message(clock, name, None)));
        }
        if let Some(row) = &self.part {
            let of = self.of.as_deref().expect("`of` names the message");
            return EventKind::PartUpdated(Box::new(row.part(clock, name, of, 0)));
        }
        if let Some(part) = &self.delta {
            return EventKind::Delta {
                session,
                message: MessageId::from(self.of.as_deref().unwrap_or_default()),
                part: PartId::from(part.as_str()),
                text: "more".into(),
            };
        }
        self.ask_kind(session, name)
    }

    fn ask_kind(&self, session: SessionId, name: &str) -> EventKind {
        match (&self.error, &self.ask, &self.closed) {
            (Some(error), ..) => EventKind::SessionError {
                session: Some(session),
                failure: error.failure(),
            },
            (_, Some(ask), _) => EventKind::Asked(Box::new(ask.ask(name))),
            (_, _, Some(ask)) => EventKind::AskClosed {
                session,
                ask: AskId::from(ask.as_str()),
            },
            _ => panic!("an event says what happened"),
        }
    }
}
