//! Addresses at which a server may be, and why. Pure.
//!
//! What it does: make one of each source, and join those that lead to the same server. What it does
//! not: ask any.

use super::mdns::Announced;
use super::service::Service;
use super::sockets::Listener;
use crate::net::client::{Address, Credentials};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// Why an address is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Way {
    /// Servers usually are there.
    Usual,
    /// A process of this user listens there.
    Process {
        /// Its id.
        pid: u32,
        /// The folder that it works in.
        cwd: Option<PathBuf>,
    },
    /// A service of OpenCode 2.x left word.
    Service {
        /// The process that it named.
        pid: u32,
        /// The version that it named.
        version: String,
    },
    /// It announces itself on the local network, under this name.
    Network(String),
}

/// An address to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Where to connect.
    pub(super) at: SocketAddr,
    /// As a URL.
    pub(super) address: Address,
    /// Why; at least one.
    pub(super) ways: Vec<Way>,
    /// For this address only.
    pub(super) credentials: Option<Credentials>,
    /// It listens on an address that other machines can reach.
    pub(super) exposed: bool,
}

impl Candidate {
    fn new(at: SocketAddr, way: Way) -> Option<Self> {
        Some(Self {
            at,
            address: Address::parse(&format!("http://{at}")).ok()?,
            ways: vec![way],
            credentials: None,
            exposed: false,
        })
    }

    pub(super) fn usual(at: SocketAddr) -> Option<Self> {
        Self::new(at, Way::Usual)
    }

    pub(super) fn of_process(listener: &Listener) -> Vec<Self> {
        let of = |address: &SocketAddr| {
            let way = Way::Process {
                pid: listener.pid,
                cwd: listener.cwd.clone(),
            };
            let candidate = Self::new(reachable(*address), way)?;
            Some(Self {
                exposed: !address.ip().to_canonical().is_loopback(),
                ..candidate
            })
        };
        listener.addresses.iter().filter_map(of).collect()
    }

    /// An error is a fragment.
    pub(super) fn of_service(service: Service) -> Result<Self, String> {
        let shown = service.address.shown();
        let unknown =
            || format!("the service file names {shown}, which is no address of a machine");
        let (host, port) = service.address.host_and_port().ok_or_else(unknown)?;
        let ip = match host.as_str() {
            "localhost" => IpAddr::V4(Ipv4Addr::LOCALHOST),
            other => other.parse().map_err(|_| unknown())?,
        };
        Ok(Self {
            at: reachable(SocketAddr::new(ip, port)),
            address: service.address,
            ways: vec![Way::Service {
                pid: service.pid,
                version: service.version,
            }],
            credentials: Some(service.credentials),
            exposed: !ip.to_canonical().is_loopback(),
        })
    }

    pub(super) fn of_network(announced: Announced) -> Option<Self> {
        let exposed = announced.here;
        let candidate = Self::new(announced.at, Way::Network(announced.name))?;
        Some(Self {
            exposed,
            ..candidate
        })
    }

    /// Which process it is, where that is known.
    fn pid(&self) -> Option<u32> {
        self.ways.iter().find_map(|way| match way {
            Way::Process { pid, .. } | Way::Service { pid, .. } => Some(*pid),
            Way::Usual | Way::Network(_) => None,
        })
    }

    /// The same server: the same port of this machine, unless two processes share it, or the same
    /// address.
    fn is_same(&self, other: &Self) -> bool {
        let near = self.at.ip().is_loopback() && other.at.ip().is_loopback();
        let same = self.at == other.at || (near && self.at.port() == other.at.port());
        let two = self
            .pid()
            .zip(other.pid())
            .is_some_and(|(one, other)| one != other);
        same && !two
    }

    fn join(&mut self, other: Self) {
        if self.pid().is_none() && other.pid().is_some() && self.credentials.is_none() {
            // Where a process listens is known; the usual address is only a guess.
            (self.at, self.address) = (other.at, other.address.clone());
        }
        for way in other.ways {
            if !self.ways.contains(&way) {
                self.ways.push(way);
            }
        }
        self.exposed |= other.exposed;
        if self.credentials.is_none() && other.credentials.is_some() {
            // A password goes to the address that it was left for.
            (self.at, self.address) = (other.at, other.address);
            self.credentials = other.credentials;
        }
    }
}

/// Where a socket of this machine is connected to.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip().to_canonical() {
        // One of IPv6 is nearly always of both kinds.
        ip if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// Each server once, in the order in which they came.
pub(super) fn merge(candidates: impl IntoIterator<Item = Candidate>) -> Vec<Candidate> {
    let mut merged: Vec<Candidate> = Vec::new();
    for candidate in candidates {
        match merged.iter_mut().find(|known| known.is_same(&candidate)) {
            Some(known) => known.join(candidate),
            None => merged.push(candidate),
        }
    }
    merged
}

