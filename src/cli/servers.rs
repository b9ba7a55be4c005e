//! From what the user said (arguments, configuration, environment) to the servers to watch.
//!
//! What it does: parse and resolve SERVER, find the right password. What it does not: connect.
//! Invariants: credentials leave the URL here and are never part of a message; a password from
//! `OPENCODE_SERVER_PASSWORD` goes only to this machine and to servers named on the command line.

use super::config::{Config, ServerEntry};
use crate::shell::target::{Login, Secret, Target, is_loopback};
use reqwest::Url;
use std::path::Path;
use thiserror::Error;

/// Where an OpenCode server listens unless told otherwise.
pub const USUAL_URL: &str = "http://127.0.0.1:4096";

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
    /// Built without TLS.
    #[error(
        "{server}: this ocwatch was built without https (feature \"tls\"); use http or a tunnel"
    )]
    NoTls {
        /// Without credentials.
        server: String,
    },
    /// A password that the configuration names cannot be had.
    #[error("no password for {name}: {why}")]
    Password {
        /// Which server.
        name: String,
        /// Why.
        why: String,
    },
}

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
        if !targets.iter().any(|known| known.url == target.url) {
            targets.push(target);
        }
    }
    Ok(targets)
}

/// The server to try when nothing is named or configured.
pub fn usual(env: Lookup<'_>) -> Result<Target, ServerError> {
    from_text(USUAL_URL, env)
}

fn from_entry(entry: &ServerEntry, named: bool, env: Lookup<'_>) -> Result<Target, ServerError> {
    let address = parse(&entry.url)?;
    let own = own_password(entry, env)?;
    let user = entry.username.clone();
    let mut target = address.into_target(own, user, named, env);
    target.name.clone_from(&entry.name);
    target.directories.clone_from(&entry.directories);
    Ok(target)
}

fn from_text(text: &str, env: Lookup<'_>) -> Result<Target, ServerError> {
    Ok(parse(text)?.into_target(None, None, true, env))
}

/// A URL taken apart.
struct Address {
    name: String,
    url: String,
    loopback: bool,
    login: Option<Login>,
}

impl Address {
    /// Its own credentials win over those of the configuration, those over the environment's.
    fn into_target(
        self,
        password: Option<Secret>,
        user: Option<String>,
        named: bool,
        env: Lookup<'_>,
    ) -> Target {
        let open = self.loopback || named;
        let general = || env("OPENCODE_SERVER_PASSWORD").filter(|_| open);
        let user = user.or_else(|| env("OPENCODE_SERVER_USERNAME").filter(|_| open));
        let user = user.unwrap_or_else(|| "opencode".to_owned());
        let login = self.login.or_else(|| {
            let password = password.or_else(|| general().map(Secret::new))?;
            Some(Login { user, password })
        });
        Target {
            name: self.name,
            url: self.url,
            login,
            directories: Vec::new(),
        }
    }
}

/// Understands a URL, `host:port`, or a bare port of this machine.
fn parse(text: &str) -> Result<Address, ServerError> {
    let malformed = |why: &str| ServerError::Malformed {
        server: without_credentials(text),
        why: why.to_owned(),
    };
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
    let url = Url::parse(&full).map_err(|why| malformed(&why.to_string()))?;
    let Some(host) = url.host_str().filter(|host| !host.is_empty()) else {
        return Err(malformed("it names no host"));
    };
    match url.scheme() {
        "http" => {}
        "https" if cfg!(feature = "tls") => {}
        "https" => {
            return Err(ServerError::NoTls {
                server: without_credentials(text),
            });
        }
        _ => return Err(malformed("only http and https are spoken")),
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(malformed("a server's URL has no query and no fragment"));
    }
    let port = url.port_or_known_default().unwrap_or(80);
    Ok(Address {
        name: format!("{host}:{port}"),
        loopback: is_loopback(host),
        login: login_of(&url),
        url: bare(&url),
    })
}

