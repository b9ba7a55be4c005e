//! A user message as a whole, and the models that a server has: what sending again needs to know.

use super::lenient::field;
use super::literal::excerpt;
use super::{WireError, shape, text_of};
use crate::core::wire::{ModelRef, WholePrompt};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct WirePart {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default, deserialize_with = "field")]
    text: Option<String>,
    #[serde(default, deserialize_with = "field")]
    synthetic: Option<bool>,
    #[serde(default, deserialize_with = "field")]
    ignored: Option<bool>,
    #[serde(default, deserialize_with = "field")]
    filename: Option<String>,
    #[serde(default, deserialize_with = "field")]
    name: Option<String>,
    #[serde(default, deserialize_with = "field")]
    agent: Option<String>,
}

/// `GET /session/:id/message/:id` of a user message: `{info, parts}`, nothing cut.
///
/// # Errors
/// [`WireError`] when it is no such object, or no user message.
pub fn decode_prompt(body: &str) -> Result<WholePrompt, WireError> {
    #[derive(Deserialize)]
    struct Wire {
        info: Info,
        parts: Vec<WirePart>,
    }
    #[derive(Deserialize)]
    struct Info {
        role: String,
    }
    let wire: Wire = serde_json::from_str(body).map_err(shape("a prompt"))?;
    if wire.info.role != "user" {
        return Err(WireError::Shape {
            expected: "a prompt",
            why: "its role is not user".to_owned(),
        });
    }
    let mut texts = Vec::new();
    let mut prompt = WholePrompt::default();
    for part in wire.parts {
        match part.kind.as_str() {
            "text" if part.synthetic == Some(true) => prompt.synthetic = true,
            "text" if part.ignored == Some(true) => {}
            "text" => texts.push(part.text.unwrap_or_default()),
            // What the server notes beside a prompt.
            "snapshot" | "patch" | "step-start" | "step-finish" => {}
            _ => prompt.others.push(named(&part)),
        }
    }
    // Reminders stand beside what was typed.
    prompt.synthetic &= texts.is_empty();
    prompt.text = texts.join("\n");
    Ok(prompt)
}

fn named(part: &WirePart) -> String {
    let name = part.filename.as_ref().or(part.name.as_ref());
    match name.or(part.agent.as_ref()) {
        Some(name) => excerpt(&format!("{} {name}", part.kind)),
        None => excerpt(&part.kind),
    }
}

/// `GET /config/providers` of one directory: every model that a prompt can name there.
///
/// # Errors
/// [`WireError`] when it is no object with a list of providers.
pub fn decode_models(body: &[u8]) -> Result<Vec<ModelRef>, WireError> {
    #[derive(Deserialize)]
    struct Wire<'a> {
        #[serde(borrow)]
        providers: Vec<Provider<'a>>,
    }
    #[derive(Deserialize)]
    struct Provider<'a> {
        id: String,
        #[serde(borrow)]
        models: BTreeMap<String, &'a RawValue>,
    }
    let wire: Wire = serde_json::from_str(text_of(body)?).map_err(shape("a list of providers"))?;
    let each = wire.providers.into_iter().flat_map(|provider| {
        let id = provider.id;
        let models = provider.models.into_keys();
        models.map(move |model| ModelRef {
            provider: id.clone(),
            model,
        })
    });
    Ok(each.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_is_told_from_what_was_added() {
        let body = r#"{"info": {"role": "user", "id": "msg_1"}, "parts": [
            {"type": "text", "text": "look at\n@a.png"},
            {"type": "text", "text": "Called the Read tool", "synthetic": true},
            {"type": "file", "filename": "a.png", "url": "data:"},
            {"type": "agent", "name": "explore"},
            {"type": "text", "text": "twice"}]}"#;
        let prompt = decode_prompt(body).unwrap();
        assert_eq!(prompt.text, "look at\n@a.png\ntwice");
        assert_eq!(prompt.others, ["file a.png", "agent explore"]);
        assert!(!prompt.synthetic);
    }

    #[test]
    fn a_prompt_of_the_server_and_an_answer_are_no_prompts() {
        let body = r#"{"info": {"role": "user"}, "parts": [
            {"type": "text", "text": "The following tool was executed by the user", "synthetic": true}]}"#;
        let prompt = decode_prompt(body).unwrap();
        assert!(prompt.synthetic && prompt.text.is_empty());
        assert!(decode_prompt(r#"{"info": {"role": "assistant"}, "parts": []}"#).is_err());
        assert!(decode_prompt("<html>").is_err());
    }

    #[test]
    fn models_are_listed_by_provider() {
        let body = br#"{"providers": [{"id": "a", "name": "A", "models": {"x/y": {"id": "x/y"}, "z": {}}}], "default": {}}"#;
        let models = decode_models(body).unwrap();
        let words: Vec<String> = models.iter().map(ToString::to_string).collect();
        assert_eq!(words, ["a/x/y", "a/z"]);
        assert!(decode_models(b"[]").is_err());
    }
}