impl Candidate {
    /// Why it is looked at, for people: a fragment.
    pub(super) fn why(&self) -> String {
        let words: Vec<String> = self.ways.iter().map(Way::words).collect();
        words.join("; ")
    }

    /// The folder that its process works in.
    pub(super) fn cwd(&self) -> Option<&PathBuf> {
        self.ways.iter().find_map(|way| match way {
            Way::Process { cwd, .. } => cwd.as_ref(),
            _ => None,
        })
    }
}

impl Way {
    fn words(&self) -> String {
        match self {
            Way::Usual => "the usual address".to_owned(),
            Way::Process { pid, cwd: None } => format!("opencode process {pid} listens there"),
            Way::Process {
                pid,
                cwd: Some(cwd),
            } => {
                format!("opencode process {pid} in {} listens there", cwd.display())
            }
            Way::Service { pid, .. } => format!("the service file names it (process {pid})"),
            Way::Network(name) => format!("{name} announces it on the local network"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listener(pid: u32, addresses: &[&str]) -> Listener {
        Listener {
            pid,
            cwd: Some(format!("/home/me/{pid}").into()),
            addresses: addresses.iter().map(|it| it.parse().unwrap()).collect(),
        }
    }

    fn merged(listeners: &[Listener]) -> Vec<Candidate> {
        let usual = Candidate::usual("127.0.0.1:4096".parse().unwrap());
        let processes = listeners.iter().flat_map(Candidate::of_process);
        merge(usual.into_iter().chain(processes))
    }

    #[test]
    fn a_server_with_several_addresses_is_one() {
        let all = merged(&[listener(7, &["127.0.0.1:4096", "[::1]:4096"])]);
        assert_eq!(all.len(), 1, "{all:#?}");
        assert_eq!(all[0].ways.len(), 2);
        assert!(!all[0].exposed);
        assert_eq!(
            all[0].why(),
            "the usual address; opencode process 7 in /home/me/7 listens there"
        );
        let all = merged(&[listener(7, &["0.0.0.0:4096", "[::]:4096"])]);
        assert_eq!((all.len(), all[0].exposed), (1, true));
        assert_eq!(all[0].at.to_string(), "127.0.0.1:4096");
        let all = merged(&[listener(7, &["[::ffff:127.0.0.1]:4096"])]);
        assert_eq!((all.len(), all[0].exposed), (1, false), "only this machine");
    }

    #[test]
    fn a_server_is_asked_where_it_listens_also_where_the_usual_address_is_another() {
        let all = merged(&[listener(7, &["[::1]:4096"])]);
        assert_eq!((all.len(), all[0].ways.len()), (1, 2));
        assert_eq!(all[0].at.to_string(), "[::1]:4096");
        assert_eq!(all[0].address.shown(), "http://[::1]:4096");
    }

    #[test]
    fn two_processes_are_two_even_on_one_port_of_two_addresses() {
        let all = merged(&[
            listener(7, &["127.0.0.1:5000"]),
            listener(8, &["[::1]:5000"]),
        ]);
        assert_eq!(all.len(), 3);
        assert_eq!(all[2].at.to_string(), "[::1]:5000");
        let all = merged(&[listener(7, &["127.0.0.1:5000", "127.0.0.1:5001"])]);
        assert_eq!(all.len(), 3, "each port is asked; not all are servers");
    }

    fn service(url: &str) -> Service {
        Service {
            address: Address::parse(url).unwrap(),
            pid: 7,
            version: "2.0.14".to_owned(),
            credentials: Credentials::new(None, "sesame".to_owned()),
        }
    }

    #[test]
    fn a_service_of_all_addresses_is_its_process_and_one_of_a_name_is_told() {
        let process = Candidate::of_process(&listener(7, &["0.0.0.0:5000"]));
        let of = Candidate::of_service(service("http://0.0.0.0:5000"));
        let all = merge(process.into_iter().chain(of));
        assert_eq!((all.len(), all[0].exposed), (1, true), "{all:#?}");
        let said = Candidate::of_service(service("http://nas:5000")).unwrap_err();
        assert!(said.contains("http://nas:5000"), "{said}");
    }

    #[test]
    fn a_password_stays_with_its_address() {
        let service = service("http://localhost:5000");
        let process = Candidate::of_process(&listener(7, &["127.0.0.1:5000"]));
        let all = merge(process.into_iter().chain(Candidate::of_service(service)));
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].address.shown(), "http://localhost:5000");
        assert!(all[0].credentials.is_some());
        assert!(!format!("{all:?}").contains("sesame"));
    }
}
