//! The one place where this crate reads the clock; and the form that HTTP has for a time.

use fhir::Instant;
use time::OffsetDateTime;
use time::macros::format_description;

/// Now, as certificates have it.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub(crate) fn utc() -> OffsetDateTime {
    OffsetDateTime::now_utc()
}

/// Now.
pub(crate) fn now() -> Instant {
    let micros = utc().unix_timestamp_nanos() / 1000;
    Instant(i64::try_from(micros).unwrap_or(i64::MAX))
}

/// RFC 9110's form, e.g. `Thu, 10 Jul 2025 08:30:00 GMT`.
pub(crate) fn http_date(at: Instant) -> String {
    let format = format_description!(
        "[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT"
    );
    OffsetDateTime::from_unix_timestamp(at.0 / 1_000_000)
        .ok()
        .and_then(|time| time.format(&format).ok())
        .unwrap_or_default()
}
