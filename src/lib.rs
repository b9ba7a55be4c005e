//! ocwatch shows, for every coding-agent session on one or more OpenCode servers, what the server
//! *reports* beside what is *true*, and gives one key to unstick it.
//!
//! This page is the architecture. `tests/architecture.rs` holds the table below against the `use`
//! lines of the code.
//!
//! # The flow
//!
//! Data flows one way; actions come back as effects.
//!
//! ```text
//! server A -SSE+HTTP-> link task \
//! server B -SSE+HTTP-> link task  >- Input{server, epoch, at, body} -> bounded channel -> Msg::Feed
//! the simulated server (--demo)  /                                                           |
//! keys -> Msg::Key, ends of effects -> Msg::Done, Msg::Tick when time alone changes something -> update(App, Msg, now)
//!    -> store.apply -> judge (cached per session, asked again by Change or by recheck time)
//!    -> present::screen -> tui::draw -> terminal, by a thread of its own, once it has taken the last frame
//!       (only when the screen changed, at most 30 frames/s, 5/s while only servers say something)
//!    -> Vec<Effect> -> shell -> net or file -> Msg::Done          \-> headless printers (status, watch, explain)
//! ```
//!
//! # Rooms
//!
//! | room | what it does | may use |
//! |---|---|---|
//! | [`core::id`], [`core::time`] | names and times as data | std |
//! | [`core::wire`] | what a server says, field for field; decoding never fails | id, time |
//! | [`core::store`] | what we were told; `apply` is the only way in | wire |
//! | [`core::judge`] | what follows: activity, findings, level, each explained | store, wire |
//! | [`core::changes`] | what is different from what was told before; each change once | judge, store |
//! | [`core::wait`] | whether what a script waits for has come, settled | judge, store, wire |
//! | [`core::plan`] | what an action would do, as steps | judge, store, wire |
//! | [`core::app`] | model, message, update, effects; the one key table | plan, changes, judge, store, wire |
//! | [`core::present`] | from app to plain rows with a tone | app, changes, judge, store, wait, wire |
//! | [`core::export`] | what an export redacts, or writes for people | present, id, time |
//! | [`core::record`] | a recording of inputs, its format | store, wire |
//! | `net` | client, event stream, one link task per server | core |
//! | `sim` | the simulated OpenCode server behind `--demo` and the tests | core |
//! | `tui` | terminal, theme, views: they see a screen, never the store | core::present, core::time, core::app::keymap |
//! | `feed` | where inputs come from: live links, the demo, a recording | core, net, sim |
//! | `shell` | clock, loops, headless commands, carrying out effects | everything but cli |
//! | `cli` | arguments, configuration, log; joins all of it | everything |
//!
//! Each outer room stands behind a feature (`net`, `sim`, `tui`, `cli`); without features only the
//! core is built, so the compiler proves that it can name no terminal, task or socket.
//!
//! # Rules that several servers and a live stream force
//!
//! - No gap: the stream is opened first, what arrives is kept, the snapshot applied, then the kept
//!   events. `apply` is idempotent and never goes back in time.
//! - Each connection is an epoch; inputs of an older epoch are counted and dropped.
//! - A lost link erases nothing: last state, its age, level `unknown`. Unknown is never shown as idle.
//! - Identity is [`core::id::SessionKey`] (server, session), never a row number.
//! - `now` is always an argument; the only clock is in `shell::clock`.
//! - Everything from a server is data: [`core::present::clean`] stands between it and a terminal.
//!
//! # Words and units
//!
//! *reported*: what the server says. *activity*: what messages and parts show. *finding*: a named
//! reason to look, with *evidence*. *level*: ok < watch < needs-you < stuck; unknown stands apart.
//! *settling*: what a session is about to be called. *epoch*: one connection to one server.
//! Times are milliseconds since the Unix epoch ([`core::time::UnixMs`]), spans are milliseconds
//! ([`core::time::Span`]); whose clock it is (the server's or the watcher's) is said at each field.

pub mod core;
#[cfg(feature = "net")]
pub mod net;
#[cfg(feature = "sim")]
pub mod sim;
#[cfg(feature = "tui")]
pub mod tui;

#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
pub mod feed;
#[cfg(feature = "cli")]
pub mod shell;
