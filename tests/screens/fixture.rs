//! Hand-made screens: a rich one like any evening's, and what can lie over it.

use ocwatch::core::app::keymap::keymap;
use ocwatch::core::id::{ServerId, SessionId, SessionKey};
use ocwatch::core::present::{
    Agreement, Column, Count, Detail, Dialog, FilterLine, Form, FormLine, Hint, Level, Line, Mark,
    Page, Piece, Row, Screen, ServerChip, Sort, Tone,
};

pub fn piece(text: &str, tone: Tone) -> Piece {
    Piece::new(text, tone)
}

pub fn plain(text: &str) -> Line {
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
    Count {
        mark,
        number,
        hits: None,
        echoes: 0,
        word,
    }
}

/// mark | server | depth | title | reported | agreement | activity | age | why
const RICH: &str = r#"
✖ | home  | 0 | TTS-Ebook             | busy    | ≠ | done             | 12m  | stale-busy: finished 12m ago, still reported busy
✖ | home  | 0 | Local machine and NAS | idle    | ≠ | running bash     | 3h05 | interrupted: cut off in bash ./start.sh
◆ | home  | 0 | Web2Epub              | busy    | = | asking           | 2h05 | question: "Which port should it use?"
◆ | build | 0 | Port the parser       | busy    | = | subagent         | 6m   | subagent-needs-you: 2 below
◆ | build | 1 | general: read the docs| busy    | = | subagent         | 6m   | subagent-needs-you: 1 below
◆ | build | 2 | general: clean up     | busy    | = | asking           | 5m12 | permission: bash rm -r build
▲ | home  | 0 | Refactor lexer        | busy    | = | running bash     | 4m10 | slow-tool: cargo test, last output 2s ago
▲ | home  | 0 | Research reports      | retry 3 | = | retrying         | 40s  | retrying: next try in 14s: Overloaded
● | home  | 0 | OC Remote             | busy    | = | streaming        | 8s   |
◌ | home  | 0 | Fix build             | busy    | ≠ | done             | 1s   | settling: stale-busy in 14s if it stays
· | home  | 0 | Rename things         | idle    | = | done             | 1h20 |
○ | nas   | 0 | Custom Linux          | unknown |   | was running glob | 2m   | nas is unreachable
"#;

fn rich_rows() -> Vec<Row> {
    let mut rows: Vec<Row> = RICH.lines().filter_map(row).collect();
    for row in &mut rows {
        match row.title.as_str() {
            "Refactor lexer" => row.age_tone = Tone::Watch,
            "OC Remote" => {
                row.folded = 3;
                row.inside = Some(Mark::Watch);
            }
            _ => {}
        }
    }
    rows
}

fn row(line: &str) -> Option<Row> {
    let fields: Vec<String> = line.split('|').map(|text| text.trim().to_owned()).collect();
    let [
        mark,
        server,
        depth,
        title,
        reported,
        agreement,
        activity,
        age,
        why,
    ] = <[String; 9]>::try_from(fields).ok()?;
    let mark = mark_of(&mark)?;
    let (name, _) = why.split_once(':').unwrap_or((&why, ""));
    Some(Row {
        marked: false,
        key: SessionKey::new(ServerId(0), SessionId::new(title.as_str())),
        mark,
        server,
        depth: depth.parse().ok()?,
        trunk: 0,
        folded: 0,
        inside: None,
        title,
        reported,
        agreement: match agreement.as_str() {
            "=" => Agreement::Agree,
            "≠" => Agreement::Disagree,
            _ => Agreement::Unknown,
        },
        activity,
        age,
        age_tone: Tone::Plain,
        why_short: name.to_owned(),
        why,
        tone: mark.tone(),
        dim: mark == Mark::Unknown,
        result: None,
        more: Vec::new(),
    })
}

