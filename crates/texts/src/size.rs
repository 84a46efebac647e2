//! A number of bytes as people read it: `5 MB`, as the window writes it.

use crate::Language;

/// What the name of a parameter ends with in a text that says it as a size: `{limitSize}` is the
/// parameter `limit`. One name stands for bytes here and for a count there, so the text says which.
const ENDING: &str = "Size";

/// The parameter that a text asks for as a size.
pub(crate) fn sized(name: &str) -> Option<&str> {
    name.strip_suffix(ENDING).filter(|parameter| !parameter.is_empty())
}

impl Language {
    /// A number of bytes in words; what is no number is shown as it is.
    pub(crate) fn size(self, bytes: &str) -> String {
        let Ok(count) = bytes.parse::<u64>() else { return bytes.to_owned() };
        let (space, point) = match self {
            Self::French => ('\u{202f}', ','),
            _ => (' ', '.'),
        };
        let (unit, name) = match (count, self) {
            (..1_000, _) => return format!("{count}{space}{}", self.bytes(count)),
            (..1_000_000, Self::French) => (1_000, "ko"),
            (..1_000_000, _) => (1_000, "kB"),
            (_, Self::French) => (1_000_000, "Mo"),
            _ => (1_000_000, "MB"),
        };
        let tenths = (u128::from(count) * 10 + unit / 2) / unit;
        match tenths % 10 {
            0 => format!("{}{space}{name}", tenths / 10),
            tenth => format!("{}{point}{tenth}{space}{name}", tenths / 10),
        }
    }

    fn bytes(self, count: u64) -> &'static str {
        match (self, self.one()(count)) {
            (Self::German, _) => "Byte",
            (Self::French, true) => "octet",
            (Self::French, false) => "octets",
            (Self::English, false) => "bytes",
            _ => "byte",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_said_in_the_unit_that_people_read() {
        for (bytes, said) in [
            ("0", ["0 bytes", "0 Byte", "0\u{202f}octet", "0 byte"]),
            ("1", ["1 byte", "1 Byte", "1\u{202f}octet", "1 byte"]),
            ("999", ["999 bytes", "999 Byte", "999\u{202f}octets", "999 byte"]),
            ("1000", ["1 kB", "1 kB", "1\u{202f}ko", "1 kB"]),
            ("800449", ["800.4 kB", "800.4 kB", "800,4\u{202f}ko", "800.4 kB"]),
            ("5000000", ["5 MB", "5 MB", "5\u{202f}Mo", "5 MB"]),
            ("20971520", ["21 MB", "21 MB", "21\u{202f}Mo", "21 MB"]),
            ("", ["", "", "", ""]),
            ("many", ["many", "many", "many", "many"]),
        ] {
            assert_eq!(Language::ALL.map(|language| language.size(bytes)), said, "{bytes}");
        }
        assert!(!Language::English.size(&u64::MAX.to_string()).is_empty());
    }

    #[test]
    fn a_text_asks_for_a_parameter_as_a_size_or_as_it_is() {
        let params = [("key-length", "2000"), ("n", "2000")];
        let said = Language::English.filled("{keyLengthSize}, {n}, {nSize}, {Size}", &params);
        assert_eq!(said, "2 kB, 2000, 2 kB, ");
        let own =
            Language::English.filled("{sampleSize}", &[("sample-size", "7"), ("sample", "8")]);
        assert_eq!(own, "7", "a parameter that is called so is itself");
        let limit = [("limit", "5000000")];
        assert_eq!(
            Language::ALL.map(|language| language.shared("finding.too-large", &limit)),
            [
                "The report is larger than 5 MB.",
                "Die Meldung ist grösser als 5 MB.",
                "La déclaration dépasse 5\u{202f}Mo.",
                "La dichiarazione supera 5 MB.",
            ]
        );
        assert!(Language::English.shared("finding.too-deep", &limit).contains("5000000 levels"));
        assert_eq!(crate::CATALOGUE.foreign("finding.too-large", &["limit"]), Vec::<String>::new());
        assert_eq!(crate::CATALOGUE.foreign("finding.too-large", &["bytes"]).len(), 4);
    }
}
