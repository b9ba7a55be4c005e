//! The command line, as clap understands it.
//!
//! What it does: names, help and examples. What it does not: read the environment, the
//! configuration, or judge what was said; `--help` and the README come from here.

mod act;
mod common;
mod look;
mod own;
mod said;

pub use act::{
    AbortArgs, ActArgs, AllowArg, AnswerArgs, DoubtArg, ExportArgs, ResendArgs, ResetArgs,
};
pub use common::{ColorWhen, Common, InspectArg, LogLevel};
pub use look::{
    CheckArgs, ExplainArgs, FailOnArg, GoalArg, LogArgs, MetricsArgs, ReplayArgs, StatusArgs,
    WaitArgs, WatchArgs,
};

pub use own::{CompletionsArgs, ConfigArgs, ConfigCommand, ManArgs};
pub use said::{Said, SaidOption};

use clap::{CommandFactory, Parser, Subcommand};
use std::net::{Ipv4Addr, SocketAddr};

/// See what every coding agent on your OpenCode servers is really doing, and unstick it.
///
/// Shows, for every session, what the server reports beside what its messages and tools prove.
/// Without a command: the dashboard.
#[derive(Debug, Parser)]
#[command(
    name = "ocwatch",
    version,
    propagate_version = true,
    max_term_width = 100,
    after_help = "Examples:\n  ocwatch                            the servers that are found on this machine\n  ocwatch http://nas:4096 build:4096 two servers side by side\n  ocwatch --demo                     simulated servers, no OpenCode needed\n  ocwatch status --json              one document for scripts"
)]
pub struct Cli {
    /// A URL, host:port, or a name from the configuration
    #[arg(value_name = "SERVER")]
    pub servers: Vec<String>,

    /// What to do instead of the dashboard
    #[command(subcommand)]
    pub command: Option<Command>,

    /// Options that every command takes
    #[command(flatten)]
    pub common: Common,
}

impl Cli {
    /// A command's name where only a server can stand, behind one.
    pub fn late_command(&self) -> Option<&str> {
        let command = Cli::command();
        let mut words = self.servers.iter().map(String::as_str);
        words.find(|word| command.get_subcommands().any(|it| it.get_name() == *word))
    }
}

impl Cli {
    /// A URL stands where a session is named: it was meant as a server.
    pub fn has_server_as_session(&self) -> bool {
        let sessions = match &self.command {
            Some(Command::Explain(it)) => std::slice::from_ref(&it.session),
            Some(Command::Abort(it)) => &it.sessions,
            Some(Command::Wait(it)) => &it.sessions,
            Some(Command::Reset(it)) => std::slice::from_ref(&it.session),
            Some(Command::Resend(it)) => std::slice::from_ref(&it.session),
            Some(Command::Export(it)) => &it.sessions,
            Some(Command::Answer(it)) => std::slice::from_ref(&it.session),
            _ => &[],
        };
        sessions.iter().any(|word| word.contains("://"))
    }
}

