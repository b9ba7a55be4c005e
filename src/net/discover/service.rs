//! The file in which the background service of OpenCode 2.x leaves word.
//!
//! What it does: read it, refuse one that others can read, find out whether the process that it
//! names is there. What it does not: believe it; the server is asked who it is (`probe.rs`), and its
//! password goes nowhere but to the address in the file.

use super::Scan;
use crate::net::client::{Address, Credentials};
use crate::net::private;
use serde::Deserialize;
use std::fmt;
use std::io::ErrorKind;
use std::path::Path;

/// What the file says.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Service {
    /// Where it listens.
    pub(super) address: Address,
    /// The process that wrote it.
    pub(super) pid: u32,
    /// Its version.
    pub(super) version: String,
    /// For that address only.
    pub(super) credentials: Credentials,
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Service({}, process {})", self.address.shown(), self.pid)
    }
}

#[derive(Deserialize)]
struct Wire {
    url: String,
    pid: u32,
    version: String,
    password: String,
}

/// Reads it. `Ok(None)`: there is none. An error is a fragment without a password.
pub(super) fn read(path: &Path, scan: &Scan) -> Result<Option<Service>, String> {
    let shown = path.display();
    let text = match private::read(path) {
        Ok(Some(text)) => text,
        Ok(None) => {
            return Err(format!(
                "{shown} is left alone: others can read its password (chmod 600 it)"
            ));
        }
        Err(why) if matches!(why.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(why) => return Err(format!("{shown}: {why}")),
    };
    let service = parse(&text).map_err(|why| format!("{shown}: {why}"))?;
    if is_there(&service, scan) {
        return Ok(Some(service));
    }
    let pid = service.pid;
    Err(format!(
        "{shown} is stale: process {pid} is gone or listens elsewhere"
    ))
}

/// What a mistake says never repeats the text: it holds a password.
fn parse(text: &str) -> Result<Service, String> {
    let wire: Wire = serde_json::from_str(text).map_err(|why| {
        let at = format!("line {}, column {}", why.line(), why.column());
        format!("not what a service writes (url, pid, version, password; {at})")
    })?;
    let address = Address::parse(&wire.url).map_err(|why| why.to_string())?;
    Ok(Service {
        address,
        pid: wire.pid,
        version: wire.version,
        credentials: Credentials::new(None, wire.password).taken_from("the service file"),
    })
}

/// Whether its process runs, and, where that can be told, listens on its port: who took the port
/// since must not get the password.
fn is_there(service: &Service, scan: &Scan) -> bool {
    if let Some(known) = scan.listeners.iter().find(|it| it.pid == service.pid) {
        let port = service.address.host_and_port().map(|(_, port)| port);
        return known.addresses.iter().any(|it| Some(it.port()) == port);
    }
    if scan.silent.contains(&service.pid) {
        return false;
    }
    let pid = i32::try_from(service.pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| match rustix::process::test_kill_process(pid) {
        Ok(()) => true,
        Err(why) => why == rustix::io::Errno::PERM,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::discover::sockets::Listener;
    use std::os::unix::fs::PermissionsExt;

    fn text(pid: u32) -> String {
        format!(
            r#"{{"id":"x","version":"2.0.14","url":"http://127.0.0.1:4321","pid":{pid},"password":"sesame"}}"#
        )
    }

    fn written(text: &str, mode: u32) -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("service.json");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        (dir, path)
    }

    #[test]
    fn a_service_of_a_process_that_runs_is_taken_with_its_password() {
        let (_dir, path) = written(&text(std::process::id()), 0o600);
        let service = read(&path, &Scan::default()).unwrap().unwrap();
        assert_eq!(service.address.shown(), "http://127.0.0.1:4321");
        assert_eq!(service.credentials.password, "sesame");
        assert!(!format!("{service:?}").contains("sesame"));
    }

    #[test]
    fn a_service_whose_process_is_gone_or_listens_elsewhere_is_stale() {
        let (_dir, path) = written(&text(u32::MAX >> 1), 0o600);
        let why = read(&path, &Scan::default()).unwrap_err();
        assert!(why.contains("is stale"), "{why}");
        let (_dir, path) = written(&text(7), 0o600);
        let elsewhere = Listener {
            pid: 7,
            cwd: None,
            addresses: vec!["127.0.0.1:4322".parse().unwrap()],
        };
        let scan = Scan {
            listeners: vec![elsewhere],
            ..Scan::default()
        };
        let why = read(&path, &scan).unwrap_err();
        assert!(why.contains("is stale"), "{why}");
        let pid = std::process::id();
        let (_dir, path) = written(&text(pid), 0o600);
        let scan = Scan {
            silent: vec![pid],
            ..Scan::default()
        };
        let why = read(&path, &scan).unwrap_err();
        assert!(
            why.contains("is stale"),
            "it lives, but listens nowhere: {why}"
        );
    }

    #[test]
    fn what_others_can_read_or_nobody_can_is_left_alone_without_its_password() {
        let (_dir, path) = written(&text(std::process::id()), 0o640);
        let why = read(&path, &Scan::default()).unwrap_err();
        assert!(why.contains("others can read its password"), "{why}");
        for broken in [
            r#"{"password":"sesame"}"#,
            r#"{"password":"sesame","pid":"x"}"#,
            "sesame",
            "",
        ] {
            let (_dir, path) = written(broken, 0o600);
            let why = read(&path, &Scan::default()).unwrap_err();
            assert!(!why.contains("sesame"), "{why}");
        }
        let missing = std::path::Path::new("/nonexistent/service.json");
        assert_eq!(read(missing, &Scan::default()), Ok(None));
    }
}
