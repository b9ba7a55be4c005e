//! Ids as OpenCode makes them.
//!
//! What it does: `msg_` + 12 hex digits of (ms * 4096 + counter) mod 2^48 + 14 base62 characters,
//! ascending; session ids descend (the complement of the same number). What it does not: be random.
//! The tail comes from a fixed sequence, so that two runs with the same clock give the same ids.
//! Invariant: within one [`Ids`] no two ids are equal.

use crate::core::time::UnixMs;

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const MASK: u64 = (1 << 48) - 1;

/// A source of ids; one per simulated server.
#[derive(Debug, Clone)]
pub(crate) struct Ids {
    last_ms: i64,
    counter: u64,
    state: u64,
}

impl Ids {
    /// A sequence of its own for each `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            last_ms: 0,
            counter: 0,
            state: seed,
        }
    }

    /// `<prefix>_…`, sorting after every id of an earlier millisecond.
    pub(crate) fn ascending(&mut self, prefix: &str, at: UnixMs) -> String {
        let number = self.number(at);
        format!("{prefix}_{number:012x}{}", self.tail())
    }

    /// `ses_…`, sorting before every session of an earlier millisecond.
    pub(crate) fn session(&mut self, at: UnixMs) -> String {
        let number = !self.number(at) & MASK;
        format!("ses_{number:012x}{}", self.tail())
    }

    /// `call_<ns>`: what the model calls its tool call.
    pub(crate) fn call(&mut self, at: UnixMs) -> String {
        let low = self.next() % 1_000_000;
        format!("call_{}{low:06}", at.0)
    }

    /// The next number of the fixed sequence, for choices that only have to look varied.
    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn number(&mut self, at: UnixMs) -> u64 {
        if at.0 == self.last_ms {
            self.counter += 1;
        } else {
            self.last_ms = at.0;
            self.counter = 1;
        }
        let ms = u64::try_from(at.0).unwrap_or(0);
        ms.wrapping_mul(4096).wrapping_add(self.counter) & MASK
    }

    fn tail(&mut self) -> String {
        (0..14)
            .map(|_| {
                let index = usize::try_from(self.next() % 62).unwrap_or(0);
                char::from(BASE62[index])
            })
            .collect()
    }
}

/// 40 hex digits that stand for a root commit: equal for equal text.
pub(crate) fn project_id(text: &str) -> String {
    let mut ids = Ids::new(text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    }));
    let (a, b, c) = (ids.next(), ids.next(), ids.next() >> 32);
    format!("{a:016x}{b:016x}{c:08x}")
}

/// Two words, as OpenCode's slugs: `quick-knight`.
pub(crate) fn slug(ids: &mut Ids) -> String {
    const FIRST: [&str; 8] = [
        "witty", "quick", "neon", "tidy", "kind", "cosmic", "jolly", "gentle",
    ];
    const SECOND: [&str; 8] = [
        "harbor", "knight", "sailor", "planet", "wolf", "falcon", "island", "cabin",
    ];
    let pick = usize::try_from(ids.next() % 64).unwrap_or(0);
    format!("{}-{}", FIRST[pick / 8], SECOND[pick % 8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_ascend_and_sessions_descend() {
        let mut ids = Ids::new(1);
        let at = |ms: i64| UnixMs(1_795_978_781_309 + ms);
        let messages: Vec<_> = [0, 0, 5].map(|ms| ids.ascending("msg", at(ms))).into();
        let sessions: Vec<_> = [0, 0, 5].map(|ms| ids.session(at(ms))).into();
        assert!(messages.is_sorted());
        assert!(sessions.iter().rev().is_sorted());
        assert!(messages[0].starts_with("msg_228ad627d001"), "{messages:?}");
        assert_eq!(messages[0].len(), 30);
    }
}
