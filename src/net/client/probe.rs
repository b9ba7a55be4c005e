//! What is there: an OpenCode server of which API, and how its clock stands.
//!
//! What it does: ask in an order that has no side effects on any 1.2 or newer server. What it does
//! not: believe a 200. `GET /path` (only asked where `/global/health` does not exist, before 1.1)
//! names the server's own cwd.

use super::{Ask, Client, ClientError, Via, body};
use crate::core::time::{Span, UnixMs};
use crate::core::wire::{Dialect, v1};
use reqwest::{Method, Response, header};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Who answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Its API.
    pub dialect: Dialect,
    /// `1.18.33`, where told.
    pub version: Option<String>,
    /// Its clock minus ours, from the `Date` header (which has whole seconds), where told.
    pub skew: Option<Span>,
    /// Other machines can reach it, and it asks for no password.
    pub unsecured: bool,
}

impl Client {
    /// Finds out what the server is.
    ///
    /// # Errors
    /// [`ClientError::Unauthorized`]; [`ClientError::ContentType`] and [`ClientError::Shape`] when
    /// it is not OpenCode; any loss.
    pub async fn probe(&self) -> Result<Identity, ClientError> {
        let info = self.probe_one(&["api", "info"], v1::decode_info).await;
        // A closed 2.x answers 401 under `/api` only, and anything else with a web page.
        let closed = match info {
            Ok((it, skew)) => {
                return Ok(self.identity(Dialect::V2, Some(it.version), skew).await);
            }
            Err(error) if ends_probe(&error) => return Err(error),
            Err(error) => error == ClientError::Unauthorized,
        };
        match self.probe_health().await {
            Ok((it, skew)) => Ok(self.identity(Dialect::V1, Some(it.version), skew).await),
            Err(error) if !error.is_missing() => Err(error),
            Err(_) if closed => Err(ClientError::Unauthorized),
            Err(error) => match self.probe_one(&["path"], v1::decode_path).await {
                Ok((_, skew)) => Ok(self.identity(Dialect::V1, None, skew).await),
                Err(_) => Err(error),
            },
        }
    }

    /// `GET /global/health` over a connection of its own: a sign of life of the server.
    ///
    /// # Errors
    /// Any [`ClientError`]; a timeout means wedged.
    pub async fn health(&self) -> Result<v1::Health, ClientError> {
        let path = ["global", "health"];
        let tried = self.try_one(&path, v1::decode_health, self.waits.read);
        Ok(tried.await?.0)
    }

    /// Whether its port takes a connection within this time. Nothing is sent.
    pub async fn connects(&self, within: Duration) -> bool {
        if let Some(tunnel) = self.tunnel() {
            return tunnel.is_up();
        }
        if self.proxy.is_some() {
            // Nobody but the proxy knows.
            return false;
        }
        let Some(at) = self.address.host_and_port() else {
            return false;
        };
        matches!(timeout(within, TcpStream::connect(at)).await, Ok(Ok(_)))
    }

    async fn probe_health(&self) -> Result<(v1::Health, Option<Span>), ClientError> {
        self.probe_one(&["global", "health"], v1::decode_health)
            .await
    }

    /// Tried three times, ever more patiently: a request right after a server's start may never be
    /// answered, while the next one is answered at once.
    async fn probe_one<T>(
        &self,
        path: &[&str],
        decode: fn(&[u8]) -> Result<T, v1::WireError>,
    ) -> Result<(T, Option<Span>), ClientError> {
        for wait in [self.waits.probe / 2, self.waits.probe] {
            match self.try_one(path, decode, wait).await {
                Err(ClientError::Timeout(_)) => {}
                other => return other,
            }
        }
        self.try_one(path, decode, self.waits.read).await
    }

    /// One request on a connection of its own.
    pub(super) async fn try_one<T>(
        &self,
        path: &[&str],
        decode: fn(&[u8]) -> Result<T, v1::WireError>,
        wait: Duration,
    ) -> Result<(T, Option<Span>), ClientError> {
        let ask = Ask {
            via: Via::Fresh,
            wait,
            ..self.ask(Method::GET, path, &[])
        };
        let asked_at = (self.clock)();
        let response = self.json(ask).await?;
        let skew = skew(&response, asked_at, (self.clock)());
        let body = body::read(response, self.waits.read, body::PROBLEM_CAP).await?;
        Ok((decode(&body)?, skew))
    }

    async fn identity(
        &self,
        dialect: Dialect,
        version: Option<String>,
        skew: Option<Span>,
    ) -> Identity {
        Identity {
            dialect,
            version,
            skew,
            unsecured: (self.exposed || self.address.is_exposed())
                && self.is_open_to_all(dialect).await,
        }
    }

    /// Whether it answers without credentials.
    async fn is_open_to_all(&self, dialect: Dialect) -> bool {
        if self.credentials.is_none() {
            return true;
        }
        let anonymous = Client {
            credentials: None,
            ..self.clone()
        };
        match dialect {
            Dialect::V1 => anonymous.probe_health().await.is_ok(),
            Dialect::V2 => anonymous.info().await.is_ok(),
        }
    }
}

/// No other question can do better.
fn ends_probe(error: &ClientError) -> bool {
    error.is_loss() || error.is_late() || matches!(error, ClientError::Address(_))
}

/// The server's clock minus ours; the header was cut to whole seconds, so half a second is added.
fn skew(response: &Response, asked: UnixMs, answered: UnixMs) -> Option<Span> {
    let date = response.headers().get(header::DATE)?.to_str().ok()?;
    let theirs = parse_date(date)?;
    let ours = asked + Span((answered - asked).0 / 2);
    Some(theirs + Span(500) - ours)
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`, the one form that HTTP servers may send.
fn parse_date(text: &str) -> Option<UnixMs> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let (_, rest) = text.split_once(", ")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    let [day, month, year, time, "GMT"] = fields[..] else {
        return None;
    };
    let month = i64::try_from(MONTHS.find(month)? / 3).ok()? + 1;
    let clock: Vec<i64> = time.split(':').filter_map(|it| it.parse().ok()).collect();
    let [hour, minute, second] = clock[..] else {
        return None;
    };
    let days = days_from_civil(year.parse().ok()?, month, day.parse().ok()?)?;
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second;
    Some(UnixMs(seconds.checked_mul(1000)?))
}

/// Days since 1970-01-01 of a date of the Gregorian calendar.
fn days_from_civil(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1970..=9999).contains(&year) || !(1..=31).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_servers() {
        let cases = [
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777_000)),
            ("Mon, 30 Nov 2026 01:06:41 GMT", Some(1_796_000_801_000)),
            ("Thu, 29 Feb 2024 12:00:00 GMT", Some(1_709_208_000_000)),
            ("yesterday", None),
            ("Mon, 99 Nov 2026 01:06:41 GMT", None),
        ];
        for (text, want) in cases {
            assert_eq!(parse_date(text), want.map(UnixMs), "{text}");
        }
    }
}
