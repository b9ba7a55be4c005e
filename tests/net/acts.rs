//! Actions against a server that answers as it is told.

use super::{Fake, client, html, json};
use ocwatch::core::app::Outcome;
use ocwatch::core::id::{Directory, ServerId, SessionId, SessionKey};
use ocwatch::core::plan::{ActionName, Plan, Settle, Step};
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