fn has_port(text: &str) -> bool {
    let port = text.trim_end_matches('/').rsplit_once(':');
    port.is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
}

fn bare(url: &Url) -> String {
    let mut url = url.clone();
    let struck = url.set_username("").and_then(|()| url.set_password(None));
    let text = match struck {
        Ok(()) => url.to_string(),
        Err(()) => without_credentials(url.as_str()),
    };
    text.trim_end_matches('/').to_owned()
}

fn login_of(url: &Url) -> Option<Login> {
    let password = decode(url.password()?);
    let user = match url.username() {
        "" => "opencode".to_owned(),
        user => decode(user),
    };
    Some(Login {
        user,
        password: Secret::new(password),
    })
}

/// Undoes percent encoding; what is not valid stays as it is.
fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let pair = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let value = pair.and_then(|two| u8::from_str_radix(two, 16).ok());
        match (first, value) {
            (b'%', Some(value)) => {
                bytes.push(value);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// For messages: everything before the last `@` could be a password.
fn without_credentials(text: &str) -> String {
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), text),
    };
    let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    crate::core::present::clean(&format!("{scheme}{rest}"))
}

fn own_password(entry: &ServerEntry, env: Lookup<'_>) -> Result<Option<Secret>, ServerError> {
    let refuse = |why: String| ServerError::Password {
        name: entry.name.clone(),
        why,
    };
    if let Some(name) = &entry.password_env {
        let value = env(name).ok_or_else(|| refuse(format!("${name} is not set")))?;
        return Ok(Some(Secret::new(value)));
    }
    let Some(path) = &entry.password_file else {
        return Ok(None);
    };
    private_file(path)
        .map(|text| Some(Secret::new(text)))
        .map_err(|why| refuse(format!("{}: {why}", path.display())))
}

/// The first line of a file that only its owner can read.
fn private_file(path: &Path) -> Result<String, String> {
    use std::os::unix::fs::PermissionsExt;
    let meta = std::fs::metadata(path).map_err(|why| why.to_string())?;
    if meta.permissions().mode() & 0o077 != 0 {
        return Err("others can read it (chmod 600 it)".to_owned());
    }
    let text = std::fs::read_to_string(path).map_err(|why| why.to_string())?;
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
            ("http://h/base/", "http://h/base", "h:80"),
            ("http://u:p@h:1", "http://h:1", "h:1"),
            ("u:p@h:1", "http://h:1", "h:1"),
        ];
        for (text, url, name) in cases {
            let target = one(text, &nothing).expect(text);
            assert_eq!((target.url.as_str(), target.name.as_str()), (url, name));
        }
    }

    #[test]
    fn credentials_of_a_url_are_taken_out_and_decoded() {
        let target = one("http://me:p%40ss%2fw%zz@h:1", &nothing).expect("target");
        let login = target.login.clone().expect("login");
        assert_eq!(login.user, "me");
        assert_eq!(login.password.reveal(), "p@ss/w%zz");
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

    #[cfg(not(feature = "tls"))]
    #[test]
    fn https_needs_its_feature() {
        let said = one("https://u:secret@h:1", &nothing).expect_err("no tls");
        assert!(said.to_string().contains("built without https"));
        assert!(!said.to_string().contains("secret"));
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
        assert_eq!(all[0].login, None);
        let near = all[1].login.as_ref().expect("loopback");
        assert_eq!((near.user.as_str(), near.password.reveal()), ("me", "pw"));
        let named = resolve(&["far".to_owned()], &config, &env).expect("named");
        assert!(named[0].login.is_some());
        let own = one("http://x:y@far:1", &env).expect("own").login;
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
    fn a_server_named_twice_is_watched_once() {
        let named = ["h:1".to_owned(), "http://h:1/".to_owned()];
        let all = resolve(&named, &Config::default(), &nothing).expect("all");
        assert_eq!(all.len(), 1);
    }
}
