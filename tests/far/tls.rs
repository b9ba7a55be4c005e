//! Certificates, HTTP/2 and base paths.

use crate::front::{Authority, Front};
use crate::lines::Running;
use crate::{SECRET, World};
use axum::http::Version;
use serde_json::Value;

const BOTH: [&str; 2] = ["h2", "http/1.1"];
const NOW: (i32, i32) = (2020, 2999);

fn said(server: &Value) -> String {
    assert_eq!(server["state"], "unreachable", "{server:#}");
    server["error"].as_str().expect("an error").to_owned()
}

#[test]
fn a_certificate_is_checked_and_what_is_wrong_with_it_is_told() {
    let (world, authority) = (World::new(), Authority::new());
    world.file("ca.pem", &authority.pem());
    let mine = "ca_file = \"ca.pem\"";
    let url = world.sim.url();
    let look = |shown, host: &str, more: &str| {
        let front = Front::start(shown, &BOTH, &url, "");
        world.configure(&format!("https://{host}:{}", front.port), more);
        world.server()
    };
    let good = || authority.sign("localhost", NOW);
    assert_eq!(look(good(), "localhost", mine)["state"], "live");
    for (server, want) in [
        (look(good(), "localhost", ""), "ca_file"),
        (
            look(good(), "127.0.0.1", mine),
            "its certificate is for localhost, not for 127.0.0.1",
        ),
        (
            look(authority.sign("localhost", (2019, 2020)), "localhost", mine),
            "its certificate expired",
        ),
        (
            look(authority.sign("localhost", (2990, 2999)), "localhost", mine),
            "is a clock wrong?",
        ),
        (look(authority.itself(), "localhost", mine), "(CA:TRUE)"),
    ] {
        let said = said(&server);
        assert!(said.contains(want), "{want}: {said}");
    }
    let asked = world.sim.requests().len();
    look(good(), "localhost", "");
    assert_eq!(world.sim.requests().len(), asked, "nothing was asked");
}

#[test]
fn a_server_without_tls_is_told_from_a_bad_certificate() {
    let world = World::new();
    world.configure(&world.sim.url().replace("http://", "https://"), "");
    let said = said(&world.server());
    assert!(said.contains("is it http:// instead?"), "{said}");
}

#[test]
fn a_ca_file_that_is_none_is_a_mistake_of_the_configuration() {
    let world = World::new();
    world.configure("https://localhost:1", "ca_file = \"ca.pem\"");
    let ran = world.run(&["status"]);
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert!(ran.err.contains("no ca_file for far: ca.pem: "), "{ran:#?}");
    world.file("ca.pem", "hello");
    assert!(world.run(&["status"]).err.contains("no certificate"));
}

#[test]
fn everything_goes_by_http_two_where_the_server_can_and_below_a_base_path() {
    let (world, authority) = (World::new(), Authority::new());
    world.file("ca.pem", &authority.pem());
    for (protocols, version) in [(&BOTH[..], Version::HTTP_2), (&BOTH[1..], Version::HTTP_11)] {
        let shown = authority.sign("localhost", NOW);
        let front = Front::start(shown, protocols, &world.sim.url(), "/code/base");
        let url = format!("https://localhost:{}/code/base/", front.port);
        world.configure(&url, "ca_file = \"ca.pem\"");
        let server = world.server();
        assert_eq!(server["state"], "live", "{server:#}");
        assert_eq!(server["url"], url.trim_end_matches('/'));
        world.sim.prompt(&world.session, "hang");
        let ran = world.run(&["abort", &world.session, "--yes"]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let ran = world.run(&["export", &world.session, "-o", "-"]);
        assert!(ran.out.contains("Far away"), "{ran:#?}");
        let asked = front.asked();
        assert!(asked.iter().all(|it| it.0 == version), "{asked:#?}");
        assert!(
            asked.iter().all(|it| it.1.starts_with("/code/base/")),
            "{asked:#?}"
        );
        let stream = |it: &&(Version, String)| it.1.ends_with("/global/event");
        assert!(asked.iter().any(|it| stream(&it)), "{asked:#?}");
    }
}

#[test]
fn a_stream_over_http_two_is_live_and_its_end_is_noticed() {
    let (world, authority) = (World::new(), Authority::new());
    world.file("ca.pem", &authority.pem());
    let front = |port| {
        let shown = authority.sign("localhost", NOW);
        Front::at(port, shown, &BOTH, &world.sim.url(), "")
    };
    let first = front(0);
    let port = first.port;
    world.configure(&format!("https://localhost:{port}"), "ca_file = \"ca.pem\"");
    let args = ["--config", "config.toml", "watch", "--json"];
    let mut watch = Running::start(&mut world.home.command(&args));
    let state = |it: &Value, want: &str| it["id"].is_null() && it["to"]["state"] == want;
    let busy = |it: &Value| it["to"]["reported"] == "busy";
    let live = |it: &Value| state(it, "live");
    watch.until("it is read", live);
    watch.until("its session", |it| it["id"] == world.session.as_str());
    world.sim.prompt(&world.session, "hang");
    watch.until("a turn begins", busy);
    drop(first);
    watch.until("it is gone", |it| state(it, "unreachable"));
    let second = front(port);
    watch.until("it is there again", live);
    watch.until("as it was", busy);
    assert!(second.asked().iter().all(|it| it.0 == Version::HTTP_2));
    let ended = watch.end_by("TERM");
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(!format!("{:?}{}", ended.seen, ended.err).contains(SECRET));
}
