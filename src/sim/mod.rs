//! The simulated OpenCode server.
