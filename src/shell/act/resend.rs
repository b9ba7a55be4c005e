//! Resend: one prompt is sent once, and counts only when it was read back.
//!
//! What it does: look whether it may still be sent, send it, then look for a new prompt of exactly that
//! text and for the beginning of an answer. What it does not: plan (that is `core::plan`), send a second
//! time whatever happened, or name a message id of its own (the server takes the same id twice).

use super::carry::carry_out;
use crate::core::app::Outcome;
use crate::core::id::{Directory, MessageId, SessionId};
use crate::core::plan::{Plan, Step};
use crate::core::time::UnixMs;
use crate::core::wire::{Message, ModelRef, Status, WholePrompt};
use crate::net::client::{Client, ClientError};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How many of the newest messages are read.
const NEWEST: usize = 20;

/// How long is looked for the prompt and the beginning of its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Looking {
    /// After it was sent.
    pub wait: Duration,
    /// Between two looks.
    pub pause: Duration,
}

impl Default for Looking {
    fn default() -> Self {
        Self {
            wait: Duration::from_secs(10),
            pause: Duration::from_millis(200),
        }
    }
}

/// The session that a prompt goes to, and the client that sends it.
struct Post<'a> {
    client: &'a Client,
    session: &'a SessionId,
    directory: &'a Directory,
    text: &'a str,
}

/// What stood there before: what is not among it, and not older, is new.
struct Before {
    ids: BTreeSet<MessageId>,
    oldest: UnixMs,
}

/// What was seen after it was sent.
#[derive(Default)]
struct Seen {
    /// The prompt, read back.
    stored: Option<MessageId>,
    /// How its answer began, in words.
    begun: Option<String>,
}

/// What has to be read before it can be planned: the prompt whole, and the models that there are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Read {
    /// Of the message that was named.
    pub prompt: Option<WholePrompt>,
    /// `None`: this server does not tell.
    pub models: Option<Vec<ModelRef>>,
}

/// Reads it. Without the models it goes on; without the prompt there is nothing to send.
pub async fn read(
    client: &Client,
    session: &SessionId,
    directory: &Directory,
    message: Option<&MessageId>,
) -> Result<Read, String> {
    let prompt = match message {
        Some(message) => {
            let read = client.whole_prompt(session, message).await;
            Some(read.map_err(|why| format!("its prompt could not be read: {why}"))?)
        }
        None => None,
    };
    let models = client.models(directory).await.ok();
    Ok(Read { prompt, models })
}

/// Sends the plan's prompt, once, and says what was seen of it.
pub async fn resend(client: &Client, plan: &Plan, looking: Looking) -> Outcome {
    let (Some(step), Some(settle)) = (plan.steps.first(), plan.settle.first()) else {
        return Outcome::Failed("there is nothing to send".to_owned());
    };
    let Step::Prompt { text, after, .. } = step else {
        return Outcome::Failed("there is no prompt to send".to_owned());
    };
    let post = Post {
        client,
        session: &settle.session,
        directory: &settle.directory,
        text,
    };
    let before = match post.look_before(after.as_ref()).await {
        Ok(before) => before,
        Err(why) => return Outcome::Failed(why),
    };
    let sent = carry_out(client, step).await;
    if let Err(why) = &sent
        && surely_not_taken(why)
    {
        return Outcome::Failed(format!("it was not sent: {why}"));
    }
    let begun = Instant::now();
    let seen = post.look_after(&before, begun + looking.wait, looking.pause);
    tell(sent.err(), seen.await, begun.elapsed())
}

/// The server never saw it, or said no to it.
fn surely_not_taken(why: &ClientError) -> bool {
    match why {
        ClientError::Refused | ClientError::Unauthorized | ClientError::Address(_) => true,
        ClientError::Status { code, .. } => (400..500).contains(code),
        _ => false,
    }
}

