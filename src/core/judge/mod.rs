//! What follows from what we were told: activity, findings, level; each with its evidence.
//!
//! What it does: pure functions from a [`crate::core::store::Store`] and a time to a [`Verdict`].
//! What it does not: act, remember (but for a cache), or look at anything outside the store.

mod verdict;

pub use verdict::{
    Activity, ActivityState, Agreement, Answer, Evidence, Explanation, Finding, Level, Offer,
    ServerVerdict, Settling, Tried, Verdict,
};
mod stub;
pub use stub::*;
