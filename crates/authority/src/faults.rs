//! Misbehaviour on request: what a network or an authority does on a bad day, for practice and tests.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interaction {
    /// `POST DocumentReference`
    Create,
    /// `GET DocumentReference/ID`
    Read,
    /// `GET DocumentReference?…`
    Search,
    /// `GET metadata`
    Capabilities,
}

/// One misbehaviour: on the n-th request of a kind, counted from when the fault was added.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Fault {
    /// Which requests count.
    pub on: Interaction,
    /// From which of them, from 1.
    pub nth: u32,
    /// For how many of them; `u32::MAX` for ever.
    pub times: u32,
    /// What happens.
    pub kind: FaultKind,
}

/// What happens instead of, or beside, the right answer.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
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
    /// 200 with an HTML page, as a captive portal; nothing is done.
    Html,
    /// 200 with a body that stops in the middle of the JSON, after doing what was asked.
    Truncated,
    /// The right answer without a body.
    EmptyBody,
    /// Nothing is done for so long, then what was asked.
    Delay(Duration),
    /// What was asked is done at once, the answer comes later.
    DelayAnswer(Duration),
    /// A search that does not yet know what happened in this last time.
    SearchLag(Duration),
}

/// The faults of a running authority. Cheap to clone; all clones are one plan.
#[derive(Debug, Clone, Default)]
pub struct FaultPlan(Arc<Mutex<Vec<Armed>>>);

#[derive(Debug)]
struct Armed {
    fault: Fault,
    seen: u32,
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
        self.lock().push(Armed { fault, seen: 0 });
    }
    /// From now on everything goes well.
    pub fn clear(&self) {
        self.lock().clear();
    }
    /// What this request meets: the first fault that applies. Every fault of its kind counts it.
    pub(crate) fn meet(&self, interaction: Interaction) -> Option<FaultKind> {
        let mut met = None;
        for armed in self.lock().iter_mut().filter(|armed| armed.fault.on == interaction) {
            armed.seen = armed.seen.saturating_add(1);
            let past = armed.seen.checked_sub(armed.fault.nth);
            if past.is_some_and(|past| past < armed.fault.times) && met.is_none() {
                met = Some(armed.fault.kind.clone());
            }
        }
        met
    }
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Armed>> {
        // A panic elsewhere leaves a list of counters that is still a list of counters.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        ]);
        assert_eq!(plan.meet(Interaction::Create), None);
        assert_eq!(plan.meet(Interaction::Search), None);
        assert_eq!(plan.meet(Interaction::Create), Some(FaultKind::Html));
        assert_eq!(plan.meet(Interaction::Create), Some(FaultKind::Html));
        assert_eq!(plan.meet(Interaction::Create), None);
    }
}
