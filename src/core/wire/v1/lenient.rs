//! Small helpers for reading JSON that may be of another shape than expected.
//!
//! What it does: make a field of no importance unable to cost its row. What it does not: guess a
//! value; a field that does not decode is absent.

use crate::core::time::UnixMs;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// A field that is absent when it does not decode. Use with `#[serde(default, deserialize_with)]`.
pub(in crate::core::wire) fn field<'de, D, T>(input: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let raw = <&RawValue>::deserialize(input)?;
    Ok(serde_json::from_str(raw.get()).ok())
}

/// A number of milliseconds since the epoch, whole or not.
pub(in crate::core::wire) fn ms(raw: Number) -> UnixMs {
    UnixMs(raw.whole())
}

/// A JSON number of any kind.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(transparent)]
pub(in crate::core::wire) struct Number(f64);

impl Number {
    /// Cut to a whole number; saturates.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a float to int cast saturates, which is wanted"
    )]
    pub(in crate::core::wire) fn whole(self) -> i64 {
        self.0 as i64
    }
    /// Cut to a whole number that is not negative.
    pub(in crate::core::wire) fn count(self) -> u64 {
        u64::try_from(self.whole()).unwrap_or(0)
    }
    /// As it is, when finite.
    pub(in crate::core::wire) fn real(self) -> f64 {
        if self.0.is_finite() { self.0 } else { 0.0 }
    }
}

/// The `time` object of messages, parts and sessions.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(in crate::core::wire) struct Times {
    #[serde(deserialize_with = "field")]
    pub(in crate::core::wire) created: Option<Number>,
    #[serde(deserialize_with = "field")]
    pub(in crate::core::wire) updated: Option<Number>,
    #[serde(deserialize_with = "field")]
    pub(in crate::core::wire) completed: Option<Number>,
    #[serde(deserialize_with = "field")]
    pub(in crate::core::wire) archived: Option<Number>,
    #[serde(deserialize_with = "field")]
    pub(in crate::core::wire) start: Option<Number>,
    #[serde(deserialize_with = "field")]
    pub(in crate::core::wire) end: Option<Number>,
}

/// The pairs of a JSON object in their order, values raw.
#[derive(Debug, Default)]
pub(in crate::core::wire) struct Pairs<'a>(
    pub(in crate::core::wire) Vec<(Cow<'a, str>, &'a RawValue)>,
);

impl<'a> Pairs<'a> {
    /// Of any JSON text; none when it is not an object.
    pub(in crate::core::wire) fn of(raw: Option<&'a RawValue>) -> Self {
        raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
            .unwrap_or_default()
    }
    /// The value of a key.
    pub(in crate::core::wire) fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.0
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| *value)
    }
    /// The value of a key, decoded; absent when it does not decode.
    pub(in crate::core::wire) fn read<T: Deserialize<'a>>(&self, key: &str) -> Option<T> {
        self.get(key)
            .and_then(|raw| serde_json::from_str(raw.get()).ok())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_map(PairsVisitor)
    }
}

struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = Pairs<'de>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<'de>, A::Error> {
        let mut pairs = Vec::new();
        while let Some(Key(key)) = map.next_key()? {
            pairs.push((key, map.next_value()?));
        }
        Ok(Pairs(pairs))
    }
}

#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);
