//! `Retry-After` and `Date` (RFC 9110, 10.2.3 and 5.6.7).

use std::time::{Duration, UNIX_EPOCH};

use fhir::Instant;

/// Longer wishes are cut: an absurd value must not stop a queue for a week.
pub(crate) const RETRY_AFTER_MAX: Duration = Duration::from_secs(3600);

/// An HTTP date in any of its three forms.
pub(crate) fn http_date(text: &str) -> Option<Instant> {
    let date = httpdate::parse_http_date(text.trim()).ok()?;
    let seconds = date.duration_since(UNIX_EPOCH).ok()?.as_secs();
    Some(Instant::from_seconds(i64::try_from(seconds).ok()?))
}

/// How long to wait: seconds, or a date that is measured against the server's own clock (ours may
/// be wrong). A date without a server's clock, and nonsense, count as nothing said.
pub(crate) fn retry_after(value: &str, server_date: Option<Instant>) -> Option<Duration> {
    let value = value.trim();
    let wait = if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        Duration::from_secs(value.parse().unwrap_or(u64::MAX))
    } else {
        let micros = http_date(value)?.0.saturating_sub(server_date?.0);
        Duration::from_micros(u64::try_from(micros).unwrap_or(0))
    };
    Some(wait.min(RETRY_AFTER_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_dates_and_nonsense() {
        let now = http_date("Fri, 20 Nov 2026 10:00:00 GMT");
        assert_eq!(now, Some(Instant::from_seconds(1_795_168_800)));
        let seconds = |text| retry_after(text, now).map(|wait| wait.as_secs());
        assert_eq!(seconds("120"), Some(120));
        assert_eq!(seconds("Fri, 20 Nov 2026 10:05:00 GMT"), Some(300));
        assert_eq!(seconds("Friday, 20-Nov-26 10:05:00 GMT"), Some(300));
        assert_eq!(seconds("Sunday, 06-Nov-94 08:49:37 GMT"), Some(0));
        assert_eq!(seconds("Monday, 31-Dec-68 23:59:59 GMT"), Some(3600));
        assert_eq!(seconds("Fri Nov 20 10:05:00 2026"), Some(300));
        assert_eq!(seconds("Sun Nov  1 10:05:00 2026"), Some(0));
        assert_eq!(seconds("Fri, 20 Nov 2026 09:00:00 GMT"), Some(0));
        assert_eq!(seconds("99999999999999999999999"), Some(3600));
        assert_eq!(seconds("Fri, 20 Nov 2099 10:05:00 GMT"), Some(3600));
        for nonsense in [
            "",
            "-1",
            "soon",
            "1.5",
            "Fri, 32 Nov 2026 10:05:00 GMT",
            "Friday, 20-Nov-é6 10:05:00 GMT",
        ] {
            assert_eq!(seconds(nonsense), None, "{nonsense}");
        }
        assert_eq!(retry_after("Fri, 20 Nov 2026 10:05:00 GMT", None), None);
    }
}
