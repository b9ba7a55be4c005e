//! What could stand where a filter is being typed: fields, and the values that are known.
//!
//! What it does: find the word at the cursor and what it may become. What it does not: change the
//! line.

use super::field::{FIELDS, Field, Kind};
use super::query::field;
use super::token::{Token, quoted, text, tokens};
use crate::core::app::App;
use crate::core::store::Session;
use std::collections::BTreeSet;

/// No more is offered: nobody reads further.
const MOST: usize = 40;

/// What may stand for some characters of the line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Offered {
    /// From this character of the line.
    pub from: usize,
    /// To before this one.
    pub to: usize,
    /// What may stand there, the likeliest first.
    pub words: Vec<String>,
}

impl App {
    /// What may stand at the cursor of the filter; nothing where any text may.
    pub fn offered(&self) -> Offered {
        let filter = &self.ui.filter;
        let Some(cursor) = filter.cursor else {
            return Offered::default();
        };
        self.offered_at(&filter.text, cursor)
    }

    /// What may stand before this character of a filter.
    pub(in crate::core::app) fn offered_at(&self, text: &str, cursor: usize) -> Offered {
        let tokens = tokens(text);
        let at = tokens
            .iter()
            .find(|it| it.from <= cursor && cursor <= it.to);
        let Some(token) = at else {
            return fields("", cursor, cursor);
        };
        self.in_token(token)
    }

    fn in_token(&self, token: &Token) -> Offered {
        let bangs = token.marks.iter().take_while(|it| **it == ('!', false));
        let bangs = bangs.count();
        let marks = &token.marks[bangs..];
        let Some(colon) = marks.iter().position(|it| *it == (':', false)) else {
            return fields(&text(marks), token.from + bangs, token.to);
        };
        let Ok(Some(row)) = field(&text(&marks[..colon])) else {
            return Offered::default();
        };
        let values = &marks[colon + 1..];
        let sign = |it: &(char, bool)| !it.1 && matches!(it.0, '|' | ',');
        let last = values.iter().rposition(sign).map_or(0, |at| at + 1);
        // With quotes or escapes the characters of the line are not those of the token.
        if token.to - token.from != token.marks.len() {
            return Offered::default();
        }
        let typed = text(&values[last..]).to_lowercase();
        let fits = |word: &String| {
            let word = word.to_lowercase();
            let inside = row.kind != Kind::Word && word.contains(&typed);
            word != typed && (inside || word.starts_with(&typed))
        };
        let mut words: Vec<String> = self.known(row.field).into_iter().filter(fits).collect();
        words.sort_by_key(|word| !word.to_lowercase().starts_with(&typed));
        words.truncate(MOST);
        Offered {
            from: token.from + bangs + colon + 1 + last,
            to: token.to,
            words: match row.kind {
                // In quotes `>` would be no sign for whoever reads it.
                Kind::Age | Kind::Cost => words,
                Kind::Word | Kind::Text => words.iter().map(|word| quoted(word)).collect(),
            },
        }
    }

    /// The values of a field that there are now.
    fn known(&self, field: Field) -> Vec<String> {
        let of = |read: &dyn Fn(&Session) -> Option<String>| -> Vec<String> {
            let all = self.store.sessions().filter_map(|(_, it)| read(it));
            let all: BTreeSet<String> = all.filter(|it| !it.is_empty()).collect();
            all.into_iter().collect()
        };
        match field {
            Field::Server => {
                let names = self.store.servers().map(|(_, it)| it.spec.name.clone());
                names.collect()
            }
            Field::Dir => of(&|it| Some(it.info.directory.as_str().to_owned())),
            Field::Agent => of(&|it| it.info.agent.clone()),
            Field::Model => of(&|it| {
                let model = it.info.model.as_ref()?;
                Some(format!("{}/{}", model.provider, model.model))
            }),
            Field::Tool => {
                let verdicts = self.judgement().verdicts.values();
                let tools = verdicts.filter_map(|it| it.activity.tool.clone());
                let tools: BTreeSet<String> = tools.collect();
                tools.into_iter().collect()
            }
            Field::Age => vec![">5m".to_owned(), ">1h".to_owned(), "<1m".to_owned()],
            Field::Cost => vec![">1".to_owned(), ">10".to_owned()],
            Field::Title | Field::Id => Vec::new(),
            _ => field.words().into_iter().map(str::to_owned).collect(),
        }
    }
}

fn fields(typed: &str, from: usize, to: usize) -> Offered {
    let typed = typed.to_lowercase();
    let meant = FIELDS.iter().filter(|row| row.name.starts_with(&typed));
    Offered {
        from,
        to,
        words: meant.map(|row| format!("{}:", row.name)).collect(),
    }
}
