//! What a server understood of a search: its `self` link says which parameters it used (FHIR R4,
//! Search, "Server Conformance"), and what it leaves out or changes it has ignored.

use crate::TimeFilter;
use crate::query::{pairs, split};

/// Names of what was asked and is not in the `self` link with the same meaning, in the order asked.
/// Order and encoding do not count; nor does a smaller page than asked for, which a server may
/// choose. Without a link nothing can be said.
pub fn ignored(asked: &str, self_link: Option<&str>) -> Vec<String> {
    let Some(link) = self_link else { return Vec::new() };
    let (_, query) = link.split_once('?').unwrap_or_default();
    let answered: Vec<_> = pairs(query).collect();
    let is_used = |name: &str, value: &str| {
        answered.iter().any(|(used, as_value)| says_the_same(name, value, used, as_value))
    };
    let left_out = pairs(asked).filter(|(name, value)| !is_used(name, value));
    let mut names: Vec<String> = Vec::new();
    for (name, _) in left_out {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Whether a parameter of the link says what one of the question said.
fn says_the_same(name: &str, value: &str, used: &str, as_value: &str) -> bool {
    match (name, used) {
        // The name differs between releases; a server that knows both may say either.
        ("_lastUpdated" | "_lastUpdate", "_lastUpdated" | "_lastUpdate") | ("date", "date") => {
            same_time(value, as_value)
        }
        ("_sort", "_sort") => same_sort(value) == same_sort(as_value),
        ("_count", "_count") => match (value.parse::<u32>(), as_value.parse::<u32>()) {
            (Ok(0), Ok(less)) => less == 0,
            (Ok(wanted), Ok(less)) => 0 < less && less <= wanted,
            _ => value == as_value,
        },
        ("_count", "_summary") => value == "0" && as_value == "count",
        // Pages are counted from 1; links of the deployed service count from 0 under another name.
        ("page", "_page") => {
            value.parse::<u32>().is_ok_and(|page| as_value.parse() == Ok(page.wrapping_sub(1)))
        }
        ("identifier", "identifier") => same_token(value, as_value),
        ("elm-status", "elm-status") => value == as_value.strip_prefix('|').unwrap_or(as_value),
        _ => name == used && value == as_value,
    }
}

/// The same points in time, however precisely they are written.
fn same_time(value: &str, as_value: &str) -> bool {
    let starts = |text: &str| {
        let filter = TimeFilter::parse(text)?;
        let parts = filter.alternatives().map(|(prefix, period)| Some((prefix, period?.start)));
        parts.collect::<Option<Vec<_>>>()
    };
    value == as_value || starts(value).is_some_and(|known| starts(as_value) == Some(known))
}

fn same_sort(value: &str) -> String {
    value.replace("_lastUpdated", "_lastUpdate")
}

/// A UUID has no case, and a server may add the system that every identifier of this interface has.
fn same_token(value: &str, as_value: &str) -> bool {
    let bare = |text: &str| split(text, '|').last().copied().unwrap_or_default().to_lowercase();
    let has_system = |text: &str| split(text, '|').len() > 1;
    value.eq_ignore_ascii_case(as_value)
        || (!has_system(value) && has_system(as_value) && bare(value) == bare(as_value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_server_ignored_is_named() {
        let asked = "_lastUpdated=ge2026-07-01T08%3A00%3A00.000000&elm-status=failed&_sort=-date\
                     &_count=20&page=3&identifier=urn%3Auuid%3AAb";
        let base = "https://a/v1/fhir/DocumentReference?";
        let link = |query: &str| ignored(asked, Some(&format!("{base}{query}")));
        let none: &[&str] = &[];
        let good = "page=3&_count=20&_sort=-date&identifier=urn:uuid:ab&elm-status=failed\
                    &_lastUpdated=ge2026-07-01T08:00:00Z";
        assert_eq!(link(good), none, "order, encoding, zone and case aside");
        assert_eq!(ignored(asked, None), none, "nothing can be said");
        for (from, to, names) in [
            ("page=3", "page=1", &["page"][..]),
            ("page=3", "_page=2", &[]),
            ("page=3", "_page=3", &["page"]),
            ("page=3&", "", &["page"]),
            ("_count=20", "_count=10", &[]),
            ("_count=20", "_count=500", &["_count"]),
            ("_count=20&", "", &["_count"]),
            ("_sort=-date", "_sort=date", &["_sort"]),
            ("elm-status=failed", "elm-status=completed", &["elm-status"]),
            ("elm-status=failed", "elm-status=%7Cfailed", &[]),
            ("identifier=urn:uuid:ab", "identifier=urn:ietf:rfc:3986%7Curn:uuid:ab", &[]),
            ("identifier=urn:uuid:ab", "identifier=urn:uuid:ac", &["identifier"]),
            ("_lastUpdated=ge", "_lastUpdate=ge", &[]),
            ("_lastUpdated=ge", "_lastUpdated=gt", &["_lastUpdated"]),
            ("08:00:00Z", "09:00:00Z", &["_lastUpdated"]),
            ("failed", "failed&_format=json", &[]),
        ] {
            assert!(good.contains(from), "{from}");
            assert_eq!(link(&good.replacen(from, to, 1)), names, "{from} → {to}");
        }
        let all = ["_lastUpdated", "elm-status", "_sort", "_count", "page", "identifier"];
        assert_eq!(ignored(asked, Some("https://a/v1/fhir/DocumentReference")), all);
        assert_eq!(ignored("_count=0", Some("?_summary=count")), none);
        let twice = "date=ge2025&date=lt2026";
        assert_eq!(ignored(twice, Some("?date=lt2026&date=ge2025")), none);
        assert_eq!(ignored(twice, Some("?date=ge2025")), ["date"]);
    }
}
