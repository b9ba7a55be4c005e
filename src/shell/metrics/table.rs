//! The metrics: name, kind, labels and meaning of each. The output, the README and the tests of the
//! alert rules and of the dashboard come from this one table.
//!
//! Invariants: a name is never given a second meaning; the values of every label are bounded by the
//! servers that are watched and by the words of this program, but for the ids of [`SESSION_ATTENTION`],
//! which are bounded by a number.

/// What a metric is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Goes up and down.
    Gauge,
    /// Only grows, from 0 at the start of the program.
    Counter,
    /// Always 1; its labels tell something.
    Info,
}

impl Kind {
    /// The word of the format.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Gauge => "gauge",
            Kind::Counter => "counter",
            Kind::Info => "info",
        }
    }
}

/// One metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    /// Its name, without what unit and kind add to it.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// In seconds; else a number of something.
    pub seconds: bool,
    /// Its labels, in order.
    pub labels: &'static [&'static str],
    /// One sentence: the HELP line and the README.
    pub help: &'static str,
}

impl Metric {
    /// The name of its samples: what an expression names.
    pub fn sample(&self) -> String {
        let unit = if self.seconds { "_seconds" } else { "" };
        let suffix = match self.kind {
            Kind::Gauge => "",
            Kind::Counter => "_total",
            Kind::Info => "_info",
        };
        format!("{}{unit}{suffix}", self.name)
    }
}

const SERVER: &[&str] = &["server"];

const fn gauge(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Metric {
    Metric {
        name,
        kind: Kind::Gauge,
        seconds: false,
        labels,
        help,
    }
}

const fn seconds(
    name: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
) -> Metric {
    Metric {
        seconds: true,
        ..gauge(name, labels, help)
    }
}

const fn counter(
    name: &'static str,
    labels: &'static [&'static str],
    help: &'static str,
) -> Metric {
    Metric {
        kind: Kind::Counter,
        ..gauge(name, labels, help)
    }
}

