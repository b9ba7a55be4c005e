//! Processes and sockets of Linux, from `/proc`.
//!
//! What it does: read them. What it does not: judge them (`sockets.rs`). What cannot be read, as
//! processes of other users, is left out.

use super::sockets::{Program, Socket, listeners};
use super::{Processes, Scan};
use procfs::net::{TcpNetEntry, TcpState, tcp, tcp6};
use procfs::process::{FDTarget, Process, all_processes};
use std::collections::BTreeSet;

/// All sockets of this machine that wait for connections, whoever holds them.
pub(super) fn listening() -> Vec<Socket> {
    let all = tcp().unwrap_or_default().into_iter();
    let all = all.chain(tcp6().unwrap_or_default());
    let waits = |entry: &TcpNetEntry| entry.state == TcpState::Listen;
    all.filter(waits)
        .map(|entry| Socket {
            address: entry.local_address,
            inode: entry.inode,
        })
        .collect()
}

/// The OpenCode processes of this user.
pub(super) fn scan(which: &Processes) -> Scan {
    if *which == Processes::None {
        return Scan::default();
    }
    let uid = rustix::process::geteuid().as_raw();
    let all = match all_processes() {
        Ok(all) => all,
        Err(why) => {
            return Scan {
                failed: Some(why.to_string()),
                ..Scan::default()
            };
        }
    };
    let mine = all.filter_map(Result::ok);
    let mine = mine.filter(|process| process.uid().is_ok_and(|it| it == uid));
    let programs: Vec<Program> = mine
        .filter_map(|process| program(&process))
        .filter(|program| is_meant(program, which))
        .collect();
    let (listeners, silent) = listeners(&listening(), &programs);
    Scan {
        listeners,
        silent,
        failed: None,
    }
}

/// What is known of a process; its sockets only where it is OpenCode, since they cost most.
fn program(process: &Process) -> Option<Program> {
    let mut program = Program {
        pid: u32::try_from(process.pid).ok()?,
        file: process.exe().ok(),
        words: process.cmdline().ok()?,
        cwd: process.cwd().ok(),
        sockets: BTreeSet::new(),
    };
    if !program.is_opencode() {
        return None;
    }
    for fd in process.fd().ok().into_iter().flatten().flatten() {
        if let FDTarget::Socket(inode) = fd.target {
            program.sockets.insert(inode);
        }
    }
    Some(program)
}

fn is_meant(program: &Program, which: &Processes) -> bool {
    match which {
        Processes::All => true,
        Processes::Below(folder) => program
            .cwd
            .as_ref()
            .is_some_and(|it| it.starts_with(folder)),
        Processes::None => false,
    }
}
