//! Fault plans as text.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Fault, FaultKind, Interaction};
use crate::AuthorityError;

/// A fault plan as a TOML file has it; the same file always leads to the same faults.
///
/// ```toml
/// seed = 7                       # of the random ones; 0 without
///
/// [[fault]]
/// on = "create"                  # create | read | search | capabilities | handshake
/// nth = 3                        # from the third of these requests; 1 without
/// times = "always"               # for how many of them; 1 without
/// kind = "cut-after-commit"      # or { delay = "2s" }, { status = { code = 503, retry-after = "7" } }, …
///
/// [[random]]
/// on = "search"
/// chance = 0.1                   # of each such request, by the seed
/// kind = { search-lag = "30s" }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultScript {
    /// Where the random faults start from; at most `i64::MAX`, which is as far as TOML counts.
    #[serde(default)]
    pub seed: u64,
    /// Faults on counted requests.
    #[serde(default, rename = "fault")]
    pub faults: Vec<Fault>,
    /// Faults by chance.
    #[serde(default)]
    pub random: Vec<RandomFault>,
}

/// A misbehaviour by chance, decided by seed, place in the plan and number of the request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RandomFault {
    /// Which requests it may meet.
    pub on: Interaction,
    /// How likely it meets each, 0 to 1.
    pub chance: f64,
    /// What happens.
    pub kind: FaultKind,
}

impl FaultScript {
    /// Reads a plan.
    pub fn parse(text: &str) -> Result<Self, AuthorityError> {
        let script: Self =
            toml::from_str(text).map_err(|error| AuthorityError::Faults(error.to_string()))?;
        let refuse = |words: &str| Err(AuthorityError::Faults(words.to_owned()));
        if script.random.iter().any(|fault| !(0.0..=1.0).contains(&fault.chance)) {
            return refuse("a chance is a number from 0 to 1");
        }
        if script.faults.iter().any(|fault| fault.nth == 0) {
            return refuse("nth counts from 1");
        }
        let counted = script.faults.iter().map(|fault| (fault.on, &fault.kind));
        let random = script.random.iter().map(|fault| (fault.on, &fault.kind));
        for (on, kind) in counted.chain(random) {
            if matches!(kind, FaultKind::TlsAlert(_)) && on != Interaction::Handshake {
                return refuse("a tls-alert is on handshake");
            }
            if let FaultKind::Status { code, .. } | FaultKind::BareStatus(code) = kind
                && !(200..=599).contains(code)
            {
                return refuse("a status is a number from 200 to 599");
            }
        }
        Ok(script)
    }

    /// Reads a plan file.
    pub fn read(path: &Path) -> Result<Self, AuthorityError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| AuthorityError::File { path: path.to_owned(), source })?;
        Self::parse(&text).map_err(|error| error.in_file(path))
    }

    /// The plan as a file has it.
    pub fn to_toml(&self) -> Result<String, AuthorityError> {
        toml::to_string(self).map_err(|error| AuthorityError::Faults(error.to_string()))
    }
}

impl RandomFault {
    /// Whether it meets the n-th request of its kind.
    pub(super) fn strikes(&self, seed: u64, place: usize, nth: u32) -> bool {
        let drawn = mix(mix(mix(seed) ^ place as u64) ^ u64::from(nth));
        // 53 bits: what a double holds.
        ((drawn >> 11) as f64) / ((1u64 << 53) as f64) < self.chance
    }
}

/// One step of SplitMix64: equal on every machine, and good enough to scatter faults.
const fn mix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

pub(super) const fn one() -> u32 {
    1
}

/// Reads a span of time: `500ms`, `2s`, `1m`, `4h`; without a unit in seconds.
pub fn parse_span(text: &str) -> Option<Duration> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().ok()?;
    let seconds = |factor: u64| number.checked_mul(factor).map(Duration::from_secs);
    match unit {
        "ms" => Some(Duration::from_millis(number)),
        "s" | "" => seconds(1),
        "m" => seconds(60),
        "h" => seconds(3600),
        _ => None,
    }
}

/// A span of time as text.
pub(super) mod span {
    use std::time::Duration;

    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(crate) fn serialize<S: Serializer>(span: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&format!("{}ms", span.as_millis()))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        let text = String::deserialize(from)?;
        super::parse_span(&text).ok_or_else(|| D::Error::custom("a number with ms, s, m or h"))
    }
}

/// A number, or `"always"` for the largest.
pub(super) mod times {
    use serde::{Deserialize, Deserializer, Serializer, de::Error as _};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Times {
        Number(u32),
        Word(String),
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
    pub(crate) fn serialize<S: Serializer>(times: &u32, to: S) -> Result<S::Ok, S::Error> {
        if *times == u32::MAX { to.serialize_str("always") } else { to.serialize_u32(*times) }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
        match Times::deserialize(from)? {
            Times::Number(number) => Ok(number),
            Times::Word(word) if word == "always" => Ok(u32::MAX),
            Times::Word(_) => Err(D::Error::custom("a number or \"always\"")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = r#"
seed = 7
[[fault]]
on = "create"
kind = { status = { code = 503, retry-after = "7" } }
[[fault]]
on = "handshake"
nth = 2
times = "always"
kind = { delay = "1500ms" }
[[random]]
on = "search"
chance = 0.25
kind = "newest-first"
"#;

    #[test]
    fn a_plan_reads_and_writes() {
        let plan = FaultScript::parse(PLAN).unwrap();
        assert_eq!((plan.faults[0].nth, plan.faults[0].times), (1, 1));
        assert_eq!(plan.faults[1].times, u32::MAX);
        assert_eq!(plan.faults[1].kind, FaultKind::Delay(Duration::from_millis(1500)));
        assert_eq!(FaultScript::parse(&plan.to_toml().unwrap()).unwrap(), plan);
        for wrong in [
            "[[fault]]\non = \"create\"\nkind = \"no-such-thing\"",
            "[[fault]]\non = \"create\"\nkind = \"html\"\nnht = 2",
            "[[fault]]\non = \"create\"\nkind = \"html\"\nnth = 0",
            "[[fault]]\non = \"create\"\nkind = { bare-status = 99 }",
            "[[fault]]\non = \"create\"\nkind = { tls-alert = \"access-denied\" }",
            "[[random]]\non = \"create\"\nkind = \"html\"\nchance = 1.5",
            "[[fault]]\non = \"create\"\nkind = { delay = \"soon\" }",
        ] {
            assert!(FaultScript::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn chance_follows_the_seed_alone() {
        let strikes = |seed: u64| {
            let plan = FaultScript::parse(PLAN).unwrap();
            (1..=4000).map(|n| plan.random[0].strikes(seed, 0, n)).collect::<Vec<_>>()
        };
        let met = strikes(7);
        assert_eq!(met, strikes(7));
        assert_ne!(met, strikes(8));
        let share = met.iter().filter(|met| **met).count();
        assert!((850..1150).contains(&share), "{share} of 4000 at a chance of a quarter");
    }
}
