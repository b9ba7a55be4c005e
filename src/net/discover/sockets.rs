//! Which process listens where. Pure.
//!
//! What it does: join sockets and processes, tell an OpenCode process by how it was started. What
//! it does not: read either.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// A TCP socket that waits for connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Socket {
    /// Where.
    pub(super) address: SocketAddr,
    /// Which, for the processes that hold it.
    pub(super) inode: u64,
}

/// A process of this user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) pid: u32,
    /// The file that runs, where it can be told.
    pub(super) file: Option<PathBuf>,
    /// How it was started.
    pub(super) words: Vec<String>,
    /// The folder that it works in.
    pub(super) cwd: Option<PathBuf>,
    /// The sockets that it holds.
    pub(super) sockets: BTreeSet<u64>,
}

/// An OpenCode process that listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listener {
    /// Its id.
    pub(super) pid: u32,
    /// The folder that it works in, where it can be told.
    pub(super) cwd: Option<PathBuf>,
    /// Where, each once.
    pub(super) addresses: Vec<SocketAddr>,
}

/// How an OpenCode process calls itself: the program, or a wrapper of some packages.
const NAMES: [&str; 2] = ["opencode", ".opencode-wrapped"];

impl Program {
    /// Whether it is OpenCode: by its file, by the name that it was started under, or by the script
    /// that an interpreter runs.
    pub(super) fn is_opencode(&self) -> bool {
        let file = self.file.as_deref();
        let words = self.words.iter().take(2).map(Path::new);
        file.into_iter().chain(words).any(is_named)
    }
}

fn is_named(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| {
        // Of a file that was replaced while it runs.
        let name = name.strip_suffix(" (deleted)").unwrap_or(name);
        NAMES.contains(&name.strip_suffix(".js").unwrap_or(name))
    })
}

/// Those that listen, and which do not.
pub(super) fn listeners(sockets: &[Socket], programs: &[Program]) -> (Vec<Listener>, Vec<u32>) {
    let mut listening = Vec::new();
    let mut silent = Vec::new();
    for program in programs.iter().filter(|it| it.is_opencode()) {
        let held = |socket: &&Socket| program.sockets.contains(&socket.inode);
        let addresses: BTreeSet<SocketAddr> = sockets
            .iter()
            .filter(held)
            .map(|socket| socket.address)
            .collect();
        if addresses.is_empty() {
            silent.push(program.pid);
        } else {
            listening.push(Listener {
                pid: program.pid,
                cwd: program.cwd.clone(),
                addresses: addresses.into_iter().collect(),
            });
        }
    }
    (listening, silent)
}

/// Whether a server on this port of this machine can be reached from others. `beyond`: the addresses
/// of listening sockets that are not of the loopback.
pub fn is_exposed(port: u16, beyond: &[SocketAddr]) -> bool {
    beyond.iter().any(|address| address.port() == port)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(pid: u32, file: &str, words: &[&str], sockets: &[u64]) -> Program {
        Program {
            pid,
            file: Some(file.into()),
            words: words.iter().map(ToString::to_string).collect(),
            cwd: Some(format!("/home/me/{pid}").into()),
            sockets: sockets.iter().copied().collect(),
        }
    }

    #[test]
    fn opencode_is_told_by_its_file_its_name_or_its_script() {
        let cases = [
            ("/opt/bin/opencode", &["opencode", "serve"][..], true),
            ("/opt/bin/opencode (deleted)", &["serve"], true),
            ("/nix/store/x/bin/.opencode-wrapped", &["x"], true),
            (
                "/usr/bin/node",
                &["node", "/usr/lib/opencode/bin/opencode"],
                true,
            ),
            ("/usr/bin/bun", &["bun", "opencode.js", "serve"], true),
            ("/usr/bin/vim", &["vim", "notes", "opencode"], false),
            ("/usr/bin/opencode-helper", &["opencode-helper"], false),
            ("/usr/bin/ocwatch", &["ocwatch"], false),
        ];
        for (file, words, want) in cases {
            assert_eq!(
                program(1, file, words, &[]).is_opencode(),
                want,
                "{file} {words:?}"
            );
        }
    }

    #[test]
    fn a_process_listens_where_its_sockets_do() {
        let socket = |address: &str, inode| Socket {
            address: address.parse().unwrap(),
            inode,
        };
        let sockets = [
            socket("127.0.0.1:4096", 7),
            socket("[::1]:4096", 8),
            socket("0.0.0.0:5000", 9),
            socket("127.0.0.1:22", 10),
        ];
        let opencode = |pid, held: &[u64]| program(pid, "/bin/opencode", &["opencode"], held);
        let programs = [
            opencode(1, &[7, 8, 99]),
            opencode(2, &[]),
            program(3, "/bin/sshd", &["sshd"], &[10]),
            opencode(4, &[9]),
        ];
        let (found, silent) = listeners(&sockets, &programs);
        let shown: Vec<(u32, Vec<String>)> = found
            .iter()
            .map(|it| {
                (
                    it.pid,
                    it.addresses.iter().map(ToString::to_string).collect(),
                )
            })
            .collect();
        let at = |all: &[&str]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            shown,
            [
                (1, at(&["127.0.0.1:4096", "[::1]:4096"])),
                (4, at(&["0.0.0.0:5000"]))
            ]
        );
        assert_eq!(silent, [2]);
    }
}
