//! Bodies that say who answers, and why not.
//!
//! What it does: decode `/global/health`, `/api/info`, `/path`, `/project`, `/mcp` and error bodies. What it does not:
//! decide what the server is; any path may answer 200 with a web page.

use super::lenient::{Number, field};
use super::literal::excerpt;
use super::{Decoded, WireError, each, rows, shape, text_of};
use crate::core::id::Directory;
use serde::Deserialize;
use std::collections::BTreeMap;

/// `GET /global/health` of 1.x, or `GET /api/info` of 2.x.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Health {
    /// `1.18.33`.
    pub version: String,
    /// Of its process; 2.x tells it.
    pub pid: Option<i64>,
}

/// `GET /global/health`: `{"healthy": true, "version": "1.18.33"}`.
///
/// # Errors
/// [`WireError`] when a field is missing or of another type.
pub fn decode_health(body: &[u8]) -> Result<Health, WireError> {
    #[derive(Deserialize)]
    struct Wire {
        #[serde(rename = "healthy")]
        _healthy: bool,
        version: String,
    }
    let wire: Wire = serde_json::from_str(text_of(body)?).map_err(shape("a health report"))?;
    Ok(Health {
        version: excerpt(&wire.version),
        pid: None,
    })
}

/// `GET /api/info` of 2.x: `{version, pid, urls, paths}`.
///
/// # Errors
/// [`WireError`] when `version` is no text or `pid` no number.
pub fn decode_info(body: &[u8]) -> Result<Health, WireError> {
    #[derive(Deserialize)]
    struct Wire {
        version: String,
        pid: Number,
    }
    let wire: Wire = serde_json::from_str(text_of(body)?).map_err(shape("an info report"))?;
    Ok(Health {
        version: excerpt(&wire.version),
        pid: Some(wire.pid.whole()),
    })
}

/// `GET /path` without a directory: the server's cwd.
///
/// # Errors
/// [`WireError`] when `directory` or `worktree` is missing.
pub fn decode_path(body: &[u8]) -> Result<Directory, WireError> {
    #[derive(Deserialize)]
    struct Wire {
        directory: Directory,
        #[serde(rename = "worktree")]
        _worktree: Directory,
    }
    let wire: Wire = serde_json::from_str(text_of(body)?).map_err(shape("a path report"))?;
    Ok(wire.directory)
}

/// `GET /project`: the folders of all projects that this machine has had. That of sessions without
/// a project is `/`.
///
/// # Errors
/// [`WireError`] when the body as a whole is not a JSON array.
pub fn decode_projects(body: &[u8]) -> Result<Decoded<Vec<Directory>>, WireError> {
    #[derive(Deserialize)]
    struct Wire {
        worktree: Directory,
    }
    let one = |row: &str| serde_json::from_str::<Wire>(row).map(|it| it.worktree);
    Ok(each(rows(body, "a list of projects")?, one))
}

/// `GET /mcp` of one directory: the names of its MCP servers, as configured.
///
/// # Errors
/// [`WireError`] when it is no object of objects.
pub fn decode_mcp(body: &[u8]) -> Result<Vec<String>, WireError> {
    #[derive(Deserialize)]
    struct Status {
        #[serde(rename = "status")]
        _status: String,
    }
    let wire: BTreeMap<String, Status> =
        serde_json::from_str(text_of(body)?).map_err(shape("a list of MCP servers"))?;
    Ok(wire.into_keys().collect())
}

/// The words of an error body: `{name, data: {message}}`, `{_tag, message}` or `{_tag}`.
pub fn decode_problem(body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Wire {
        #[serde(default, deserialize_with = "field")]
        name: Option<String>,
        #[serde(rename = "_tag", default, deserialize_with = "field")]
        tag: Option<String>,
        #[serde(default, deserialize_with = "field")]
        message: Option<String>,
        #[serde(default, deserialize_with = "field")]
        data: Option<Data>,
    }
    #[derive(Deserialize)]
    struct Data {
        message: String,
    }
    let wire: Wire = serde_json::from_str(text_of(body).ok()?).ok()?;
    let words = wire.data.map(|it| it.message).or(wire.message);
    let one_line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    words
        .or(wire.name)
        .or(wire.tag)
        .map(|text| excerpt(&one_line(text)))
}
