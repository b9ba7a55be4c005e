//! Ways to be broken: a server that stalls, cuts, lies or refuses, path by path.
//!
//! What it does: decide, per request, whether and how the answer is spoiled. What it does not: produce the
//! answer. Invariant: a request that no fault matches is answered as ever; requests are recorded before.

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use std::time::Duration;

/// How an answer is spoiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// No answer, ever; the connection stays open.
    Stall,
    /// What is asked is done, but no answer comes, ever.
    Lost,
    /// The right answer, this much later.
    Delay(Duration),
    /// The right head and half of the body, then the connection is cut. Not for event streams, whose body
    /// never ends: see [`super::Sim::end_streams`] and [`super::Sim::stop`].
    Cut,
    /// `200 text/html`: the web page, as for a path that does not exist.
    Html,
    /// This HTTP status with a JSON error body.
    Status(u16),
    /// `200 application/json` with a body that is not JSON.
    Garbage,
    /// `200 application/json` with this body.
    Json(String),
    /// 401, whatever the credentials.
    Unauthorized,
}

#[derive(Debug)]
struct Rule {
    /// Exact path, or a prefix ending in `*`.
    pattern: String,
    fault: Fault,
    /// How often it still strikes; `None`: always.
    left: Option<u32>,
}

/// The faults of one server, newest last; the newest that matches strikes.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    rules: Vec<Rule>,
}

impl Faults {
    pub(crate) fn add(&mut self, pattern: &str, fault: Fault, times: Option<u32>) {
        self.rules.push(Rule {
            pattern: pattern.to_owned(),
            fault,
            left: times,
        });
    }

    pub(crate) fn clear(&mut self) {
        self.rules.clear();
    }

    /// The fault for a request, which is used up by one strike.
    pub(crate) fn strike(&mut self, path: &str) -> Option<Fault> {
        let rule = self
            .rules
            .iter_mut()
            .rfind(|rule| rule.left != Some(0) && matches(&rule.pattern, path))?;
        if let Some(left) = &mut rule.left {
            *left -= 1;
        }
        Some(rule.fault.clone())
    }
}

fn matches(pattern: &str, path: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => path.starts_with(prefix),
        None => pattern == path,
    }
}

/// The spoiled answer; `right` produces the right one where it is needed.
pub(crate) async fn spoil(fault: Fault, right: impl Future<Output = Response>) -> Response {
    match fault {
        Fault::Stall => std::future::pending().await,
        Fault::Lost => {
            drop(right.await);
            std::future::pending().await
        }
        Fault::Delay(time) => {
            tokio::time::sleep(time).await;
            right.await
        }
        Fault::Cut => cut(right.await).await,
        Fault::Html => super::routes::page(),
        Fault::Status(code) => status(code),
        Fault::Garbage => json("{\"healthy\": tru".to_owned()),
        Fault::Json(body) => json(body),
        Fault::Unauthorized => super::routes::unauthorized(false),
    }
}

fn status(code: u16) -> Response {
    let status = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let body = r#"{"name":"UnknownError","data":{"message":"simulated failure"}}"#;
    (status, json(body.to_owned())).into_response()
}

fn json(body: String) -> Response {
    let kind = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, kind)], body).into_response()
}

/// Half of the body under a head that promises all of it, then an error, which closes the connection.
async fn cut(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let whole = axum::body::to_bytes(body, 64 << 20)
        .await
        .unwrap_or_default();
    let half = whole.slice(..whole.len() / 2);
    parts.headers.insert(
        header::CONTENT_LENGTH,
        HeaderValue::from(whole.len().max(1)),
    );
    let broken = stream::once(async {
        // What was given has to be on its way before the connection goes.
        tokio::time::sleep(Duration::from_millis(50)).await;
        Err(std::io::Error::other("cut"))
    });
    let pieces = stream::iter([Ok::<Bytes, std::io::Error>(half)]).chain(broken);
    Response::from_parts(parts, Body::from_stream(pieces))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_matching_fault_strikes_as_often_as_told() {
        let mut faults = Faults::default();
        faults.add("/session*", Fault::Html, None);
        faults.add("/session/status", Fault::Stall, Some(1));
        assert_eq!(faults.strike("/session/status"), Some(Fault::Stall));
        assert_eq!(faults.strike("/session/status"), Some(Fault::Html));
        assert_eq!(faults.strike("/global/health"), None);
    }
}
