//! When each certificate of an endpoint was in use, where the computer's clock may have been wrong
//! at a change.
//!
//! The order in which they were assigned is the truth; the times are what a clock said. Where it
//! stays unsure which of two was in use, both were: asking too many is always safe, because what
//! one of them is not shown only delays.

use fhir::Instant;

use crate::CertificateUse;

/// A certificate of an endpoint, and when it was in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Used<'a> {
    pub(super) fingerprint: &'a str,
    /// Since when it may have been.
    pub(super) from: Instant,
    /// Until when it may have been.
    pub(super) until: Instant,
    /// Until when surely none of the later ones was.
    pub(super) alone_until: Instant,
    /// The last event of the journal that surely none of the later ones has part in.
    pub(super) through: Option<i64>,
}

impl Used<'_> {
    /// Whether it may have been in use at a time.
    pub(super) fn covers(&self, at: Instant) -> bool {
        self.from <= at && at < self.until
    }
}

/// The certificates of one endpoint as they were assigned, with the times in which they may have
/// been in use. What was sent before the first is known of was sent with that. A clock that was
/// behind at a change shows by what the journal knew then: the one before lasts until after that.
/// One that was ahead shows by a later change, or by the time now: then the change was at any time
/// before, as far back as the one before it began, and that lasts until the wrong time. One that
/// was set back while a certificate was in use shows by what the journal wrote meanwhile.
pub(super) fn periods<'a>(uses: &[&'a CertificateUse], now: Instant) -> Vec<Used<'a>> {
    let mut from: Vec<Instant> = Vec::new();
    for (at, used) in uses.iter().enumerate() {
        let is_ahead = used.since > now || uses[at + 1..].iter().any(|it| used.since > end(it));
        let since = match from.last() {
            None => Instant(i64::MIN),
            Some(before) if is_ahead => *before,
            Some(_) => used.since,
        };
        from.push(used.earliest.map_or(since, |earliest| earliest.min(since)));
    }
    let forever = Instant(i64::MAX);
    let one = |(at, used): (usize, &&'a CertificateUse)| Used {
        fingerprint: used.fingerprint.as_str(),
        from: from[at],
        until: uses.get(at + 1).map_or(forever, |next| end(next)),
        alone_until: from[at + 1..].iter().copied().min().unwrap_or(forever),
        through: uses.get(at + 1).and_then(|next| next.event),
    };
    uses.iter().enumerate().map(one).collect()
}

/// When a change surely had ended what was in use before, by the times that are known of it.
fn end(change: &CertificateUse) -> Instant {
    let after = change.after.map(|newest| Instant(newest.0.saturating_add(1)));
    after.map_or(change.since, |after| after.max(change.since))
}

#[cfg(test)]
mod tests {
    use journal::EventTimes;

    use super::*;

    const MIN: i64 = i64::MIN;
    const MAX: i64 = i64::MAX;

    /// Since when, and the newest thing that the journal knew, where that was later.
    type Change = (i64, Option<i64>);
    /// Changes, and what time it is; from, until and alone until of each certificate.
    type Row = (&'static [Change], i64, &'static [[i64; 3]]);

    #[test]
    fn a_clock_that_was_wrong_at_a_change_makes_no_certificate_be_passed_over() {
        let table: [Row; 9] = [
            (&[], 100, &[]),
            (&[(10, None)], 100, &[[MIN, MAX, MAX]]),
            (&[(10, None), (20, None)], 100, &[[MIN, 20, 20], [20, MAX, MAX]]),
            // The clock was behind at the change: the first lasts until what was known.
            (&[(10, None), (20, Some(50))], 100, &[[MIN, 51, 20], [20, MAX, MAX]]),
            // Behind even the first change.
            (&[(10, None), (5, Some(50))], 100, &[[MIN, 51, 5], [5, MAX, MAX]]),
            // Ahead, and the clock is not there yet.
            (&[(10, None), (500, None)], 100, &[[MIN, 500, MIN], [MIN, MAX, MAX]]),
            // Ahead, which the next change shows.
            (
                &[(10, None), (20, None), (500, None), (60, None)],
                900,
                &[[MIN, 20, 20], [20, 500, 20], [20, 60, 60], [60, MAX, MAX]],
            ),
            // Two changes ahead.
            (
                &[(10, None), (500, None), (510, None), (60, None)],
                900,
                &[[MIN, 500, MIN], [MIN, 510, MIN], [MIN, 60, 60], [60, MAX, MAX]],
            ),
            // What the journal knew explains the earlier time: the second was not ahead.
            (
                &[(10, None), (40, None), (20, Some(50))],
                100,
                &[[MIN, 40, 20], [40, 51, 20], [20, MAX, MAX]],
            ),
        ];
        for (changes, now, expected) in table {
            let uses = changes.iter().map(|(since, after)| used(*since, *after)).collect();
            assert_eq!(found(uses, now), expected, "{changes:?}");
        }
    }

    /// The clock was set back to 3 while the second certificate was in use, and had passed the time
    /// of that change again when the third took its place.
    #[test]
    fn a_clock_that_was_set_back_between_two_changes_makes_no_certificate_be_passed_over() {
        let mut uses = vec![used(10, None), used(20, None), used(30, None)];
        uses[0].event = Some(0);
        uses[1].event = Some(7);
        let time = |at| EventTimes { earliest: Instant(at), latest: Instant(29), last: 9 };
        uses[1].end(Some(time(3)));
        assert_eq!(found(uses.clone(), 100), [[MIN, 20, 3], [3, 30, 30], [30, MAX, MAX]]);
        let uses: Vec<_> = uses.iter().collect();
        let through = |it: &Used<'_>| it.through;
        let known: Vec<_> = periods(&uses, Instant(100)).iter().map(through).collect();
        assert_eq!(known, [Some(7), None, None]);
        let mut steady = used(20, None);
        steady.end(Some(time(21)));
        assert_eq!(steady.earliest, None);
    }

    fn used(since: i64, after: Option<i64>) -> CertificateUse {
        CertificateUse {
            endpoint: "one".to_owned(),
            fingerprint: since.to_string(),
            since: Instant(since),
            after: after.map(Instant),
            event: None,
            earliest: None,
        }
    }

    fn found(uses: Vec<CertificateUse>, now: i64) -> Vec<[i64; 3]> {
        let times = |it: &Used<'_>| [it.from.0, it.until.0, it.alone_until.0];
        periods(&uses.iter().collect::<Vec<_>>(), Instant(now)).iter().map(times).collect()
    }
}
