//! A password or passphrase: wiped when dropped, never shown.

use std::fmt;

use zeroize::Zeroizing;

/// A password or passphrase. Has no `Display`, `Serialize` or `Clone`; `Debug` shows nothing of it.
pub struct Password(Zeroizing<String>);

impl Password {
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// Whether it is the empty password (some `.p12` files are sealed with it).
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<String> for Password {
    fn from(text: String) -> Self {
        Self(Zeroizing::new(text))
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(..)")
    }
}
