//! Whether a file mends nothing but a slip in the date of one that is on hold for it. Pure.
//!
//! Whatever else differs may be any other version, also an older one: that one goes beside it, and
//! people are told of both.

use fhir::{Difference, Instant, Period};
use report::lies_ahead;

use super::DIFFERENCES_MAX;
use super::standing::Slip;
use crate::candidate::Parsed;

/// Where a document says when it was written, as its export sets it anew each time.
const WRITTEN_AT: [&str; 2] = ["Bundle.timestamp", "Composition.date"];
/// The same of each resource.
const UPDATED: &str = ".meta.lastUpdated";
/// FHIR types of times.
const TIMES: [&str; 3] = ["date", "dateTime", "instant"];
/// A year, on average, in microseconds.
const YEAR: i64 = 31_556_952_000_000;
/// Time in which a slip of a whole year is mended, in microseconds: one that is mended later is not
/// told from another date.
const MENDED_WITHIN: i64 = 31 * 86_400_000_000;

/// Whether a report differs from the one with this slip only in the times at which it was written,
/// and in times in which the year has the same slip.
pub(super) fn mends(slip: Slip, parsed: &Parsed, differences: Option<&[Difference]>) -> bool {
    let Some(date) = parsed.summary.date else { return false };
    let years = years_too_many(slip.date, date);
    differences.is_some_and(|all| {
        all.len() < DIFFERENCES_MAX
            && !all.is_empty()
            && all.iter().all(|it| is_written(it) || has_slip(it, slip.taken_in, years))
    })
}

fn is_written(it: &Difference) -> bool {
    WRITTEN_AT.contains(&it.element.as_str()) || it.element.ends_with(UPDATED)
}

/// By how many whole years one date lies ahead of another one, where it lies ahead by that and no
/// more than it takes to mend it.
fn years_too_many(slip: Instant, mended: Instant) -> Option<i64> {
    let ahead = slip.0.saturating_sub(mended.0);
    let years = ahead.saturating_add(YEAR / 2).div_euclid(YEAR);
    let rest = ahead.saturating_sub(years.saturating_mul(YEAR));
    (years > 0 && rest.abs() <= MENDED_WITHIN).then_some(years)
}

/// Whether a time lay ahead and does so no longer, and only its year is another one, by as many
/// years.
fn has_slip(it: &Difference, taken_in: Instant, years: Option<i64>) -> bool {
    let (Some(before), Some(after)) = (it.before.as_deref(), it.after.as_deref()) else {
        return false;
    };
    let ahead = |text| Period::parse(text).map(|time| lies_ahead(time.start, taken_in));
    let is_time = TIMES.contains(&it.type_name.as_str());
    is_time
        && ahead(before) == Some(true)
        && ahead(after) == Some(false)
        && years.is_some()
        && years == years_between(before, after)
}

/// By how many years the first of two days is later, where they differ in nothing else.
fn years_between(later: &str, earlier: &str) -> Option<i64> {
    let parts = |text: &str| {
        let (year, rest) = text.split_once('-')?;
        Some((year.parse::<i64>().ok()?, rest.to_owned()))
    };
    let ((later, rest), (earlier, same)) = (parts(later)?, parts(earlier)?);
    (rest == same && rest.len() >= "MM-DD".len()).then(|| later - earlier)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(day: &str) -> Instant {
        Period::parse(day).unwrap().start
    }

    #[test]
    fn a_slip_is_a_whole_number_of_years_and_what_it_takes_to_mend_it() {
        for (slip, mended, years) in [
            ("2027-11-20", "2026-11-20", Some(1)),
            ("2027-11-20", "2026-11-23", Some(1)),
            ("2029-02-28", "2026-03-05", Some(3)),
            ("2027-11-20", "2027-01-10", None),
            ("2027-01-13", "2027-01-05", None),
            ("2027-01-03", "2026-12-28", None),
            ("2026-11-20", "2027-11-20", None),
        ] {
            assert_eq!(years_too_many(at(slip), at(mended)), years, "{slip} {mended}");
        }
    }

    #[test]
    fn only_the_year_of_a_time_may_be_mended() {
        let taken_in = at("2026-11-25");
        let slips = |type_name: &str, before: &str, after: &str| {
            let difference = Difference {
                expression: String::new(),
                element: "Specimen.collection.collectedDateTime".to_owned(),
                type_name: type_name.to_owned(),
                line: 1,
                before: Some(before.to_owned()),
                after: Some(after.to_owned()),
            };
            has_slip(&difference, taken_in, Some(1))
        };
        assert!(slips("dateTime", "2027-11-20", "2026-11-20"));
        assert!(slips("instant", "2027-11-20T10:00:00Z", "2026-11-20T10:00:00Z"));
        assert!(!slips("dateTime", "2027-11-20", "2026-11-19"), "another day");
        assert!(!slips("dateTime", "2028-11-20", "2026-11-20"), "another slip");
        assert!(!slips("dateTime", "2026-11-20", "2025-11-20"), "it lies not ahead");
        assert!(!slips("dateTime", "2027", "2026"), "no day");
        assert!(!slips("string", "2027-11-20", "2026-11-20"), "no time");
    }
}
