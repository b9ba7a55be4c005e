//! What the dashboard draws: hand-made screens in, cells out, at the sizes people have.
//!
//! Each snapshot shows the text, then per line which spans have which style (`12-14 red+bold`).

use insta::assert_snapshot;
use ocwatch::core::id::{ServerId, SessionId, SessionKey};
use ocwatch::core::present::{
    Agreement, Count, Detail, Dialog, FilterLine, Hint, Level, Line, Mark, Page, Piece, Row,
    Screen, ServerChip, Tone,
};
use ocwatch::tui::{Theme, table_rows, view};
use proptest::prelude::*;
use ratatui::buffer::{Buffer, Cell, CellWidth};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};
use std::collections::BTreeSet;
use std::fmt::Write;

// ---------------------------------------------------------------------------- drawing

fn draw(screen: &Screen, theme: &Theme, width: u16, height: u16) -> Buffer {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    view::draw(screen, theme, area, &mut buffer);
    buffer
}

fn lines(buffer: &Buffer) -> Vec<String> {
    let area = buffer.area;
    let line = |y| {
        let mut text = String::new();
        let mut x = area.left();
        while x < area.right() {
            let symbol = buffer[(x, y)].symbol();
            text.push_str(symbol);
            x += symbol.cell_width().max(1);
        }
        text.trim_end().to_owned()
    };
    (area.top()..area.bottom()).map(line).collect()
}

fn style_of(cell: &Cell) -> String {
    let mut words = Vec::new();
    if cell.fg != Color::Reset {
        words.push(cell.fg.to_string().to_lowercase());
    }
    if cell.bg != Color::Reset {
        words.push(format!("on {}", cell.bg.to_string().to_lowercase()));
    }
    for (modifier, word) in [
        (Modifier::BOLD, "bold"),
        (Modifier::DIM, "dim"),
        (Modifier::REVERSED, "reversed"),
    ] {
        if cell.modifier.contains(modifier) {
            words.push(word.to_owned());
        }
    }
    words.join("+")
}

fn styles(buffer: &Buffer, y: u16) -> Option<String> {
    let mut spans: Vec<(u16, u16, String)> = Vec::new();
    for x in buffer.area.left()..buffer.area.right() {
        let style = style_of(&buffer[(x, y)]);
        match spans.last_mut() {
            Some((_, end, last)) if *last == style => *end = x,
            _ => spans.push((x, x, style)),
        }
    }
    let named = spans.iter().filter(|(.., style)| !style.is_empty());
    let told: Vec<String> = named
        .map(|(from, to, style)| format!("{from}-{to} {style}"))
        .collect();
    (!told.is_empty()).then(|| told.join(", "))
}

fn picture(buffer: &Buffer) -> String {
    let mut out = String::new();
    for line in lines(buffer) {
        writeln!(out, "|{line}").unwrap();
    }
    out.push_str("styles\n");
    for y in buffer.area.top()..buffer.area.bottom() {
        if let Some(styles) = styles(buffer, y) {
            writeln!(out, "{y:>3}: {styles}").unwrap();
        }
    }
    out
}

fn color() -> Theme {
    Theme::new(true, false)
}

// ---------------------------------------------------------------------------- screens

fn piece(text: &str, tone: Tone) -> Piece {
    Piece::new(text, tone)
}

fn plain(text: &str) -> Line {
    vec![piece(text, Tone::Plain)]
}

fn chip(name: &str, mark: Mark, text: &str) -> ServerChip {
    ServerChip {
        name: name.to_owned(),
        mark,
        text: text.to_owned(),
        tone: if mark == Mark::Working {
            Tone::Dim
        } else {
            Tone::Watch
        },
    }
}

fn count(mark: Mark, number: usize, word: &'static str) -> Count {
    Count { mark, number, word }
}

/// `mark server depth title | reported agreement activity | age | why`
fn row(
    mark: Mark,
    place: (&str, u16, &str),
    states: (&str, Agreement, &str),
    age: &str,
    why: &str,
) -> Row {
    let (server, depth, title) = place;
    let (reported, agreement, activity) = states;
    let name = why.split_once(':').map_or(why, |(name, _)| name);
    let name = if name == "settling" { why } else { name };
    Row {
        key: SessionKey::new(ServerId(0), SessionId::new(title)),
        mark,
        server: server.to_owned(),
        depth,
        folded: 0,
        title: title.to_owned(),
        reported: reported.to_owned(),
        agreement,
        activity: activity.to_owned(),
        age: age.to_owned(),
        age_tone: Tone::Plain,
        why: why.to_owned(),
        why_short: name.to_owned(),
        tone: mark.tone(),
        dim: mark == Mark::Unknown,
        result: None,
    }
}

