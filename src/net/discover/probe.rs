//! Asking each candidate who it is.
//!
//! What it does: ask all at the same time, without a password but that of a service's own file.
//! What it does not: hold back one that wants a password or does not answer yet: it is a server, and
//! its link says what is wrong.

use super::candidate::{Candidate, Way};
use super::{Found, Looked, names};
use crate::core::time::Clock;
use crate::net::client::{Client, ClientError, Waits};
use futures_util::future::join_all;
use std::time::Duration;
use tokio::time::timeout;

/// None of them takes longer, all its questions together.
pub(super) const LONGEST: Duration = Duration::from_millis(2_500);
const WAITS: Waits = Waits {
    connect: Duration::from_millis(500),
    read: Duration::from_millis(1_500),
    probe: Duration::from_millis(800),
};

/// What a candidate is.
enum Is {
    /// A server, or something that may become one.
    Server,
    /// Nothing that can be watched: why, a fragment.
    Nothing(String),
}

/// Asks all: those that are servers, and notes of the others.
pub(super) async fn all(candidates: Vec<Candidate>, clock: &Clock) -> Looked {
    let asked = join_all(candidates.iter().map(|it| ask(it, clock))).await;
    let mut looked = Looked::default();
    for (candidate, is) in candidates.into_iter().zip(asked) {
        match is {
            Is::Server => looked.found.push(found(candidate)),
            Is::Nothing(why) => looked.notes.push(why),
        }
    }
    looked
}

fn found(candidate: Candidate) -> Found {
    let is_service = candidate
        .ways
        .iter()
        .any(|it| matches!(it, Way::Service { .. }));
    let folder = candidate.cwd().and_then(|it| names::of_folder(it));
    let service = is_service.then(|| "service".to_owned());
    Found {
        name: folder
            .filter(|_| !is_service)
            .or(service)
            .unwrap_or_default(),
        why: crate::core::present::clean(&candidate.why()),
        address: candidate.address,
        credentials: candidate.credentials,
        exposed: candidate.exposed,
    }
}

async fn ask(candidate: &Candidate, clock: &Clock) -> Is {
    let address = candidate.address.shown();
    let at = candidate.at;
    let client = Client::new(
        candidate.address.clone(),
        candidate.credentials.clone(),
        WAITS,
        clock.clone(),
    );
    let client = match client {
        Ok(client) => client.only_reading(),
        Err(why) => return Is::Nothing(format!("{address}: {why}")),
    };
    let asked = async {
        match stale(candidate, &client).await {
            Some(stale) => Err(stale),
            None => Ok(client.probe().await),
        }
    };
    match timeout(LONGEST, asked).await {
        Ok(Ok(Ok(_))) | Err(_) => Is::Server,
        Ok(Err(stale)) => Is::Nothing(stale),
        Ok(Ok(Err(error))) => match error {
            // It may need a password, or a moment.
            ClientError::Unauthorized | ClientError::Timeout(_) | ClientError::Trickle { .. } => {
                Is::Server
            }
            ClientError::Refused => Is::Nothing(format!("nothing listens on {at}")),
            other => Is::Nothing(format!("{at} is no OpenCode server: {other}")),
        },
    }
}

/// What a service left word of must be what answers there.
async fn stale(candidate: &Candidate, client: &Client) -> Option<String> {
    let said = candidate.ways.iter().find_map(|way| match way {
        Way::Service { pid, version } => Some((i64::from(*pid), version)),
        _ => None,
    });
    let (pid, version) = said?;
    let told = client.info().await.ok()?;
    let same = told.version == *version && told.pid.is_none_or(|it| it == pid);
    (!same).then(|| {
        let at = candidate.at;
        format!("the service file is stale: another process answers on {at} than it names ({pid})")
    })
}
