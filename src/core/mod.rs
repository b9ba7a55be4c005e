//! The pure heart: what was said, what follows, what an action would do. No clock, file,
//! environment, task, socket or colour; std, serde, serde_json and thiserror only.

pub mod app;
pub mod changes;
pub mod export;
pub mod id;
pub mod judge;
pub mod plan;
pub mod present;
pub mod record;
pub mod store;
pub mod time;
pub mod wait;
pub mod wire;
