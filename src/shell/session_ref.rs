//! Which session a text means.
//!
//! What it does: find the one session that SESSION names: an id, a unique prefix of an id, or a
//! title; `server/…` when two servers hold it. What it does not: guess. Commands that change
//! something take no prefix of a title.

use crate::core::id::{ServerId, SessionKey};
use crate::core::judge::told_by;
use crate::core::present::clean;
use crate::core::store::{Server, Store};
use thiserror::Error;

/// What the command that asks is going to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Only look: a prefix of a title will do.
    Read,
    /// Change something: an id (or its prefix) or the whole title.
    Act,
}

/// Exit 4. Each is one clear line.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum RefError {
    /// Nothing fits.
    #[error("no such session: {0:?}")]
    None(String),
    /// A part of a title, to a command that changes something.
    #[error(
        "{text:?} is no session's id or whole title, and a command that changes something takes only \
         the beginning of an id or a whole title; near: {near}"
    )]
    Vague {
        /// As given.
        text: String,
        /// The first few that hold it, as `server/id "title"`.
        near: String,
    },
    /// More than one fits.
    #[error("{text:?} fits {number} sessions: {some}")]
    Many {
        /// As given.
        text: String,
        /// How many.
        number: usize,
        /// The first few as `server/id`.
        some: String,
    },
}

/// How many fitting sessions a message names.
const NAMED: usize = 5;
/// How many characters of a title a message holds.
const TITLE: usize = 60;

/// Finds the session that `text` means.
pub fn find(store: &Store, text: &str, purpose: Purpose) -> Result<SessionKey, RefError> {
    let places = std::iter::once((None, text)).chain(split(store, text));
    let mut near = Vec::new();
    for (server, rest) in places {
        if rest.is_empty() {
            continue;
        }
        for fits in [id_is, id_begins, title_is] {
            if let Some(key) = only(store, server, text, |id, title| fits(id, title, rest))? {
                return Ok(key);
            }
        }
        if let Some(key) = zombie(store, server, rest).filter(|_| purpose == Purpose::Act) {
            return Ok(key);
        }
        match purpose {
            Purpose::Read => {
                if let Some(key) = only(store, server, text, |_, it| it.starts_with(rest))? {
                    return Ok(key);
                }
            }
            Purpose::Act => near.extend(fitting(store, server, |_, it| it.contains(rest))),
        }
    }
    Err(if near.is_empty() {
        RefError::None(clean(text))
    } else {
        RefError::Vague {
            text: clean(text),
            near: some(store, &near, titled),
        }
    })
}