/// What to do instead of the dashboard.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// One snapshot as a table, or with --json as one document
    #[command(
        after_help = "Example:\n  ocwatch status --json | jq '.sessions[] | select(.level == \"stuck\") | .title'"
    )]
    Status(StatusArgs),
    /// One line and an exit code, for cron, Nagios, status lines and shell prompts
    ///
    /// Like "OCWATCH CRITICAL: 1 stuck, 2 need you: home/Fix the build: hung-tool: ... | stuck=1
    /// needs_you=2 ...": the gravest is named, the numbers stand behind the only | of the line. Always
    /// one line, on stdout.
    ///
    /// Ends with 0 when all is ok; 1 when something is "watch"; 2 when something is "needs-you" or
    /// "stuck"; 3 when a server could not be read; of several the worst counts, in the order 2, 3, 1, 0.
    /// Findings of servers count by their level. Asleep projects and what still settles do not count.
    #[command(
        after_help = "Examples:\n  ocwatch check || ocwatch check | mail -s \"agents\" me\n  ocwatch check home --fail-on needs-you\n  ocwatch check --settle 0 --timeout 2 | cut -d'|' -f1"
    )]
    Check(CheckArgs),
    /// A line for each change of a verdict as it happens, or with --json one document a line
    ///
    /// What counts as a change of a session: its level, its leading finding, its reported type, what
    /// it is doing, or what it is about to be called; not ages. Of a server: its state or its
    /// findings. A server is told once it was read or is lost, then its sessions.
    ///
    /// For people a session that is at rest or unknown is left out until it is anything else, and
    /// what a lost server takes along is told as one line. With --json each session is told once at
    /// the start ("from" is null), and each becomes "unknown" when its server is lost ("to" is null
    /// when it is gone): who keeps the last line of each id knows all that is known.
    ///
    /// Runs until Ctrl-C, SIGTERM, a closed pipe or --timeout, and ends with 0 then; with 3 if none of
    /// the servers can be read at the start. A server that is lost later is tried again.
    #[command(
        after_help = "Examples:\n  ocwatch watch\n  ocwatch watch --json | jq -c --unbuffered 'select(.to.level == \"stuck\") | [.title, .text]'"
    )]
    Watch(WatchArgs),
    /// Wait until sessions have truly ended: settled by status and messages, not merely reported idle
    ///
    /// Prints a line for each session when its wait ends: done, failed, aborted, needs-you, stuck,
    /// empty (--for idle: nothing was ever sent to it), gone (deleted), lost or timeout, and why. It
    /// follows the event stream, over reconnects. A prompt that was sent before is waited for, also one
    /// that is queued or has not begun; so are running subagents, retries and compactions. What settles
    /// is not told before it has settled. A session at rest is believed after 2 s, since a prompt that
    /// was just sent shows nothing yet; an end that is seen to come is told at once. An empty session is
    /// waited for until its first turn has ended.
    ///
    /// Ends with 0 when what was waited for has come; 1 when a session ended otherwise (failed,
    /// aborted, needs-you or stuck: the line says which); 3 when one could not be read for longer than
    /// --patience; 4 when there is no such session, or it was deleted; 124 after --timeout (none: as long
    /// as it takes). Of several the gravest counts: 124, 3, 4, 1, 0.
    #[command(
        after_help = "Examples:\n  ocwatch wait ses_4f2 && notify-send \"the agent is done\"\n  ocwatch wait ses_4f2 ses_9ab --any --timeout 600\n  ocwatch wait ses_4f2 --for needs-you --json | jq -r .text"
    )]
    Wait(WaitArgs),
    /// OpenMetrics over HTTP, for Prometheus: sessions by level and finding, ages, links, events, actions
    ///
    /// Each scrape of /metrics tells what is so at that moment; nothing is acted on. Sessions of a server
    /// that cannot be read count as unknown, and its asks and ages are absent. Labels are servers, levels,
    /// findings and states; ids of sessions only with --session-ids. An address that other machines can
    /// reach is allowed, and said: there is no password.
    ///
    /// Runs until Ctrl-C, SIGTERM or --timeout, and ends with 0 then; with 1 if it cannot listen. With
    /// --once it ends with 3 if a server could not be read; the metrics are printed all the same.
    #[command(
        after_help = "Examples:\n  ocwatch metrics\n  ocwatch metrics --once | grep '^ocwatch_sessions{'"
    )]
    Metrics(MetricsArgs),
    /// Every rule that was tried on a session, with its evidence
    #[command(after_help = "Example:\n  ocwatch explain ses_4f2 --json")]
    Explain(ExplainArgs),
    /// Stop what a session runs, and verify that it ended
    #[command(after_help = "Example:\n  ocwatch abort ses_4f2a --yes")]
    Abort(AbortArgs),
    /// Bring a stuck session to where the next prompt is answered, and verify it
    ///
    /// Exports the session first, then climbs a ladder that stops at the first rung that settles it:
    /// reject what it asks or abort (subagents included); set tool parts that never ended to error and
    /// dismiss asks that nothing waits for; and, each only if it was agreed to, dispose the project or
    /// fork before the broken turn. Messages are never removed; no part is set while anything runs.
    #[command(
        after_help = "Examples:\n  ocwatch reset ses_4f2a --dry-run\n  ocwatch reset ses_4f2a --yes --allow dispose"
    )]
    Reset(ResetArgs),
    /// Send a session's prompt again, or tell it to go on; once, and verified
    ///
    /// What is sent is shown first: the prompt that was not answered or failed, whole; "Continue." after
    /// a turn that was cut off; or --text. Not sent: to a session that runs, waits for an answer or may
    /// run elsewhere; after the provider refused the login (only --model of another provider helps) or
    /// the request (only another --text or --model does).
    #[command(
        after_help = "Examples:\n  ocwatch resend ses_4f2a\n  ocwatch resend ses_4f2a --model anthropic/claude-sonnet-4-5 --yes\n  ocwatch resend ses_4f2a --text \"Go on, but leave the tests alone\""
    )]
    Resend(ResendArgs),
    /// Write a session to a file for `opencode import`, or as Markdown; its path goes to stdout
    #[command(
        after_help = "Examples:\n  ocwatch export ses_4f2a\n  ocwatch export ses_4f2a --format md --sanitize -o for-the-issue.md\n  ocwatch export ses_4f2a --children\n  ocwatch export \"Port the parser\" -o - | gzip > parser.json.gz"
    )]
    Export(ExportArgs),
    /// Answer what a session asks: grant, reject, choose; without a flag it shows what is asked
    ///
    /// On a session that does not ask itself it answers the one subagent below it that does. Labels
    /// may be cut short where only one option fits. Questions that get no answer are left unanswered.
    /// Without N= question 1 is meant; a text that itself begins with a number and = needs its N=.
    #[command(
        after_help = "Examples:\n  ocwatch answer ses_4f2a\n  ocwatch answer ses_4f2a --once\n  ocwatch answer ses_4f2a --reject \"use the scratch folder\"\n  ocwatch answer ses_4f2a --choose 8080 --answer 2=\"no, keep it\""
    )]
    Answer(AnswerArgs),
    /// A recording (--record) through the same dashboard, at its own times
    ///
    /// Judged as it would have been then, by the configuration of now. Nothing is asked of any server
    /// and no key acts. The clock stops where the recording ends. A recording holds no passwords, but
    /// titles, folders, first words of prompts, commands and outputs: look it over before you pass it on.
    #[command(
        after_help = "Examples:\n  ocwatch --record evening.ndjson\n  ocwatch replay evening.ndjson --speed 10\n  ocwatch replay evening.ndjson --speed 100 --json | jq -c 'select(.to.level == \"stuck\")'"
    )]
    Replay(ReplayArgs),
    /// What was done to sessions, when, and what came of it: the audit log
    ///
    /// Every action writes a line before it begins and one when it has ended. "unfinished": it is
    /// under way, or its ocwatch was ended in the middle. Needs no server.
    #[command(
        after_help = "Examples:\n  ocwatch log --last 20\n  ocwatch log --json | jq 'select(.outcome != \"done\")'"
    )]
    Log(LogArgs),
    /// Write a first configuration, show what is in force, check it; needs no server
    #[command(after_help = "Examples:\n  ocwatch config init\n  ocwatch config check")]
    Config(ConfigArgs),
    /// Completions for a shell, to stdout
    #[command(
        after_help = "Examples:\n  ocwatch completions bash > ~/.local/share/bash-completion/completions/ocwatch\n  ocwatch completions zsh > ~/.zfunc/_ocwatch\n  ocwatch completions fish > ~/.config/fish/completions/ocwatch.fish"
    )]
    Completions(CompletionsArgs),
    /// The manual page to stdout, or with --dir a page for each command
    #[command(
        after_help = "Examples:\n  ocwatch man | man -l -\n  ocwatch man --dir ~/.local/share/man/man1"
    )]
    Man(ManArgs),
}

