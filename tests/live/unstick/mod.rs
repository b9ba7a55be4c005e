//! The stuck states that can be made on a real server, and what ends each of them.
//!
//! What it does: bring a session into the state (`made`), let `ocwatch reset` print its plan, let it act, and prove
//! from the server's own answers that the plan changed nothing, that nothing runs or waits any more, that no
//! message or part was lost, that only what the plan named reads otherwise, and that the next prompt is answered
//! (`proof`, `record`). What it does not: the rungs dispose and fork. On this version an abort ends every state
//! that can be made without blocking the whole server, and every part can be set; the simulated server has both.

mod made;
mod proof;
mod record;

mod answers;
mod dashboard;
mod leftovers;
mod orphans;
mod running;
