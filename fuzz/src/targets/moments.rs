//! Points and periods of time in FHIR's forms.

use fhir::{Instant, Period};

pub(crate) const WORDS: &[&str] = &[
    "2026-11-20T08:14:00.123456789+01:00",
    "Z",
    "T",
    "24:00:00",
    "23:59:60",
    "+14:00",
    "-00:00",
    "0001",
    "9999-12-31",
    "-02-29",
    "-13",
    ".",
    "2026-02-30",
    "+",
    "-",
    ":",
    "99999999999999999999",
    "\u{660}",
];

/// A moment is within its period, and is written so that it is read as the same.
pub(crate) fn moment(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (period, instant) = (Period::parse(text), Instant::parse(text));
    if let Some(period) = period {
        assert!(period.start < period.end, "{text:?}: {period:?}");
    }
    let Some(instant) = instant else { return };
    let period = period.expect("a moment is a period too");
    assert_eq!(period.start, instant, "{text:?}");
    // Beyond the years 1 to 9999 (by its zone) FHIR can write nothing: it is clamped.
    let year = instant.to_fhir();
    if !(year.starts_with("0001-01-01") || year.starts_with("9999-12-31")) {
        let millis = instant.0.div_euclid(1_000) * 1_000;
        assert_eq!(Instant::parse(&instant.to_fhir()), Some(Instant(millis)), "{text:?}");
        assert_eq!(Instant::parse(&instant.to_search()), Some(instant), "{text:?}");
    }
}
