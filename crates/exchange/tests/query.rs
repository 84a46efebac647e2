//! The query string: what is written is read again, and what cannot be read is named.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail")]

use exchange::{
    Processing, Query, Release, SortKey, TimeFilter, TimePrefix, decode, encode, negotiate,
};
use fhir::{Format, Instant};
use proptest::prelude::*;

fn parsed(raw: &str) -> Query {
    Query::parse(raw, Release::R1_13_1).unwrap().0
}

fn filter(text: &str) -> TimeFilter {
    TimeFilter::parse(text).unwrap()
}

#[test]
fn a_full_query_by_release() {
    let query = Query {
        last_updated: vec![filter("gt2025-07-10T08:30:00")],
        identifier: vec!["urn:ietf:rfc:3986|urn:uuid:1".to_owned()],
        status: Some(Processing::Failed),
        sort: vec![(SortKey::LastUpdated, true), (SortKey::Identifier, false)],
        count: Some(20),
        page: Some(2),
        ..Query::default()
    };
    assert_eq!(
        query.to_query_string(Release::R1_13_1),
        "_lastUpdated=gt2025-07-10T08%3A30%3A00&identifier=urn%3Aietf%3Arfc%3A3986%7Curn%3Auuid%3A1\
         &elm-status=failed&_sort=-_lastUpdated%2Cidentifier&_count=20&page=2"
    );
    let old = query.to_query_string(Release::R1_8_0);
    assert!(old.starts_with("_lastUpdate=gt2025") && old.contains("_sort=-_lastUpdated%2C"));
    // The release says nothing of zones, so the time carries one.
    assert!(old.contains("gt2025-07-10T08%3A30%3A00Z"), "{old}");
    let zoned = Query { last_updated: vec![filter("gt2025-07-10T08:30:00Z")], ..query.clone() };
    assert_eq!(Query::parse(&old, Release::R1_8_0).unwrap(), (zoned.clone(), vec![]));
    assert_eq!(zoned.to_query_string(Release::R1_8_0), old, "a zone that is there stays");
    let days = Query { date: vec![filter("ge2025-07-10,lt2025-07-12T08:00")], ..Query::default() };
    let written = days.to_query_string(Release::R1_8_0);
    assert_eq!(written, "date=ge2025-07-10%2Clt2025-07-12T08%3A00Z");
    for name in ["_lastUpdate", "_lastUpdated"] {
        for release in [Release::R1_13_1, Release::R1_8_0] {
            let sorted = Query::parse(&format!("_sort={name}"), release).unwrap().0;
            assert_eq!(sorted.sort, [(SortKey::LastUpdated, false)], "{name}");
        }
    }
    let (_, unknown) = Query::parse("_lastUpdated=gt2025", Release::R1_8_0).unwrap();
    assert_eq!(unknown, ["_lastUpdated"]);
    assert_eq!(
        query.to_query_string(Release::R1_0_0Trialuse),
        "identifier=urn%3Aietf%3Arfc%3A3986%7Curn%3Auuid%3A1"
    );
    assert_eq!(query.beyond(Release::R1_0_0Trialuse), Some("_lastUpdate"));
    assert_eq!(
        Query { page: Some(1), ..Query::default() }.beyond(Release::R1_0_0Trialuse),
        Some("page")
    );
    for release in [Release::R1_13_1, Release::R1_8_0] {
        assert_eq!(query.beyond(release), None);
    }
}

#[test]
fn and_or_zones_and_unknown_parameters() {
    let query = parsed("date=ge2025&date=lt2026&identifier=a,b&identifier=c");
    assert_eq!(query.date.len(), 2);
    assert_eq!(query.identifier, ["a,b", "c"]);
    for zone in ["%2B02:00", "+02:00"] {
        let query = parsed(&format!("_lastUpdated=gt2023-10-02T08:00:00{zone}"));
        assert!(!query.last_updated[0].matches(Instant::parse("2023-10-02T06:00:00Z").unwrap()));
        assert!(query.last_updated[0].matches(Instant::parse("2023-10-02T06:00:01Z").unwrap()));
    }
    let (query, unknown) =
        Query::parse("_lastupdated=gt2025&identifier:exact=a&date=&x&_id=1", Release::R1_13_1)
            .unwrap();
    assert_eq!(unknown, ["_lastupdated", "identifier:exact", "date", "x"]);
    assert_eq!(query.id.as_deref(), Some("1"));
    assert_eq!(parsed("_summary=count").count, Some(0));
}

