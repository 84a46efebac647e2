//! A person does not want to wait until the next try. Pure.

use std::collections::HashSet;

use journal::Due;
use report::{Duty, SubmissionId};

use super::Courier;

/// What of the reports is held by a fault of the way alone, and what a person wants of them.
#[derive(Default)]
pub(super) struct Trying {
    /// So many wishes were heard.
    heard: u64,
    /// A wish that no exchange has answered.
    is_open: bool,
    /// Put off because nobody could be reached; nobody has asked for patience.
    put_off: HashSet<SubmissionId>,
    /// Those of them that go as soon as the breaker lets them.
    now: HashSet<SubmissionId>,
}

impl Trying {
    /// A delivery was put off by a fault of the way (else: whatever else came of it).
    pub(super) fn delivered(&mut self, id: SubmissionId, is_put_off: bool) {
        if is_put_off {
            self.put_off.insert(id);
        } else {
            self.put_off.remove(&id);
        }
    }

    /// An exchange has shown how the way is.
    pub(super) fn is_answered(&mut self) {
        self.is_open = false;
    }

    /// The way is closed again: what has not begun waits as it did.
    pub(super) fn has_failed(&mut self) {
        self.put_off.extend(self.now.drain());
    }

    /// It begins, whatever comes of it: a wish is good for one try of each report.
    pub(super) fn begins(&mut self, id: SubmissionId) {
        self.now.remove(&id);
    }
}

impl Courier {
    /// So many times a person has wanted the next try now. Where the breaker is open, that lets one
    /// request through, as the end of its pause does.
    pub(crate) fn wanted_now(&mut self, wishes: u64) {
        let is_new = std::mem::replace(&mut self.trying.heard, wishes) != wishes;
        if is_new && self.breaker.try_now() {
            self.trying.is_open = true;
            let put_off = std::mem::take(&mut self.trying.put_off);
            self.trying.now.extend(put_off);
        }
    }

    /// Whether reports go before they are due.
    pub(crate) fn hurries(&self) -> bool {
        !self.trying.now.is_empty()
    }

    /// Those of them, of what is due at some time; `is_all`: nothing else is.
    pub(crate) fn hurried(&mut self, mut due: Vec<Due>, is_all: bool) -> Vec<Due> {
        due.retain(|due| due.duty == Duty::Send && self.trying.now.contains(&due.id));
        if is_all {
            // The others were withdrawn, say.
            self.trying.now = due.iter().map(|due| due.id).collect();
        }
        due
    }

    /// Whether the way is to be tried with a question, because a person wants it tried and nothing
    /// that is owed has done so. Who was asked for patience at a delivery learns nothing from it.
    pub(crate) fn wants_question(&self) -> bool {
        self.trying.is_open && !self.breaker.is_put_off()
    }

    /// That question was asked, or there is none to ask.
    pub(crate) fn wish_ended(&mut self) {
        self.trying.is_answered();
    }
}
