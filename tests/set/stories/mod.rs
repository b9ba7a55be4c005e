//! The sessions, group by group. Each is judged by the document of patterns alone; a remark says where
//! it leaves a choice.

mod after;
mod asks;
mod at_rest;
mod busy;
mod family;
mod healthy;
mod places;
mod retries;
mod tools;

use crate::story::{Story, Teller};
use serde_json::{Value, json};

pub use places::{CWD, ZOMBIE, places};

/// All sessions of the set.
pub fn all(now: i64) -> Vec<Story> {
    let teller = &mut Teller::new(now);
    let mut stories = Vec::new();
    for group in [
        asks::stories,
        retries::stories,
        busy::stories,
        tools::stories,
        at_rest::stories,
        after::stories,
        family::stories,
        healthy::stories,
        places::stories,
    ] {
        stories.extend(group(teller));
    }
    stories
}

/// `APIError` as the provider's answer becomes one.
fn api_error(status: u16, message: &str) -> Value {
    json!({"name": "APIError", "data": {"message": message, "statusCode": status,
        "isRetryable": status >= 500 || status == 429,
        "responseHeaders": {"content-type": "application/json"},
        "responseBody": format!("{{\"error\":{{\"message\":\"{message}\"}}}}")}})
}
