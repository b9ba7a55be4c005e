//! The HTTP face: one router, one gate before it, shared answers.
//!
//! What it does: record each request, check credentials, strike with faults, set the `Date` of the
//! server's clock, and answer every unknown path with `200 text/html`. What it does not: hold state.
//! Invariant: the gate sees every request, also those to unknown paths.

mod acts;
mod asks;
mod lists;
mod messages;
mod place;
mod sessions;
mod stream;

use super::date;
use super::fault::spoil;
use super::server::Server;
use super::world::Request as Seen;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, patch, post};
use axum::{Json, Router};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;

type Routes = Router<Arc<Server>>;

/// Nothing that is sent is larger.
const LARGEST_BODY: usize = 64 << 20;

/// Everything that the simulated server answers.
pub(crate) fn router(server: Arc<Server>) -> Router {
    Router::new()
        .merge(server_routes())
        .merge(session_routes())
        .merge(ask_routes())
        .fallback(any_page)
        .method_not_allowed_fallback(any_page)
        .layer(middleware::from_fn_with_state(server.clone(), gate))
        .with_state(server)
}

fn server_routes() -> Routes {
    Router::new()
        .route("/global/health", get(lists::health))
        .route("/global/event", get(stream::global))
        .route("/event", get(stream::directory))
        .route("/api/health", fixed(json!({"healthy": true})))
        .route("/api/session", get(lists::api_sessions))
        .route("/experimental/session", get(lists::experimental_sessions))
        .route("/doc", fixed(lists::document()))
        .route("/path", get(lists::path))
        .route("/project", get(lists::projects))
        .route("/mcp", get(lists::mcp))
        .route("/config/providers", get(lists::providers))
        .route("/sync/history", post(lists::history))
        .route("/instance/dispose", post(acts::dispose))
}

fn session_routes() -> Routes {
    let part = "/session/{id}/message/{message}/part/{part}";
    Router::new()
        .route("/session", get(lists::sessions).post(sessions::create))
        .route("/session/status", get(sessions::status))
        .route(
            "/session/{id}",
            get(sessions::read)
                .delete(sessions::delete)
                .patch(sessions::update),
        )
        .route("/session/{id}/children", get(sessions::children))
        .route("/session/{id}/todo", get(sessions::todo))
        .route("/session/{id}/message", get(messages::list))
        .route(
            "/session/{id}/message/{message}",
            get(messages::read).delete(messages::delete),
        )
        .route(
            part,
            patch(messages::patch_part).delete(messages::delete_part),
        )
        .route("/session/{id}/prompt_async", post(acts::prompt))
        .route("/session/{id}/abort", post(acts::abort))
        .route("/session/{id}/fork", post(sessions::fork))
        .route("/session/{id}/revert", post(sessions::revert))
        .route("/session/{id}/unrevert", post(sessions::unrevert))
}

fn ask_routes() -> Routes {
    Router::new()
        .route("/question", get(asks::questions))
        .route("/question/{id}/reply", post(asks::answer))
        .route("/question/{id}/reject", post(asks::dismiss))
        .route("/permission", get(asks::permissions))
        .route("/permission/{id}/reply", post(asks::decide))
}

async fn any_page() -> Response {
    page()
}

fn fixed(body: Value) -> MethodRouter<Arc<Server>> {
    get(move || async move { Json(body) })
}

async fn gate(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let (head, body) = request.into_parts();
    let body = to_bytes(body, LARGEST_BODY).await.unwrap_or_default();
    let stalled = record(&server, &head, &body);
    let request = Request::from_parts(head, Body::from(body));
    if stalled {
        return std::future::pending().await;
    }
    let mut response = if allowed(&server, request.headers()) {
        let fault = server.faults(|faults| faults.strike(&path));
        match fault {
            Some(fault) => spoil(fault, next.run(request)).await,
            None => next.run(request).await,
        }
    } else {
        unauthorized(path.starts_with("/api/"))
    };
    let now = server.world(|w| date::http(w.now()));
    let headers = response.headers_mut();
    headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    if let Ok(now) = HeaderValue::from_str(&now) {
        headers.insert(header::DATE, now);
    }
    response
}

