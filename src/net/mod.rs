//! Talking to OpenCode servers.