const fn info(name: &'static str, labels: &'static [&'static str], help: &'static str) -> Metric {
    Metric {
        kind: Kind::Info,
        ..gauge(name, labels, help)
    }
}

/// By level.
pub const SESSIONS: Metric = gauge(
    "ocwatch_sessions",
    &["server", "level"],
    "Sessions by level: stuck, needs-you, watch, ok, unknown. All of a server that cannot be read are unknown.",
);
/// Those that are ok, by what they do.
pub const SESSIONS_OK: Metric = gauge(
    "ocwatch_sessions_ok",
    &["server", "doing"],
    "Sessions of level ok: working, at-rest, or settling (about to be called something if nothing happens).",
);
/// By what the server says.
pub const SESSIONS_REPORTED: Metric = gauge(
    "ocwatch_sessions_reported",
    &["server", "reported"],
    "Sessions by what the server reports, true or not: idle, busy, retry, unknown, other.",
);
/// Whose report and activity cannot both be true.
pub const SESSIONS_DISAGREEING: Metric = gauge(
    "ocwatch_sessions_disagreeing",
    SERVER,
    "Sessions whose report cannot be true by their messages and tool calls.",
);
/// By finding and its level.
pub const SESSIONS_FINDING: Metric = gauge(
    "ocwatch_sessions_finding",
    &["server", "finding", "level"],
    "Sessions that have this finding, at this level; one with two findings counts in both.",
);
/// The longest at a level.
pub const SESSIONS_OLDEST: Metric = seconds(
    "ocwatch_sessions_oldest",
    &["server", "level"],
    "How long the oldest leading finding of level stuck or needs-you has been so; 0 without one, absent while the server cannot be read.",
);
/// Asks by kind.
pub const ASKS: Metric = gauge(
    "ocwatch_asks",
    &["server", "kind"],
    "Permissions and questions that are pending, those that nobody waits for any more too; absent while the server cannot be read.",
);
/// The longest unanswered.
pub const ASKS_OLDEST: Metric = seconds(
    "ocwatch_asks_oldest",
    SERVER,
    "How long the oldest ask has been seen unanswered; 0 without one, absent while the server cannot be read.",
);
/// One session that needs a person.
pub const SESSION_ATTENTION: Metric = seconds(
    "ocwatch_session_attention",
    &["server", "session", "level", "finding"],
    "Only with --session-ids: for how long a session has been stuck or needed you, at most 100 of them, stuck and oldest first.",
);

/// Whether it can be read.
pub const SERVER_UP: Metric = gauge(
    "ocwatch_server_up",
    SERVER,
    "1 if the server is read and its events are followed, else 0.",
);
/// The state of interface schema `ocwatch.status/1`.
pub const SERVER_STATE: Metric = gauge(
    "ocwatch_server_state",
    &["server", "state"],
    "1 for the state that the server is in, 0 for every other.",
);
/// What is wrong with the server itself.
pub const SERVER_FINDINGS: Metric = gauge(
    "ocwatch_server_findings",
    &["server", "finding"],
    "Findings about the server itself, of any level.",
);
/// Directories by state.
pub const SERVER_DIRECTORIES: Metric = gauge(
    "ocwatch_server_directories",
    &["server", "state"],
    "Directories of its sessions: loaded, asleep (not asked, so that it is not started), gone.",
);
/// When it was last heard.
pub const SERVER_HEARD: Metric = seconds(
    "ocwatch_server_heard_timestamp",
    SERVER,
    "When anything was last heard on its event stream, by this machine's clock; absent before.",
);
/// Its clock against ours.
pub const SERVER_SKEW: Metric = seconds(
    "ocwatch_server_clock_skew",
    SERVER,
    "Its clock minus this machine's; differences under 2 s count as 0.",
);
/// Connections.
pub const SERVER_CONNECTS: Metric = counter(
    "ocwatch_server_connects",
    SERVER,
    "How often its event stream was followed anew; every one but the first is a reconnect.",
);
/// Losses.
pub const SERVER_LOSSES: Metric = counter(
    "ocwatch_server_losses",
    SERVER,
    "How often it was lost or could not be reached; further attempts that fail do not count.",
);
/// Requests.
pub const REQUESTS: Metric = counter(
    "ocwatch_requests",
    &["server", "about"],
    "Requests sent to it: identity, events (streams opened), sessions, status, asks, messages, other, acting (never by this command).",
);
/// Events.
pub const EVENTS: Metric = counter(
    "ocwatch_events",
    SERVER,
    "Events taken in; pieces of one text that came together count once.",
);
/// Events of unknown kinds.
pub const EVENTS_UNKNOWN: Metric = counter(
    "ocwatch_events_unknown",
    SERVER,
    "Events of a kind that this ocwatch does not know.",
);
/// What did not decode.
pub const EVENTS_MALFORMED: Metric = counter(
    "ocwatch_events_malformed",
    SERVER,
    "Events, rows and parts that could not be understood.",
);
/// What it is.
pub const SERVER_INFO: Metric = info(
    "ocwatch_server",
    &["server", "url", "version", "dialect"],
    "The server's URL without credentials, its OpenCode version and API (v1, v2); empty before they are known.",
);

/// What was done.
pub const ACTIONS: Metric = counter(
    "ocwatch_actions",
    &["action", "outcome"],
    "Actions in the audit log, of every ocwatch of this user: done, no-effect, failed.",
);
/// What was begun.
pub const ACTIONS_BEGUN: Metric = counter(
    "ocwatch_actions_begun",
    &["action"],
    "Actions that the audit log shows to have begun; more than ended: under way, or cut off.",
);
/// This program.
pub const BUILD: Metric = info("ocwatch_build", &["version"], "This ocwatch.");
/// When it started.
pub const START: Metric = seconds(
    "process_start_time",
    &[],
    "When this ocwatch started; its counters began at 0 then, but for those of the audit log.",
);

/// Every metric, in the order of the output.
pub const METRICS: [&Metric; 26] = [
    &SESSIONS,
    &SESSIONS_OK,
    &SESSIONS_REPORTED,
    &SESSIONS_DISAGREEING,
    &SESSIONS_FINDING,
    &SESSIONS_OLDEST,
    &SESSION_ATTENTION,
    &ASKS,
    &ASKS_OLDEST,
    &SERVER_UP,
    &SERVER_STATE,
    &SERVER_FINDINGS,
    &SERVER_DIRECTORIES,
    &SERVER_HEARD,
    &SERVER_SKEW,
    &SERVER_CONNECTS,
    &SERVER_LOSSES,
    &REQUESTS,
    &EVENTS,
    &EVENTS_UNKNOWN,
    &EVENTS_MALFORMED,
    &SERVER_INFO,
    &ACTIONS,
    &ACTIONS_BEGUN,
    &BUILD,
    &START,
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unlike_and_help_fits_on_a_line() {
        let names: BTreeSet<String> = METRICS.iter().map(|it| it.sample()).collect();
        assert_eq!(names.len(), METRICS.len());
        for it in METRICS {
            assert!(it.help.ends_with('.'), "{}", it.name);
            assert!(!it.help.contains(['\n', '\\', '"', '|']), "{}", it.name);
            for suffix in ["_total", "_info", "_seconds"] {
                assert!(!it.name.ends_with(suffix), "{}", it.name);
            }
        }
    }
}
