//! Short names of servers that still tell them apart.
//!
//! What it does: names that fit the server column, and tags of two cells. What it does not: choose
//! which of the two is shown. Invariant: names that differ get forms that differ.

use crate::core::present::{Screen, Tone};
use crate::tui::text::{self, Glyph};
use crate::tui::theme::Theme;

/// The widest server column.
const MOST: u16 = 12;
/// The cells of a tag.
const TAG: u16 = 2;

/// What stands in the server column.
pub(super) struct Names<'a> {
    whole: Vec<&'a str>,
    short: Vec<String>,
    are_tags: bool,
}

impl<'a> Names<'a> {
    /// Tags, or names of at most `width` cells.
    pub fn new(screen: &'a Screen, tags: bool, theme: &Theme) -> Self {
        let names: Vec<&str> = screen.servers.iter().map(|it| it.name.as_str()).collect();
        let short = if tags {
            self::tags(&names)
        } else {
            shortened(&names, MOST, theme)
        };
        Self {
            whole: names,
            short,
            are_tags: tags,
        }
    }

    /// What this server is called in the header: with its tag before it where that is not how it begins.
    pub fn in_header(&self, server: &str) -> String {
        let tag = self.of(server);
        let begins = server.chars().filter(char::is_ascii_alphanumeric);
        if !self.are_tags || begins.take(2).eq(tag.chars()) {
            return server.to_owned();
        }
        format!("{tag} {server}")
    }

    /// The cells of the widest, heading included.
    pub fn width(&self, theme: &Theme) -> u16 {
        let widths = self.short.iter().map(|it| text::width(it, theme));
        let widest = widths.max().unwrap_or(0);
        if self.are_tags {
            TAG
        } else {
            widest.clamp(6, MOST)
        }
    }

    /// What this server is called there.
    pub fn of<'b>(&'b self, server: &'b str) -> &'b str {
        let place = self.whole.iter().position(|name| *name == server);
        let short = place.and_then(|it| self.short.get(it));
        short.map_or(server, String::as_str)
    }
}

/// As they are where they fit; else without the words that all begin or end with; what still does not
/// fit is cut at its beginning, its end or its middle, so that they differ.
pub(super) fn shortened(names: &[&str], width: u16, theme: &Theme) -> Vec<String> {
    let fits = |name: &&str| text::width(name, theme) <= width;
    if names.iter().all(fits) {
        return names.iter().map(|it| (*it).to_owned()).collect();
    }
    let own = own_words(names);
    let form = |cut: fn(&str, u16, &Theme) -> String| -> Vec<String> {
        own.iter().map(|it| cut(it, width, theme)).collect()
    };
    let forms = [form(cut_front), form(cut_end), form(cut_middle)];
    let last = forms.last().cloned().unwrap_or_default();
    forms.into_iter().find(|it| is_distinct(it)).unwrap_or(last)
}

fn cut_front(name: &str, width: u16, theme: &Theme) -> String {
    joined(text::cut_front(
        text::glyphs(name, Tone::Plain, theme),
        width,
        theme,
    ))
}

fn cut_end(name: &str, width: u16, theme: &Theme) -> String {
    joined(text::cut(
        text::glyphs(name, Tone::Plain, theme),
        width,
        theme,
    ))
}

fn cut_middle(name: &str, width: u16, theme: &Theme) -> String {
    if text::width(name, theme) <= width {
        return name.to_owned();
    }
    let begin = text::glyphs(name, Tone::Plain, theme);
    let begin = joined(text::cut(begin, width / 2, theme));
    let left = width.saturating_sub(text::width(&begin, theme));
    let mut end = text::glyphs(name, Tone::Plain, theme);
    while text::total(&end) > left {
        end.remove(0);
    }
    begin + &joined(end)
}

fn joined(glyphs: Vec<Glyph>) -> String {
    glyphs.into_iter().map(|it| it.symbol).collect()
}