fn rich_rows() -> Vec<Row> {
    use Agreement::{Agree, Disagree, Unknown};
    let mut rows = vec![
        row(
            Mark::Stuck,
            ("home", 0, "TTS-Ebook"),
            ("busy", Disagree, "done"),
            "12m",
            "stale-busy: finished 12m ago, still reported busy",
        ),
        row(
            Mark::Stuck,
            ("home", 0, "Local machine and NAS"),
            ("idle", Disagree, "running bash"),
            "3h05",
            "interrupted: cut off in bash ./start.sh",
        ),
        row(
            Mark::NeedsYou,
            ("home", 0, "Web2Epub"),
            ("busy", Agree, "asking"),
            "2h05",
            "question: \"Which port should it use?\"",
        ),
        row(
            Mark::NeedsYou,
            ("build", 0, "Port the parser"),
            ("busy", Agree, "subagent"),
            "6m",
            "subagent-needs-you: 2 below",
        ),
        row(
            Mark::NeedsYou,
            ("build", 1, "general: read the docs"),
            ("busy", Agree, "subagent"),
            "6m",
            "subagent-needs-you: 1 below",
        ),
        row(
            Mark::NeedsYou,
            ("build", 2, "general: clean up"),
            ("busy", Agree, "asking"),
            "5m12",
            "permission: bash rm -r build",
        ),
        row(
            Mark::Watch,
            ("home", 0, "Refactor lexer"),
            ("busy", Agree, "running bash"),
            "4m10",
            "slow-tool: cargo test, last output 2s ago",
        ),
        row(
            Mark::Watch,
            ("home", 0, "Research reports"),
            ("retry 3", Agree, "retrying"),
            "40s",
            "retrying: next try in 14s: Overloaded",
        ),
        row(
            Mark::Working,
            ("home", 0, "OC Remote"),
            ("busy", Agree, "streaming"),
            "8s",
            "",
        ),
        row(
            Mark::Settling(Level::Stuck),
            ("home", 0, "Fix build"),
            ("busy", Disagree, "done"),
            "1s",
            "settling: stale-busy in 14s if it stays",
        ),
        row(
            Mark::Rest,
            ("home", 0, "Rename things"),
            ("idle", Agree, "done"),
            "1h20",
            "",
        ),
        row(
            Mark::Unknown,
            ("nas", 0, "Custom Linux"),
            ("unknown", Unknown, "was running glob"),
            "2m",
            "nas is unreachable",
        ),
    ];
    rows[6].age_tone = Tone::Watch;
    rows[8].folded = 3;
    rows
}

fn hints() -> Vec<Hint> {
    let hint = |key: &str, words: &str| Hint {
        key: key.to_owned(),
        words: words.to_owned(),
    };
    vec![
        hint("a", "abort"),
        hint("e", "export"),
        hint("x", "explain"),
        hint("Enter", "open"),
        hint("S", "retry now"),
        hint("/", "filter"),
        hint("!", "attention only"),
        hint("?", "help"),
        hint("q", "quit"),
    ]
}

fn detail() -> Detail {
    let time = |at: &str, rest: &str, tone: Tone| vec![piece(at, Tone::Dim), piece(rest, tone)];
    Detail {
        head: vec![
            piece("TTS-Ebook", Tone::Strong),
            piece(
                "  ses_08513899fffeXyz  home:/srv/tts  build · deepseek-v4  842 messages  $0.00",
                Tone::Dim,
            ),
        ],
        story: vec![
            vec![
                piece("✖ stale-busy", Tone::Stuck),
                piece(
                    " since 13:50:02. The server says busy; the last answer was completed at 13:50:02 (finish stop) and nothing has happened in this session since. Evidence: msg_f7aec7 completed, 0 tools open, 0 asks, last event 12m ago.",
                    Tone::Plain,
                ),
            ],
            plain("Abort makes the server forget it."),
        ],
        timeline: vec![
            time(
                "TURN 41  13:41:10 ",
                "you      \"now build the index\"",
                Tone::Plain,
            ),
            time(
                "         13:41:12 ",
                "bash     ./index.sh                     4m02  ok",
                Tone::Plain,
            ),
            time(
                "         13:45:20 ",
                "edit     src/index.rs                   0.2s  ok",
                Tone::Plain,
            ),
            time(
                "         13:50:02 ",
                "answer   \"The index is built and can be queried\"  stop",
                Tone::Plain,
            ),
        ],
        tail: vec![plain("The index is built and can be queried.")],
    }
}