/// Notes the request; `true` if it is one of the first after the start, which are never answered.
fn record(server: &Server, head: &Parts, body: &[u8]) -> bool {
    let method = head.method.to_string();
    let path = head
        .uri
        .path_and_query()
        .map_or_else(|| head.uri.path(), |p| p.as_str());
    server.world(|w| {
        let at = w.now();
        w.note(Seen {
            at,
            method,
            path: path.to_owned(),
            body: String::from_utf8_lossy(body).into_owned(),
        });
        w.take_stall()
    })
}

fn allowed(server: &Server, headers: &HeaderMap) -> bool {
    let Some((user, password)) = &server.config.auth else {
        return true;
    };
    let wanted = format!("Basic {}", STANDARD.encode(format!("{user}:{password}")));
    let given = headers.get(header::AUTHORIZATION);
    given.is_some_and(|value| value.as_bytes() == wanted.as_bytes())
}

/// 401: an empty body, or JSON below `/api/`.
pub(crate) fn unauthorized(api: bool) -> Response {
    let realm = HeaderValue::from_static("Basic realm=\"Secure Area\"");
    let body = json!({"_tag": "UnauthorizedError", "message": "Authentication required"});
    let mut response = if api {
        (StatusCode::UNAUTHORIZED, Json(body)).into_response()
    } else {
        StatusCode::UNAUTHORIZED.into_response()
    };
    response
        .headers_mut()
        .insert(header::WWW_AUTHENTICATE, realm);
    response
}

/// The web page that stands for every unknown path, whatever the method.
pub(crate) fn page() -> Response {
    const PAGE: &str = "<!doctype html>\n<html lang=\"en\">\n  <head>\n    <meta charset=\"utf-8\" />\n    \
        <title>OpenCode</title>\n  </head>\n  <body>\n    <div id=\"root\"></div>\n  </body>\n</html>\n";
    let kind = HeaderValue::from_static("text/html");
    ([(header::CONTENT_TYPE, kind)], PAGE).into_response()
}

/// What is not there, or not as it should be, in the server's words.
#[derive(Debug)]
pub(crate) enum Missing {
    /// 404 of a session.
    Session(String),
    /// 404 of a message or part.
    Thing(String),
    /// 404 of a question in this directory.
    Question(String),
    /// 404 of a permission in this directory.
    Permission(String),
    /// 400 with a reason and where: `Query` or `Body`.
    Bad(String, &'static str),
    /// 400 without words.
    Cursor,
    /// 400 of `/api/session`.
    ApiCursor,
    /// 409.
    Busy(String),
}

impl IntoResponse for Missing {
    fn into_response(self) -> Response {
        let gone = |message: String| json!({"name": "NotFoundError", "data": {"message": message}});
        let (status, body) = match self {
            Self::Session(id) => (404, gone(format!("Session not found: {id}"))),
            Self::Thing(id) => (404, gone(format!("Message not found: {id}"))),
            Self::Question(id) => (404, ask_gone("Question", &id)),
            Self::Permission(id) => (404, ask_gone("Permission", &id)),
            Self::Bad(message, kind) => (400, bad(&message, kind)),
            Self::Cursor => (400, json!({"_tag": "BadRequest"})),
            Self::ApiCursor => (400, invalid_cursor()),
            Self::Busy(id) => (409, busy(&id)),
        };
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
        (status, Json(body)).into_response()
    }
}

fn ask_gone(kind: &str, id: &str) -> Value {
    json!({
        "_tag": format!("{kind}NotFoundError"),
        "requestID": id,
        "message": format!("{kind} request not found: {id}"),
    })
}

fn bad(message: &str, kind: &str) -> Value {
    json!({"name": "BadRequest", "data": {"message": message, "kind": kind}})
}

fn invalid_cursor() -> Value {
    json!({"_tag": "InvalidCursorError", "message": "Invalid cursor"})
}

fn busy(id: &str) -> Value {
    json!({"_tag": "SessionBusyError", "sessionID": id, "message": format!("Session is busy: {id}")})
}

/// What most handlers give.
pub(crate) type Answer = Result<Response, Missing>;

/// `200 application/json`.
#[expect(
    clippy::unnecessary_wraps,
    reason = "the shape of every handler's answer"
)]
pub(crate) fn ok(body: impl Serialize) -> Answer {
    Ok(Json(body).into_response())
}
