//! Questions and permissions: lists of one directory, replies through the right directory only.
//!
//! What it does: take an ask off its list, say so, and pass the reply to the turn that waits, if one does (a
//! ghost has none). What it does not: end the turn. Invariant: each ask is replied to once.

use super::super::wire::PermissionAsk;
use super::super::world::{Reply, World};
use super::place::Place;
use super::{Answer, Missing, ok};
use axum::body::Bytes;
use axum::extract::Path;
use serde::Deserialize;
use serde_json::json;

/// `GET /question`.
pub(crate) async fn questions(place: Place) -> Answer {
    place.boot().await;
    let list: Vec<_> = place.server.world(|w| {
        let here = w
            .live
            .questions
            .iter()
            .filter(|q| q.directory == place.directory);
        here.map(|q| q.ask.clone()).collect()
    });
    ok(list)
}

/// `GET /permission`: 400 while one of them lacks an optional input.
pub(crate) async fn permissions(place: Place) -> Answer {
    place.boot().await;
    let list = place.server.world(|w| {
        let here = w
            .live
            .permissions
            .iter()
            .filter(|p| p.directory == place.directory);
        here.cloned().collect::<Vec<_>>()
    });
    if let Some(index) = list.iter().position(|p| p.unreadable) {
        let text = format!(
            "Expected JSON value, got undefined\n  at [{index}][\"metadata\"][\"timeout\"]"
        );
        return Err(Missing::Bad(text, "Body"));
    }
    let list: Vec<PermissionAsk> = list.into_iter().map(|p| p.ask).collect();
    ok(list)
}

/// `POST /question/:id/reply`.
pub(crate) async fn answer(place: Place, Path(id): Path<String>, body: Bytes) -> Answer {
    #[derive(Deserialize)]
    struct Answers {
        answers: Vec<Vec<String>>,
    }
    let answers = serde_json::from_slice::<Answers>(&body).map_err(|_| missing_key("answers"))?;
    place.boot().await;
    close_question(&place, &id, Reply::Answers(answers.answers))
}

/// `POST /question/:id/reject`.
pub(crate) async fn dismiss(place: Place, Path(id): Path<String>) -> Answer {
    place.boot().await;
    close_question(&place, &id, Reply::Dismissed)
}

fn close_question(place: &Place, id: &str, reply: Reply) -> Answer {
    place.server.world(|w| {
        let mine =
            |q: &super::super::world::Pending| q.ask.id == id && q.directory == place.directory;
        let index = w.live.questions.iter().position(mine);
        let index = index.ok_or_else(|| Missing::Question(id.to_owned()))?;
        let ask = w.live.questions.remove(index).ask;
        let mut properties = json!({"sessionID": ask.session_id, "requestID": ask.id});
        let kind = if let Reply::Answers(answers) = &reply {
            properties["answers"] = json!(answers);
            "question.replied"
        } else {
            "question.rejected"
        };
        w.emit(&place.directory, kind, &properties);
        pass(w, &ask.session_id, ask.id, reply);
        ok(true)
    })
}

/// `POST /permission/:id/reply`.
pub(crate) async fn decide(place: Place, Path(id): Path<String>, body: Bytes) -> Answer {
    #[derive(Deserialize)]
    struct Decision {
        reply: String,
        message: Option<String>,
    }
    let decision: Decision = serde_json::from_slice(&body).map_err(|_| missing_key("reply"))?;
    let known = ["once", "always", "reject"].contains(&decision.reply.as_str());
    if !known {
        let text = "Expected \"once\" | \"always\" | \"reject\"\n  at [\"reply\"]".to_owned();
        return Err(Missing::Bad(text, "Body"));
    }
    place.boot().await;
    place.server.world(|w| {
        let ask = take_permission(w, &place.directory, &id);
        let ask = ask.ok_or_else(|| Missing::Permission(id.clone()))?;
        let reply = match decision.reply.as_str() {
            "reject" => Reply::Rejected(decision.message),
            _ => Reply::Allowed,
        };
        if decision.reply == "always" {
            let allowed = ask
                .always
                .iter()
                .map(|p| (place.directory.clone(), p.clone()));
            w.live.always.extend(allowed);
        }
        let session = ask.session_id.clone();
        let rejected = decision.reply == "reject";
        replied(w, &place.directory, ask, &decision.reply, reply);
        if rejected {
            reject_others(w, &place.directory, &session);
        }
        ok(true)
    })
}

fn take_permission(w: &mut World, directory: &str, id: &str) -> Option<PermissionAsk> {
    let list = &mut w.live.permissions;
    let index = list
        .iter()
        .position(|p| p.ask.id == id && p.directory == directory)?;
    Some(list.remove(index).ask)
}

fn replied(w: &mut World, directory: &str, ask: PermissionAsk, word: &str, reply: Reply) {
    let properties = json!({
        "sessionID": ask.session_id,
        "requestID": ask.id,
        "reply": word,
    });
    w.emit(directory, "permission.replied", &properties);
    pass(w, &ask.session_id, ask.id, reply);
}

/// Rejecting one permission rejects the session's others.
fn reject_others(w: &mut World, directory: &str, session: &str) {
    let others = w
        .live
        .permissions
        .iter()
        .filter(|p| p.ask.session_id == session);
    let others: Vec<_> = others.map(|p| p.ask.id.clone()).collect();
    for id in others {
        if let Some(ask) = take_permission(w, directory, &id) {
            replied(w, directory, ask, "reject", Reply::Rejected(None));
        }
    }
}

/// To the turn that waits; nobody waits for a ghost.
fn pass(w: &mut World, session: &str, ask: String, reply: Reply) {
    if w.live.runs.contains_key(session) {
        w.live.replies.insert(ask, reply);
    }
}

fn missing_key(key: &str) -> Missing {
    Missing::Bad(format!("Missing key\n  at [\"{key}\"]"), "Body")
}
