//! The one place where this crate reads the clock; and the form that HTTP has for a time.

use std::time::{Duration, UNIX_EPOCH};

use fhir::Instant;
use time::OffsetDateTime;

/// Now, as certificates have it.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub(crate) fn utc() -> OffsetDateTime {
    OffsetDateTime::now_utc()
}

/// The current time by the computer's clock.
pub(crate) fn now() -> Instant {
    let micros = utc().unix_timestamp_nanos() / 1000;
    Instant(i64::try_from(micros).unwrap_or(i64::MAX))
}

/// RFC 9110's form, e.g. `Thu, 10 Jul 2025 08:30:00 GMT`.
pub(crate) fn http_date(at: Instant) -> String {
    // The form has four digits for a year.
    let seconds = u64::try_from(at.0 / 1_000_000).unwrap_or(0).min(END_OF_9999);
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(seconds))
}

/// 31 December 9999, 23:59:59 UTC, in seconds.
const END_OF_9999: u64 = 253_402_300_799;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_the_form_of_http() {
        let shown = |seconds| http_date(Instant::from_seconds(seconds));
        assert_eq!(shown(1_752_136_200), "Thu, 10 Jul 2025 08:30:00 GMT");
        assert_eq!(shown(-1), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(shown(300_000_000_000), "Fri, 31 Dec 9999 23:59:59 GMT");
    }
}