/// `server/rest`, for every server whose name begins the text (a name may hold a slash itself).
fn split<'a>(
    store: &'a Store,
    text: &'a str,
) -> impl Iterator<Item = (Option<ServerId>, &'a str)> + 'a {
    store.servers().filter_map(move |(id, server)| {
        let rest = text.strip_prefix(server.spec.name.as_str())?;
        Some((Some(id), rest.strip_prefix('/')?))
    })
}

fn id_is(id: &str, _: &str, text: &str) -> bool {
    id == text
}
fn id_begins(id: &str, _: &str, text: &str) -> bool {
    id.starts_with(text)
}
fn title_is(_: &str, title: &str, text: &str) -> bool {
    title == text
}

/// A deleted session that still runs is in no list, but it can be stopped: by its whole id.
fn zombie(store: &Store, server: Option<ServerId>, text: &str) -> Option<SessionKey> {
    let mut here = store
        .servers()
        .filter(|(id, _)| server.is_none_or(|it| it == *id));
    let named = |(_, it): &(ServerId, &Server)| {
        let stranger = it.strangers.get(&text.into());
        stranger.is_some_and(|it| it.gone)
    };
    here.find(named)
        .map(|(id, _)| SessionKey::new(id, text.into()))
}

/// The only session that fits, none, or the error that several do.
fn only(
    store: &Store,
    server: Option<ServerId>,
    text: &str,
    fits: impl Fn(&str, &str) -> bool,
) -> Result<Option<SessionKey>, RefError> {
    let mut keys = fitting(store, server, fits);
    // Of two servers on one data folder the one that runs the session is meant.
    if server.is_none() {
        keys.retain(|key| told_by(store, key).is_none());
    }
    match keys.len() {
        0 => Ok(None),
        1 => Ok(keys.pop()),
        number => Err(RefError::Many {
            text: clean(text),
            number,
            some: some(store, &keys, named),
        }),
    }
}

/// All sessions that fit, in their order.
fn fitting(
    store: &Store,
    server: Option<ServerId>,
    fits: impl Fn(&str, &str) -> bool,
) -> Vec<SessionKey> {
    let here = |key: &SessionKey| server.is_none_or(|id| id == key.server);
    let mut keys: Vec<SessionKey> = store
        .sessions()
        .filter(|(key, row)| here(key) && fits(key.session.as_str(), &row.info.title))
        .map(|(key, _)| key)
        .collect();
    keys.sort();
    keys
}

fn named(store: &Store, key: &SessionKey) -> String {
    let server = store.server(key.server).map(|s| s.spec.name.clone());
    clean(&format!("{}/{}", server.unwrap_or_default(), key.session))
}

fn titled(store: &Store, key: &SessionKey) -> String {
    let row = store.session(key);
    let title: String = row.map_or(String::new(), |row| {
        row.info.title.chars().take(TITLE).collect()
    });
    format!("{} {:?}", named(store, key), clean(&title))
}

/// The first few, each as `name` has it.
fn some(store: &Store, keys: &[SessionKey], name: fn(&Store, &SessionKey) -> String) -> String {
    let few = keys.iter().take(NAMED);
    let mut names: Vec<String> = few.map(|key| name(store, key)).collect();
    if keys.len() > NAMED {
        names.push("…".to_owned());
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::id::Epoch;
    use crate::core::store::ServerSpec;
    use crate::core::time::UnixMs;
    use crate::core::wire::{Body, Input, SessionInfo, SessionList, Tokens};

    fn row(id: &str, title: &str) -> SessionInfo {
        SessionInfo {
            id: id.into(),
            title: title.to_owned(),
            directory: "/d".into(),
            parent: None,
            agent: None,
            model: None,
            created: UnixMs(1),
            updated: UnixMs(1),
            archived: None,
            reverted: false,
            cost: 0.0,
            tokens: Tokens::default(),
        }
    }

    fn store() -> Store {
        let spec = |name: &str| ServerSpec {
            name: name.to_owned(),
            url: "http://h:1".to_owned(),
            read_only: None,
        };
        let mut store = Store::new(vec![spec("home"), spec("nas")]);
        let rows = [
            vec![
                row("ses_aaa1", "Port the parser"),
                row("ses_aab2", "Fix build"),
                row("ses_both", "Shared"),
            ],
            vec![row("ses_both", "Shared"), row("ses_ccc", "ses_aaa1")],
        ];
        for (n, rows) in rows.into_iter().enumerate() {
            store.apply(Input {
                server: ServerId(u16::try_from(n).expect("small")),
                epoch: Epoch(1),
                at: UnixMs(2),
                body: Body::Sessions(SessionList {
                    rows,
                    asked_at: UnixMs(1),
                    complete: true,
                }),
            });
        }
        store
    }

    fn id(text: &str, purpose: Purpose) -> Result<String, RefError> {
        let key = find(&store(), text, purpose)?;
        Ok(format!("{}:{}", key.server.0, key.session))
    }

    #[test]
    fn ids_prefixes_and_titles_find_their_session() {
        for purpose in [Purpose::Read, Purpose::Act] {
            assert_eq!(id("ses_aaa1", purpose).as_deref(), Ok("0:ses_aaa1"));
            assert_eq!(id("ses_aab", purpose).as_deref(), Ok("0:ses_aab2"));
            assert_eq!(id("Fix build", purpose).as_deref(), Ok("0:ses_aab2"));
            assert_eq!(id("nas/ses_both", purpose).as_deref(), Ok("1:ses_both"));
            assert_eq!(id("home/Shared", purpose).as_deref(), Ok("0:ses_both"));
        }
        assert_eq!(id("Port", Purpose::Read).as_deref(), Ok("0:ses_aaa1"));
    }

    #[test]
    fn nothing_is_guessed() {
        let near = |text| match id(text, Purpose::Act).expect_err(text) {
            RefError::Vague { near, .. } => near,
            other => panic!("{other}"),
        };
        assert_eq!(near("Port"), "home/ses_aaa1 \"Port the parser\"");
        assert_eq!(
            near("r"),
            "home/ses_aaa1 \"Port the parser\", home/ses_both \"Shared\", nas/ses_both \"Shared\""
        );
        assert_eq!(near("home/build"), "home/ses_aab2 \"Fix build\"");
        for text in ["", "home/", "ses_zzz", "nas/Fix build", "/"] {
            let none = id(text, Purpose::Read).expect_err(text);
            assert_eq!(none, RefError::None(text.to_owned()));
        }
        let many = id("ses_a", Purpose::Act).expect_err("two");
        assert_eq!(
            many.to_string(),
            "\"ses_a\" fits 2 sessions: home/ses_aaa1, home/ses_aab2"
        );
        assert!(matches!(
            id("ses_both", Purpose::Read),
            Err(RefError::Many { number: 2, .. })
        ));
    }
}
