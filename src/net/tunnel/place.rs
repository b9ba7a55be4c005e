//! `ssh://[user@]host[:port][/[HOST:]PORT[/path]]`: a server as another machine sees it.
//!
//! What it does: take it apart, refusing what `ssh` could take for an option. What it does not: know
//! the user's ssh configuration; `host` may be a name that only stands there.

use std::fmt;

/// Where an OpenCode server listens unless told otherwise, as the other machine sees it.
const USUAL: (&str, u16) = ("127.0.0.1", 4096);

/// Where `ssh` goes, and what it reaches from there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Who logs in, if said.
    user: Option<String>,
    /// Whom `ssh` is given: no brackets, never an option.
    host: String,
    /// Its port, if said.
    port: Option<u16>,
    /// What is reached from there: with brackets where it is an IPv6 address.
    target: (String, u16),
}

impl Place {
    /// Takes what stands behind `ssh://`; gives the path of the server's URL as well.
    ///
    /// # Errors
    /// What is wrong, without what was given.
    pub fn parse(text: &str) -> Result<(Self, &str), &'static str> {
        let (machine, rest) = match text.split_once('/') {
            Some((machine, rest)) => (machine, rest.trim_end_matches('/')),
            None => (text, ""),
        };
        let (user, machine) = match machine.rsplit_once('@') {
            Some((user, machine)) => (Some(user), machine),
            None => (None, machine),
        };
        if user.is_some_and(|it| it.contains(':')) {
            return Err(
                "ssh takes no password; OpenCode's own goes into password_file or password_env",
            );
        }
        if user.is_some_and(|it| !is_word(it)) {
            return Err("the user before the @ is none");
        }
        let (host, port) = host_and_port(machine).ok_or("behind ssh:// stands a host")?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if !is_word(host) {
            return Err("behind ssh:// stands a host");
        }
        let (target, path) = match rest.split_once('/') {
            Some((target, path)) => (target, path),
            None => (rest, ""),
        };
        let place = Self {
            user: user.map(str::to_owned),
            host: host.to_owned(),
            port,
            target: target_of(target)?,
        };
        Ok((place, path))
    }

    /// The URL's host and port once one is there.
    pub fn target(&self) -> String {
        format!("{}:{}", self.target.0, self.target.1)
    }

    /// The arguments of `ssh` that name the machine; the last is the host.
    pub(super) fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(port) = self.port {
            words.extend(["-p".to_owned(), port.to_string()]);
        }
        if let Some(user) = &self.user {
            words.extend(["-l".to_owned(), user.clone()]);
        }
        words.extend(["--".to_owned(), self.host.clone()]);
        words
    }

    /// As it is written before the server's path; without what goes without saying.
    pub fn shown(&self, with_path: bool) -> String {
        if self.target == usual() && !with_path {
            return format!("ssh://{self}");
        }
        let target = match &self.target {
            (host, port) if host == USUAL.0 => port.to_string(),
            (host, port) => format!("{host}:{port}"),
        };
        format!("ssh://{self}/{target}")
    }
}

/// `user@host:port`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(user) = &self.user {
            write!(f, "{user}@")?;
        }
        if self.host.contains(':') {
            write!(f, "[{}]", self.host)?;
        } else {
            f.write_str(&self.host)?;
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

fn usual() -> (String, u16) {
    (USUAL.0.to_owned(), USUAL.1)
}

/// Nothing, a port, or host and port.
fn target_of(text: &str) -> Result<(String, u16), &'static str> {
    const WRONG: &str = "behind ssh://host/ stands the server's port there, or its host:port";
    if text.is_empty() {
        return Ok(usual());
    }
    if let Some(port) = port_of(text) {
        return Ok((USUAL.0.to_owned(), port));
    }
    let (host, port) = host_and_port(text).ok_or(WRONG)?;
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match port.filter(|_| is_word(bare)) {
        Some(port) => Ok((host.to_owned(), port)),
        None => Err(WRONG),
    }
}

/// `host`, `host:port`, `[::1]`, `[::1]:port`; the host with its brackets.
fn host_and_port(text: &str) -> Option<(&str, Option<u16>)> {
    if text.starts_with('[') {
        let end = text.find(']')? + 1;
        let port = match text[end..].strip_prefix(':') {
            Some(port) => Some(port_of(port)?),
            None if text.len() == end => None,
            None => return None,
        };
        return Some((&text[..end], port));
    }
    match text.split_once(':') {
        // An IPv6 address without brackets cannot be told from one with a port.
        Some((host, port)) if !host.is_empty() => Some((host, Some(port_of(port)?))),
        Some(_) => None,
        None => Some((text, None)),
    }
}

fn port_of(text: &str) -> Option<u16> {
    let digits = text.bytes().all(|it| it.is_ascii_digit());
    text.parse().ok().filter(|it| digits && *it > 0)
}

/// Letters of a user or host; never an option, and nothing for a shell.
fn is_word(text: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '%');
    !text.is_empty() && !text.starts_with('-') && text.chars().all(inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_taken_apart_and_shown_without_what_goes_without_saying() {
        let cases = [
            ("nas", "127.0.0.1:4096", "", "-- nas", "ssh://nas"),
            ("nas/", "127.0.0.1:4096", "", "-- nas", "ssh://nas"),
            ("nas/4096", "127.0.0.1:4096", "", "-- nas", "ssh://nas"),
            (
                "me@nas:22/4097",
                "127.0.0.1:4097",
                "",
                "-p 22 -l me -- nas",
                "ssh://me@nas:22/4097",
            ),
            (
                "nas/build:80/code/",
                "build:80",
                "code",
                "-- nas",
                "ssh://nas/build:80",
            ),
            (
                "[fd00::7]:22/[::1]:4096",
                "[::1]:4096",
                "",
                "-p 22 -- fd00::7",
                "ssh://[fd00::7]:22/[::1]:4096",
            ),
        ];
        for (text, target, path, words, shown) in cases {
            let (place, rest) = Place::parse(text).unwrap();
            assert_eq!((place.target().as_str(), rest), (target, path), "{text}");
            assert_eq!(place.words().join(" "), words);
            assert_eq!(place.shown(false), shown);
            let again = Place::parse(shown.strip_prefix("ssh://").unwrap());
            assert_eq!(again.unwrap().0, place);
        }
        let (place, _) = Place::parse("nas/4096/code").unwrap();
        assert_eq!(place.shown(true), "ssh://nas/4096");
    }

    #[test]
    fn nothing_is_taken_for_an_option_of_ssh() {
        for bad in [
            "",
            "/4096",
            "-oProxyCommand=x",
            "-l@nas",
            "@nas",
            "me:secret@nas",
            "a b",
            "nas;x",
            "$(x)",
            "nas:",
            "nas:0",
            "nas:+22",
            "nas:99999",
            "::1",
            "[::1",
            "[::1]x",
            "nas/code",
            "nas/-x:1",
            "nas/0",
        ] {
            let said = Place::parse(bad).expect_err(bad);
            assert!(!said.contains("secret"), "{said}");
        }
    }
}
