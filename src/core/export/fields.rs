//! A JSON object whose fields keep their order and their bytes, but for those that are replaced.
//!
//! What it does: read fields leniently, replace some, write all. What it does not: decode what
//! nobody asks for, so numbers and unknown fields pass through unchanged.

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// The fields of an object, in their order.
#[derive(Debug, Default)]
pub struct Fields<'a>(Vec<(Cow<'a, str>, Held<'a>)>);

#[derive(Debug)]
enum Held<'a> {
    Told(&'a RawValue),
    Replaced(String),
}

impl<'a> Fields<'a> {
    /// Of an object.
    ///
    /// # Errors
    /// When it is none.
    pub fn of(raw: &'a RawValue) -> Result<Self, serde_json::Error> {
        serde_json::from_str(raw.get())
    }

    /// Of anything: no fields when it is no object.
    pub fn within(raw: Option<&'a RawValue>) -> Self {
        raw.and_then(|raw| Self::of(raw).ok()).unwrap_or_default()
    }

    /// What the server said of a field.
    pub fn get(&self, key: &str) -> Option<&'a RawValue> {
        let mut fields = self.0.iter();
        fields.find_map(|(name, held)| match held {
            Held::Told(raw) if name == key => Some(*raw),
            _ => None,
        })
    }

    /// A text, whatever it holds; none when it is not one.
    pub fn text(&self, key: &str) -> Option<String> {
        self.get(key).and_then(text)
    }

    /// A finite number; none when it is not one.
    pub fn number(&self, key: &str) -> Option<f64> {
        let raw = self.get(key)?;
        let number: f64 = serde_json::from_str(raw.get()).ok()?;
        Some(number).filter(|it| it.is_finite())
    }

    /// `true`, not merely something.
    pub fn is_true(&self, key: &str) -> bool {
        self.get(key).is_some_and(|raw| raw.get() == "true")
    }

    /// The fields of an inner object; none when it is not one.
    #[must_use]
    pub fn inner(&self, key: &str) -> Fields<'a> {
        Fields::within(self.get(key))
    }

    /// The elements of a list; none when it is not one.
    pub fn list(&self, key: &str) -> Vec<&'a RawValue> {
        let list = self
            .get(key)
            .and_then(|raw| serde_json::from_str(raw.get()).ok());
        list.unwrap_or_default()
    }

    /// Puts JSON in the place of a field that is there.
    pub fn replace(&mut self, key: &str, json: String) {
        if let Some(field) = self.0.iter_mut().find(|(name, _)| name == key) {
            field.1 = Held::Replaced(json);
        }
    }

    /// Some of it as JSON, in this order.
    pub fn only(mut self, keys: &[&str]) -> String {
        let place = |name: &str| keys.iter().position(|key| *key == name);
        self.0.retain(|(name, _)| place(name).is_some());
        self.0.sort_by_key(|(name, _)| place(name));
        self.json()
    }

    /// All of it as JSON.
    pub fn json(&self) -> String {
        let mut out = String::from("{");
        for (name, held) in &self.0 {
            if out.len() > 1 {
                out.push(',');
            }
            out.push_str(&quoted(name));
            out.push(':');
            out.push_str(match held {
                Held::Told(raw) => raw.get(),
                Held::Replaced(json) => json,
            });
        }
        out.push('}');
        out
    }
}

/// A text as JSON.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A JSON string, also one with half a surrogate pair, which JavaScript can write; none when it is
/// not a string.
pub(super) fn text(raw: &RawValue) -> Option<String> {
    let lossy: Lossy = serde_json::from_str(raw.get()).ok()?;
    Some(lossy.0)
}

struct Lossy(String);

impl<'de> Deserialize<'de> for Lossy {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_bytes(LossyVisitor)
    }
}

struct LossyVisitor;

impl Visitor<'_> for LossyVisitor {
    type Value = Lossy;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }
    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Lossy, E> {
        Ok(Lossy(String::from_utf8_lossy(bytes).into_owned()))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Lossy, E> {
        Ok(Lossy(text.to_owned()))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields<'de>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
        let mut fields = Vec::new();
        while let Some((name, raw)) = map.next_entry::<Cow<'de, str>, &'de RawValue>()? {
            fields.push((name, Held::Told(raw)));
        }
        Ok(Fields(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).expect("json")
    }

    #[test]
    fn what_is_not_replaced_keeps_its_bytes_and_its_place() {
        let told = raw(r#"{"b":1.10,"a\n":"x","c":{"d": [1, 2]}}"#);
        let mut fields = Fields::of(&told).expect("an object");
        fields.replace("c", "null".to_owned());
        fields.replace("new", "1".to_owned());
        assert_eq!(fields.json(), r#"{"b":1.10,"a\n":"x","c":null}"#);
        assert!(Fields::of(&raw("[1]")).is_err());
    }

    #[test]
    fn half_a_surrogate_pair_does_not_lose_its_text() {
        let told = raw(r#"{"t":"a\ud800b","n":3}"#);
        let fields = Fields::of(&told).expect("an object");
        let text = fields.text("t").expect("a text");
        assert!(text.starts_with('a') && text.ends_with('b'), "{text}");
        assert_eq!(fields.text("n"), None);
    }
}
