//! Prompt, abort, dispose: what makes runs begin and end.
//!
//! What it does: the answers, which promise nothing (204 and `true` whatever happens). What it does not: the
//! effects themselves (see `life`).

use super::super::life::{self, Prompt, submit};
use super::super::wire::ModelRef;
use super::place::Place;
use super::{Answer, Missing, ok};
use axum::body::Bytes;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use serde::Deserialize;
use serde_json::json;

/// `POST /session/:id/prompt_async`: 204.
pub(crate) async fn prompt(place: Place, Path(id): Path<String>, body: Bytes) -> Answer {
    let prompt = parse(&body)?;
    place.session(&id).await?;
    submit(&place.server, &id, prompt);
    Ok(StatusCode::NO_CONTENT.into_response())
}

fn parse(body: &[u8]) -> Result<Prompt, Missing> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Asked {
        parts: Vec<TextPart>,
        model: Option<ModelRef>,
        agent: Option<String>,
        #[serde(default)]
        no_reply: bool,
    }
    #[derive(Deserialize)]
    struct TextPart {
        #[serde(default)]
        text: String,
    }
    let asked: Asked = serde_json::from_slice(body)
        .map_err(|_| Missing::Bad("Missing key\n  at [\"parts\"]".to_owned(), "Body"))?;
    let texts: Vec<_> = asked.parts.into_iter().map(|part| part.text).collect();
    Ok(Prompt {
        text: texts.join("\n"),
        model: asked.model,
        agent: asked.agent,
        no_reply: asked.no_reply,
        steps: None,
    })
}

/// `POST /session/:id/abort`: `true`, for ids that do not exist too.
pub(crate) async fn abort(place: Place, Path(id): Path<String>) -> Answer {
    // An unknown id is no error here; its directory is the query's.
    let directory = place
        .session(&id)
        .await
        .unwrap_or_else(|_| place.directory.clone());
    life::stop::abort(&place.server, &id, &directory);
    ok(true)
}

/// `POST /instance/dispose`: every run of the directory is aborted, then the instance is gone.
pub(crate) async fn dispose(place: Place) -> Answer {
    place.boot().await;
    life::stop::abort_directory(&place.server, &place.directory).await;
    place.server.world(|w| {
        w.live.instances.remove(&place.directory);
        let properties = json!({"directory": place.directory});
        w.emit(&place.directory, "server.instance.disposed", &properties);
        w.hub.close_directory(&place.directory);
    });
    ok(true)
}
