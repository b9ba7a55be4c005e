//! From what the user said (arguments, configuration, environment) to the servers to watch.
//!
//! What it does: parse and resolve SERVER, find the right password. What it does not: connect.
//! Invariants: credentials leave the URL here and are never part of a message; a password from
//! `OPENCODE_SERVER_PASSWORD` goes only to this machine and to servers named on the command line.

use super::config::{Config, ServerEntry};
use crate::core::id::Directory;
use crate::core::store::ReadOnly;
use crate::net::client::{Address, ClientError, Credentials, Proxies, Proxy, Route, Trust};
use crate::net::discover::Found;
use crate::net::private;
use crate::net::tunnel::Ssh;
use crate::shell::target::Target;
use std::path::Path;
use thiserror::Error;

/// Where an OpenCode server listens unless told otherwise.
pub const USUAL_PORT: u16 = 4096;

/// Fits after "failed to understand the server: ". Never holds a password.
#[derive(Debug, Error)]
pub enum ServerError {
    /// Neither a URL, nor `host:port`, nor a name.
    #[error("{server:?} is not a server: {why}")]
    Malformed {
        /// As it was given, credentials struck out.
        server: String,
        /// Why.
        why: String,
    },
    /// A password that the configuration names cannot be had.
    #[error("no password for {name}: {why}")]
    Password {
        /// Which server.
        name: String,
        /// Why.
        why: String,
    },
    /// The file of authorities that the configuration names is none.
    #[error("no ca_file for {name}: {why}")]
    Authority {
        /// Which server.
        name: String,
        /// Why.
        why: String,
    },
}

/// For servers on this machine, and those that are named.
const PASSWORD: &str = "OPENCODE_SERVER_PASSWORD";

/// How variables are looked up.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Resolves the servers that were named; none named: those of the configuration; may be empty.
pub fn resolve(
    named: &[String],
    config: &Config,
    env: Lookup<'_>,
) -> Result<Vec<Target>, ServerError> {
    let mut targets: Vec<Target> = Vec::new();
    if named.is_empty() {
        for entry in &config.server {
            targets.push(from_entry(entry, false, env)?);
        }
    }
    for text in named {
        let entry = config.server.iter().find(|entry| entry.name == *text);
        let target = match entry {
            Some(entry) => from_entry(entry, true, env)?,
            None => from_text(text, env)?,
        };
        if !targets
            .iter()
            .any(|known| known.address.may_be(&target.address))
        {
            targets.push(target);
        }
    }
    protect(&mut targets, config);
    let ssh = ssh(config);
    let proxies = proxies(env);
    for target in &mut targets {
        target.route.ssh = ssh.clone();
        let entry = config.server.iter().find(|it| it.name == target.name);
        target.route.proxy = match entry.and_then(|it| it.proxy.as_deref()) {
            Some(said) => Proxy::wanted(said).ok(),
            None => proxies.of(&target.address),
        };
    }
    Ok(targets)
}

/// Of each variable the spelling in small letters wins, as with `curl`.
fn proxies(env: Lookup<'_>) -> Proxies {
    let said = |name: &str| env(&name.to_ascii_lowercase()).or_else(|| env(name));
    Proxies {
        http: said("HTTP_PROXY"),
        https: said("HTTPS_PROXY"),
        all: said("ALL_PROXY"),
        no: said("NO_PROXY"),
    }
}

/// What is run for servers of `ssh://`.
fn ssh(config: &Config) -> Ssh {
    let usual = Ssh::default();
    Ssh {
        command: config.ssh_command.clone().unwrap_or(usual.command),
        hidden: hidden(config).into(),
    }
}

/// Variables that hold passwords: no program that is started gets them.
pub fn hidden(config: &Config) -> Vec<String> {
    let named = config
        .server
        .iter()
        .filter_map(|it| it.password_env.clone());
    named
        // A URL in OCWATCH_SERVER may hold one.
        .chain(["OPENCODE_SERVER_PASSWORD", "OCWATCH_SERVER"].map(str::to_owned))
        .collect()
}

