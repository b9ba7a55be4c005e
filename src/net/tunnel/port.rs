//! A port of this machine that leads into a tunnel, for programs that speak TCP only.
//!
//! What it does: hold a free port of 127.0.0.1 from the beginning, so that its number is known; let
//! connections in once it is opened. What it does not: open itself; while it is open every user of this
//! machine can reach the server, as with a port of `ssh -L`.

use super::Tunnel;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpStream, UnixStream};
use tokio::time::sleep;

/// After a connection that could not be let in.
const PAUSE: Duration = Duration::from_millis(200);

/// The port. Whoever connects waits until it is opened.
#[derive(Debug)]
pub struct LocalPort {
    tunnel: Tunnel,
    number: u16,
    waiting: Mutex<Option<TcpListener>>,
}

impl LocalPort {
    /// Takes a free one.
    pub fn take(tunnel: Tunnel) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        Ok(Self {
            tunnel,
            number: listener.local_addr()?.port(),
            waiting: Mutex::new(Some(listener)),
        })
    }

    /// Its number.
    pub fn number(&self) -> u16 {
        self.number
    }

    /// Lets connections in, until the runtime ends. Needs a runtime. Again: nothing.
    pub fn open(&self) -> io::Result<()> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(listener) = waiting.take() else {
            return Ok(());
        };
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let tunnel = self.tunnel.clone();
        tokio::spawn(async move {
            loop {
                match listener.accept().await {
                    Ok((socket, _)) => drop(tokio::spawn(pass(tunnel.clone(), socket))),
                    // One connection that broke, or no file left for it: the next one may do.
                    Err(why) => {
                        tracing::warn!(%why, "the local port let a connection go");
                        sleep(PAUSE).await;
                    }
                }
            }
        });
        Ok(())
    }
}

/// One connection, to its end; where there is no tunnel it ends at once.
async fn pass(tunnel: Tunnel, mut near: TcpStream) {
    if let Err(why) = tunnel.ready().await {
        tracing::warn!(why, "the local port leads nowhere");
        return;
    }
    if let Ok(mut far) = UnixStream::connect(tunnel.socket()).await {
        // A connection that breaks is the business of those who speak over it.
        copy_bidirectional(&mut near, &mut far).await.ok();
    }
}
