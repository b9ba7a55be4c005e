//! Resend and continue: one prompt, recognised by reading back, never sent twice blindly.
//!
//! What it does: say what a session's state suggests to send ([`draft`]), and turn a text and a model
//! into a plan or refuse in words ([`resend`]). What it does not: read the prompt (the store holds
//! excerpts only), or send it.

mod allowed;

use super::{ActionName, Plan, Settle, Step};
use crate::core::id::MessageId;
use crate::core::judge::{ActivityState, Offer, Verdict};
use crate::core::store::{Server, Session, Store};
use crate::core::wire::{Message, ModelRef, Part, WholePrompt};
use allowed::{may_ask_again, may_send, model, own_model, trouble};

/// What tells a turn that was cut off to go on.
pub const CONTINUE: &str = "Continue.";

/// What a session's own state suggests to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Draft {
    /// The prompt of this message again; it has to be read whole first.
    Again(MessageId),
    /// [`CONTINUE`].
    Continue,
    /// Nothing, and why: only a text of the person's own can be sent.
    Nothing(&'static str),
}

/// Why it is not sent, in words that fit after "not sent: ".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// Nothing may be sent to this session now.
    Now(String),
    /// Not while another OpenCode on this data may be writing the last answer; a person's word that
    /// none does is enough.
    Doubt(String),
    /// Not this text; another one may.
    Text(String),
    /// Not with this model; another one may.
    Model(String),
}

impl Refused {
    /// The words.
    pub fn words(&self) -> &str {
        match self {
            Refused::Now(words)
            | Refused::Doubt(words)
            | Refused::Text(words)
            | Refused::Model(words) => words,
        }
    }
}

/// What is to be sent.
#[derive(Debug, Clone, Copy, Default)]
pub struct Resend<'a> {
    /// The prompt that the draft names, as it was read.
    pub prompt: Option<&'a WholePrompt>,
    /// A text of the person's own instead.
    pub text: Option<&'a str>,
    /// The model that the person named.
    pub model: Option<&'a ModelRef>,
    /// The models that the server has, where they could be read.
    pub known: Option<&'a [ModelRef]>,
    /// A person says that no other OpenCode on this data writes the last answer.
    pub alone: bool,
}

/// What this session's state suggests to send. `known`: the models that the server has, where they
/// were read; no answer can begin with another one.
///
/// # Errors
/// [`Refused::Now`] when nothing may be sent, whatever it is.
pub fn draft(
    store: &Store,
    verdict: &Verdict,
    known: Option<&[ModelRef]>,
    alone: bool,
) -> Result<Draft, Refused> {
    let (server, session) = find(store, verdict)?;
    may_send(server, session, verdict, known, alone)?;
    if has(verdict, "never-started") {
        let why = "nothing of the prompt that was refused is stored";
        return Ok(Draft::Nothing(why));
    }
    let goes_on = |offers: &[Offer]| offers.contains(&Offer::Continue);
    let to_continue = verdict.findings.iter().any(|it| goes_on(&it.offers));
    Ok(match verdict.activity.state {
        ActivityState::Empty => Draft::Nothing("it has no prompt yet"),
        // The model sees all that stand unanswered with whatever is sent.
        ActivityState::Unanswered if unanswered(session) > 1 => Draft::Continue,
        ActivityState::Done if !to_continue => {
            Draft::Nothing("nothing to resend, the last answer is finished")
        }
        ActivityState::Unanswered | ActivityState::Failed | ActivityState::Aborted
            if !to_continue =>
        {
            asked(session, verdict).map_or(
                Draft::Nothing("its prompt is not among its newest messages"),
                Draft::Again,
            )
        }
        _ => Draft::Continue,
    })
}

/// The plan that sends it once and looks for it.
///
/// # Errors
/// [`Refused`], in words.
pub fn resend(store: &Store, verdict: &Verdict, what: &Resend) -> Result<Plan, Refused> {
    let (server, session) = find(store, verdict)?;
    let draft = draft(store, verdict, what.known, what.alone)?;
    let text = text(&draft, what)?;
    let error = trouble(server, session, verdict);
    let model = model(session, error, what)?;
    if let Some(error) = error {
        may_ask_again(session, verdict, error, what)?;
    }
    let id = session.info.id.clone();
    Ok(Plan {
        action: ActionName::Resend,
        key: verdict.key.clone(),
        title: session.info.title.clone(),
        lines: lines(session, verdict, &draft, (&text, what)),
        settle: vec![Settle {
            session: id.clone(),
            directory: session.info.directory.clone(),
        }],
        steps: vec![Step::Prompt {
            session: id,
            text,
            agent: agent(session),
            model,
            after: session.tail.last().map(|last| last.id.clone()),
        }],
        newest: None,
        idle_before: true,
    })
}

/// The model of the last answer here that ended well: what to name after one that does not exist.
pub fn answered_last(session: &Session) -> Option<&ModelRef> {
    let mut answers = session.tail.messages.iter().rev();
    let good = |m: &&Message| m.is_assistant() && m.completed.is_some() && m.error.is_none();
    answers.find(good).and_then(|answer| answer.model.as_ref())
}

