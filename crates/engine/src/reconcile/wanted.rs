//! Which deliveries one comparison asks for, one by one: of many a part, and the next comparison
//! goes on behind it, so that all have their turn.

use client::Authority;
use exchange::IdentifierChoice;
use journal::{JournalError, Unreconciled};

use super::pace::{Kind, at_once};
use super::{AskedFor, COMPARED_SECONDS, ReconcileDeps};

/// Reports that are asked for one by one in one comparison.
pub(super) const ASKED_MAX: usize = 1_000;
/// After so many questions it is noted how far they got: the program may end before the rest.
pub(super) const NOTED_EVERY: usize = 5;

/// Setting of each endpoint, by its id: how far the round is that goes through all of them.
const ASKED_UNTIL: &str = "asked-until:";

/// What is asked for one by one in one comparison.
pub(super) struct Wanted {
    pub(super) identifiers: Vec<String>,
    /// Of which restore.
    restored: i64,
    /// They follow this one; nothing at the beginning of a round.
    behind: String,
    /// There are more behind them.
    is_cut: bool,
    /// All before them in this round were answered between two looks, and long after the restore.
    counted: bool,
    /// It is long after the restore: what is not shown by now is not shown late.
    is_late: bool,
}

impl Wanted {
    /// What is lost and, where no list has shown what was accepted, what is on hold since before
    /// the restore. Where a delivery is named as its document, another version of that may have the
    /// same identifier. Those that follow what the last comparison asked for.
    pub(super) fn of<A: Authority>(
        tools: &ReconcileDeps<'_, A>,
        open: Unreconciled,
        is_listed: bool,
    ) -> Result<Self, JournalError> {
        let endpoint = tools.endpoint.id();
        let lost = tools.journal.lost_reports()?.into_iter();
        let ours = lost.filter(|lost| lost.endpoint == endpoint);
        let mut identifiers: Vec<String> = ours.map(|lost| lost.identifier).collect();
        if !is_listed && tools.endpoint.identifier != IdentifierChoice::Document {
            identifiers.extend(tools.journal.on_hold_since_restore(endpoint)?);
        }
        identifiers.sort_unstable();
        let kept = tools.journal.setting(&name(endpoint))?.unwrap_or_default();
        // A round that the backup had begun says nothing of this restore.
        let restored = open.restored.0;
        let kept = Some(kept).filter(|kept| kept["restored"].as_i64() == Some(restored));
        let behind = kept.as_ref().and_then(|kept| kept["behind"].as_str()).unwrap_or_default();
        let counted = kept.as_ref().is_none_or(|kept| kept["counted"].as_bool() == Some(true));
        identifiers.retain(|identifier| identifier.as_str() > behind);
        let most = at_once(tools, Kind::Deliveries, ASKED_MAX)?;
        let is_cut = identifiers.len() > most;
        identifiers.truncate(most);
        let is_late = open.restored.plus_seconds(COMPARED_SECONDS) <= tools.clock.now();
        let behind = behind.to_owned();
        Ok(Self { identifiers, restored, behind, is_cut, counted, is_late })
    }

    /// So many of them were asked for. Until the look after them nothing is known of their answers:
    /// if the program ends before that, the round goes on behind them and does not count.
    pub(super) fn note<A: Authority>(
        &self,
        tools: &ReconcileDeps<'_, A>,
        questions: usize,
    ) -> Result<(), JournalError> {
        self.keep(tools, self.last_of(questions), false)
    }

    /// Patience was asked for before the answers could be believed: the next comparison asks for
    /// fewer of the same.
    pub(super) fn again<A: Authority>(
        &self,
        tools: &ReconcileDeps<'_, A>,
    ) -> Result<(), JournalError> {
        self.keep(tools, &self.behind, self.counted)
    }

    /// The comparison is through, and the next one begins behind what was asked for; `believed`:
    /// between two looks that showed something. Says whether a round has ended in which all of them
    /// were answered.
    pub(super) fn go_on<A: Authority>(
        &self,
        tools: &ReconcileDeps<'_, A>,
        asked: &AskedFor,
        believed: bool,
    ) -> Result<bool, JournalError> {
        let answered = self.counted && believed && !asked.left;
        if self.is_cut || asked.questions < self.identifiers.len() {
            let counted = answered && self.is_late;
            self.keep(tools, self.last_of(asked.questions), counted)?;
            return Ok(false);
        }
        self.keep(tools, "", true)?;
        Ok(answered)
    }

    fn last_of(&self, questions: usize) -> &str {
        let last = questions.checked_sub(1).and_then(|last| self.identifiers.get(last));
        last.unwrap_or(&self.behind)
    }

    fn keep<A: Authority>(
        &self,
        tools: &ReconcileDeps<'_, A>,
        behind: &str,
        counted: bool,
    ) -> Result<(), JournalError> {
        let name = name(tools.endpoint.id());
        let restored = self.restored;
        let value =
            serde_json::json!({ "restored": restored, "behind": behind, "counted": counted });
        match tools.journal.setting(&name)?.as_ref() == Some(&value) {
            true => Ok(()),
            false => tools.journal.set_setting(&name, value),
        }
    }
}

fn name(endpoint: &str) -> String {
    format!("{ASKED_UNTIL}{endpoint}")
}
