//! Proxies: which requests go through one, and what it gets to see.

use crate::front::{Authority, Front};
use crate::program::Ran;
use crate::{SECRET, World};
use serde_json::Value;
use std::io::{Read, Write, copy};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A proxy that leads everything to one port of this machine, and keeps what it saw of it.
struct Proxy {
    port: u16,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Proxy {
    fn start(to: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::<Mutex<Vec<u8>>>::default();
        let kept = Arc::clone(&seen);
        std::thread::spawn(move || {
            for near in listener.incoming() {
                let (near, kept) = (near.unwrap(), Arc::clone(&kept));
                std::thread::spawn(move || pass(near, to, &kept));
            }
        });
        Self { port, seen }
    }

    fn seen(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned()
    }
}

/// `CONNECT` is answered; a plain request goes on with its whole URL, which servers must understand.
fn pass(mut near: TcpStream, to: u16, seen: &Mutex<Vec<u8>>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if near.read_exact(&mut byte).is_err() {
            return;
        }
        head.push(byte[0]);
    }
    seen.lock().unwrap().extend_from_slice(&head);
    let mut far = TcpStream::connect(("127.0.0.1", to)).unwrap();
    if head.starts_with(b"CONNECT ") {
        near.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").unwrap();
    } else {
        far.write_all(&head).unwrap();
    }
    let (mut from, mut back) = (near.try_clone().unwrap(), far.try_clone().unwrap());
    let there = std::thread::spawn(move || {
        copy(&mut back, &mut near).ok();
        near.shutdown(Shutdown::Both).ok();
    });
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        seen.lock().unwrap().extend_from_slice(&buffer[..count]);
        if far.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    far.shutdown(Shutdown::Write).ok();
    there.join().ok();
}

fn look(world: &World, environment: &[(&str, String)]) -> Value {
    let words = [
        "--config",
        "config.toml",
        "status",
        "--json",
        "--settle",
        "0",
    ];
    let mut command = world.home.command(&words);
    let ran = command.envs(environment.iter().cloned()).output().unwrap();
    let ran = Ran::new(&ran);
    let said = format!("{ran:?}");
    assert!(
        !said.contains(SECRET) && !said.contains("of-the-proxy"),
        "{said}"
    );
    ran.json()["servers"][0].clone()
}

/// `Basic opencode:…` as a header says it.
fn basic() -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(format!("opencode:{SECRET}"))
}

#[test]
fn tls_goes_through_the_proxy_of_the_environment_which_sees_nothing_of_it() {
    let (world, authority) = (World::new(), Authority::new());
    world.file("ca.pem", &authority.pem());
    let shown = authority.sign("far.invalid", (2020, 2999));
    let front = Front::start(shown, &["h2", "http/1.1"], &world.sim.url(), "");
    let proxy = Proxy::start(front.port);
    world.configure("https://far.invalid", "ca_file = \"ca.pem\"");
    let at = format!("http://me:of-the-proxy@127.0.0.1:{}", proxy.port);
    let server = look(&world, &[("HTTPS_PROXY", at.clone())]);
    assert_eq!(server["state"], "live", "{server:#}");
    let seen = proxy.seen();
    assert!(seen.contains("CONNECT far.invalid:443 "), "{seen}");
    assert!(!seen.contains(SECRET) && !seen.contains(&basic()));
    let before = seen.len();
    let none = look(
        &world,
        &[("https_proxy", at), ("NO_PROXY", ".invalid".to_owned())],
    );
    assert_eq!(none["state"], "unreachable", "{none:#}");
    assert_eq!(proxy.seen().len(), before);
}

#[test]
fn a_password_goes_unencrypted_only_through_a_proxy_of_the_configuration() {
    let world = World::new();
    let proxy = Proxy::start(world.sim.addr().port());
    let at = format!("http://127.0.0.1:{}", proxy.port);
    let environment = [("HTTP_PROXY", at.clone())];
    world.configure("http://far.invalid:4096", "");
    let refused = look(&world, &environment);
    let said = refused["error"].as_str().unwrap();
    assert!(said.contains("could read the password"), "{said}");
    assert_eq!(proxy.seen(), "", "it heard nothing");
    world.configure("http://far.invalid:4096", "proxy = \"none\"");
    let straight = look(&world, &environment);
    let said = straight["error"].as_str().unwrap();
    assert!(!said.contains("proxy"), "{said}");
    assert_eq!(proxy.seen(), "");
    world.configure("http://far.invalid:4096", &format!("proxy = \"{at}\""));
    let server = look(&world, &[]);
    assert_eq!(server["state"], "live", "{server:#}");
    assert!(
        proxy
            .seen()
            .contains("http://far.invalid:4096/global/health")
    );
}

#[test]
fn this_machine_is_reached_straight_and_a_proxy_that_is_not_there_is_named() {
    let world = World::new();
    let gone = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"];
    let gone = gone.map(|it| (it, "http://127.0.0.1:9".to_owned()));
    world.configure(&world.sim.url(), "");
    assert_eq!(look(&world, &gone)["state"], "live");
    world.configure("https://far.invalid", "");
    let server = look(&world, &gone);
    let said = server["error"].as_str().unwrap();
    assert!(said.contains("proxy 127.0.0.1:9"), "{said}");
}
