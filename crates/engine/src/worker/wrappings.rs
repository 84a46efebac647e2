//! What intake has learned by reading a text, kept in memory for the sending that follows: the text
//! is not read a second time. After a restart, or where more waits than is kept, it is.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use exchange::{Envelope, Wrapping};
use report::{SubmissionId, digest};

use crate::candidate::{Parsed, Taken};

/// More than a sender takes in ahead; a few hundred bytes each.
const KEPT_MAX: usize = 2_048;

/// Of reports that were taken in and not sent yet, the newest.
#[derive(Default)]
pub(crate) struct Wrappings(Mutex<BTreeMap<SubmissionId, Kept>>);

/// Of which bytes, by their digest.
struct Kept {
    digest: String,
    wrapping: Wrapping,
}

impl Wrappings {
    /// Of what was taken in just now.
    pub(crate) fn learn(&self, taken: Taken, parsed: &Parsed) {
        if let (Taken::New(id), Some(wrapping)) = (taken, &parsed.wrapping) {
            self.keep(id, &parsed.digest, wrapping);
        }
    }

    fn keep(&self, id: SubmissionId, digest: &str, wrapping: &Wrapping) {
        let mut all = self.lock();
        if all.len() >= KEPT_MAX {
            // What was taken in long ago and is not sent waits for something.
            all.pop_first();
        }
        all.insert(id, Kept { digest: digest.to_owned(), wrapping: wrapping.clone() });
    }

    /// The envelope around the bytes that the journal has, where they are those that were read:
    /// what leaves is what was recorded.
    pub(crate) fn envelope(
        &self,
        id: SubmissionId,
        bytes: &[u8],
        identifier: &str,
        language_default: &str,
    ) -> Option<Envelope> {
        let kept = self.lock().remove(&id)?;
        let is_of_these = digest(bytes) == kept.digest;
        is_of_these.then(|| kept.wrapping.around(bytes, identifier, language_default))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<SubmissionId, Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use fhir::{Format, Limits, Tree};
    use testkit::DocumentBuilder;

    use super::*;
    use crate::worker::wrapped;

    const IDENTIFIER: &str = "urn:uuid:00000000-0000-4000-8000-000000000001";

    fn read(text: &str) -> Wrapping {
        let tree = Tree::read(text.as_bytes(), Format::Json, &Limits::default()).unwrap();
        Wrapping::of(&tree).unwrap()
    }

    #[test]
    fn what_was_read_is_wrapped_as_if_it_were_read_again() {
        let (text, all) = (DocumentBuilder::new(1).json(), Wrappings::default());
        let bytes = text.as_bytes();
        all.keep(SubmissionId(1), &digest(bytes), &read(&text));
        let envelope = all.envelope(SubmissionId(1), bytes, IDENTIFIER, "de-CH");
        assert!(envelope.is_some());
        assert_eq!(envelope, wrapped(bytes, IDENTIFIER, "de-CH"));
        assert_eq!(all.envelope(SubmissionId(1), bytes, IDENTIFIER, "de-CH"), None, "once");
    }

    #[test]
    fn nothing_is_written_around_other_bytes_than_were_read() {
        let (text, other) = (DocumentBuilder::new(1).json(), DocumentBuilder::new(2).json());
        let all = Wrappings::default();
        all.keep(SubmissionId(1), &digest(text.as_bytes()), &read(&text));
        assert_eq!(all.envelope(SubmissionId(1), other.as_bytes(), IDENTIFIER, "de-CH"), None);
        assert_eq!(all.envelope(SubmissionId(2), text.as_bytes(), IDENTIFIER, "de-CH"), None);
    }

    #[test]
    fn no_more_is_kept_than_it_may() {
        let (text, all) = (DocumentBuilder::new(1).json(), Wrappings::default());
        let (known, wrapping) = (digest(text.as_bytes()), read(&text));
        let last = i64::try_from(KEPT_MAX).unwrap() + 1;
        (1..=last).for_each(|id| all.keep(SubmissionId(id), &known, &wrapping));
        let is_kept = |id| all.envelope(SubmissionId(id), text.as_bytes(), "a", "b").is_some();
        assert!(!is_kept(1) && is_kept(2) && is_kept(last));
    }
}
