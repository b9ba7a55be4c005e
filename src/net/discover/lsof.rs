//! Processes and sockets where there is no `/proc`: asked of `lsof`.
//!
//! What it does: run it and read what it prints. What it does not: anything where it is missing; a
//! note says so.

use super::sockets::Listener;
use super::{Processes, Scan};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The OpenCode processes of this user that listen.
pub(super) fn scan(which: &Processes) -> Scan {
    if *which == Processes::None {
        return Scan::default();
    }
    let uid = rustix::process::geteuid().as_raw().to_string();
    let ports = run(&[
        "-nP",
        "-a",
        "-u",
        &uid,
        "-c",
        "opencode",
        "-iTCP",
        "-sTCP:LISTEN",
        "-Fpn",
    ]);
    let ports = match ports {
        Ok(text) => text,
        Err(why) => {
            return Scan {
                failed: Some(why),
                ..Scan::default()
            };
        }
    };
    let folders = run(&["-a", "-u", &uid, "-c", "opencode", "-d", "cwd", "-Fpn"]);
    let folders = cwds(&folders.unwrap_or_default());
    let mut listeners = parse(&ports, &folders);
    let listens = |pid: u32| listeners.iter().any(|it| it.pid == pid);
    let is_meant = |cwd: &PathBuf| match which {
        Processes::Below(folder) => cwd.starts_with(folder),
        Processes::All | Processes::None => true,
    };
    let silent = folders.iter();
    let silent = silent.filter(|(pid, cwd)| !listens(**pid) && is_meant(cwd));
    let silent = silent.map(|(pid, _)| *pid).collect();
    if matches!(which, Processes::Below(_)) {
        listeners.retain(|it| it.cwd.as_ref().is_some_and(is_meant));
    }
    Scan {
        silent,
        listeners,
        failed: None,
    }
}

/// It exits with 1 where nothing fits.
fn run(args: &[&str]) -> Result<String, String> {
    let ran = Command::new("lsof")
        // A file system that does not answer must not hold it up.
        .args(["-b", "-w"])
        .args(args)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let ran = ran.map_err(|why| format!("lsof: {why}"))?;
    Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
}

/// `p12`, `n127.0.0.1:4096` and so on.
fn parse(text: &str, folders: &BTreeMap<u32, PathBuf>) -> Vec<Listener> {
    let mut all: BTreeMap<u32, Vec<SocketAddr>> = BTreeMap::new();
    for (pid, name) in fields(text) {
        if let Some(address) = address(name) {
            let of = all.entry(pid).or_default();
            if !of.contains(&address) {
                of.push(address);
            }
        }
    }
    let listener = |(pid, addresses)| Listener {
        cwd: folders.get(&pid).cloned(),
        pid,
        addresses,
    };
    all.into_iter().map(listener).collect()
}

fn cwds(text: &str) -> BTreeMap<u32, PathBuf> {
    fields(text)
        .map(|(pid, name)| (pid, PathBuf::from(name)))
        .collect()
}

/// Each name with the process that it stands under.
fn fields(text: &str) -> impl Iterator<Item = (u32, &str)> {
    let mut pid = None;
    text.lines().filter_map(move |line| {
        if let Some(number) = line.strip_prefix('p') {
            pid = number.parse().ok();
            return None;
        }
        Some((pid?, line.strip_prefix('n')?))
    })
}

/// `*:4096` is every address.
fn address(name: &str) -> Option<SocketAddr> {
    let (host, port) = name.rsplit_once(':')?;
    let ip = match host {
        "*" => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        "[::]" => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        other => other.trim_matches(['[', ']']).parse().ok()?,
    };
    Some(SocketAddr::new(ip, port.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lsof_prints_is_understood() {
        let ports = "p12\nf10\nn127.0.0.1:4096\nf11\nn[::1]:4096\np14\nf3\nn*:5000\nnjunk\n";
        let folders = cwds("p12\nfcwd\nn/Users/me/app\n");
        let found = parse(ports, &folders);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].cwd.as_deref(), Some("/Users/me/app".as_ref()));
        assert_eq!(found[0].addresses.len(), 2);
        assert_eq!(found[1].addresses, ["0.0.0.0:5000".parse().unwrap()]);
        assert!(parse("", &folders).is_empty());
    }
}
