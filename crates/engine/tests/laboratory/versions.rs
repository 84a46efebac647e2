//! Versions of one document.

use journal::NewSubmission;
use report::Event;

use super::Laboratory;

impl Laboratory {
    /// A version of one document, of which a delivery can be asked for by that document; what it
    /// says is known.
    pub(crate) fn version(&mut self, number: u64, identifier: &str, first: Event) -> NewSubmission {
        let mut new = self.submission(number, identifier.to_owned());
        new.summary.identifier = Some("document-7".to_owned());
        (new.first, new.canonical) = (first, Some(new.digest.clone()));
        let documents = &mut self.authority.service.lock().unwrap().documents;
        documents.insert(new.identifier.clone(), "document-7".to_owned());
        self.taken.insert(new.identifier.clone(), new.digest.clone());
        new
    }
}