#[test]
fn malformed_values_are_all_named() {
    let problems = Query::parse(
        "date=2025-13&date=sa2025&date=gt&elm-status=done&elm-status=failed,completed&_sort=name\
         &_count=-1&page=0&_count=x&identifier=a%7Cb%7Cc&identifier=%7C&_count=99999999999",
        Release::R1_13_1,
    )
    .unwrap_err();
    let found: Vec<_> = problems.iter().map(|p| (p.parameter.as_str(), p.reason)).collect();
    assert_eq!(
        found,
        [
            ("date", "not-a-date"),
            ("date", "unknown-prefix"),
            ("date", "not-a-date"),
            ("elm-status", "unknown-status"),
            ("elm-status", "several-statuses"),
            ("_sort", "unknown-sort-key"),
            ("_count", "not-a-number"),
            ("page", "not-a-number"),
            ("_count", "not-a-number"),
            ("identifier", "not-a-token"),
            ("identifier", "not-a-token"),
            ("_count", "not-a-number"),
        ]
    );
    assert_eq!(problems[0].value, "2025-13");
}

#[test]
fn ranges_have_fhirs_semantics() {
    let at = |text| Instant::parse(text).unwrap();
    let (june, july, august) =
        (at("2025-06-30T23:59:59.999999Z"), at("2025-07-10T12:00:00Z"), at("2025-08-01T00:00:00Z"));
    for (text, expected) in [
        ("2025-07", [false, true, false]),
        ("eq2025-07", [false, true, false]),
        ("ne2025-07", [true, false, true]),
        ("gt2025-07", [false, false, true]),
        ("ge2025-07", [false, true, true]),
        ("lt2025-07", [true, false, false]),
        ("le2025-07", [true, true, false]),
        ("lt2025-07,ge2025-08", [true, false, true]),
    ] {
        let filter = filter(text);
        assert_eq!([june, july, august].map(|at| filter.matches(at)), expected, "{text}");
    }
    // A day is left out whole.
    assert!(!filter("gt2025-07-10").matches(at("2025-07-10T23:59:59Z")));
}

fn any_filter() -> impl Strategy<Value = TimeFilter> {
    let value = prop_oneof![
        "20[0-9]{2}",
        "20[0-9]{2}-0[1-9]",
        "20[0-9]{2}-0[1-9]-(1[0-9]|2[0-8])",
        "20[0-9]{2}-0[1-9]-(1[0-9]|2[0-8])T1[0-9]:[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,6})?(Z|[+-]0[0-9]:00)?",
    ];
    (proptest::sample::select(&TimePrefix::ALL[..]), value)
        .prop_map(|(prefix, value)| TimeFilter { prefix, value })
}

fn any_query() -> impl Strategy<Value = Query> {
    let statuses = vec![
        None,
        Some(Processing::InProgress),
        Some(Processing::Completed),
        Some(Processing::Failed),
    ];
    (
        proptest::collection::vec(any_filter(), 0..3),
        proptest::collection::vec(any_filter(), 0..3),
        proptest::collection::vec("([^,|]{0,9}\\|)?[^,|]{1,12}", 0..3),
        proptest::sample::select(statuses),
        proptest::option::of("[A-Za-z0-9.-]{1,20}"),
        proptest::collection::vec(
            (proptest::sample::select(&SortKey::ALL[..]), any::<bool>()),
            0..3,
        ),
        proptest::option::of(any::<u32>()),
        proptest::option::of(1u32..),
    )
        .prop_map(|(date, last_updated, identifier, status, id, sort, count, page)| Query {
            date,
            last_updated,
            identifier,
            status,
            id,
            sort,
            count,
            page,
        })
}

proptest! {
    #[test]
    fn a_query_written_is_read_again(query in any_query()) {
        let written = query.to_query_string(Release::R1_13_1);
        prop_assert_eq!(Query::parse(&written, Release::R1_13_1), Ok((query.clone(), vec![])));
        // Here times get the zone that they mean, and nothing else changes.
        let written = query.to_query_string(Release::R1_8_0);
        let (again, unknown) = Query::parse(&written, Release::R1_8_0).unwrap();
        prop_assert_eq!(again.to_query_string(Release::R1_8_0), written);
        prop_assert_eq!(unknown, Vec::<String>::new());
        let instants = |query: &Query| -> Vec<_> {
            let filters = query.date.iter().chain(&query.last_updated);
            filters.flat_map(|filter| filter.alternatives().collect::<Vec<_>>()).collect()
        };
        prop_assert_eq!(instants(&again), instants(&query));
    }

    #[test]
    fn percent_coding_is_lossless_and_reading_never_panics(text in ".{0,40}") {
        let encoded = encode(&text);
        prop_assert!(encoded.bytes().all(|b| b.is_ascii_graphic() && !b"&=+#?".contains(&b)));
        prop_assert_eq!(decode(&encoded), text.clone());
        let _ = decode(&text);
        for release in Release::ALL {
            let _ = Query::parse(&text, release);
        }
        let _ = negotiate(Some(&text), None, Format::Json);
        let _ = negotiate(None, Some(&text), Format::Xml);
    }
}