/// Names without the words that all of them begin or end with; of `host:port` the colon stays.
fn own_words<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let [front, back] = shared(names);
    let Some(first) = names.first().filter(|_| names.len() > 1) else {
        return names.to_vec();
    };
    let is_between = |c: char| !c.is_alphanumeric();
    let front = first[..front].rfind(is_between).map_or(0, |at| {
        let colon = first[at..].starts_with(':');
        let wide = first[at..].chars().next().map_or(0, char::len_utf8);
        if colon { at } else { at + wide }
    });
    let tail = &first[first.len() - back..];
    let back = tail.find(is_between).map_or(0, |at| tail.len() - at);
    let own = |name: &&'a str| {
        let end = name.len().saturating_sub(back);
        name.get(front..end)
            .filter(|it| !it.is_empty())
            .unwrap_or(name)
    };
    names.iter().map(own).collect()
}

/// Two cells for each server, in order: its first two letters, or, where several begin so, two that
/// tell them apart.
pub(super) fn tags(names: &[&str]) -> Vec<String> {
    let letters = |name: &str| -> Vec<char> {
        let kept = name.chars().filter(|c| c.is_alphanumeric());
        kept.filter(char::is_ascii).collect()
    };
    let all: Vec<Vec<char>> = names.iter().map(|it| letters(it)).collect();
    let first_two = |letters: &Vec<char>| letters.iter().take(2).collect::<String>();
    let firsts: Vec<String> = all.iter().map(first_two).collect();
    let alone = |tag: &String| tag.len() == 2 && firsts.iter().filter(|it| *it == tag).count() == 1;
    let mut tags: Vec<Option<String>> = firsts
        .iter()
        .map(|tag| alone(tag).then(|| tag.clone()))
        .collect();
    for group in 0..names.len() {
        if tags[group].is_some() {
            continue;
        }
        let alike: Vec<usize> = (group..names.len())
            .filter(|it| tags[*it].is_none() && firsts[*it] == firsts[group])
            .collect();
        let cores: Vec<&str> = alike.iter().map(|it| names[*it]).collect();
        let own: Vec<Vec<char>> = own_letters(&cores).iter().map(|it| letters(it)).collect();
        let told: Vec<Told> = alike
            .iter()
            .zip(&own)
            .map(|(place, own)| Told {
                all: &all[*place],
                own,
            })
            .collect();
        for (place, tag) in alike.iter().zip(told_apart(&told, &tags)) {
            tags[*place] = Some(tag);
        }
    }
    tags.into_iter().map(Option::unwrap_or_default).collect()
}

/// The letters of a name, and those of them that others like it do not share.
struct Told<'a> {
    all: &'a [char],
    own: &'a [char],
}

impl Told<'_> {
    fn first(&self) -> char {
        self.all.first().copied().unwrap_or('s')
    }

    /// Its first letter and the last of its own, the last two of all, the first and the last of its own.
    fn forms(&self) -> [Option<String>; 3] {
        let pair = |one: Option<&char>, other: Option<&char>| Some(format!("{}{}", one?, other?));
        let last = self.own.last();
        [
            last.map(|it| format!("{}{it}", self.first())),
            pair(self.all.iter().rev().nth(1), self.all.last()),
            pair(self.own.first(), last),
        ]
    }
}

/// Names that begin alike: all in the first form that tells them apart, else each as it can be.
fn told_apart(names: &[Told], taken: &[Option<String>]) -> Vec<String> {
    let is_free = |tag: &String| !taken.iter().flatten().any(|it| it == tag);
    for form in 0..3 {
        let tags = names.iter().map(|it| it.forms()[form].clone());
        let tags: Option<Vec<String>> = tags.collect();
        if let Some(tags) = tags.filter(|it| is_distinct(it) && it.iter().all(is_free)) {
            return tags;
        }
    }
    let mut tags: Vec<String> = Vec::new();
    for name in names {
        let first = name.first();
        let others = name
            .own
            .iter()
            .chain(name.all)
            .map(|it| format!("{first}{it}"));
        let digits = ('0'..='9').map(|it| format!("{first}{it}"));
        let any = ('a'..='z').chain('A'..='Z').flat_map(|one| {
            let seconds = ('0'..='9').chain('a'..='z');
            seconds.map(move |other| format!("{one}{other}"))
        });
        let forms = name.forms().into_iter().flatten();
        let mut forms = forms.chain(others).chain(digits).chain(any);
        let tag = forms.find(|it| is_free(it) && !tags.contains(it));
        tags.push(tag.unwrap_or_else(|| "??".to_owned()));
    }
    tags
}

