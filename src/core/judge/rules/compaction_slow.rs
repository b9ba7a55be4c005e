//! `compaction-slow`: a summary of the history takes long. It may well come; a long history and a
//! slow provider look the same, so it is only watched. A summary that stays silent before our eyes
//! is `silent-stream`, the third in a row `compaction-loop`.

use super::silence::{begun, excuse};
use super::{Rule, compaction_loop, silent_stream};
use crate::core::judge::say::{ago, found, later, no};
use crate::core::judge::{ActivityState, Answer, Facts, Level, Offer};
use crate::core::time::UnixMs;
use crate::core::wire::Message;

pub(super) const RULE: Rule = Rule {
    id: "compaction-slow",
    at_rest: false,
    watched: false,
    by_age: true,
    needs_messages: true,
    needs_whole: false,
    levels: "watch",
    meaning: "A summary of the history has been in the making for over 5 min.",
    offers: &[Offer::Wait, Offer::Abort, Offer::Export],
    check,
};

fn check(facts: &Facts) -> Answer {
    if let Some(why) = excuse(facts) {
        return no(why);
    }
    let compacts = facts.activity.state == ActivityState::Compacting;
    let Some(message) = facts.message().filter(|_| compacts) else {
        return no("no summary is open");
    };
    if compaction_loop::loops(facts) {
        return no("one of several in a row: compaction-loop");
    }
    let since = begun(facts).map_or(message.created, |at| at.max(message.created));
    let at = since + facts.limits.compaction_slow;
    if facts.now < at {
        return later(at, "the summary is young");
    }
    match silent_stream::check(facts) {
        Answer::Yes { .. } => no("nothing of it comes: silent-stream"),
        Answer::Later { at, .. } => slow(facts, message, since, Some(at)),
        _ => slow(facts, message, since, None),
    }
}

fn slow(facts: &Facts, message: &Message, since: UnixMs, dead_at: Option<UnixMs>) -> Answer {
    let age = ago(facts.now, since);
    let text = format!("the summary has been written for {}", age.words);
    found(Level::Watch, Some(since), text)
        .with("message", &message.id)
        .with("limit_ms", facts.limits.compaction_slow)
        .with("age_ms", facts.now.since(since))
        .recheck(dead_at.map_or(age.until, |at| at.min(age.until)))
        .yes()
}
