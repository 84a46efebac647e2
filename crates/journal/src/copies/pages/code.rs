//! The authentication codes of SQLCipher's pages, as version 4 makes them.

use std::num::NonZeroU32;

use ring::hmac::{self, HMAC_SHA512};
use ring::pbkdf2::{self, PBKDF2_HMAC_SHA512};
use zeroize::Zeroizing;

use super::SHORT_CODE;
use crate::Key;

/// At the end of every page.
const CODE: usize = 64;
/// At the start of the first page, in the clear.
pub(super) const SALT: usize = 16;
/// SQLCipher makes the key of the codes from the raw key and the salt, changed so, in so many
/// rounds.
const SALT_MASK: u8 = 0x3a;
const ROUNDS: NonZeroU32 = NonZeroU32::MIN.saturating_add(1);

/// Says whether pages are as SQLCipher has written them.
pub(super) struct Codes(hmac::Key);

impl Codes {
    pub(super) fn new(key: &Key, salt: [u8; SALT]) -> Self {
        let salt = salt.map(|byte| byte ^ SALT_MASK);
        let mut derived = Zeroizing::new([0; 32]);
        pbkdf2::derive(PBKDF2_HMAC_SHA512, ROUNDS, &salt, key.bytes(), &mut *derived);
        Self(hmac::Key::new(HMAC_SHA512, &*derived))
    }

    /// Whether a page is whole, and this one. SQLite may leave a free page unwritten, which is all
    /// zeros then.
    pub(super) fn fit(&self, number: u32, page: &[u8]) -> bool {
        let begins = if number == 1 { SALT } else { 0 };
        let Some((sealed, code)) = page.split_last_chunk::<CODE>() else { return false };
        let mut context = hmac::Context::with_key(&self.0);
        context.update(sealed.get(begins..).unwrap_or_default());
        context.update(&number.to_le_bytes());
        context.sign().as_ref() == code || page.iter().all(|byte| *byte == 0)
    }
}

/// What is kept of a page's code.
pub(super) fn short(page: &[u8]) -> [u8; SHORT_CODE] {
    let code = page.split_last_chunk::<CODE>().and_then(|(_, code)| code.first_chunk());
    code.copied().unwrap_or_default()
}