/// What the configuration protects is protected under its URL as well.
fn protect(targets: &mut [Target], config: &Config) {
    let entries = config.server.iter().filter(|entry| entry.read_only);
    let protected: Vec<Address> = entries.filter_map(|it| parse(&it.url).ok()).collect();
    for target in targets {
        if protected.iter().any(|it| it.may_be(&target.address)) {
            target.read_only = Some(ReadOnly::Configuration);
        }
    }
}

/// A server that was found. What the service file says of it is its own; `OPENCODE_SERVER_PASSWORD`
/// stays on this machine.
pub fn found(found: &Found, env: Lookup<'_>) -> Target {
    let target = target(found.address.clone(), None, None, false, env);
    Target {
        name: found.name.clone(),
        credentials: found.credentials.clone().or(target.credentials),
        source: found.why.clone(),
        ..target
    }
}

fn from_entry(entry: &ServerEntry, named: bool, env: Lookup<'_>) -> Result<Target, ServerError> {
    let address = parse(&entry.url)?;
    let own = own_password(entry, env)?;
    let user = entry.username.clone();
    let directories = entry.directories.iter();
    Ok(Target {
        name: entry.name.clone(),
        source: "of the configuration".to_owned(),
        directories: directories.map(|it| Directory::from(it.as_str())).collect(),
        route: route(entry)?,
        ..target(address, own, user, named, env)
    })
}

fn from_text(text: &str, env: Lookup<'_>) -> Result<Target, ServerError> {
    Ok(target(parse(text)?, None, None, true, env))
}

/// Its own credentials win over those of the configuration, those over the environment's.
fn target(
    address: Address,
    own: Option<(String, String)>,
    user: Option<String>,
    named: bool,
    env: Lookup<'_>,
) -> Target {
    let open = address.is_loopback() || named;
    let general = |name: &str| env(name).filter(|_| open);
    let user = user.or_else(|| general("OPENCODE_SERVER_USERNAME"));
    let credentials = address.credentials.clone().or_else(|| {
        let everywhere = || Some((general(PASSWORD)?, format!("${PASSWORD}")));
        let (password, source) = own.or_else(everywhere)?;
        Some(Credentials::new(user.as_deref(), password).taken_from(source))
    });
    let shown = address.shown();
    let name = shown.split_once("://").map_or(shown.as_str(), |it| it.1);
    Target {
        name: name.to_owned(),
        address,
        credentials,
        directories: Vec::new(),
        read_only: None,
        route: Route::default(),
        source: "named on the command line".to_owned(),
    }
}

fn route(entry: &ServerEntry) -> Result<Route, ServerError> {
    let Some(path) = &entry.ca_file else {
        return Ok(Route::default());
    };
    let pem = std::fs::read(path).map_err(|why| why.to_string());
    let trust = pem.and_then(|pem| Trust::from_pem(&pem));
    trust
        .map(|trust| Route {
            trust,
            ..Route::default()
        })
        .map_err(|why| ServerError::Authority {
            name: entry.name.clone(),
            why: format!("{}: {why}", path.display()),
        })
}

/// Understands a URL, `host:port`, or a bare port of this machine.
pub(super) fn parse(text: &str) -> Result<Address, ServerError> {
    let malformed = |why: &str| ServerError::Malformed {
        server: without_secrets(text),
        why: why.to_owned(),
    };
    let rest = text.split_once("://").map_or(text, |it| it.1);
    let host = rest.split('/').next().unwrap_or_default();
    let host = host.rsplit_once('@').map_or(host, |it| it.1);
    if host.matches(':').count() > 1 && !host.starts_with('[') {
        return Err(malformed("an IPv6 address stands in brackets: [::1]:4096"));
    }
    let full = if text.contains("://") {
        text.to_owned()
    } else if text.parse::<u16>().is_ok() {
        format!("http://127.0.0.1:{text}")
    } else if has_port(text) {
        format!("http://{text}")
    } else {
        return Err(malformed(
            "neither a URL, nor host:port, nor a name of the configuration",
        ));
    };
    if without_credentials(&full).contains(['?', '#']) {
        return Err(malformed("a server's URL has no query and no fragment"));
    }
    Address::parse(&full).map_err(|why| match why {
        ClientError::Address(why) => malformed(&why),
        other => malformed(&other.to_string()),
    })
}

