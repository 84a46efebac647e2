//! The written form of each primitive type (<https://hl7.org/fhir/R4/datatypes.html>), by hand: the
//! published regular expressions, plus what they cannot say (a day that exists, a number that
//! fits).

use crate::instant;

/// A primitive type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Primitive {
    Base64Binary,
    Boolean,
    Code,
    Date,
    DateTime,
    Decimal,
    Id,
    Instant,
    Integer,
    Oid,
    PositiveInt,
    Text,
    Time,
    UnsignedInt,
    Uri,
    Uuid,
}

/// Longest string in characters ("strings SHALL NOT exceed 1MB in size").
const STRING_MAX: usize = 1 << 20;

impl Primitive {
    /// By FHIR's name; `string`, `markdown` and anything unknown are text.
    pub(crate) fn of(name: &str) -> Self {
        match name {
            "base64Binary" => Self::Base64Binary,
            "boolean" => Self::Boolean,
            "code" => Self::Code,
            "date" => Self::Date,
            "dateTime" => Self::DateTime,
            "decimal" => Self::Decimal,
            "id" => Self::Id,
            "instant" => Self::Instant,
            "integer" => Self::Integer,
            "oid" => Self::Oid,
            "positiveInt" => Self::PositiveInt,
            "time" => Self::Time,
            "unsignedInt" => Self::UnsignedInt,
            "uri" | "url" | "canonical" => Self::Uri,
            "uuid" => Self::Uuid,
            _ => Self::Text,
        }
    }

    /// Written as a bare number in JSON.
    pub(crate) const fn is_number(self) -> bool {
        matches!(self, Self::Decimal | Self::Integer | Self::PositiveInt | Self::UnsignedInt)
    }

    /// What its values are in JSON.
    pub(crate) const fn json_type(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            of if of.is_number() => "number",
            _ => "string",
        }
    }

    /// Whether the (non-empty) value has this type's form.
    pub(crate) fn allows(self, value: &str) -> bool {
        match self {
            Self::Base64Binary => is_base64(value),
            Self::Boolean => matches!(value, "true" | "false"),
            Self::Code => is_code(value),
            Self::Date => instant::is_date(value),
            Self::DateTime => instant::is_date(value) || instant::is_instant(value),
            Self::Decimal => is_json_number(value),
            Self::Id => value.len() <= 64 && value.bytes().all(is_id_byte),
            Self::Instant => instant::is_instant(value),
            Self::Integer => is_integer(value),
            Self::Oid => value.strip_prefix("urn:oid:").is_some_and(is_oid),
            Self::PositiveInt => {
                let digits = value.strip_prefix('+').unwrap_or(value);
                !digits.starts_with(['+', '-', '0']) && is_integer(digits)
            }
            Self::Text => value.len() <= STRING_MAX * 4 && is_text(value),
            Self::Time => instant::is_time(value),
            Self::UnsignedInt => !value.starts_with('-') && is_integer(value),
            Self::Uri => !value.bytes().any(is_space),
            Self::Uuid => value.strip_prefix("urn:uuid:").is_some_and(is_uuid),
        }
    }
}

/// RFC 8259's number, which is exactly FHIR's decimal.
pub(crate) fn is_json_number(value: &str) -> bool {
    let mut rest = value.as_bytes();
    rest = rest.strip_prefix(b"-").unwrap_or(rest);
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest[0] == b'0') {
        return false;
    }
    rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let count = digits(fraction);
        if count == 0 {
            return false;
        }
        rest = &fraction[count..];
    }
    if let Some(exponent) = rest.strip_prefix(b"e").or_else(|| rest.strip_prefix(b"E")) {
        let exponent =
            exponent.strip_prefix(b"-").or_else(|| exponent.strip_prefix(b"+")).unwrap_or(exponent);
        return !exponent.is_empty() && digits(exponent) == exponent.len();
    }
    rest.is_empty()
}

fn digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

fn is_integer(value: &str) -> bool {
    let whole = value.strip_prefix('-').unwrap_or(value);
    let canonical = whole.bytes().all(|byte| byte.is_ascii_digit())
        && (whole == "0" || !whole.starts_with('0'));
    canonical && value.parse::<i32>().is_ok()
}

const fn is_id_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.'
}

fn is_text(value: &str) -> bool {
    value.len() <= STRING_MAX || value.chars().count() <= STRING_MAX
}

const fn is_control(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r')
}

/// Whether a value has only characters that XML knows. FHIR advises against others, and JSON can
/// write them: control characters, and two that are none.
pub(crate) fn fits_xml(value: &str) -> bool {
    let is_plain = !value.bytes().any(is_control);
    is_plain && (value.is_ascii() || !value.contains(['\u{FFFE}', '\u{FFFF}']))
}

/// White space is ASCII's, as in the published expressions: a no-break space is a character like
/// others.
const fn is_space(byte: u8) -> bool {
    byte == b' ' || (byte >= b'\t' && byte <= b'\r')
}

