//! A prompt arrives: what is stored, what is refused, and whether a run starts.
//!
//! What it does: the traps of `prompt_async` (an unknown agent stores nothing, an unknown model stores the
//! prompt and never answers, a prompt during a run waits). What it does not: answer HTTP; a 204 goes
//! out whatever happens here.

use super::super::script::{Step, from_prompt};
use super::super::server::Server;
use super::super::wire::{Body, ErrorInfo, Info, MessageTime, ModelRef, Part, UserInfo};
use super::super::world::{World, model, session_model};
use super::{Turn, launch};
use std::sync::Arc;

/// The body of `prompt_async`, or what a scenario says instead.
#[derive(Debug, Clone, Default)]
pub(crate) struct Prompt {
    pub(crate) text: String,
    pub(crate) model: Option<ModelRef>,
    pub(crate) agent: Option<String>,
    /// Stored, not answered.
    pub(crate) no_reply: bool,
    /// Instead of the directives in the text.
    pub(crate) steps: Option<Vec<Step>>,
}

/// Who answers.
struct Voice {
    agent: String,
    model: ModelRef,
}

/// Takes a prompt for a session; a run starts unless one goes on. `false`: no such session.
pub(crate) fn submit(server: &Arc<Server>, session: &str, prompt: Prompt) -> bool {
    let start = server.world(|w| {
        let directory = w.directory(session)?;
        Some(
            accept(w, session, &directory, &prompt).map(|(user, voice)| Turn {
                server: server.clone(),
                session: session.to_owned(),
                number: w.start_run(session),
                user,
                agent: voice.agent,
                model: voice.model,
                directory,
                open: None,
                text: String::new(),
                written: 0,
            }),
        )
    });
    let Some(turn) = start else {
        return false;
    };
    if let Some(turn) = turn {
        let steps = prompt.steps.unwrap_or_else(|| from_prompt(&prompt.text));
        launch(turn, steps, false);
    }
    true
}

/// Stores the prompt; gives the id of its message if a run shall start.
fn accept(
    w: &mut World,
    session: &str,
    directory: &str,
    prompt: &Prompt,
) -> Option<(String, Voice)> {
    let voice = voice(w, session, prompt);
    if !w.agents.contains(&voice.agent) {
        let text = format!("Agent not found: \"{}\".", voice.agent);
        w.session_error(session, &ErrorInfo::unknown(&text));
        return None;
    }
    drop_reverted(w, session);
    let user = store(w, session, &voice, &prompt.text);
    if prompt.no_reply {
        return None;
    }
    if w.live.runs.contains_key(session) || w.live.statuses.contains_key(session) {
        if let Some(steps) = prompt.steps.clone() {
            w.live.scripts.insert(user, steps);
        }
        return None;
    }
    if !w.models.contains(&voice.model) {
        refuse_model(w, session, &voice.model);
        return None;
    }
    w.boot(directory);
    Some((user, voice))
}

/// The prompt's own model, else the session's, else the server's; but the prompt's own agent, else the
/// server's default: a prompt without one goes to `build`, whatever the session had.
fn voice(w: &World, session: &str, prompt: &Prompt) -> Voice {
    let info = w.sessions.get(session).map(|s| &s.info);
    let of_session = info.and_then(|info| {
        let found = info.model.as_ref()?;
        Some(model(&found.provider_id, &found.id))
    });
    let first = w.models.first().cloned();
    Voice {
        agent: prompt.agent.clone().unwrap_or_else(|| "build".to_owned()),
        model: (prompt.model.clone())
            .or(of_session)
            .or(first)
            .unwrap_or_else(|| model("scripted", "scripted")),
    }
}

fn store(w: &mut World, session: &str, voice: &Voice, text: &str) -> String {
    let now = w.now();
    let message = w.ids.ascending("msg", now);
    w.update_session(session, |info| {
        info.agent = Some(voice.agent.clone());
        info.model = Some(session_model(&voice.model));
        info.time.updated = now.0;
    });
    let info = user(
        message.clone(),
        session,
        voice.agent.clone(),
        voice.model.clone(),
        now.0,
    );
    w.add_message(session, Info::User(Box::new(info)));
    let part = text_part(w, session, &message, text);
    w.put_part(&part);
    w.update_session(session, |_| {});
    message
}

/// A user message as it is stored.
pub(crate) fn user(
    id: String,
    session: &str,
    agent: String,
    model: ModelRef,
    created: i64,
) -> UserInfo {
    UserInfo {
        id,
        session_id: session.to_owned(),
        role: "user",
        time: MessageTime {
            created,
            completed: None,
        },
        summary: None,
        agent,
        model,
    }
}

fn text_part(w: &mut World, session: &str, message: &str, text: &str) -> Part {
    let now = w.now();
    Part {
        id: w.ids.ascending("prt", now),
        session_id: session.to_owned(),
        message_id: message.to_owned(),
        body: Body::Text {
            text: text.to_owned(),
            synthetic: None,
            time: None,
        },
    }
}

/// Messages hidden by a revert fall with the next prompt.
fn drop_reverted(w: &mut World, session: &str) {
    let Some(stored) = w.sessions.get(session) else {
        return;
    };
    let Some(revert) = &stored.info.revert else {
        return;
    };
    let from = revert["messageID"].as_str().unwrap_or_default().to_owned();
    let hidden = stored.messages.iter().map(|m| m.info.id().to_owned());
    let hidden: Vec<_> = hidden.skip_while(|id| *id != from).collect();
    for message in hidden {
        w.remove_message(session, &message);
    }
    w.update_session(session, |info| info.revert = None);
}

/// The readable error first, a stack trace second, then idle; no answer, ever.
fn refuse_model(w: &mut World, session: &str, model: &ModelRef) {
    let name = format!("{}/{}", model.provider_id, model.model_id);
    let text = format!("Model not found: {name}.");
    let trace = format!(
        "ProviderModelNotFoundError: ProviderModelNotFoundError\n    at getModel (provider.ts)\n data: {name}"
    );
    w.session_error(session, &ErrorInfo::unknown(&text));
    w.session_error(session, &ErrorInfo::unknown(&trace));
    w.set_idle(session);
}