fn mark_of(glyph: &str) -> Option<Mark> {
    let marks = [
        Mark::Stuck,
        Mark::NeedsYou,
        Mark::Watch,
        Mark::Settling(Level::Stuck),
        Mark::Working,
        Mark::Rest,
        Mark::Unknown,
    ];
    marks.into_iter().find(|mark| mark.glyph(false) == glyph)
}

fn hints() -> Vec<Hint> {
    let hint = |key: &str, words: &str| {
        let action = keymap().find(|it| it.words == words).map(|it| it.action);
        Hint {
            action,
            ..Hint::new(key, words)
        }
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
    let entry = |at: &str, who: &str, rest: &[&str]| {
        let mut line = vec![
            piece(at, Tone::Dim),
            piece(&format!("{who:<9}"), Tone::Strong),
        ];
        line.extend(rest.iter().map(|text| piece(text, Tone::Plain)));
        line
    };
    Detail {
        rules: Vec::new(),
        head: vec![
            piece("TTS-Ebook", Tone::Strong),
            piece("ses_08513899fffeXyz", Tone::Dim),
            piece("home:/srv/tts", Tone::Plain),
            piece("build · deepseek-v4", Tone::Plain),
            piece("842 messages", Tone::Dim),
            piece("$0.00", Tone::Dim),
        ],
        story: vec![
            vec![
                piece("stale-busy since 13:50:02. ", Tone::Stuck),
                piece(STORY, Tone::Plain),
            ],
            vec![piece(
                "Evidence: message msg_f7aec7, age_ms 720000",
                Tone::Dim,
            )],
            plain("What helps: a abort · e export"),
        ],
        timeline: vec![
            entry("13:41:10", "you", &["\"now build the index\""]),
            entry("13:41:12", "bash", &[COMMAND, "4m02", "ok"]),
            entry("13:45:20", "edit", &["src/index.rs", "8s", "ok"]),
            entry("13:50:02", "answer", &["\"The index is built\"", "stop"]),
        ],
        tail: vec![plain("The index is built and can be queried.")],
        ..Detail::default()
    }
}

const STORY: &str = "The server says busy; the last answer was completed at 13:50:02 (finish \
    stop) and nothing has happened in this session since.";
const COMMAND: &str = "./index.sh --all --from /srv/tts/books --to /srv/tts/index --language en \
    --language de --language fr --verbose";

pub fn rich() -> Screen {
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
        filter: None,
        attention_only: false,
        dialog: None,
        form: None,
        page: None,
        notice: None,
        footer: hints(),
        several_servers: true,
        ..Screen::default()
    }
}

/// The columns of someone who looks for what costs most, sorted so, with a family that is folded.
pub fn chosen() -> Screen {
    let mut screen = rich();
    screen.columns = vec![
        Column::Session,
        Column::Cost,
        Column::Tokens,
        Column::Reported,
        Column::Activity,
        Column::Directory,
        Column::Updated,
        Column::Model,
        Column::Id,
    ];
    screen.sort = Sort {
        column: Some(Column::Cost),
        reversed: false,
    };
    for row in &mut screen.rows {
        // Three children of one parent, the first with a child of its own.
        row.trunk = match row.title.as_str() {
            "general: read the docs" | "general: clean up" => 0b10,
            _ => 0,
        };
    }
    let mut last = screen.rows[4].clone();
    "general: write the tests".clone_into(&mut last.title);
    last.trunk = 0;
    screen.rows.insert(6, last);
    for (row, n) in screen.rows.iter_mut().zip(1_u32..) {
        row.more = vec![
            (Column::Cost, format!("${}.{n:02}", 400 / n)),
            (Column::Tokens, format!("{}k", 900 / n)),
            (
                Column::Directory,
                format!("/srv/projects/customer-{n}/checkout"),
            ),
            (Column::Updated, format!("{n}h05")),
            (Column::Model, "claude-sonnet-4-5".to_owned()),
            (Column::Id, format!("ses_08513899fffeQ{n:02}")),
        ];
    }
    screen.marked = 2;
    screen.counts[1].echoes = 3;
    screen
}