/// Names without the characters that all of them begin or end with.
fn own_letters<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let [front, back] = shared(names);
    let own = |name: &&'a str| {
        let end = name.len().saturating_sub(back);
        name.get(front..end.max(front)).unwrap_or(name)
    };
    names.iter().map(own).collect()
}

/// How many bytes all of them begin with, and how many all end with; of one name none. The two never
/// overlap.
fn shared(names: &[&str]) -> [usize; 2] {
    let Some((first, rest)) = names.split_first().filter(|(_, rest)| !rest.is_empty()) else {
        return [0, 0];
    };
    let begins = |other: &&str| -> usize {
        let same = first.chars().zip(other.chars()).take_while(|(a, b)| a == b);
        same.map(|(c, _)| c.len_utf8()).sum()
    };
    let front = rest.iter().map(begins).min().unwrap_or(0);
    let ends = |other: &&str| -> usize {
        let pairs = first[front..]
            .chars()
            .rev()
            .zip(other[front..].chars().rev());
        let same = pairs.take_while(|(a, b)| a == b);
        same.map(|(c, _)| c.len_utf8()).sum()
    };
    let back = rest.iter().map(ends).min().unwrap_or(0);
    [front, back]
}

fn is_distinct(names: &[String]) -> bool {
    let set: std::collections::BTreeSet<&String> = names.iter().collect();
    set.len() == names.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn short(names: &[&str]) -> Vec<String> {
        shortened(names, 12, &Theme::new(true, false))
    }

    #[test]
    fn tags_tell_servers_apart() {
        assert_eq!(tags(&["home", "build", "nas"]), ["ho", "bu", "na"]);
        assert_eq!(tags(&["build1", "nas", "build2"]), ["b1", "na", "b2"]);
        assert_eq!(tags(&["127.0.0.1:4096", "127.0.0.1:4097"]), ["16", "17"]);
        assert_eq!(tags(&["127.0.0.1:4096", "127.0.0.1:5096"]), ["14", "15"]);
        let three = ["127.0.0.1:4096", "127.0.0.1:4097", "127.0.0.1:5096"];
        assert_eq!(tags(&three), ["46", "47", "56"]);
        assert_eq!(tags(&["a", "a", ""]), ["aa", "a0", "s0"]);
    }

    #[test]
    fn twelve_servers_have_twelve_tags_and_twelve_names() {
        let ports = |host: &str| -> Vec<String> {
            (1..=12).map(|n| format!("{host}:{}", 4090 + n)).collect()
        };
        let lists = [
            (1..=12).map(|n| format!("build{n}")).collect(),
            (1..=12)
                .map(|n| format!("build-{n:02}.rack.example.com"))
                .collect(),
            ports("127.0.0.1"),
            ports("a-very-long-name-of-a-host.example.com"),
        ];
        for list in lists {
            let names: Vec<&str> = list.iter().map(String::as_str).collect();
            let (tags, short) = (tags(&names), short(&names));
            assert!(is_distinct(&tags), "{tags:?}");
            assert!(is_distinct(&short), "{short:?}");
            let theme = Theme::new(true, false);
            assert!(tags.iter().all(|it| text::width(it, &theme) == 2));
            assert!(
                short.iter().all(|it| text::width(it, &theme) <= 12),
                "{short:?}"
            );
        }
    }

    #[test]
    fn a_name_that_does_not_fit_loses_what_all_share() {
        assert_eq!(short(&["home", "build"]), ["home", "build"]);
        let ports = short(&["127.0.0.1:4096", "127.0.0.1:4097"]);
        assert_eq!(ports, [":4096", ":4097"]);
        let hosts = short(&["alpha.example.com:4096", "beta.example.com:4096"]);
        assert_eq!(hosts, ["alpha", "beta"]);
        let mixed = short(&["nas", "127.0.0.1:4096", "127.0.0.1:4097"]);
        assert_eq!(mixed, ["nas", "….0.0.1:4096", "….0.0.1:4097"]);
        assert_eq!(short(&["a-host-with-a-long-name"]), ["…a-long-name"]);
        let same_ends = short(&["nas", "first.example.com:4096", "second.example.com:4096"]);
        assert_eq!(same_ends, ["nas", "first.examp…", "second.exam…"]);
    }
}