fn has_port(text: &str) -> bool {
    let port = text.trim_end_matches('/').rsplit_once(':');
    port.is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
}

/// What to write instead where a command stands behind servers.
pub fn command_first(command: &str, words: &[String]) -> String {
    let servers = words.iter().take_while(|word| *word != command);
    let shown: Vec<String> = servers.map(|it| without_credentials(it)).collect();
    let line = match command {
        "status" | "check" | "watch" | "metrics" => format!("{command} {}", shown.join(" ")),
        // They are about ocwatch itself, or what it did.
        "config" | "completions" | "man" | "log" => command.to_owned(),
        "replay" => "replay FILE".to_owned(),
        _ => format!("{command} SESSION --server {}", shown.join(" --server ")),
    };
    format!("{command:?} is a command, not a server; put the command first: ocwatch {line}")
}

/// For messages: everything before the last `@` could be a password.
pub(super) fn without_credentials(text: &str) -> String {
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), text),
    };
    let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    crate::core::present::clean(&format!("{scheme}{rest}"))
}

/// For messages about what is no server: a query can hold a password as well.
fn without_secrets(text: &str) -> String {
    let shown = without_credentials(text);
    let query = shown.find(['?', '#']).map(|at| at + 1);
    query.map_or(shown.clone(), |at| format!("{}…", &shown[..at]))
}

/// Its own password, and where that was taken from.
fn own_password(
    entry: &ServerEntry,
    env: Lookup<'_>,
) -> Result<Option<(String, String)>, ServerError> {
    let refuse = |why: String| ServerError::Password {
        name: entry.name.clone(),
        why,
    };
    if let Some(name) = &entry.password_env {
        let value = env(name).ok_or_else(|| refuse(format!("${name} is not set")))?;
        return Ok(Some((value, format!("${name}"))));
    }
    let Some(path) = &entry.password_file else {
        return Ok(None);
    };
    private_file(path)
        .map(|it| Some((it, path.display().to_string())))
        .map_err(|why| refuse(format!("{}: {why}", path.display())))
}

