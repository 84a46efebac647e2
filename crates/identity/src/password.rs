//! A password or passphrase: wiped when dropped, never shown.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Read};

use zeroize::Zeroizing;

/// Longest first line that is read of a file, bytes.
const LENGTH_MAX: u64 = 4_096;
/// Least number of different characters of a passphrase that seals a vault.
const DIFFERENT_MIN: usize = 5;

/// A password or passphrase. Has no `Display`, `Serialize` or `Clone`; `Debug` shows nothing of it.
pub struct Password(Zeroizing<String>);

impl Password {
    /// Least number of characters of a passphrase that seals a vault.
    pub const LENGTH_MIN: usize = 12;

    /// The words themselves, for what must be given them: an address of a proxy, a key derivation.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The first line of a file or descriptor, without its line end.
    ///
    /// # Errors
    /// What reading said; `InvalidData` where the line is not UTF-8.
    pub fn first_line(source: impl Read) -> io::Result<Self> {
        // Room for all from the start: growing would leave copies behind.
        let mut bytes = Zeroizing::new(Vec::with_capacity(4_096));
        source.take(LENGTH_MAX).read_to_end(&mut bytes)?;
        let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let text = std::str::from_utf8(line);
        let text = text.map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
        Ok(Self(Zeroizing::new(text.to_owned())))
    }

    /// Whether it is good enough to seal a vault, which a thief may try to open as often as he
    /// likes: at least [`Password::LENGTH_MIN`] characters, five of them different.
    pub fn is_strong(&self) -> bool {
        let different = self.0.chars().collect::<BTreeSet<_>>().len();
        self.0.chars().count() >= Self::LENGTH_MIN && different >= DIFFERENT_MIN
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passphrase_is_long_and_not_the_same_again_and_again() {
        let strong = |text: &str| Password::from(text.to_owned()).is_strong();
        for weak in ["", "a", "geheim", "elf-zeichen", "aaaaaaaaaaaaaaaa", "abcabcabcabc"] {
            assert!(!strong(weak), "{weak}");
        }
        for good in ["korrekt pferd", "zwölf-zeiche", "1234567890ab"] {
            assert!(strong(good), "{good}");
        }
    }

    #[test]
    fn the_first_line_counts_without_its_end() {
        for (text, expected) in [
            ("secret", "secret"),
            ("secret\n", "secret"),
            ("secret\r\nsecond", "secret"),
            (" sec ret \n", " sec ret "),
            ("", ""),
        ] {
            assert_eq!(Password::first_line(text.as_bytes()).unwrap().expose(), expected);
        }
        assert!(Password::first_line(&[0xff, 0xfe][..]).is_err());
        let long = Password::first_line(std::io::repeat(b'a')).unwrap();
        assert_eq!(long.expose().len(), 4_096, "bounded");
    }
}
