//! Names for servers that nobody named. Pure.
//!
//! What it does: a short name for each, no two alike. What it does not: keep them.

use super::Found;
use std::collections::BTreeMap;
use std::path::Path;

/// The last part of a folder, as a name; none for the root.
pub(super) fn of_folder(folder: &Path) -> Option<String> {
    let name = folder.file_name()?.to_str()?;
    // What stands before a slash or in a URL must not be taken for something else.
    let plain = |c: char| {
        if c.is_whitespace() || c == ':' {
            '-'
        } else {
            c
        }
    };
    Some(name.chars().map(plain).collect())
}

/// Its URL without the scheme: `host:port`, and the path where it has one.
fn at(found: &Found) -> String {
    let shown = found.address.shown();
    let rest = shown.split_once("://").map_or(shown.as_str(), |it| it.1);
    rest.to_owned()
}

/// A name that two have is told apart by the port, else by the address.
pub(super) fn give(found: &mut [Found]) {
    let times = times(found);
    for it in found.iter_mut() {
        if it.name.is_empty() {
            it.name = at(it);
        } else if times.get(&it.name).is_some_and(|count| *count > 1) {
            let port = it.address.host_and_port().map(|(_, port)| port);
            it.name = format!("{}-{}", it.name, port.unwrap_or_default());
        }
    }
    let times = self::times(found);
    for it in found {
        if times.get(&it.name).is_some_and(|count| *count > 1) {
            it.name = at(it);
        }
    }
}

/// How many have each name.
fn times(found: &[Found]) -> BTreeMap<String, usize> {
    let mut times = BTreeMap::new();
    for it in found {
        *times.entry(it.name.clone()).or_default() += 1;
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::client::Address;

    #[test]
    fn two_servers_in_folders_of_one_name_are_told_apart() {
        let found = |name: &str, url: &str| Found {
            name: name.to_owned(),
            address: Address::parse(url).unwrap(),
            credentials: None,
            why: String::new(),
            exposed: false,
        };
        let mut all = [
            found("app", "http://127.0.0.1:1"),
            found("app", "http://127.0.0.1:2"),
            found("site", "http://127.0.0.1:3"),
            found("", "http://192.0.2.7:4"),
            found("both", "http://127.0.0.1:5"),
            found("both", "http://[::1]:5"),
        ];
        give(&mut all);
        let names: Vec<&str> = all.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "app-1",
                "app-2",
                "site",
                "192.0.2.7:4",
                "127.0.0.1:5",
                "[::1]:5"
            ]
        );
    }

    #[test]
    fn a_folder_gives_a_plain_name() {
        assert_eq!(
            of_folder(Path::new("/home/me/my app")).as_deref(),
            Some("my-app")
        );
        assert_eq!(of_folder(Path::new("/")), None);
    }
}