/// The first line of a file that only its owner can read.
pub(super) fn private_file(path: &Path) -> Result<String, String> {
    let text = private::read(path).map_err(|why| why.to_string())?;
    let text = text.ok_or("others can read it (chmod 600 it)")?;
    match text.lines().next().filter(|line| !line.is_empty()) {
        Some(line) => Ok(line.to_owned()),
        None => Err("it is empty".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::config;

    fn nothing(_: &str) -> Option<String> {
        None
    }

    fn one(text: &str, env: Lookup<'_>) -> Result<Target, ServerError> {
        let mut all = resolve(&[text.to_owned()], &Config::default(), env)?;
        Ok(all.remove(0))
    }

    #[test]
    fn every_form_of_a_server_is_understood() {
        let cases = [
            ("http://host:4096", "http://host:4096", "host:4096"),
            ("http://host:4096/", "http://host:4096", "host:4096"),
            ("host:4096", "http://host:4096", "host:4096"),
            ("4097", "http://127.0.0.1:4097", "127.0.0.1:4097"),
            ("[::1]:4096", "http://[::1]:4096", "[::1]:4096"),
            ("http://h/base/", "http://h/base", "h/base"),
            ("http://u:p@h:1", "http://h:1", "h:1"),
            ("u:p@h:1", "http://h:1", "h:1"),
        ];
        for (text, url, name) in cases {
            let target = one(text, &nothing).expect(text);
            assert_eq!(
                (target.address.shown().as_str(), target.name.as_str()),
                (url, name)
            );
        }
    }

    #[test]
    fn credentials_of_a_url_are_taken_out_and_decoded() {
        let target = one("http://me:p%40ss%2fw%zz@h:1", &nothing).expect("target");
        let login = target.credentials.clone().expect("credentials");
        assert_eq!(login.user, "me");
        assert_eq!(login.password, "p@ss/w%zz");
        assert!(!format!("{target:?}").contains("ss/w"));
    }

    #[test]
    fn a_malformed_server_is_refused_without_its_password() {
        let bad = [
            "http://u:secret@h:99999",
            "nas",
            "ftp://u:secret@h:1",
            "http://u:secret@",
            "u:secret@h:99999",
            "http://u:secret@h:1/?x=1",
            "http:///",
            "",
            "http://u:se@cret@h:x",
        ];
        for text in bad {
            let said = one(text, &nothing).expect_err(text).to_string();
            assert!(
                !said.contains("secret") && !said.contains("cret@"),
                "{said}"
            );
            assert!(!said.contains('\n'), "{said}");
        }
    }

    #[test]
    fn the_general_password_goes_only_where_it_may() {
        let env = |name: &str| match name {
            "OPENCODE_SERVER_PASSWORD" => Some("pw".to_owned()),
            "OPENCODE_SERVER_USERNAME" => Some("me".to_owned()),
            _ => None,
        };
        let text = "[[server]]\nname = \"far\"\nurl = \"http://far:1\"\n[[server]]\nname = \"near\"\nurl = \"http://localhost:1\"\n";
        let config = config::parse(Path::new("c"), text).expect("config");
        let all = resolve(&[], &config, &env).expect("all");
        assert_eq!(all[0].credentials, None);
        let near = all[1].credentials.as_ref().expect("loopback");
        assert_eq!((near.user.as_str(), near.password.as_str()), ("me", "pw"));
        let named = resolve(&["far".to_owned()], &config, &env).expect("named");
        assert!(named[0].credentials.is_some());
        let own = one("http://x:y@far:1", &env).expect("own").credentials;
        assert_eq!(own.map(|login| login.user).as_deref(), Some("x"));
    }

    #[test]
    fn a_password_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("pw");
        std::fs::write(&path, "pw\n").expect("write");
        let set = |mode| {
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&path, mode).expect("mode");
        };
        set(0o644);
        assert!(private_file(&path).is_err());
        set(0o600);
        assert_eq!(private_file(&path).as_deref(), Ok("pw"));
    }

    #[test]
    fn a_server_that_the_configuration_protects_is_so_under_any_name() {
        let text = "[[server]]\nname = \"home\"\nurl = \"http://127.0.0.1:1\"\nread_only = true\n[[server]]\nname = \"nas\"\nurl = \"http://nas:1\"\n";
        let config = config::parse(Path::new("c"), text).expect("config");
        let is = |named: &[&str]| {
            let named: Vec<String> = named.iter().map(ToString::to_string).collect();
            let all = resolve(&named, &config, &nothing).expect("targets");
            all.iter()
                .map(|it| it.read_only.is_some())
                .collect::<Vec<_>>()
        };
        assert_eq!(is(&[]), [true, false]);
        assert_eq!(is(&["home", "nas"]), [true, false]);
        assert_eq!(is(&["http://localhost:1/", "http://nas:1"]), [true, false]);
        assert_eq!(is(&["http://localhost:2/"]), [false]);
    }

    #[test]
    fn a_server_named_twice_is_watched_once() {
        for named in [["h:1", "http://h:1/"], ["localhost:1", "[::1]:1"]] {
            let named = named.map(str::to_owned);
            let all = resolve(&named, &Config::default(), &nothing).expect("all");
            assert_eq!(all.len(), 1, "{named:?}");
        }
    }
}
