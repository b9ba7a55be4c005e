//! Servers that announce themselves on the local network (`opencode serve --mdns`).
//!
//! What it does: listen for a bounded time for instances `opencode-<port>` of `_http._tcp.local`.
//! What it does not: announce anything, or ask a server.

use mdns_sd::{ResolvedService, ServiceDaemon, ServiceEvent};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

const KIND: &str = "_http._tcp.local.";
const INSTANCE: &str = "opencode-";

/// A server that says where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Announced {
    /// `opencode-4096`, of which host: `opencode-4096 of nas.local`.
    pub(super) name: String,
    /// Where to connect.
    pub(super) at: SocketAddr,
    /// It is this machine.
    pub(super) here: bool,
}

/// What was heard.
#[derive(Debug, Default)]
pub(super) struct Browsed {
    pub(super) servers: Vec<Announced>,
    failed: Option<String>,
}

impl Browsed {
    /// What there is to say when nothing was heard. `asked`: it was listened at all.
    pub(super) fn note(&self, asked: bool) -> Option<String> {
        match (&self.failed, asked) {
            (Some(why), _) => Some(format!("the local network could not be asked: {why}")),
            (None, false) => Some("the local network was not asked (--mdns)".to_owned()),
            (None, true) if self.servers.is_empty() => {
                Some("nothing on the local network announces a server".to_owned())
            }
            (None, true) => None,
        }
    }
}

/// Listens for so long.
pub(super) async fn browse(wait: Duration) -> Browsed {
    let daemon = match ServiceDaemon::new() {
        Ok(daemon) => daemon,
        Err(why) => return failed(&why),
    };
    let events = match daemon.browse(KIND) {
        Ok(events) => events,
        Err(why) => return failed(&why),
    };
    let end = Instant::now() + wait;
    let mut servers = BTreeMap::new();
    while let Ok(Ok(event)) = timeout_at(end, events.recv_async()).await {
        if let ServiceEvent::ServiceResolved(it) = event {
            let found = announced(&it, &is_here);
            servers.extend(found.map(|found| (it.fullname.clone(), found)));
        }
    }
    // It ends by itself otherwise too, with its sender.
    daemon.shutdown().ok();
    Browsed {
        servers: servers.into_values().collect(),
        failed: None,
    }
}

fn failed(why: &mdns_sd::Error) -> Browsed {
    Browsed {
        failed: Some(why.to_string()),
        ..Browsed::default()
    }
}

/// Only what calls itself OpenCode; `is_here`: an address is of this machine.
fn announced(service: &ResolvedService, is_here: &dyn Fn(IpAddr) -> bool) -> Option<Announced> {
    if !service.fullname.starts_with(INSTANCE) {
        return None;
    }
    let instance = service.fullname.split('.').next()?;
    let mut addresses: Vec<IpAddr> = service
        .addresses
        .iter()
        .map(mdns_sd::ScopedIp::to_ip_addr)
        .collect();
    // Link-local addresses of IPv6 need a zone that a URL cannot name.
    addresses.retain(|ip| !matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local()));
    addresses.sort();
    let here = addresses.iter().any(|ip| is_here(*ip));
    let ip = if here {
        IpAddr::V4(Ipv4Addr::LOCALHOST)
    } else {
        *addresses.first()?
    };
    let host = service.host.trim_end_matches('.');
    Some(Announced {
        name: crate::core::present::clean(&format!("{instance} of {host}")),
        at: SocketAddr::new(ip, service.port),
        here,
    })
}

/// Only an address of this machine can be bound.
fn is_here(ip: IpAddr) -> bool {
    UdpSocket::bind((ip, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mdns_sd::ServiceInfo;

    fn resolved(instance: &str, ip: &str) -> ResolvedService {
        let none: [(&str, &str); 0] = [];
        let info = ServiceInfo::new(KIND, instance, "nas.local.", ip, 4096, &none[..]).unwrap();
        info.as_resolved_service()
    }

    #[test]
    fn only_what_calls_itself_opencode_counts_and_this_machine_is_known() {
        let far = |_| false;
        let found = announced(&resolved("opencode-4096", "192.0.2.7"), &far).unwrap();
        assert_eq!(found.name, "opencode-4096 of nas.local");
        assert_eq!(
            (found.at.to_string().as_str(), found.here),
            ("192.0.2.7:4096", false)
        );
        assert_eq!(announced(&resolved("printer", "192.0.2.7"), &far), None);
        let near = announced(&resolved("opencode-4096", "192.0.2.7"), &|_| true).unwrap();
        assert_eq!(
            (near.at.to_string().as_str(), near.here),
            ("127.0.0.1:4096", true)
        );
    }
}
