//! A version: three numbers, and nothing that would have to be explained.

use std::fmt;
use std::str::FromStr;

/// `1.2.3`. A greater one is newer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version([u32; 3]);

impl FromStr for Version {
    type Err = ();

    /// With or without a `v` before it.
    fn from_str(text: &str) -> Result<Self, ()> {
        let mut numbers = text.strip_prefix('v').unwrap_or(text).split('.');
        let mut next = || {
            let number = numbers.next().ok_or(())?;
            let is_plain = number.bytes().all(|byte| byte.is_ascii_digit());
            number.parse().ok().filter(|_| is_plain).ok_or(())
        };
        let version = Self([next()?, next()?, next()?]);
        numbers.next().map_or(Ok(version), |_| Err(()))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greater_number_is_newer_and_what_is_no_version_is_none() {
        let version = |text: &str| text.parse::<Version>().unwrap();
        assert!(version("0.10.0") > version("0.9.9"));
        assert!(version("1.0.0") > version("0.99.99"));
        assert_eq!(version("v1.2.3").to_string(), "1.2.3");
        for odd in ["", "1", "1.2", "1.2.3.4", "1.2.x", "+1.2.3", "1..3", "1.2.3-rc1", "1.2.3 "] {
            assert_eq!(odd.parse::<Version>(), Err(()), "{odd:?}");
        }
    }
}
