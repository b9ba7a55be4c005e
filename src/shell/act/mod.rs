//! Actions on a server, carried out and then verified by reading again.
//!
//! Invariant: nothing is called done that the server's own answers did not show.

pub mod abort;
pub mod answer;
mod carry;
pub mod export;
mod look;
pub mod resend;
pub mod reset;
pub mod survey;
