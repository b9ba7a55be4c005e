//! Reads of a 2.x link that failed, and signs of life.
//!
//! What it does: say a failure by name, ask for a sign of life where reads or the stream are silent.
//! What it does not: give up over one failing read; only a server that is gone ends the connection.

use super::Two;
use super::read::Read;
use crate::core::id::{Directory, SessionId};
use crate::core::time::Span;
use crate::core::wire::v1::Health;
use crate::core::wire::{Body, Endpoint, LostCause, ReadFailed};
use crate::net::client::{ClientError, Identity};
use crate::net::link::loss::Loss;
use std::time::Duration;

/// A tail that could not be read is tried again after so long.
const TAIL_AGAIN: Duration = Duration::from_secs(30);

impl Two<'_> {
    /// Errors after which nothing more can be read.
    pub(super) fn ends(&mut self, error: &ClientError) -> Result<(), Loss> {
        if matches!(error, ClientError::Refused | ClientError::Unauthorized) {
            return Err(error.clone().into());
        }
        if error.is_late() && !self.suspect {
            self.suspect = true;
            self.jobs.urgent(Read::Health);
        }
        Ok(())
    }

    /// A read that failed is said by name; one that shows that the server is gone ends it all.
    pub(super) fn failed(
        &mut self,
        endpoint: Endpoint,
        directory: Option<&Directory>,
        session: Option<&SessionId>,
        error: &ClientError,
    ) -> Result<(), Loss> {
        self.ends(error)?;
        if let (Some(id), Some(404)) = (session, error.status()) {
            self.forget(id);
            self.outlet.push(Body::SessionGone(id.clone()));
            return Ok(());
        }
        if let (Endpoint::Messages, Some(id)) = (endpoint, session) {
            self.tail_in(id, TAIL_AGAIN);
        }
        self.outlet.push(Body::Failed(ReadFailed {
            endpoint,
            directory: directory.cloned(),
            session: session.cloned(),
            status: error.status(),
            text: error.to_string(),
        }));
        Ok(())
    }

    /// Our clock jumped: with the server's clock known anew, everything is read again, so that the
    /// times of reads and events are of one clock.
    pub(super) fn on_identity(
        &mut self,
        answer: Result<Identity, ClientError>,
    ) -> Result<(), Loss> {
        let identity = answer?;
        self.skew = identity.skew.unwrap_or(Span::ZERO);
        self.outlet.identified(&identity);
        self.resync();
        Ok(())
    }

    /// It was asked because the stream is silent, or because a read was not answered in time.
    pub(super) fn on_health(&mut self, answer: Result<Health, ClientError>) -> Result<(), Loss> {
        let suspect = std::mem::take(&mut self.suspect);
        let silent = std::mem::take(&mut self.silent);
        match answer {
            Err(error) if silent && error.is_late() => Err(Loss::new(
                LostCause::Wedged,
                "heartbeats stopped and nothing is answered",
            )),
            Err(error) if suspect && error.is_late() => Err(Loss::new(
                LostCause::Wedged,
                "reads are not answered, and a sign of life does not come either",
            )),
            Err(error) if silent => Err(error.into()),
            Ok(_) if silent => Err(Loss::new(
                LostCause::Unreachable,
                "the event stream went silent although the server answers",
            )),
            _ => Ok(()),
        }
    }
}
