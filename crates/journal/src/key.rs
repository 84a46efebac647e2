//! The key of a journal.

use std::fmt::Write as _;
use std::sync::Arc;

use zeroize::Zeroizing;

/// Raw key of a journal: 32 random bytes, wiped from memory when dropped. It can neither be shown
/// nor serialised.
#[derive(Clone)]
pub struct Key(Arc<Zeroizing<[u8; 32]>>);

impl Key {
    /// From the keychain or the vault. What is shared already is not copied: an array that is moved
    /// leaves copies on the stack.
    pub fn new(bytes: impl Into<Arc<Zeroizing<[u8; 32]>>>) -> Self {
        Self(bytes.into())
    }

    /// The bytes themselves.
    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The statement that hands it to SQLCipher as a raw key (no key derivation).
    pub(crate) fn pragma(&self) -> Zeroizing<String> {
        self.statement("PRAGMA key = \"x'")
    }

    /// The statement that seals an open database with it.
    pub(crate) fn rekey(&self) -> Zeroizing<String> {
        self.statement("PRAGMA rekey = \"x'")
    }

    fn statement(&self, begins: &str) -> Zeroizing<String> {
        // Room for all of it from the start: growing would leave copies behind.
        let mut text = Zeroizing::new(String::with_capacity(96));
        text.push_str(begins);
        for byte in self.0.iter() {
            let _ = write!(text, "{byte:02x}");
        }
        text.push_str("'\"");
        text
    }
}
