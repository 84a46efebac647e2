//! The chain of events: each carries a hash over its predecessor's hash and its own content, so
//! that changing, removing or inserting one shows.

use rusqlite::types::Type;
use sha2::{Digest as _, Sha256};

pub(crate) type Hash = [u8; 32];

/// What an event's hash is made of.
pub(crate) struct Link<'a> {
    pub(crate) number: i64,
    pub(crate) submission: i64,
    pub(crate) at: i64,
    pub(crate) person: &'a str,
    /// The event as stored (JSON).
    pub(crate) event: &'a str,
    /// Digest of the evidence behind it; empty without.
    pub(crate) evidence: &'a str,
    /// Digest of the document and identifier of the attempt: what the event is about.
    pub(crate) document: &'a str,
    pub(crate) identifier: &'a str,
}

/// Hash of what precedes the first event: the journal's random seed.
pub(crate) fn start(seed: &[u8]) -> Hash {
    Sha256::digest(seed).into()
}

impl Link<'_> {
    /// Hash of this event after its predecessor's. Every text is preceded by its length, so that no
    /// two events give the same bytes.
    pub(crate) fn hash(&self, predecessor: &Hash) -> Hash {
        let mut hash = Sha256::new();
        hash.update(predecessor);
        for number in [self.number, self.submission, self.at] {
            hash.update(number.to_be_bytes());
        }
        for text in [self.person, self.event, self.evidence, self.document, self.identifier] {
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text.as_bytes());
        }
        hash.finalize().into()
    }
}

/// A stored hash.
pub(crate) fn stored(bytes: Vec<u8>) -> rusqlite::Result<Hash> {
    bytes.try_into().map_err(|bytes: Vec<u8>| {
        let problem = format!("{} bytes instead of 32", bytes.len());
        rusqlite::Error::FromSqlConversionFailure(0, Type::Blob, problem.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An event of one journal must not stand in another.
    #[test]
    fn each_journal_has_a_chain_of_its_own() {
        assert_eq!(start(b"seed"), start(b"seed"));
        assert_ne!(start(b"seed"), start(b"another"));
    }
}
