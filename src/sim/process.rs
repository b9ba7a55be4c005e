//! The process in miniature: a runtime and a port that can be killed and come back.
//!
//! What it does: bind, serve, die at once, and come back on the same port. What it does not: decide what
//! survives. Invariant: after [`Process::kill`] returns, the port is closed and no task of the server runs.

use super::life::delta;
use super::life::parts::object;
use super::routes::router;
use super::server::Server;
use super::wire::{Body, EndedTime, Part, ToolState};
use super::world::World;
use axum::Router;
use serde_json::json;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// Where a server runs, if it does.
pub(crate) struct Process {
    addr: SocketAddr,
    runtime: Mutex<Option<Runtime>>,
}

impl Process {
    pub(crate) fn start(server: &Arc<Server>) -> io::Result<Self> {
        let (addr, runtime) = open(server, server.config.port)?;
        Ok(Self {
            addr,
            runtime: Mutex::new(Some(runtime)),
        })
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Ends everything at once and waits until it has ended.
    pub(crate) fn kill(&self, server: &Server) {
        server.set_runtime(None);
        let Some(runtime) = self.take() else {
            return;
        };
        // Waiting for a runtime is not allowed on a thread of another one, so a thread of its own does it.
        let waiter = std::thread::spawn(move || runtime.shutdown_timeout(Duration::from_secs(5)));
        drop(waiter.join());
    }

    pub(crate) fn restart(&self, server: &Arc<Server>) -> io::Result<()> {
        let mut runtime = self.runtime.lock().unwrap_or_else(PoisonError::into_inner);
        if runtime.is_none() {
            *runtime = Some(open(server, self.addr.port())?.1);
        }
        Ok(())
    }

    fn take(&self) -> Option<Runtime> {
        self.runtime
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(runtime) = self.take() {
            runtime.shutdown_background();
        }
    }
}

fn open(server: &Arc<Server>, port: u16) -> io::Result<(SocketAddr, Runtime)> {
    server.world(|w| w.stall = server.config.stall_first);
    let (addr, runtime) = serve(port, router(server.clone()))?;
    server.set_runtime(Some(runtime.handle().clone()));
    super::cycle::start(server);
    Ok((addr, runtime))
}

/// Serves routes on a port of 127.0.0.1 (0: any), in a runtime of its own.
pub(crate) fn serve(port: u16, routes: Router) -> io::Result<(SocketAddr, Runtime)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    listener.set_nonblocking(true)?;
    let addr = listener.local_addr()?;
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("simulated-server")
        .enable_all()
        .build()?;
    let entered = runtime.enter();
    let listener = tokio::net::TcpListener::from_std(listener)?;
    drop(entered);
    runtime.spawn(async move { drop(axum::serve(listener, routes).await) });
    Ok((addr, runtime))
}

/// See [`super::Sim::flood`].
pub(crate) fn flood(w: &mut World, session: &str, count: usize) -> usize {
    let Some((message, directory)) = last_message(w, session) else {
        return 0;
    };
    let now = w.now();
    let part = Part {
        id: w.ids.ascending("prt", now),
        session_id: session.to_owned(),
        message_id: message,
        body: Body::Compaction { auto: true },
    };
    for index in 0..count {
        delta(w, &directory, &part, &format!("tok{index} "));
    }
    w.live.tails.remove(&part.id);
    count
}

/// See [`super::Sim::big_output`].
pub(crate) fn big_output(w: &mut World, session: &str, bytes: usize) -> bool {
    let Some((message, _)) = last_message(w, session) else {
        return false;
    };
    let now = w.now();
    let output = "0123456789abcdef".repeat(bytes / 16 + 1);
    let output = output[..bytes].to_owned();
    let state = ToolState::Completed {
        input: object([("command", json!("cat everything.log"))]),
        title: "cat everything.log".to_owned(),
        metadata: object([
            ("output", json!(output)),
            ("exit", json!(0)),
            ("truncated", json!(false)),
        ]),
        output,
        time: EndedTime {
            start: now.0,
            end: now.0,
        },
    };
    let part = Part {
        id: w.ids.ascending("prt", now),
        session_id: session.to_owned(),
        message_id: message,
        body: Body::Tool {
            call_id: w.ids.call(now),
            tool: "bash".to_owned(),
            state,
        },
    };
    w.put_part(&part);
    w.send_part(&part);
    true
}

fn last_message(w: &World, session: &str) -> Option<(String, String)> {
    let stored = w.sessions.get(session)?;
    let message = stored.messages.last()?.info.id().to_owned();
    Some((message, stored.info.directory.clone()))
}
