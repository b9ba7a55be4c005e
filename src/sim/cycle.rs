//! Sessions that never rest: turns that come again and again.
//!
//! What it does: send the next prompt of a cycle some time after the turn before has ended, also after a
//! restart. What it does not: mind how a turn ended.

use super::life::{Prompt, submit};
use super::seed::{Cycle, CyclePrompt};
use super::server::Server;
use std::sync::Arc;
use tokio::time::sleep;

/// Remembers a cycle and starts it.
pub(crate) fn add(server: &Arc<Server>, session: &str, cycle: &Cycle) {
    let entry = (session.to_owned(), cycle.clone());
    server.world(|w| w.cycles.push(entry));
    begin(server, session.to_owned(), cycle.clone());
}

/// Starts all cycles, after the server came up.
pub(crate) fn start(server: &Arc<Server>) {
    for (session, cycle) in server.world(|w| w.cycles.clone()) {
        begin(server, session, cycle);
    }
}

fn begin(server: &Arc<Server>, session: String, cycle: Cycle) {
    let own = server.clone();
    server.spawn(async move { turn_round(&own, &session, &cycle).await });
}

async fn turn_round(server: &Arc<Server>, session: &str, cycle: &Cycle) {
    for next in cycle.prompts.iter().cycle() {
        server
            .until(|w| (!w.live.runs.contains_key(session)).then_some(()))
            .await;
        sleep(cycle.pause.duration()).await;
        if !submit(server, session, prompt(next)) {
            return;
        }
    }
}

fn prompt(next: &CyclePrompt) -> Prompt {
    Prompt {
        text: next.prompt.clone(),
        steps: Some(next.steps.clone()),
        ..Prompt::default()
    }
}