fn rich() -> Screen {
    Screen {
        servers: vec![
            chip("home", Mark::Working, "1.18.33"),
            chip("build", Mark::Working, "2.0.14"),
            chip("nas", Mark::Unknown, "unreachable 2m, next try in 8s"),
        ],
        counts: vec![
            count(Mark::Stuck, 2, "stuck"),
            count(Mark::NeedsYou, 2, "need you"),
            count(Mark::Watch, 2, "watch"),
            count(Mark::Working, 4, "working"),
            count(Mark::Rest, 37, "at rest"),
            count(Mark::Unknown, 6, "unknown"),
        ],
        asleep: 12,
        clock: "14:02:11".to_owned(),
        rows: rich_rows(),
        selected: Some(0),
        offset: 0,
        empty: Vec::new(),
        detail: Some(detail()),
        detail_open: false,
        detail_scroll: 0,
        filter: None,
        attention_only: false,
        dialog: None,
        page: None,
        notice: None,
        footer: hints(),
        several_servers: true,
    }
}

fn one_server() -> Screen {
    let mut screen = rich();
    screen.servers.truncate(1);
    screen.rows.retain(|row| row.server == "home");
    screen.several_servers = false;
    screen.asleep = 0;
    screen
}

fn with_result() -> Screen {
    let mut screen = one_server();
    screen.rows[0].result = Some(piece(
        "aborted: absent from status after 0.4s",
        Tone::Working,
    ));
    screen.selected = Some(1);
    screen.notice = Some(piece("exported to ./ses_08513899fffe.json", Tone::Plain));
    screen
}

fn many() -> Screen {
    let mut screen = one_server();
    let base = screen.rows.clone();
    for copy in 0..6 {
        screen.rows.extend(base.iter().cloned().map(|mut row| {
            row.title = format!("{} {copy}", row.title);
            row
        }));
    }
    screen.selected = Some(40);
    screen.attention_only = true;
    screen
}

fn filtered() -> Screen {
    let mut screen = rich();
    screen.rows.retain(|row| row.activity.contains("bash"));
    screen.filter = Some(FilterLine {
        text: "running bash".to_owned(),
        cursor: Some(12),
        hits: 2,
        of: 12,
    });
    screen
}

fn dialog() -> Screen {
    let mut screen = rich();
    screen.dialog = Some(Dialog {
        title: "Abort \"Port the parser\" on build".to_owned(),
        lines: vec![
            "1 reject the permission that \"general: clean up\" waits for (bash rm -r build)".to_owned(),
            "2 abort \"general: clean up\", \"general: read the docs\", then this session".to_owned(),
            "3 check: absent from status, the last answer completed".to_owned(),
            "1 queued prompt will strand. The command may still run on the host; ocwatch cannot end it.".to_owned(),
        ],
        foot: "Enter do it · Esc leave it".to_owned(),
    });
    screen
}

fn help() -> Screen {
    let mut screen = rich();
    let mut lines = vec![plain("What the keys do"), plain("")];
    for (keys, words) in [
        (
            "a",
            "abort the session, verified; at once if it is stuck, else it asks first",
        ),
        (
            "e",
            "export the session to a JSON file that `opencode import` takes",
        ),
        ("x", "show every rule that was tried, with its answer"),
        ("Enter", "open the detail; Enter again closes it"),
        ("j Down", "next row"),
        ("k Up", "previous row"),
    ] {
        lines.push(vec![
            piece(&format!("{keys:<10}"), Tone::Key),
            piece(words, Tone::Plain),
        ]);
    }
    lines.push(plain(""));
    for (mark, word) in [
        (Mark::Stuck, "stuck"),
        (Mark::NeedsYou, "needs you"),
        (
            Mark::Settling(Level::Stuck),
            "settling: would become something if it stays so",
        ),
    ] {
        lines.push(vec![
            piece(mark.glyph(false), mark.tone()),
            piece(&format!("  {word}"), Tone::Plain),
        ]);
    }
    screen.page = Some(Page {
        title: "Help".to_owned(),
        lines,
        scroll: 0,
    });
    screen
}

