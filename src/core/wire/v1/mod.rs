//! OpenCode 1.x on the wire.
