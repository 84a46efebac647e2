//! Versions of packages and definitions, and which one a range means.

use std::cmp::Ordering;

/// A version: numbers, then a label such as `ballot` or `cibuild`, which comes before the release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    numbers: Vec<u64>,
    label: String,
}

impl Version {
    /// Reads any text; what is no number counts as 0.
    pub fn of(text: &str) -> Self {
        let (numbers, label) = text.split_once('-').unwrap_or((text, ""));
        let numbers = numbers.split('.').map(|part| part.parse().unwrap_or(0)).collect();
        Self { numbers, label: label.to_owned() }
    }

    /// Whether `version` is one that `wanted` means: the same text, or in a range such as `3.3.x`.
    pub fn is_in(version: &str, wanted: &str) -> bool {
        if version == wanted || matches!(wanted, "*" | "latest" | "current" | "dev" | "") {
            return true;
        }
        let wanted = wanted.strip_prefix('~').map_or(wanted.to_owned(), |from| {
            from.rsplit_once('.').map_or(from.to_owned(), |(minor, _)| format!("{minor}.x"))
        });
        let Some(prefix) = wanted.strip_suffix(".x").or_else(|| wanted.strip_suffix(".*")) else {
            return false;
        };
        version.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('.'))
    }

    /// How many leading numbers both have in common.
    pub fn nearness(&self, other: &Self) -> usize {
        self.numbers.iter().zip(&other.numbers).take_while(|(mine, theirs)| mine == theirs).count()
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let longest = self.numbers.len().max(other.numbers.len());
        let number = |of: &Self, at: usize| of.numbers.get(at).copied().unwrap_or(0);
        let numbers = (0..longest).map(|at| number(self, at).cmp(&number(other, at)));
        let labels = match (self.label.is_empty(), other.label.is_empty()) {
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            _ => self.label.cmp(&other.label),
        };
        numbers.fold(Ordering::Equal, Ordering::then).then(labels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_newer_than_its_ballot() {
        let ordered = ["1.9.0", "1.10.0-ballot", "1.10.0", "2.0.0-cibuild", "2.0.0"];
        assert!(ordered.windows(2).all(|pair| Version::of(pair[0]) < Version::of(pair[1])));
    }

    #[test]
    fn ranges_mean_what_npm_means() {
        for (version, wanted, is) in [
            ("3.3.0", "3.3.x", true),
            ("3.3.0", "3.x", true),
            ("3.30.0", "3.3.x", false),
            ("3.3.0", "3.3.0", true),
            ("3.3.1", "3.3.0", false),
            ("3.3.1", "~3.3.0", true),
            ("3.3.1", "latest", true),
        ] {
            assert_eq!(Version::is_in(version, wanted), is, "{version} in {wanted}");
        }
    }
}