fn empty() -> Screen {
    let mut screen = one_server();
    screen.rows.clear();
    screen.selected = None;
    screen.detail = None;
    for count in &mut screen.counts {
        count.number = 0;
    }
    screen.empty = vec![
        "No sessions on home.".to_owned(),
        "Start one with `opencode`, or see a demonstration with `ocwatch --demo`.".to_owned(),
    ];
    screen
}

/// Texts as only an attacker or a very lively user writes them.
const HOSTILE: &[&str] = &[
    "\u{1b}[2J\u{1b}]0;owned\u{7}bell\r\nnew line\ttab",
    "\u{202e}gnp.exe \u{2066}isolate\u{2069} \u{200f}",
    "zero\u{200b}\u{200d}\u{feff}\u{2060}width",
    "日本語のセッション名はとても長いので切られる",
    "👩‍👩‍👧‍👦 family ❤️ 🇩🇪 👍🏽 emoji",
    "Z\u{351}\u{36b}\u{343}\u{36a}\u{302}\u{36b}\u{35d}\u{313}\u{314}\u{35d}\u{342}algo",
    "مرحبا بالعالم שלום עולם",
    "\u{9b}31m C1 \u{85} next line \u{ad}soft",
];

fn hostile() -> Screen {
    let mut screen = rich();
    for (row, text) in screen.rows.iter_mut().zip(HOSTILE.iter().cycle()) {
        row.title = (*text).to_owned();
        row.why = format!("why: {text}");
        row.activity = (*text).to_owned();
        row.reported = (*text).to_owned();
        row.age = (*text).to_owned();
    }
    for (chip, text) in screen.servers.iter_mut().zip(HOSTILE.iter().skip(3)) {
        chip.name = (*text).to_owned();
    }
    if let Some(detail) = &mut screen.detail {
        detail.tail = HOSTILE.iter().map(|text| plain(text)).collect();
    }
    screen
}

// ---------------------------------------------------------------------------- snapshots

/// Every snapshot there is: name, screen, theme, width, height.
fn gallery() -> Vec<(&'static str, Screen, Theme, u16, u16)> {
    let opened = |mut screen: Screen| {
        screen.detail_open = true;
        screen
    };
    let mono = Theme::new(false, false);
    let ascii = Theme::new(false, true);
    vec![
        ("rich_40x12", rich(), color(), 40, 12),
        ("rich_40x15", rich(), color(), 40, 15),
        ("rich_80x24", rich(), color(), 80, 24),
        ("rich_120x40", rich(), color(), 120, 40),
        ("rich_200x50", rich(), color(), 200, 50),
        ("rich_mono_80x24", rich(), mono, 80, 24),
        ("rich_ascii_120x40", rich(), ascii, 120, 40),
        ("rich_ascii_40x15", rich(), ascii, 40, 15),
        ("one_server_80x24", one_server(), color(), 80, 24),
        ("result_100x24", with_result(), color(), 100, 24),
        ("many_80x24", many(), color(), 80, 24),
        ("many_open_120x40", opened(many()), color(), 120, 40),
        ("open_80x24", opened(rich()), color(), 80, 24),
        ("open_40x15", opened(rich()), color(), 40, 15),
        ("filter_80x24", filtered(), color(), 80, 24),
        ("filter_40x12", filtered(), color(), 40, 12),
        ("dialog_80x24", dialog(), color(), 80, 24),
        ("dialog_40x12", dialog(), color(), 40, 12),
        ("help_80x24", help(), color(), 80, 24),
        ("help_40x12", help(), color(), 40, 12),
        ("empty_80x24", empty(), color(), 80, 24),
        ("hostile_120x40", hostile(), color(), 120, 40),
        ("hostile_40x15", hostile(), color(), 40, 15),
        ("tiny_18x4", rich(), color(), 18, 4),
    ]
}

#[test]
fn the_gallery_looks_as_reviewed() {
    for (name, screen, theme, width, height) in gallery() {
        let buffer = draw(&screen, &theme, width, height);
        assert_snapshot!(name, picture(&buffer));
    }
}

#[test]
fn every_stored_snapshot_is_in_the_gallery() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots");
    let stored: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("screens__"))
        .collect();
    let known: BTreeSet<String> = gallery()
        .iter()
        .map(|(name, ..)| format!("screens__{name}.snap"))
        .collect();
    pretty_assertions::assert_eq!(stored, known);
}
