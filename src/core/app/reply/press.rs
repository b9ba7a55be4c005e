//! Keys and pasted text while something is open to answer an ask.

use super::form::Pressed;
use super::open::UNSEEN;
use super::{Bound, Choices, Form, PERMISSION_CHOICES, Pick, Reply};
use crate::core::app::keymap::Key;
use crate::core::app::{App, Effect};
use crate::core::plan::answer::{self, Wish};
use crate::core::time::UnixMs;

/// Lines by which a page key scrolls.
const PAGE: usize = 5;
const OVERTAKEN: &str = "it is no longer asked: nothing was sent";

impl App {
    /// A key while a form or the list is open.
    pub(in crate::core::app) fn reply_key(&mut self, key: Key, now: UnixMs) -> Vec<Effect> {
        if let Some(effects) = self.leaving(key).filter(|_| key.is_chord()) {
            return effects;
        }
        match self.ui.reply.take() {
            Some(Reply::Pick(pick)) => self.pick_key(pick, key, now),
            Some(Reply::To(bound)) => self.bound_key(bound, key, now),
            None => Vec::new(),
        }
    }

    fn pick_key(&mut self, mut pick: Pick, key: Key, now: UnixMs) -> Vec<Effect> {
        let last = pick.asks.len().saturating_sub(1);
        match self.unless_own(key) {
            Key::Esc | Key::Char('q') => return Vec::new(),
            Key::Enter => {
                let chosen = pick.asks.get(pick.at);
                let found = chosen.and_then(|(key, ask)| answer::find(&self.store, key, ask));
                return match found {
                    Some(waiting) => self.reply_to(&waiting, pick.then, now),
                    None => self.tell(OVERTAKEN),
                };
            }
            Key::Down => pick.at = (pick.at + 1).min(last),
            Key::Up => pick.at = pick.at.saturating_sub(1),
            Key::Home => pick.at = 0,
            Key::End => pick.at = last,
            Key::Char(c @ '1'..='9') => {
                let place = c.to_digit(10).and_then(|it| usize::try_from(it - 1).ok());
                pick.at = place.filter(|it| *it <= last).unwrap_or(pick.at);
            }
            _ => {}
        }
        self.ui.reply = Some(Reply::Pick(pick));
        Vec::new()
    }

    fn bound_key(&mut self, mut bound: Box<Bound>, key: Key, now: UnixMs) -> Vec<Effect> {
        let last_scroll = self.ui.last_scroll;
        bound.scroll = bound.scroll.min(last_scroll);
        let key = if bound.is_typing() {
            key
        } else {
            self.unless_own(key)
        };
        // The key that opened it, pressed twice.
        let agrees = matches!(key, Key::Enter | Key::Char('y'));
        let once = bound.form == Form::Confirm(Wish::Once);
        if agrees && once && now.since(bound.opened_at) < UNSEEN {
            self.ui.reply = Some(Reply::To(bound));
            return self.tell("it has just been shown: look, then press it again");
        }
        match key {
            Key::PageUp => bound.scroll = (bound.scroll + PAGE).min(last_scroll),
            Key::PageDown => bound.scroll = bound.scroll.saturating_sub(PAGE),
            key if bound.goes_on_reading(key) => {}
            _ => {
                let pressed = bound.press(key);
                bound.scroll = 0;
                return self.pressed(bound, pressed, now);
            }
        }
        self.ui.reply = Some(Reply::To(bound));
        Vec::new()
    }

    /// The arrow that a key is, unless a form has a meaning of its own for it.
    fn unless_own(&self, key: Key) -> Key {
        match key {
            Key::Char('0'..='9' | ' ' | 'y' | 'n' | 'q') => key,
            key => self.keymap.arrow(key),
        }
    }

    fn pressed(&mut self, bound: Box<Bound>, pressed: Pressed, now: UnixMs) -> Vec<Effect> {
        match pressed {
            Pressed::Leave => return Vec::new(),
            Pressed::Stay => {}
            Pressed::Say(words) => self.ui.notice = Some(words.to_owned()),
            Pressed::Send(wish) => {
                return match answer::find(&self.store, &bound.key, &bound.ask.id) {
                    Some(waiting) => self.send(&waiting, &wish, now),
                    None => self.tell(OVERTAKEN),
                };
            }
        }
        self.ui.reply = Some(Reply::To(bound));
        Vec::new()
    }

    /// Pasted text goes into the line, wherever the pointer is.
    pub(in crate::core::app) fn paste_reply(&mut self, text: &str) {
        let Some(Reply::To(bound)) = &mut self.ui.reply else {
            return;
        };
        let choices = match &mut bound.form {
            Form::Deny(line) => return line.paste(text),
            Form::Permission(choices) => Some(choices),
            Form::Question(form) => form.choices(),
            Form::Confirm(_) => None,
        };
        if let Some(choices) = choices {
            choices.begin_typing();
            choices.touched = true;
            choices.line.paste(text);
        }
    }
}

impl Bound {
    /// What is to be agreed to and does not fit is agreed to at its end: until then the keys scroll.
    fn goes_on_reading(&mut self, key: Key) -> bool {
        let is_text = matches!(self.form, Form::Confirm(_));
        let down = match key {
            Key::Enter | Key::Char('y' | ' ') if self.scroll > 0 => PAGE,
            Key::Down => 1,
            Key::Up => {
                self.scroll += usize::from(is_text);
                return is_text;
            }
            _ => return false,
        };
        if is_text {
            self.scroll = self.scroll.saturating_sub(down);
        }
        is_text
    }

    /// Characters go into a line.
    fn is_typing(&self) -> bool {
        match &self.form {
            Form::Permission(choices) => choices.is_typing(),
            Form::Question(form) => form.page().is_some_and(|it| it.choices.is_typing()),
            Form::Deny(_) => true,
            Form::Confirm(_) => false,
        }
    }

    fn press(&mut self, key: Key) -> Pressed {
        match &mut self.form {
            Form::Permission(choices) => permission(choices, key),
            Form::Question(form) => form.key(key, &self.ask.questions),
            Form::Deny(line) => match key {
                Key::Esc => Pressed::Leave,
                Key::Enter => Pressed::Send(Wish::Reject(words(&line.text))),
                key => {
                    line.key(key);
                    Pressed::Stay
                }
            },
            Form::Confirm(wish) => match key {
                Key::Enter | Key::Char('y') => Pressed::Send(wish.clone()),
                Key::Esc | Key::Char('q' | 'n') => Pressed::Leave,
                _ => Pressed::Stay,
            },
        }
    }
}

fn permission(choices: &mut Choices, key: Key) -> Pressed {
    match key {
        Key::Enter if !choices.touched => {
            Pressed::Say("nothing is chosen yet: 1-3, arrows or space choose, Tab types")
        }
        Key::Enter => match choices.at {
            0 => Pressed::Send(Wish::Once),
            1 => Pressed::Send(Wish::Always),
            PERMISSION_CHOICES.. => match words(&choices.line.text) {
                Some(words) => Pressed::Send(Wish::Reject(Some(words))),
                None => Pressed::Say("type what the agent shall hear, or choose 3"),
            },
            _ => Pressed::Send(Wish::Reject(None)),
        },
        Key::Esc if choices.end_typing() => Pressed::Stay,
        Key::Esc => Pressed::Leave,
        Key::Char('q') if !choices.is_typing() => Pressed::Leave,
        Key::Char(' ') if !choices.is_typing() => {
            choices.touched = true;
            Pressed::Stay
        }
        key => {
            choices.key(key);
            Pressed::Stay
        }
    }
}

fn words(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