/// Servers that differ in their ports alone.
pub fn ports() -> Screen {
    let mut screen = rich();
    let name = |old: &str| match old {
        "home" => "127.0.0.1:4096".to_owned(),
        "build" => "127.0.0.1:4097".to_owned(),
        _ => "127.0.0.1:5096".to_owned(),
    };
    for chip in &mut screen.servers {
        chip.name = name(&chip.name);
    }
    for row in &mut screen.rows {
        row.server = name(&row.server);
    }
    screen
}

pub fn one_server() -> Screen {
    let mut screen = rich();
    screen.servers.truncate(1);
    screen.rows.retain(|row| row.server == "home");
    screen.several_servers = false;
    screen.asleep = 0;
    screen
}

pub fn with_result() -> Screen {
    let mut screen = one_server();
    screen.rows[0].result = Some(piece(
        "aborted: absent from status after 0.4s",
        Tone::Working,
    ));
    screen.rows[1].result = Some(piece(
        "exported 847 messages to ./ses_1494d5.json",
        Tone::Plain,
    ));
    screen.selected = Some(1);
    screen.notice = Some(piece("exported to ./ses_08513899fffe.json", Tone::Plain));
    screen
}

pub fn many() -> Screen {
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

pub fn filtered() -> Screen {
    let mut screen = rich();
    screen.rows.retain(|row| row.activity.contains("bash"));
    for (count, hits) in screen.counts.iter_mut().zip([1, 0, 1, 0, 0, 0]) {
        count.hits = Some(hits);
    }
    screen.filter = Some(FilterLine {
        text: "running bash".to_owned(),
        cursor: Some(12),
        hits: 2,
        of: 12,
        wrong: String::new(),
    });
    screen
}

/// A kept filter of which something was not understood, with a parent that is only shown for its child.
pub fn filtered_in_part() -> Screen {
    let mut screen = rich();
    screen
        .rows
        .retain(|row| row.title.contains("general") || row.title.contains("Port the"));
    for row in screen.rows.iter_mut().take(2) {
        row.dim = true;
    }
    screen.filter = Some(FilterLine {
        text: "asking levle:stuck".to_owned(),
        cursor: None,
        hits: 1,
        of: 140,
        wrong: "no field `levle`, did you mean `level`?".to_owned(),
    });
    screen.attention_only = true;
    screen.calm = 139;
    screen
}

/// A screen that stands still, with a session that was seen.
pub fn frozen() -> Screen {
    let mut screen = rich();
    let frozen = ["frozen for 12s, 34 changes since", "frozen 12s"];
    screen.frozen = frozen.map(str::to_owned).to_vec();
    if let Some(row) = screen.rows.get_mut(1) {
        row.mark = Mark::Snoozed;
        row.dim = true;
        row.why = format!("snoozed: {}", row.why);
    }
    screen
}

pub fn dialog() -> Screen {
    let mut screen = rich();
    screen.dialog = Some(Dialog {
        scroll: 0,
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

fn form_line(mark: &str, text: Line, focus: bool) -> FormLine {
    FormLine {
        mark: mark.to_owned(),
        text,
        focus,
        cursor: None,
    }
}

fn foot(hints: &[(&str, &str)]) -> Vec<Hint> {
    hints
        .iter()
        .map(|(key, words)| Hint::new(*key, *words))
        .collect()
}

/// A question with several answers, the second option pointed at.
pub fn form() -> Screen {
    let mut screen = rich();
    let option = |mark: &str, label: &str, about: &str, focus| {
        let text = vec![
            piece(label, Tone::Strong),
            piece(&format!("  {about}"), Tone::Dim),
        ];
        form_line(mark, text, focus)
    };
    let asked = vec![
        piece("2 of 3  ", Tone::Key),
        piece(
            "Which of the old output formats should the new exporter still be able to write?",
            Tone::Strong,
        ),
        piece("  (one or more)", Tone::Dim),
    ];
    screen.form = Some(Form {
        title: "Reply to \"Web2Epub: settings page\" on home".to_owned(),
        lines: vec![
            form_line("  ", vec![piece("Port: 8080", Tone::Dim)], false),
            form_line("", Vec::new(), false),
            form_line("", asked, false),
            form_line("", Vec::new(), false),
            option(
                "  [x] 1 ",
                "EPUB 2",
                "what most readers of the last decade still understand",
                false,
            ),
            option("> [ ] 2 ", "EPUB 3", "as now", true),
            option("  [ ] 3 ", "Plain text", "", false),
            form_line("  [ ] your words: ", Vec::new(), false),
        ],
        foot: foot(&[
            ("Enter", "next"),
            ("space 1-9", "choose"),
            ("Tab", "your words"),
            ("Esc", "leave"),
            ("Ctrl-N", "no answer"),
            ("h", "previous"),
        ]),
        scroll: 0,
    });
    screen
}

/// The same with the keys in the line, and more typed than fits.
pub fn form_typing() -> Screen {
    let mut screen = form();
    if let Some(form) = &mut screen.form {
        for line in &mut form.lines {
            line.mark = line.mark.replace('>', " ");
            line.focus = false;
        }
        let typed = "something that reads well on paper, and nothing that needs a network at all";
        if let Some(last) = form.lines.last_mut() {
            *last = FormLine {
                mark: "> [x] your words: ".to_owned(),
                text: plain(typed),
                focus: true,
                cursor: Some(typed.len()),
            };
        }
        form.foot = foot(&[
            ("Enter", "next"),
            ("Tab", "options"),
            ("Esc", "back"),
            ("Ctrl-N", "no answer"),
        ]);
    }
    screen
}

/// More options than fit, with hostile texts.
pub fn form_long() -> Screen {
    let mut screen = form();
    if let Some(form) = &mut screen.form {
        form.lines.truncate(4);
        for (n, text) in HOSTILE.iter().cycle().take(30).enumerate() {
            let focus = n == 20;
            let mark = if focus { "> (*)   " } else { "  ( )   " };
            form.lines.push(form_line(mark, plain(text), focus));
        }
    }
    screen
}

pub fn help() -> Screen {
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
        ("Enter", "open the detail; again closes it"),
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
        ..Page::default()
    });
    screen
}

pub fn empty() -> Screen {
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
pub const HOSTILE: &[&str] = &[
    "\u{1b}[2J\u{1b}]0;owned\u{7}bell\r\nnew line\ttab",
    "\u{202e}gnp.exe \u{2066}isolate\u{2069} \u{200f}",
    "zero\u{200b}\u{200d}\u{feff}\u{2060}width",
    "日本語のセッション名はとても長いので切られる",
    "👩‍👩‍👧‍👦 family ❤️ 🇩🇪 👍🏽 emoji",
    "Z\u{351}\u{36b}\u{343}\u{36a}\u{302}\u{36b}\u{35d}\u{313}\u{314}\u{35d}\u{342}algo",
    "مرحبا بالعالم שלום עולם",
    "\u{9b}31m C1 \u{85} next line \u{ad}soft",
];

pub fn hostile() -> Screen {
    let mut screen = rich();
    for (row, text) in screen.rows.iter_mut().zip(HOSTILE.iter().cycle()) {
        (*text).clone_into(&mut row.title);
        row.why = format!("why: {text}");
        (*text).clone_into(&mut row.activity);
        (*text).clone_into(&mut row.reported);
        (*text).clone_into(&mut row.age);
    }
    for (chip, text) in screen.servers.iter_mut().zip(HOSTILE.iter().skip(3)) {
        (*text).clone_into(&mut chip.name);
    }
    if let Some(detail) = &mut screen.detail {
        detail.tail = HOSTILE.iter().map(|text| plain(text)).collect();
    }
    screen
}
