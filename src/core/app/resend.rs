//! `s`: the text is shown before it is sent; Enter sends it, once.
//!
//! What it does: open the dialog, have the prompt read whole, take edits of text and model, start the
//! plan. What it does not: decide what may be sent (that is `core::plan`); the dialog asks it again
//! with every key, so what happens meanwhile is heard.

use crate::core::app::keymap::Key;
use crate::core::app::{App, DialogState, Effect, PromptRead, TextLine};
use crate::core::id::SessionKey;
use crate::core::plan::{self, CONTINUE, Draft, Plan, Refused, Resend};
use crate::core::time::{Span, UnixMs};
use crate::core::wire::{ModelRef, WholePrompt};

/// A text that has just come on the screen was not read: Enter was meant for something else.
const UNREAD: Span = Span(500);

/// A line of the dialog that can be typed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResendField {
    /// The text, where it is one line.
    Text,
    /// The model.
    Model,
}

/// The dialog: bound to its session, wherever the row goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResendForm {
    /// Whose.
    pub key: SessionKey,
    /// Its title.
    pub title: String,
    /// What its state suggested.
    pub draft: Draft,
    /// When all was read; until then nothing can be sent. Watcher's clock.
    pub read_at: Option<UnixMs>,
    /// The prompt, or why it could not be read.
    pub prompt: Result<Option<WholePrompt>, String>,
    /// The models that there are, where the server tells.
    pub models: Option<Vec<ModelRef>>,
    /// What will be sent; can be edited where it is one line.
    pub text: TextLine,
    /// The model, as typed; empty: the session's own.
    pub model: TextLine,
    /// Which line has the keys.
    pub focus: Option<ResendField>,
}

impl ResendForm {
    /// What would be sent if nobody edited it.
    fn original(&self) -> &str {
        match (&self.draft, &self.prompt) {
            (Draft::Again(_), Ok(Some(prompt))) => &prompt.text,
            (Draft::Continue, _) => CONTINUE,
            _ => "",
        }
    }

    /// A line breaks nowhere: only such a text can be edited here.
    pub fn is_editable(&self) -> bool {
        !self.original().contains('\n')
    }

    fn next_field(&self) -> Option<ResendField> {
        match self.focus {
            None if self.is_editable() => Some(ResendField::Text),
            None | Some(ResendField::Text) => Some(ResendField::Model),
            Some(ResendField::Model) => None,
        }
    }

    fn line(&mut self) -> Option<&mut TextLine> {
        match self.focus? {
            ResendField::Text => Some(&mut self.text),
            ResendField::Model => Some(&mut self.model),
        }
    }
}

impl App {
    /// `s`: what would be sent is read first, then shown.
    pub(super) fn ask_resend(&mut self) -> Vec<Effect> {
        let Some(key) = self.free_selection() else {
            return Vec::new();
        };
        let (Some(verdict), Some(session)) = (self.verdict(&key), self.store.session(&key)) else {
            return self.tell_deleted();
        };
        let (title, directory) = (session.info.title.clone(), session.info.directory.clone());
        let draft = match plan::draft(&self.store, verdict, None, false) {
            Ok(Draft::Nothing(why)) => {
                let words = format!("{why}; `ocwatch resend --text` sends a text of your own");
                return self.tell(&words);
            }
            Ok(draft) => draft,
            Err(Refused::Doubt(why)) => {
                return self.tell(&format!(
                    "not sent: {why}; if you know that none does: `ocwatch resend --allow elsewhere`"
                ));
            }
            Err(why) => return self.tell(&format!("not sent: {}", why.words())),
        };
        let message = match &draft {
            Draft::Again(message) => Some(message.clone()),
            _ => None,
        };
        let form = ResendForm {
            key: key.clone(),
            title,
            draft,
            read_at: None,
            prompt: Ok(None),
            models: None,
            text: TextLine::default(),
            model: TextLine::default(),
            focus: None,
        };
        self.ui.dialog = Some(DialogState::Resend(Box::new(form)));
        vec![Effect::ReadPrompt {
            key,
            directory,
            message,
        }]
    }