fn find<'a>(store: &'a Store, verdict: &Verdict) -> Result<(&'a Server, &'a Session), Refused> {
    let key = &verdict.key;
    if let Some(why) = super::refused(store, key) {
        return Err(Refused::Now(why.clone()));
    }
    let both = store.server(key.server).zip(store.session(key));
    both.ok_or_else(|| Refused::Now("the session is gone".to_owned()))
}

fn has(verdict: &Verdict, finding: &str) -> bool {
    verdict.findings.iter().any(|it| it.name == finding)
}

/// How many prompts stand at the end without an answer.
fn unanswered(session: &Session) -> usize {
    let newest = session.tail.messages.iter().rev();
    newest.take_while(|message| message.is_user()).count()
}

/// The prompt that the deciding answer was for, else the newest one.
fn asked(session: &Session, verdict: &Verdict) -> Option<MessageId> {
    let decides = verdict.activity.message.as_ref();
    let decides = decides.and_then(|id| session.tail.message(id));
    let parent = decides.filter(|it| it.is_assistant());
    let parent = parent.and_then(|it| it.parent.clone());
    parent.or_else(|| session.tail.last_user().map(|it| it.id.clone()))
}

/// A prompt that names no agent goes to the server's default one: a plan would be carried out.
fn agent(session: &Session) -> Option<String> {
    let prompt = session.tail.last_user();
    let of_prompt = prompt.and_then(|prompt| prompt.agent.clone());
    of_prompt.or_else(|| session.info.agent.clone())
}

fn text(draft: &Draft, what: &Resend) -> Result<String, Refused> {
    let no = |words: String| Err(Refused::Text(words));
    if let Some(own) = what.text {
        return match own.trim() {
            "" => no("an empty text is not sent".to_owned()),
            _ => Ok(own.to_owned()),
        };
    }
    match (draft, what.prompt) {
        (Draft::Continue, _) => Ok(CONTINUE.to_owned()),
        (Draft::Nothing(why), _) => no((*why).to_owned()),
        (Draft::Again(_), None) => no("its prompt was not read".to_owned()),
        (Draft::Again(_), Some(prompt)) if prompt.synthetic => no(
            "its last prompt was made by the server (a !shell command or the result of a task)"
                .to_owned(),
        ),
        (Draft::Again(_), Some(prompt)) if !prompt.others.is_empty() => no(format!(
            "its prompt holds more than text, which cannot be sent again: {}",
            prompt.others.join(", ")
        )),
        (Draft::Again(_), Some(prompt)) if prompt.text.trim().is_empty() => {
            no("its prompt has no text".to_owned())
        }
        (Draft::Again(_), Some(prompt)) => Ok(prompt.text.clone()),
    }
}

fn lines(
    session: &Session,
    verdict: &Verdict,
    draft: &Draft,
    (text, what): (&str, &Resend),
) -> Vec<String> {
    let size = size(text);
    let mut lines = vec![match (draft, what.text) {
        (_, Some(_)) => format!("send a text of your own ({size})"),
        (Draft::Again(message), None) => format!("send its prompt again ({size}; {message})"),
        (_, None) => format!("tell it to go on ({size})"),
    }];
    let model = match (what.model, own_model(session)) {
        (Some(named), _) => format!("with the model {named}, which the session then keeps"),
        (None, Some(own)) => format!("with its own model {own}"),
        (None, None) => "with the server's own model".to_owned(),
    };
    lines.push(match agent(session) {
        Some(agent) => format!("to the agent {agent}, {model}"),
        None => model,
    });
    let stand = unanswered(session);
    if stand > 1 {
        lines.push(format!(
            "{stand} prompts stand unanswered: the model sees all of them with this one"
        ));
    }
    if session.info.reverted {
        lines.push("a revert is pending: this deletes the hidden messages for good".to_owned());
    }
    lines.extend(of_the_turn(session, verdict, draft));
    if session.info.parent.is_some() {
        lines.push("it is a subagent: its parent does not hear of the answer".to_owned());
    }
    lines.push(
        "it is sent once; check: the message must be read back, and an answer must begin"
            .to_owned(),
    );
    lines
}

/// What the turn before had done, or may still do.
fn of_the_turn(session: &Session, verdict: &Verdict, draft: &Draft) -> Option<String> {
    let decides = verdict.activity.message.as_ref();
    let answer = decides.and_then(|id| session.tail.message(id))?;
    let tools = || answer.parts.iter().filter_map(Part::tool);
    if verdict.activity.state.is_working() {
        let open = tools().find(|tool| tool.is_live())?;
        return Some(format!(
            "the model is told that {} was interrupted; what it started may still run on the host",
            open.tool
        ));
    }
    let done = session.tail.messages.iter().rev();
    let done = done.take_while(|m| !m.is_user());
    let calls: usize = done
        .map(|m| m.parts.iter().filter_map(Part::tool).count())
        .sum();
    let again = matches!(draft, Draft::Again(_)) && calls > 0;
    again.then(|| format!("the turn had made {calls} tool calls before it ended"))
}

/// `412 characters, 9 lines`.
fn size(text: &str) -> String {
    let (characters, lines) = (text.chars().count(), text.lines().count());
    match lines {
        0 | 1 => format!("{characters} characters"),
        _ => format!("{characters} characters, {lines} lines"),
    }
}
