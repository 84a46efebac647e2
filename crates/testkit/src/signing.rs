//! Signatures of files, as minisign makes them, by a key of the moment.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use blake2::{Blake2b512, Digest as _};
use ring::rand::{SecureRandom as _, SystemRandom};
use ring::signature::{Ed25519KeyPair, KeyPair as _};

/// A key that signs files.
pub struct FileSigner {
    pair: Ed25519KeyPair,
    id: [u8; 8],
}

impl Default for FileSigner {
    fn default() -> Self {
        let random = SystemRandom::new();
        let seed = Ed25519KeyPair::generate_pkcs8(&random).expect("a key");
        let mut id = [0; 8];
        random.fill(&mut id).expect("a number");
        Self { pair: Ed25519KeyPair::from_pkcs8(seed.as_ref()).expect("the key"), id }
    }
}

impl FileSigner {
    /// Another key that says it is this one.
    #[must_use]
    pub fn impostor(&self) -> Self {
        Self { id: self.id, ..Self::default() }
    }

    /// The public key, one line.
    pub fn public_key(&self) -> String {
        STANDARD.encode([b"Ed", &self.id[..], self.pair.public_key().as_ref()].concat())
    }

    /// The signature of a file, with a comment that it covers.
    pub fn signed(&self, file: &[u8], comment: &str) -> String {
        self.written(b"ED", self.pair.sign(&Blake2b512::digest(file)).as_ref(), comment)
    }

    /// The same of the old kind, which signs the file itself.
    pub fn signed_as_of_old(&self, file: &[u8], comment: &str) -> String {
        self.written(b"Ed", self.pair.sign(file).as_ref(), comment)
    }

    fn written(&self, kind: &[u8; 2], signature: &[u8], comment: &str) -> String {
        let all = self.pair.sign(&[signature, comment.as_bytes()].concat());
        let line = STANDARD.encode([kind, &self.id[..], signature].concat());
        let last = STANDARD.encode(all.as_ref());
        format!("untrusted comment: made by a test\n{line}\ntrusted comment: {comment}\n{last}\n")
    }
}
