//! Whether other machines can reach a server that wants no password.

use super::{Fake, client, json};
use ocwatch::net::client::{Address, Client, Waits};

#[tokio::test]
async fn only_an_open_server_that_others_can_reach_is_unsecured() {
    let health = json(r#"{"healthy":true,"version":"1.18.33"}"#);
    let open = Fake::start().await;
    open.set("/global/health", health);
    assert!(
        !client(open.port).probe().await.unwrap().unsecured,
        "of this machine only"
    );
    let exposed = client(open.port).exposed().probe().await.unwrap();
    assert!(exposed.unsecured, "it listens on every address");

    // Its address is of this machine, it is reached from others, but it wants a password.
    let closed = ocwatch::sim::Sim::start(ocwatch::sim::Config {
        auth: Some(("opencode".to_owned(), "pw".to_owned())),
        ..ocwatch::sim::Config::new(super::clock())
    })
    .unwrap();
    let address = Address::parse(&format!("http://opencode:pw@{}", closed.addr())).unwrap();
    let client = Client::new(address, None, Waits::default(), super::clock()).unwrap();
    assert!(!client.exposed().probe().await.unwrap().unsecured);
}
