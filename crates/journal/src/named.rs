//! The reports that a message names by their numbers.

use std::collections::HashMap;

use report::SubmissionId;

use crate::Message;

/// Parameter that holds one number, or several.
const PARAMETER: &str = "submission";
const BETWEEN: &str = ", ";

impl Message {
    /// The reports that it names.
    pub fn submissions(&self) -> impl Iterator<Item = SubmissionId> {
        let named = self.params.iter().filter(|(name, _)| name == PARAMETER);
        let numbers = named.flat_map(|(_, numbers)| numbers.split(BETWEEN));
        numbers.filter_map(|number| number.parse().ok().map(SubmissionId))
    }

    /// The same message where these reports have these numbers: `None` where it named some, and
    /// none of them has a number any more.
    pub(crate) fn renumbered(
        mut self,
        numbers: &HashMap<SubmissionId, SubmissionId>,
    ) -> Option<Self> {
        let known: Vec<_> = self.submissions().map(|id| numbers.get(&id)).collect();
        if known.is_empty() {
            return Some(self);
        }
        let known: Vec<_> = known.into_iter().flatten().map(|id| id.0.to_string()).collect();
        if known.is_empty() {
            return None;
        }
        for (_, value) in self.params.iter_mut().filter(|(name, _)| name == PARAMETER) {
            *value = known.join(BETWEEN);
        }
        Some(self)
    }
}