impl Post<'_> {
    /// The world may have moved since it was planned; then nothing is sent.
    async fn look_before(&self, planned: Option<&MessageId>) -> Result<Before, String> {
        let unread = |why: ClientError| format!("it could not be read before, not sent: {why}");
        if let Some(word) = self.running().await.map_err(unread)? {
            return Err(format!("it is reported {word} by now, not sent"));
        }
        let messages = self.newest().await.map_err(unread)?;
        let newest = messages.last().map(|message| &message.id);
        if newest != planned {
            return Err("a newer message has come since, not sent: look again".to_owned());
        }
        Ok(Before {
            oldest: messages.first().map_or(UnixMs(0), |first| first.created),
            ids: messages.into_iter().map(|message| message.id).collect(),
        })
    }

    /// The run state, in a word, if there is any.
    async fn running(&self) -> Result<Option<&'static str>, ClientError> {
        let status = self.client.status(Some(self.directory)).await?;
        Ok(match status.items.get(self.session) {
            None | Some(Status::Idle) => None,
            Some(Status::Retry(_)) => Some("retry"),
            Some(Status::Busy | Status::Other(_)) => Some("busy"),
        })
    }

    async fn newest(&self) -> Result<Vec<Message>, ClientError> {
        let page = self
            .client
            .messages_page(self.session, NEWEST, None)
            .await?;
        let mut messages = page.messages.rows.items;
        messages.sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
        Ok(messages)
    }

    /// Looks until an answer has begun or the time is over; a read that fails is tried again.
    async fn look_after(
        &self,
        before: &Before,
        until: Instant,
        pause: Duration,
    ) -> Result<Seen, ClientError> {
        let mut seen = Seen::default();
        loop {
            let looked = self.look(before, &mut seen).await;
            if seen.begun.is_some() || Instant::now() >= until {
                // What was once read back stays true, even if the last look failed.
                return match seen.stored {
                    Some(_) => Ok(seen),
                    None => looked.map(|()| seen),
                };
            }
            sleep(pause).await;
        }
    }

    async fn look(&self, before: &Before, seen: &mut Seen) -> Result<(), ClientError> {
        let messages = self.newest().await?;
        if seen.stored.is_none() {
            seen.stored = self.find(before, &messages).await?;
        }
        let Some(stored) = &seen.stored else {
            return Ok(());
        };
        let answers = |message: &Message| message.parent.as_ref() == Some(stored);
        if messages.iter().any(answers) {
            seen.begun = Some("the answer has begun".to_owned());
        } else if let Some(word) = self.running().await? {
            seen.begun = Some(format!("reported {word}"));
        }
        Ok(())
    }

    /// A new prompt of exactly this text. Pages hold excerpts: it is read whole.
    async fn find(
        &self,
        before: &Before,
        messages: &[Message],
    ) -> Result<Option<MessageId>, ClientError> {
        let is_new = |it: &&Message| !before.ids.contains(&it.id) && it.created >= before.oldest;
        for message in messages.iter().filter(|it| it.is_user()).filter(is_new) {
            let whole = self.client.whole_prompt(self.session, &message.id).await?;
            if whole.text == self.text {
                return Ok(Some(message.id.clone()));
            }
        }
        Ok(None)
    }
}

fn tell(lost: Option<ClientError>, seen: Result<Seen, ClientError>, took: Duration) -> Outcome {
    let took = format!("{:.1} s", took.as_secs_f64().max(0.1));
    let seen = match seen {
        Ok(seen) => seen,
        Err(why) => {
            let how = if lost.is_some() {
                "the answer was lost"
            } else {
                "it was sent"
            };
            return Outcome::Failed(format!(
                "{how}, and whether it arrived could not be read: {why}; look before sending again"
            ));
        }
    };
    match (lost, seen.stored, seen.begun) {
        (None, Some(id), Some(begun)) => {
            Outcome::Done(format!("stored as {id}, {begun} after {took}"))
        }
        (Some(_), Some(id), Some(begun)) => Outcome::Done(format!(
            "the answer was lost, but it arrived: stored as {id}, {begun}"
        )),
        (_, Some(id), None) => Outcome::NoEffect(format!(
            "stored as {id}, but no answer was begun within {took}"
        )),
        (None, None, _) => Outcome::NoEffect(format!(
            "the server took it, but stored nothing within {took}"
        )),
        (Some(why), None, _) => {
            Outcome::Failed(format!("it did not arrive ({why}); send again if you want"))
        }
    }
}
