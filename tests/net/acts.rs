//! Actions against a server that answers as it is told.

use super::{Fake, client, html, json};
use ocwatch::core::app::Outcome;
use ocwatch::core::id::{Directory, ServerId, SessionId, SessionKey};
use ocwatch::core::plan::{ActionName, Plan, Settle, Step};
use ocwatch::core::wire::TodoStatus;
use ocwatch::shell::act::abort::{Patience, abort};
use pretty_assertions::assert_eq;
use std::cell::RefCell;
use std::time::Duration;

fn plan() -> Plan {
    let (session, directory) = (SessionId::from("ses_1"), Directory::from("/p"));
    Plan {
        action: ActionName::Abort,
        key: SessionKey::new(ServerId(0), session.clone()),
        title: String::new(),
        steps: vec![Step::Abort {
            session: session.clone(),
            directory: directory.clone(),
        }],
        settle: vec![Settle { session, directory }],
        lines: Vec::new(),
        newest: None,
        idle_before: false,
    }
}

const HASTY: Patience = Patience {
    running: Duration::ZERO,
    idle: Duration::ZERO,
    pause: Duration::ZERO,
};

#[tokio::test]
async fn an_abort_is_called_sent_only_when_it_goes_out() {
    let fake = Fake::opencode(r#"{"data":[],"cursor":{"next":null}}"#).await;
    let sent = RefCell::new(Vec::new());
    let send = |fake: &Fake| {
        let client = client(fake.port);
        let sent = &sent;
        async move {
            let tell = |session: &SessionId| sent.borrow_mut().push(session.clone());
            abort(&client, &plan(), HASTY, tell).await
        }
    };
    fake.set("/session/status?directory=%2Fp", html());
    assert!(matches!(send(&fake).await, Outcome::Failed(_)));
    assert_eq!(sent.take(), [], "it could not be read before");

    let busy = json(r#"{"ses_1":{"type":"busy"}}"#);
    fake.set("/session/status?directory=%2Fp", busy);
    fake.set("/session/ses_1/message?limit=20", json("[]"));
    fake.set("/session/ses_1/abort?directory=%2Fp", json("true"));
    assert!(matches!(send(&fake).await, Outcome::NoEffect(_)));
    assert_eq!(sent.take(), [SessionId::from("ses_1")]);
}

#[tokio::test]
async fn a_list_of_things_to_do_is_read_row_by_row() {
    let fake = Fake::opencode(r#"{"data":[],"cursor":{"next":null}}"#).await;
    let list = r#"[{"content":"one","status":"in_progress","priority":"high"},7,
        {"content":"two","status":"later"}]"#;
    fake.set("/session/ses_1/todo", json(list));
    let client = client(fake.port);
    let read = client.todo(&SessionId::from("ses_1")).await;
    let read = read.expect("the list");
    assert_eq!(
        read.skipped, 1,
        "a row that is none costs the others nothing"
    );
    let statuses: Vec<TodoStatus> = read.items.into_iter().map(|it| it.status).collect();
    let later = TodoStatus::Other("later".into());
    assert_eq!(statuses, [TodoStatus::InProgress, later]);
    fake.set("/session/ses_1/todo", html());
    let missing = client.todo(&SessionId::from("ses_1")).await;
    assert!(missing.is_err_and(|why| why.is_missing()));
}
