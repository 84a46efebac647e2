//! Misbehaviour on request: what a network or an authority does on a bad day, for practice and
//! tests.

mod script;
#[cfg(not(unix))]
#[path = "faults/no_socket.rs"]
mod socket;
#[cfg(unix)]
mod socket;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use script::{FaultScript, RandomFault, parse_span};
pub(crate) use socket::{listen, serve};

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interaction {
    /// `POST DocumentReference`
    Create,
    /// `GET DocumentReference/ID`
    Read,
    /// `GET DocumentReference?…`
    Search,
    /// `GET metadata` and `GET openapi.json`
    Capabilities,
    /// A new connection, before its TLS handshake: `delay` is waited for, `tls-alert` refuses it,
    /// anything else ends it.
    Handshake,
}

/// One misbehaviour: on the n-th request of a kind, counted from when the fault was added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Fault {
    /// Which requests count.
    pub on: Interaction,
    /// From which of them, from 1; a plan file may leave it out.
    #[serde(default = "script::one")]
    pub nth: u32,
    /// For how many of them; `u32::MAX` for ever, in a plan file `"always"`; left out there: 1.
    #[serde(default = "script::one", with = "script::times")]
    pub times: u32,
    /// What happens.
    pub kind: FaultKind,
}

/// What happens instead of, or beside, the right answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum FaultKind {
    /// The request is read, the connection ends, nothing is stored.
    CutBeforeCommit,
    /// The document is stored, the connection ends before the answer.
    CutAfterCommit,
    /// This status without doing anything; `Retry-After` if given; with an OperationOutcome.
    Status {
        /// HTTP status.
        code: u16,
        /// Value of `Retry-After`.
        retry_after: Option<String>,
    },
    /// This status with an empty body, without doing anything.
    BareStatus(u16),
    /// 200 with an HTML page, as a captive portal; nothing is done.
    Html,
    /// 200 with a body that stops in the middle of the JSON, after doing what was asked.
    Truncated,
    /// The right answer without a body.
    EmptyBody,
    /// What was asked is done; the answer's body starts well and never ends.
    EndlessBody,
    /// The right answer under a wrong `Content-Type`.
    ContentType(String),
    /// Nothing is done for so long, then what was asked.
    Delay(#[serde(with = "script::span")] Duration),
    /// What was asked is done at once, the answer comes later.
    DelayAnswer(#[serde(with = "script::span")] Duration),
    /// A search that does not yet know what happened in this last time.
    SearchLag(#[serde(with = "script::span")] Duration),
    /// Pages are of now and not of when the search began: what arrives meanwhile shifts them.
    ShiftedPages,
    /// Newest first, whatever `_sort` asks.
    NewestFirst,
    /// Links say `_page`, counted from 0.
    ZeroBasedPages,
    /// Seven fraction digits in every instant.
    SevenDigits,
    /// The answer to a create has no `meta`.
    NoMeta,
    /// The answer to a create has a `date` some milliseconds before the one that a read shows.
    DateDrift,
    /// A `text` with scripts, frames and links, as a browser must never render it.
    HostileNarrative,
    /// The code of a rule stands before its `details.text` and not in `details.coding`.
    RuleInText,
    /// Code and text of a rule stand in `diagnostics`, and there are no `details`.
    RuleInDiagnostics,
    /// A create is answered with 200.
    #[serde(rename = "created-is-200")]
    CreatedIs200,
    /// The handshake is refused with this alert; on `handshake` only.
    TlsAlert(TlsAlert),
    /// An unparsable body is answered with 422.
    #[serde(rename = "unparsable-is-422")]
    UnparsableIs422,
}

/// An alert of TLS (RFC 8446 section 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the names are those of TLS")]
pub enum TlsAlert {
    CertificateRevoked,
    CertificateExpired,
    UnknownCa,
    BadCertificate,
    UnsupportedCertificate,
    AccessDenied,
    HandshakeFailure,
    ProtocolVersion,
    InternalError,
}

/// The faults of a running authority. Cheap to clone; all clones are one plan.
#[derive(Debug, Clone, Default)]
pub struct FaultPlan(Arc<Mutex<Plan>>);

#[derive(Debug, Default)]
struct Plan {
    seed: u64,
    armed: Vec<Armed<Fault>>,
    random: Vec<Armed<RandomFault>>,
}

#[derive(Debug)]
struct Armed<F> {
    fault: F,
    seen: u32,
}

/// What one request meets.
#[derive(Debug, Default)]
pub(crate) struct Met {
    /// What takes the place of the right course of things.
    pub(crate) kind: Option<FaultKind>,
    /// What is odd beside it; several at once may be.
    pub(crate) oddities: Oddities,
}

/// How an answer differs from what it should be.
#[derive(Debug, Default, Clone)]
pub(crate) struct Oddities {
    pub(crate) lag: Option<Duration>,
    pub(crate) content_type: Option<String>,
    pub(crate) shifted_pages: bool,
    pub(crate) newest_first: bool,
    pub(crate) zero_based_pages: bool,
    pub(crate) seven_digits: bool,
    pub(crate) no_meta: bool,
    pub(crate) date_drift: bool,
    pub(crate) hostile_narrative: bool,
    pub(crate) rule_in_text: bool,
    pub(crate) rule_in_diagnostics: bool,
    pub(crate) created_is_200: bool,
    pub(crate) unparsable_is_422: bool,
}

impl Fault {
    /// Once, on the n-th request of a kind (from 1).
    pub const fn once(on: Interaction, nth: u32, kind: FaultKind) -> Self {
        Self { on, nth, times: 1, kind }
    }
    /// On every request of a kind.
    pub const fn always(on: Interaction, kind: FaultKind) -> Self {
        Self { on, nth: 1, times: u32::MAX, kind }
    }
}

impl FaultPlan {
    /// A plan of these.
    pub fn new(faults: impl IntoIterator<Item = Fault>) -> Self {
        let plan = Self::default();
        faults.into_iter().for_each(|fault| plan.add(fault));
        plan
    }
    /// Adds one; its requests are counted from now.
    pub fn add(&self, fault: Fault) {
        self.lock().armed.push(Armed { fault, seen: 0 });
    }
    /// From now on everything goes well.
    pub fn clear(&self) {
        *self.lock() = Plan::default();
    }
    /// Puts a script in the place of what there is; requests are counted from now.
    pub fn replace(&self, script: FaultScript) {
        let FaultScript { seed, faults, random } = script;
        *self.lock() = Plan {
            seed,
            armed: faults.into_iter().map(|fault| Armed { fault, seen: 0 }).collect(),
            random: random.into_iter().map(|fault| Armed { fault, seen: 0 }).collect(),
        };
    }
    /// The plan as a script.
    pub fn script(&self) -> FaultScript {
        let plan = self.lock();
        FaultScript {
            seed: plan.seed,
            faults: plan.armed.iter().map(|armed| armed.fault.clone()).collect(),
            random: plan.random.iter().map(|armed| armed.fault.clone()).collect(),
        }
    }
    /// What this request meets: the first fault that applies and takes its place, and every oddity.
    /// Every fault of its kind counts it.
    pub(crate) fn meet(&self, interaction: Interaction) -> Met {
        let mut met = Met::default();
        let mut plan = self.lock();
        for armed in plan.armed.iter_mut().filter(|armed| armed.fault.on == interaction) {
            armed.seen = armed.seen.saturating_add(1);
            let past = armed.seen.checked_sub(armed.fault.nth);
            if past.is_some_and(|past| past < armed.fault.times) {
                met.add(&armed.fault.kind);
            }
        }
        let seed = plan.seed;
        for (place, armed) in plan.random.iter_mut().enumerate() {
            if armed.fault.on == interaction {
                armed.seen = armed.seen.saturating_add(1);
                if armed.fault.strikes(seed, place, armed.seen) {
                    met.add(&armed.fault.kind);
                }
            }
        }
        met
    }
    fn lock(&self) -> std::sync::MutexGuard<'_, Plan> {
        // A panic elsewhere leaves a list of counters that is still a list of counters.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Met {
    fn add(&mut self, kind: &FaultKind) {
        let odd = &mut self.oddities;
        match kind {
            FaultKind::SearchLag(time) => odd.lag = Some(*time),
            FaultKind::ContentType(kind) => odd.content_type = Some(kind.clone()),
            FaultKind::ShiftedPages => odd.shifted_pages = true,
            FaultKind::NewestFirst => odd.newest_first = true,
            FaultKind::ZeroBasedPages => odd.zero_based_pages = true,
            FaultKind::SevenDigits => odd.seven_digits = true,
            FaultKind::NoMeta => odd.no_meta = true,
            FaultKind::DateDrift => odd.date_drift = true,
            FaultKind::HostileNarrative => odd.hostile_narrative = true,
            FaultKind::RuleInText => odd.rule_in_text = true,
            FaultKind::RuleInDiagnostics => odd.rule_in_diagnostics = true,
            FaultKind::CreatedIs200 => odd.created_is_200 = true,
            FaultKind::UnparsableIs422 => odd.unparsable_is_422 = true,
            other if self.kind.is_none() => self.kind = Some(other.clone()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_counts_its_own_requests() {
        let plan = FaultPlan::new([
            Fault { on: Interaction::Create, nth: 2, times: 2, kind: FaultKind::Html },
            Fault::once(Interaction::Create, 3, FaultKind::CutAfterCommit),
            Fault::once(Interaction::Create, 3, FaultKind::NoMeta),
        ]);
        assert_eq!(plan.meet(Interaction::Create).kind, None);
        assert_eq!(plan.meet(Interaction::Search).kind, None);
        assert_eq!(plan.meet(Interaction::Create).kind, Some(FaultKind::Html));
        let both = plan.meet(Interaction::Create);
        assert_eq!((both.kind, both.oddities.no_meta), (Some(FaultKind::Html), true));
        assert_eq!(plan.meet(Interaction::Create).kind, None);
    }
}
