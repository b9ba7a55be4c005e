//! The list of things to do of a session, as its agent keeps it.

use crate::core::present::{Flow, Line, Piece, Sheet, Tone, clean};
use crate::core::store::Session;
use crate::core::wire::{TodoItem, TodoStatus};

pub(super) fn sheet(session: &Session) -> Sheet {
    let items = session.todo.iter().flat_map(|list| &list.items);
    let all = items.clone().count();
    let done = items
        .clone()
        .filter(|it| it.status == TodoStatus::Completed);
    let head = format!("{} of {all} done", done.count());
    let mut lines = vec![vec![Piece::new(head, Tone::Strong)]];
    lines.extend(items.map(line));
    Sheet {
        lines,
        flow: Flow::Words,
        ..Sheet::default()
    }
}

fn line(item: &TodoItem) -> Line {
    let (mark, word, tone) = match &item.status {
        TodoStatus::Pending => ("[ ]", "", Tone::Plain),
        TodoStatus::InProgress => ("[>]", "under way", Tone::Working),
        TodoStatus::Completed => ("[x]", "done", Tone::Dim),
        TodoStatus::Cancelled => ("[-]", "given up", Tone::Dim),
        TodoStatus::Other(name) => ("[?]", name.as_str(), Tone::Dim),
    };
    let priority = match item.priority.as_str() {
        "high" => "!",
        _ => " ",
    };
    vec![
        Piece::new(format!("{mark} {priority} "), tone),
        Piece::new(format!("{:<10}", clean(word)), tone),
        Piece::new(clean(&item.content), tone),
    ]
}