/// No white space at the ends, single spaces inside, and no other white space.
fn is_code(value: &str) -> bool {
    let mut last_space = true;
    for letter in value.chars() {
        let space = letter == ' ';
        if (space && last_space) || (!space && is_white(letter)) {
            return false;
        }
        last_space = space;
    }
    // At the ends HL7's validator takes every control character for white space.
    let ends = [value.as_bytes().first(), value.as_bytes().last()];
    !last_space && ends.iter().flatten().all(|byte| **byte > b' ')
}

/// White space as HL7's validator sees it in codes: a no-break space is a character like others.
fn is_white(letter: char) -> bool {
    let is_unbroken = matches!(letter, '\u{85}' | '\u{A0}' | '\u{2007}' | '\u{202F}');
    matches!(letter, '\u{1C}'..='\u{1F}') || (letter.is_whitespace() && !is_unbroken)
}

fn is_base64(value: &str) -> bool {
    let mut count = 0_usize;
    let mut padding = 0_usize;
    for byte in value.bytes() {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => continue,
            b'=' => padding += 1,
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' if padding == 0 => {}
            _ => return false,
        }
        count += 1;
    }
    count > 0 && count.is_multiple_of(4) && padding <= 2
}

fn is_oid(value: &str) -> bool {
    let mut arcs = value.split('.');
    let root = arcs.next().is_some_and(|first| matches!(first, "0" | "1" | "2"));
    let mut count = 0;
    let rest = arcs.all(|arc| {
        count += 1;
        !arc.is_empty()
            && arc.bytes().all(|b| b.is_ascii_digit())
            && (arc == "0" || !arc.starts_with('0'))
    });
    root && rest && count > 0
}

fn is_uuid(value: &str) -> bool {
    let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    value.len() == 36
        && value.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => hex(byte),
        })
}

#[cfg(test)]
mod tests {
    use super::Primitive::{self, *};

    fn each(of: Primitive, good: &[&str], bad: &[&str]) {
        for value in good {
            assert!(of.allows(value), "{of:?} should allow {value:?}");
        }
        for value in bad {
            assert!(!of.allows(value), "{of:?} should refuse {value:?}");
        }
    }

    #[test]
    fn numbers() {
        each(Boolean, &["true", "false"], &["True", "1", " true"]);
        each(
            Integer,
            &["0", "-0", "-5", "2147483647", "-2147483648"],
            &["+1", "01", "1.0", "2147483648", "-", "1e3"],
        );
        each(UnsignedInt, &["0", "7"], &["-1", "00"]);
        each(PositiveInt, &["1", "+1"], &["0", "-1", "++1", "+-1"]);
        each(
            Decimal,
            &["1.0", "1E-3", "-0.00", "1e400", "10"],
            &["01", ".5", "1.", "+1", "NaN", "1e", "1E+", "1 "],
        );
    }

    #[test]
    fn times() {
        each(
            Date,
            &["2024", "2024-02", "2024-02-29"],
            &["2023-02-29", "2024-13", "24", "0000", "2024-1-1", "2024-"],
        );
        each(
            DateTime,
            &[
                "2024-02-29",
                "2024-02-29T23:59:60Z",
                "2015-02-07T13:28:17.239+02:00",
                "2024-01-01T00:00:00-14:00",
            ],
            &[
                "2024-02-29T10:00Z",
                "2024-02-29T10:00:00",
                "2024-02-29T24:00:00Z",
                "2024-02-29T10:00:00.Z",
                "2024-02-29 10:00:00Z",
                "2024-01-01T00:00:00+14:30",
            ],
        );
        each(Instant, &["2015-02-07T13:28:17.239123456Z"], &["2015-02-07", "2015-02-07T13:28:17"]);
        each(Time, &["13:28:17", "00:00:00.5"], &["13:28", "24:00:00", "13:28:17Z"]);
    }

    #[test]
    fn names() {
        each(Id, &["a", "A-1.b"], &["a_b", "a b", &"x".repeat(65)]);
        each(
            Code,
            &["a", "a b", "a\u{a0}", "a\u{1}b", "a\u{FFFF}"],
            &[" a", "a ", "a  b", "a\u{1}", "a\u{b}b", "a\tb", "a\u{2003}b"],
        );
        each(Uri, &["urn:oid:1.2", "#x", "urn:\u{FFFE}"], &["a b", "a\u{c}b"]);
        each(
            Oid,
            &["urn:oid:1.2.840"],
            &["1.2", "urn:oid:3.1", "urn:oid:1", "urn:oid:1..2", "urn:oid:1.02"],
        );
        each(
            Uuid,
            &["urn:uuid:c757873d-ec9a-4326-a141-556f43239520"],
            &[
                "urn:uuid:C757873D-ec9a-4326-a141-556f43239520",
                "c757873d-ec9a-4326-a141-556f43239520",
            ],
        );
        each(
            Base64Binary,
            &["AAAA", "AA==", "AA AA\nAAA="],
            &["AAA", "A===", "=AAA", "AA=A", "  "],
        );
        each(
            Text,
            &["x", " ", "a\tb\n", "\u{FFFD}", "\u{0}"],
            &[&"é".repeat(super::STRING_MAX + 1)],
        );
        for text in ["\u{0}", "a\u{7}", "é\u{FFFF}"] {
            assert!(!super::fits_xml(text), "{text:?}");
        }
        assert!(super::fits_xml("a\tb\n\u{FFFD}"));
    }
}
