//! The state of forms: choices with a line for one's own words, and questions one after another.

use super::TextLine;
use crate::core::app::keymap::Key;
use crate::core::plan::answer::Wish;
use crate::core::wire::Question;
use std::collections::BTreeSet;

/// Options, and behind them a line for one's own words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Choices {
    /// How many options there are.
    pub options: usize,
    /// The option that is pointed at; the line, if it is their number.
    pub at: usize,
    /// The pointer was moved or an option named: until then nothing is chosen, so that Enter right
    /// after the form opened says nothing to anybody.
    pub touched: bool,
    /// One's own words.
    pub line: TextLine,
    /// Where the pointer was before it went to the line.
    back: usize,
}

impl Choices {
    /// So many options, the first pointed at.
    pub fn new(options: usize) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// The keys go into the line.
    pub fn is_typing(&self) -> bool {
        self.at >= self.options
    }

    /// Points at the line.
    pub(super) fn begin_typing(&mut self) {
        if !self.is_typing() {
            self.back = self.at;
            self.at = self.options;
        }
    }

    /// Points at the options again; `false`: there are none, or it does already.
    pub(super) fn end_typing(&mut self) -> bool {
        let can = self.is_typing() && self.options > 0;
        if can {
            self.at = self.back.min(self.options - 1);
            // Leaving the line chooses no option instead.
            self.touched = false;
        }
        can
    }

    /// Takes a key that moves the pointer or edits the line; `false` if it means nothing here.
    pub(super) fn key(&mut self, key: Key) -> bool {
        let was = self.is_typing();
        let means = self.moved(key);
        let left = was && !self.is_typing();
        self.touched |= means && !left;
        means
    }

    fn moved(&mut self, key: Key) -> bool {
        if self.is_typing() {
            return match key {
                Key::Tab => self.end_typing(),
                Key::Up if self.options > 0 => {
                    self.at = self.options - 1;
                    true
                }
                key => self.line.key(key),
            };
        }
        match key {
            Key::Tab => self.begin_typing(),
            // The first step chooses what is pointed at already.
            Key::Down if !self.touched => {}
            Key::Down if self.at + 1 == self.options => self.begin_typing(),
            Key::Down => self.at += 1,
            Key::Up => self.at = self.at.saturating_sub(1),
            Key::Home => self.at = 0,
            Key::End => self.at = self.options - 1,
            Key::Char(c) => match place(c).filter(|place| *place < self.options) {
                Some(place) => self.at = place,
                None => return false,
            },
            _ => return false,
        }
        true
    }
}

/// Which option a digit names.
fn place(c: char) -> Option<usize> {
    let digit = c.to_digit(10)?.checked_sub(1)?;
    usize::try_from(digit).ok()
}

/// One question.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QuestionPage {
    /// Its options and the line.
    pub choices: Choices,
    /// Where more than one may be chosen: those that are.
    pub chosen: BTreeSet<usize>,
    /// What was answered when it was left; empty: unanswered.
    pub given: Option<Vec<String>>,
}

/// Questions, one after another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionForm {
    /// The one that is shown, from 0.
    pub place: usize,
    /// All of them.
    pub pages: Vec<QuestionPage>,
}

/// What a key did to a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pressed {
    /// It stays open.
    Stay,
    /// It stays open and says something.
    Say(&'static str),
    /// It is left.
    Leave,
    /// It is complete.
    Send(Wish),
}

const EMPTY: &str =
    "nothing is chosen yet: 1-9, arrows or space choose, Tab types; Ctrl-N leaves it unanswered";

impl QuestionForm {
    /// A form for these questions. If none could be read, there is one line to answer all.
    pub fn new(questions: &[Question]) -> Self {
        let page = |options| QuestionPage {
            choices: Choices::new(options),
            ..QuestionPage::default()
        };
        let mut pages: Vec<QuestionPage> =
            questions.iter().map(|it| page(it.options.len())).collect();
        if pages.is_empty() {
            pages.push(page(0));
        }
        Self { place: 0, pages }
    }

    /// The question that is shown is the last.
    pub fn is_last(&self) -> bool {
        self.place + 1 >= self.pages.len()
    }

    /// The page that is shown.
    pub fn page(&self) -> Option<&QuestionPage> {
        self.pages.get(self.place)
    }

    pub(super) fn choices(&mut self) -> Option<&mut Choices> {
        self.pages.get_mut(self.place).map(|page| &mut page.choices)
    }

    pub(super) fn key(&mut self, key: Key, questions: &[Question]) -> Pressed {
        let question = questions.get(self.place);
        let Some(page) = self.pages.get_mut(self.place) else {
            return Pressed::Leave;
        };
        let typing = page.choices.is_typing();
        match key {
            Key::Enter => match page.answer(question) {
                answer if answer.is_empty() => Pressed::Say(EMPTY),
                answer => self.go_on(answer),
            },
            Key::Ctrl('n') => self.go_on(Vec::new()),
            Key::Esc if page.choices.end_typing() => Pressed::Stay,
            Key::Esc => Pressed::Leave,
            Key::Char('q') if !typing => Pressed::Leave,
            Key::Left if !typing => {
                self.place = self.place.saturating_sub(1);
                Pressed::Stay
            }
            Key::Right if !typing => {
                if page.given.is_some() && !self.is_last() {
                    self.place += 1;
                }
                Pressed::Stay
            }
            key => {
                page.press(key, question.is_some_and(|it| it.multiple));
                Pressed::Stay
            }
        }
    }

    fn go_on(&mut self, answer: Vec<String>) -> Pressed {
        if let Some(page) = self.pages.get_mut(self.place) {
            page.given = Some(answer);
        }
        if !self.is_last() {
            self.place += 1;
            return Pressed::Stay;
        }
        let given = |page: &QuestionPage| page.given.clone().unwrap_or_default();
        Pressed::Send(Wish::Answers(self.pages.iter().map(given).collect()))
    }
}

impl QuestionPage {
    /// What is chosen and typed. Words of one's own stand beside options only where more than one
    /// may be chosen.
    pub fn answer(&self, question: Option<&Question>) -> Vec<String> {
        let label = |place: usize| {
            let options = question.map(|it| it.options.as_slice());
            let option = options.and_then(|all| all.get(place));
            option.map(|it| it.label.clone())
        };
        let typed = Some(self.choices.line.text.trim()).filter(|it| !it.is_empty());
        let typed = typed.map(str::to_owned);
        if question.is_some_and(|it| it.multiple) {
            let chosen = self.chosen.iter().filter_map(|place| label(*place));
            return chosen.chain(typed).collect();
        }
        let one = if self.choices.is_typing() {
            typed
        } else {
            label(self.choices.at).filter(|_| self.choices.touched)
        };
        one.into_iter().collect()
    }

    fn press(&mut self, key: Key, multiple: bool) {
        let typing = self.choices.is_typing();
        let digit = matches!(key, Key::Char('1'..='9'));
        let toggles = multiple && !typing && (digit || key == Key::Char(' '));
        let space = key == Key::Char(' ') && !typing;
        self.choices.touched |= space;
        let moved = space || self.choices.key(key);
        if toggles && moved {
            let at = self.choices.at;
            if !self.chosen.remove(&at) {
                self.chosen.insert(at);
            }
        }
    }
}
