//! Screens with any text in any place and anything open at once.

use super::fixture::{HOSTILE, many, piece, plain, rich};
use ocwatch::core::app::COLUMNS;
use ocwatch::core::present::{
    Column, Dialog, FilterLine, Flow, Form, FormLine, Found, Hint, Page, Place, Screen, Sheet, Tab,
    Tone,
};
use proptest::prelude::*;

pub fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-z ]{0,200}",
        prop::sample::select(HOSTILE).prop_map(str::to_owned),
    ]
}

/// A screen with these texts everywhere and with everything there is on it.
pub fn wild(texts: &[String], seed: u64) -> Screen {
    let text = |place: u64| {
        let place = usize::try_from(seed.wrapping_add(place)).unwrap_or(0);
        texts[place % texts.len()].clone()
    };
    let bit = |n: u64| seed >> n & 1 == 1;
    let mut screen = if bit(0) { many() } else { rich() };
    any_rows(&mut screen, texts, seed);
    for (chip, n) in screen.servers.iter_mut().zip(0..) {
        chip.name = text(n);
        chip.text = text(n + 1);
    }
    screen.clock = text(7);
    screen.selected = bit(1).then_some(usize::try_from(seed % 99).unwrap_or(0));
    screen.offset = usize::try_from(seed % 77).unwrap_or(0);
    screen.detail_open = bit(2);
    if let Some(detail) = &mut screen.detail {
        let line = usize::try_from(seed % 55).unwrap_or(0);
        detail.place = Place::From(line);
        detail.sheet = bit(13).then(|| sheet(texts, seed));
        detail.tabs = tabs(bit(14));
        detail.story.push(plain(&text(8)));
        detail.tail.push(plain(&text(9)));
    }
    screen.filter = bit(3).then(|| filter(&text(10), &text(11), seed));
    screen.dialog = bit(5).then(|| Dialog {
        scroll: usize::try_from(seed % 7).unwrap_or(0),
        title: text(11),
        lines: texts.to_vec(),
        foot: text(12),
    });
    screen.form = bit(10).then(|| form(texts, seed));
    screen.page = (bit(6) && bit(7)).then(|| Page {
        title: text(13),
        lines: texts.iter().map(|text| plain(text)).collect(),
        scroll: usize::try_from(seed % 33).unwrap_or(0),
        found: sheet(texts, seed).found,
        ..Page::default()
    });
    screen.notice = bit(8).then(|| piece(&text(14), Tone::Watch));
    any_columns(&mut screen, seed);
    if bit(9) {
        screen.rows.clear();
        screen.empty = texts.to_vec();
    }
    screen
}

fn any_rows(screen: &mut Screen, texts: &[String], seed: u64) {
    let text = |place: u64| {
        let place = usize::try_from(seed.wrapping_add(place)).unwrap_or(0);
        texts[place % texts.len()].clone()
    };
    let bit = |n: u64| seed >> n & 1 == 1;
    for (row, n) in screen.rows.iter_mut().zip(0..) {
        row.title = text(n);
        row.server = text(n + 1);
        row.reported = text(n + 2);
        row.activity = text(n + 3);
        row.age = text(n + 4);
        row.why = text(n + 5);
        row.why_short = text(n + 6);
        row.depth = u16::try_from(seed.wrapping_mul(n + 1) % 70_000).unwrap_or(u16::MAX);
        row.result = bit(n % 60).then(|| piece(&text(n + 7), Tone::Plain));
        row.folded = usize::try_from(seed).unwrap_or(0);
        row.trunk = u16::try_from(seed.wrapping_mul(n + 3) % 65_536).unwrap_or(0);
        row.more = COLUMNS.iter().map(|it| (it.column, text(n + 8))).collect();
    }
}

fn any_columns(screen: &mut Screen, seed: u64) {
    let mut columns: Vec<Column> = COLUMNS.iter().map(|it| it.column).collect();
    columns.rotate_left(usize::try_from(seed % 17).unwrap_or(0));
    columns.truncate(usize::try_from(seed / 17 % 18).unwrap_or(0));
    screen.sort.column = columns.last().copied();
    screen.sort.reversed = seed >> 40 & 1 == 1;
    screen.columns = columns;
}

fn filter(text: &str, wrong: &str, seed: u64) -> FilterLine {
    let bit = |n: u64| seed >> n & 1 == 1;
    FilterLine {
        text: text.to_owned(),
        cursor: bit(4).then_some(usize::try_from(seed % 300).unwrap_or(0)),
        hits: usize::MAX,
        of: usize::MAX,
        wrong: if bit(6) {
            wrong.to_owned()
        } else {
            String::new()
        },
    }
}

fn tabs(wide: bool) -> Vec<Tab> {
    let names = ["story", "live", "log", "parts", "todo", "usage"];
    let tab = |name| Tab {
        name,
        current: name == "log",
    };
    let shown = if wide { 6 } else { 2 };
    names.into_iter().take(shown).map(tab).collect()
}

/// Any of these texts to read, looked through for a piece of one of them.
fn sheet(texts: &[String], seed: u64) -> Sheet {
    let at = |most: u64| usize::try_from(seed % most).unwrap_or(0);
    let bit = |n: u64| seed >> n & 1 == 1;
    Sheet {
        lines: texts.iter().map(|text| plain(text)).collect(),
        flow: [Flow::Words, Flow::Cells, Flow::Cut][at(3)],
        place: match seed % 5 {
            0 => Place::End,
            1 => Place::From(at(40)),
            _ => Place::Seek {
                from: at(31),
                line: at(9),
            },
        },
        pointed: bit(15).then(|| at(9)),
        found: bit(16).then(|| Found {
            text: texts[0].chars().take(at(7)).collect(),
            cursor: bit(17).then(|| at(300)),
            line: bit(18).then(|| at(9)),
            number: at(9),
            of: at(99),
        }),
        note: if bit(19) { "follows" } else { "" }.to_owned(),
    }
}

fn form(texts: &[String], seed: u64) -> Form {
    let text = |place: u64| {
        let place = usize::try_from(seed.wrapping_add(place)).unwrap_or(0);
        texts[place % texts.len()].clone()
    };
    let bit = |n: u64| seed >> n & 1 == 1;
    Form {
        title: text(15),
        lines: texts
            .iter()
            .zip(0..)
            .map(|(text, n)| FormLine {
                mark: texts[0].chars().take(9).collect(),
                text: plain(text).into_iter().chain(plain(text)).collect(),
                focus: bit(11 + n),
                cursor: bit(20 + n).then_some(usize::try_from(seed % 300).unwrap_or(0)),
            })
            .collect(),
        foot: texts
            .iter()
            .map(|text| Hint::new(text.clone(), text.clone()))
            .collect(),
        scroll: usize::try_from(seed % 44).unwrap_or(0),
    }
}