/// Seconds from 0 to a day, fractions allowed.
fn seconds(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.0..=86_400.0).contains(&value) {
        Ok(value)
    } else {
        Err("must be between 0 and 86400 seconds".to_owned())
    }
}

/// `IP:PORT`, `localhost:PORT`, or a port of this machine.
fn address(text: &str) -> Result<SocketAddr, String> {
    let local = text.strip_prefix("localhost:").unwrap_or(text);
    if let Ok(port) = local.parse::<u16>() {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    let wrong = || "neither IP:PORT (such as 127.0.0.1:9464 or [::1]:9464) nor a port".to_owned();
    text.parse().map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound_and_every_command_has_an_example() {
        let command = Cli::command();
        command.clone().debug_assert();
        for sub in command.get_subcommands() {
            let help = sub.get_after_help().map(ToString::to_string);
            let help = help.unwrap_or_default();
            assert!(help.contains("Example"), "{}", sub.get_name());
        }
    }

    #[test]
    fn a_server_may_stand_where_a_command_could() {
        let cli = Cli::try_parse_from(["ocwatch", "http://a:1", "nas"]).expect("servers");
        assert_eq!(cli.servers, ["http://a:1", "nas"]);
        assert!(cli.command.is_none());
        let cli = Cli::try_parse_from(["ocwatch", "--server", "a:1", "status", "--json", "b:2"])
            .expect("status");
        assert_eq!(cli.common.server, ["a:1"]);
        match cli.command {
            Some(Command::Status(status)) => assert_eq!(status.servers, ["b:2"]),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn times_out_of_range_are_refused() {
        for bad in ["-1", "abc", "nan", "1e9"] {
            let parsed = Cli::try_parse_from(["ocwatch", "status", "--settle", bad]);
            assert!(parsed.is_err(), "{bad}");
        }
    }

    #[test]
    fn an_address_to_listen_on_is_understood() {
        for (text, want) in [
            ("9464", "127.0.0.1:9464"),
            ("localhost:1", "127.0.0.1:1"),
            ("0.0.0.0:9464", "0.0.0.0:9464"),
            ("[::1]:0", "[::1]:0"),
        ] {
            assert_eq!(address(text).map(|it| it.to_string()).as_deref(), Ok(want));
        }
        for bad in ["", ":9464", "nas:1", "127.0.0.1", "70000", "localhost:x"] {
            assert!(address(bad).is_err(), "{bad}");
        }
    }
}
