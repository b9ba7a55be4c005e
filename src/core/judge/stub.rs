//! stub
use super::{Explanation, ServerVerdict, Verdict};
use crate::core::id::SessionKey;
use crate::core::store::{Change, Store};
use crate::core::time::UnixMs;
use std::collections::BTreeMap;
/// limits
#[derive(Debug, Clone, Default)]
pub struct Limits {}
/// all
#[derive(Debug, Clone, Default)]
pub struct Judgement {
    /// v
    pub verdicts: BTreeMap<SessionKey, Verdict>,
    /// s
    pub servers: Vec<ServerVerdict>,
    /// r
    pub recheck: Option<UnixMs>,
}
/// cache
#[derive(Debug, Clone, Default)]
pub struct Judge {
    j: Judgement,
}
impl Judge {
    /// n
    pub fn new(_limits: Limits) -> Self {
        Self::default()
    }
    /// u
    pub fn update(&mut self, _store: &Store, _changes: &[Change], _now: UnixMs) {}
    /// j
    pub fn judgement(&self) -> &Judgement {
        &self.j
    }
}
/// e
pub fn explain(_: &Store, _: &SessionKey, _: UnixMs, _: &Limits) -> Option<Explanation> {
    None
}