    /// What was read for the dialog; if that is gone, nobody waits for it.
    pub(super) fn prompt_read(&mut self, read: PromptRead, now: UnixMs) -> Vec<Effect> {
        let Some(DialogState::Resend(form)) = &mut self.ui.dialog else {
            return Vec::new();
        };
        if form.key != read.key || form.read_at.is_some() {
            return Vec::new();
        }
        form.read_at = Some(now);
        form.prompt = read.prompt;
        form.models = read.models;
        form.text = TextLine::new(form.original());
        let form = form.clone();
        if let Err(Refused::Model(_)) = self.resend_plan(&form) {
            self.suggest_model();
        }
        Vec::new()
    }

    /// After a model that does not exist: the one that answered here before, if there was another.
    fn suggest_model(&mut self) {
        let Some(DialogState::Resend(form)) = &mut self.ui.dialog else {
            return;
        };
        let session = self.store.session(&form.key);
        let good = session.and_then(plan::answered_last).cloned();
        let known = |it: &ModelRef| form.models.as_ref().is_none_or(|all| all.contains(it));
        if let Some(good) = good.filter(known) {
            form.model = TextLine::new(good.to_string());
        }
    }

    /// The plan as the dialog stands now, or why it is refused.
    ///
    /// # Errors
    /// [`Refused`], in words.
    pub fn resend_plan(&self, form: &ResendForm) -> Result<Plan, Refused> {
        let prompt = match &form.prompt {
            Ok(prompt) => prompt.as_ref(),
            Err(why) => return Err(Refused::Now(why.clone())),
        };
        let Some(verdict) = self.verdict(&form.key) else {
            return Err(Refused::Now("the session is gone".to_owned()));
        };
        let typed = form.model.text.trim();
        let model = ModelRef::parse(typed);
        if model.is_none() && !typed.is_empty() {
            return Err(Refused::Model("a model is named provider/model".to_owned()));
        }
        // What was read belongs to what was so then.
        if plan::draft(&self.store, verdict, form.models.as_deref(), false)? != form.draft {
            return Err(Refused::Now(
                "it has changed meanwhile: leave this and look again".to_owned(),
            ));
        }
        let edited = form.is_editable() && form.text.text != form.original();
        let what = Resend {
            prompt,
            text: edited.then_some(form.text.text.as_str()),
            model: model.as_ref(),
            known: form.models.as_deref(),
            alone: false,
        };
        plan::resend(&self.store, verdict, &what)
    }

    /// A key while the dialog is open.
    pub(super) fn resend_key(&mut self, key: Key, now: UnixMs) -> Vec<Effect> {
        let Some(DialogState::Resend(form)) = &mut self.ui.dialog else {
            return Vec::new();
        };
        match key {
            Key::Enter => self.send_prompt(now),
            Key::Tab if form.read_at.is_some() => {
                form.focus = form.next_field();
                Vec::new()
            }
            Key::Esc if form.focus.is_some() => {
                form.focus = None;
                Vec::new()
            }
            // What scrolls is no use in a line.
            Key::PageUp | Key::PageDown => self.move_dialog(key),
            _ if form.focus.is_some() => {
                form.line().map(|line| line.key(key));
                Vec::new()
            }
            Key::Esc | Key::Char('q' | 'n') => {
                self.ui.dialog = None;
                Vec::new()
            }
            key => self.move_dialog(key),
        }
    }

    /// Text that was pasted into the dialog.
    pub(super) fn resend_paste(&mut self, text: &str) {
        if let Some(DialogState::Resend(form)) = &mut self.ui.dialog
            && let Some(line) = form.line()
        {
            line.paste(text);
        }
    }

    /// Planned from what is known now, not from when the dialog opened; refused, it stays open and
    /// says why.
    fn send_prompt(&mut self, now: UnixMs) -> Vec<Effect> {
        let Some(DialogState::Resend(form)) = &self.ui.dialog else {
            return Vec::new();
        };
        let seen = form.read_at.is_some_and(|at| now.since(at) >= UNREAD);
        match self.resend_plan(form) {
            Ok(plan) if seen => {
                self.ui.dialog = None;
                self.start(plan, now)
            }
            _ => Vec::new(),
        }
    }
}
