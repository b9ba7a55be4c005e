//! Where a request belongs: its directory and its query.
//!
//! What it does: `?directory=` wins over the header `x-opencode-directory`, else the server's cwd; trailing
//! slashes and `.` are normalised; loads instances. What it does not: look whether a directory exists, as
//! the real server does not either.

use super::super::server::Server;
use super::Missing;
use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use tokio::time::sleep;

/// Directory, query and host of a request.
pub(crate) struct Place {
    pub(crate) server: Arc<Server>,
    pub(crate) directory: String,
    /// `Host`, for links.
    pub(crate) host: String,
    query: HashMap<String, String>,
}

impl FromRequestParts<Arc<Server>> for Place {
    type Rejection = Infallible;

    async fn from_request_parts(
        parts: &mut Parts,
        server: &Arc<Server>,
    ) -> Result<Self, Infallible> {
        let query = Query::<HashMap<String, String>>::try_from_uri(&parts.uri);
        let query = query.map(|Query(query)| query).unwrap_or_default();
        let header = |name: &str| Some(parts.headers.get(name)?.to_str().ok()?.to_owned());
        let named = query.get("directory").cloned();
        let named = named.or_else(|| header("x-opencode-directory").map(|text| decode(&text)));
        let directory = named.filter(|directory| !directory.is_empty());
        let directory = directory.unwrap_or_else(|| server.config.cwd.clone());
        Ok(Self {
            server: server.clone(),
            directory: normal(&directory),
            host: header("host").unwrap_or_default(),
            query,
        })
    }
}

impl Place {
    /// A query value.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }

    /// A query value that must be a non-negative integer.
    pub(crate) fn count(&self, name: &str) -> Result<Option<usize>, Missing> {
        let Some(text) = self.query(name) else {
            return Ok(None);
        };
        let number = text.parse().map(Some);
        number.map_err(|_| {
            let text = format!("Expected an integer, got NaN\n  at [\"{name}\"]");
            Missing::Bad(text, "Query")
        })
    }

    /// Loads the instance of the request's directory.
    pub(crate) async fn boot(&self) {
        boot(&self.server, &self.directory).await;
    }

    /// Loads the instance of a session's own directory, whatever the query says; 404 if there is no such
    /// session, after loading the query's.
    pub(crate) async fn session(&self, id: &str) -> Result<String, Missing> {
        if let Some(directory) = self.server.world(|w| w.directory(id)) {
            boot(&self.server, &directory).await;
            Ok(directory)
        } else {
            self.boot().await;
            Err(Missing::Session(id.to_owned()))
        }
    }
}

async fn boot(server: &Arc<Server>, directory: &str) {
    if server.world(|w| w.boot(directory)) {
        sleep(server.config.boot).await;
    }
}

/// Without `.` components and trailing slashes.
pub(crate) fn normal(directory: &str) -> String {
    let kept = directory
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".");
    let joined = kept.collect::<Vec<_>>().join("/");
    format!("/{joined}")
}

/// Percent-decoding of the header.
fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if first == b'%' => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_normalised() {
        assert_eq!(normal("/srv/dev/./a/"), "/srv/dev/a");
        assert_eq!(normal("/"), "/");
        assert_eq!(decode("/srv/%C3%A4%20b%"), "/srv/ä b%");
    }
}
