//! GET: by id, by identifier, by time of change, and the search as such.

use std::collections::BTreeSet;
use std::time::Duration;

use client::{Authority, HttpAuthority, Limits, Why};
use exchange::{Processing, Query, Release};
use fhir::Instant;
use testkit::{Reaction, Seen};

use crate::{IDENTIFIER, World, fhir, limits, outcome, reference, told};

/// A searchset with links.
pub(crate) fn bundle(entries: &[String], links: &[(&str, String)]) -> String {
    let links: Vec<String> = links
        .iter()
        .map(|(relation, url)| format!(r#"{{"relation":"{relation}","url":"{url}"}}"#))
        .collect();
    let entries: Vec<String> =
        entries.iter().map(|resource| format!(r#"{{"resource":{resource}}}"#)).collect();
    let list = |name: &str, all: Vec<String>| match all.is_empty() {
        true => String::new(),
        false => format!(r#","{name}":[{}]"#, all.join(",")),
    };
    format!(
        r#"{{"resourceType":"Bundle","meta":{{"lastUpdated":"2026-07-01T12:00:00Z"}},"type":"searchset","total":{}{}{}}}"#,
        entries.len(),
        list("link", links),
        list("entry", entries)
    )
}

pub(crate) fn own(seen: &Seen) -> (&'static str, String) {
    ("self", format!("https://localhost{}", seen.target))
}

#[tokio::test]
async fn read_by_id() {
    let world = World::new();
    let server = world
        .server(|seen| match seen.target.as_str() {
            "/v1/fhir/DocumentReference/r-1" => fhir(200, reference("r-1", "failed", IDENTIFIER)),
            "/v1/fhir/DocumentReference/r-2" => fhir(200, reference("r-9", "failed", IDENTIFIER)),
            "/v1/fhir/DocumentReference/r-3" => fhir(200, outcome("information")),
            "/v1/fhir/DocumentReference/r-4" => {
                let two = r#"{"url":"status","valueCode":"completed"},{"url":"status""#;
                let one = r#"{"url":"status""#;
                fhir(200, reference("r-4", "failed", IDENTIFIER).replacen(one, two, 1))
            }
            "/v1/fhir/DocumentReference/..%2Fx" => fhir(404, ""),
            "/v1/fhir/DocumentReference/down" => fhir(503, "").header("Retry-After", "7"),
            "/v1/fhir/DocumentReference/cut" => Reaction::CutBeforeAnswer,
            "/v1/fhir/DocumentReference/no" => fhir(403, ""),
            _ => fhir(404, outcome("error")),
        })
        .await;
    let authority = world.authority(&server);
    let received = authority.status("r-1").await.unwrap();
    assert_eq!(received.answer.processing, Some(Processing::Failed));
    for (receipt, expected) in [
        ("r-2", ("transient", "another-identifier")),
        ("r-3", ("transient", "not-fhir")),
        // It says completed, and failed.
        ("r-4", ("transient", "not-fhir")),
        ("../x", ("transient", "not-found")),
        ("gone", ("transient", "not-found")),
        ("down", ("transient", "unavailable")),
        ("cut", ("transient", "cut")),
        ("no", ("locked", "forbidden")),
    ] {
        assert_eq!(told(&authority.status(receipt).await.unwrap_err()), expected, "{receipt}");
    }
}

#[tokio::test]
async fn find_tries_both_forms_of_the_identifier() {
    let bare =
        "/v1/fhir/DocumentReference?identifier=urn%3Auuid%3A0d1c9a52-6f0e-4f61-9d5e-3b6d0c7b1a11";
    let world = World::new();
    let hit = || reference("r-1", "in-progress", IDENTIFIER);
    let by_bare = world.server(move |seen| fhir(200, bundle(&[hit()], &[own(seen)]))).await;
    let found = world.authority(&by_bare).find(IDENTIFIER).await.unwrap();
    assert_eq!(found.answers.len(), 1);
    assert_eq!(by_bare.seen().len(), 1);
    assert_eq!(by_bare.seen()[0].target, bare);

    for refusal in [None, Some(outcome("error")), Some(String::new())] {
        let by_token = world
            .server(move |seen| match (seen.target.contains("%7C"), &refusal) {
                (true, _) => fhir(200, bundle(&[hit()], &[own(seen)])),
                (false, Some(body)) => fhir(400, body.clone()),
                (false, None) => fhir(200, bundle(&[], &[own(seen)])),
            })
            .await;
        let found = world.authority(&by_token).find(IDENTIFIER).await.unwrap();
        assert_eq!(found.answers[0].receipt.as_deref(), Some("r-1"));
        let asked = by_token.seen()[1].target.clone();
        assert!(asked.contains("identifier=urn%3Aietf%3Arfc%3A3986%7Curn%3Auuid%3A"), "{asked}");
    }
    let empty = world.server(|seen| fhir(200, bundle(&[], &[own(seen)]))).await;
    let found = world.authority(&empty).find(IDENTIFIER).await.unwrap();
    assert!(found.answers.is_empty());
    assert_eq!(empty.seen().len(), 2, "both forms were asked");
}

#[tokio::test]
async fn find_never_believes_a_result_that_was_not_asked_for() {
    let world = World::new();
    let stranger = reference("r-7", "completed", "urn:uuid:stranger");
    let everything = stranger.clone();
    let ignoring =
        world.server(move |_| fhir(200, bundle(std::slice::from_ref(&everything), &[]))).await;
    let fault = world.authority(&ignoring).find(IDENTIFIER).await.unwrap_err();
    assert_eq!(told(&fault), ("transient", "parameter-ignored"));
    let links = [("self", "https://localhost/v1/fhir/DocumentReference".to_owned())];
    let saying_so = world.server(move |_| fhir(200, bundle(&[], &links))).await;
    let fault = world.authority(&saying_so).find(IDENTIFIER).await.unwrap_err();
    assert_eq!(told(&fault), ("transient", "parameter-ignored"));
    // Among strangers, our own is still found.
    let mixed = [stranger, reference("r-1", "completed", IDENTIFIER)];
    let mixed = world.server(move |_| fhir(200, bundle(&mixed, &[]))).await;
    assert_eq!(world.authority(&mixed).find(IDENTIFIER).await.unwrap().answers.len(), 1);
    for (reaction, expected) in [
        (fhir(403, ""), ("locked", "forbidden")),
        (fhir(404, ""), ("locked", "status")),
        (fhir(400, ""), ("locked", "unexplained")),
        (fhir(400, outcome("error")), ("refused", "")),
        (fhir(500, ""), ("transient", "unavailable")),
        (fhir(200, outcome("error")), ("transient", "not-fhir")),
        (Reaction::CutBeforeAnswer, ("transient", "cut")),
        (Reaction::EndlessBody, ("transient", "too-large")),
    ] {
        let server = world.server(move |_| reaction.clone()).await;
        let fault = world.authority(&server).find(IDENTIFIER).await.unwrap_err();
        assert_eq!(told(&fault), expected);
    }
}

/// An empty page says nothing where it says itself that there is more, or that something went
/// wrong.
#[tokio::test]
async fn find_believes_an_empty_result_only_where_it_is_whole() {
    let world = World::new();
    let next = ("next", "/v1/fhir/DocumentReference?identifier=x&_page=1".to_owned());
    let (empty, hit) = (String::new(), reference("r-1", "completed", IDENTIFIER));
    // What the first page says, and what the second one shows: nothing, or ours.
    let first = |links: &[(&str, String)]| bundle(&[], links);
    for (total, linked, issue, second, expected) in [
        (1, false, false, &empty, Err("pages-moved")),
        (0, false, true, &empty, Err("not-fhir")),
        (0, true, false, &empty, Ok(0)),
        (0, true, false, &hit, Ok(1)),
        (0, false, false, &empty, Ok(0)),
    ] {
        let (second, next) = (second.clone(), next.clone());
        let server = world
            .server(move |seen| {
                if seen.target.contains("_page") {
                    let entries: Vec<String> =
                        [second.clone()].into_iter().filter(|it| !it.is_empty()).collect();
                    return fhir(200, bundle(&entries, &[]));
                }
                let mut links = vec![own(seen)];
                links.extend(linked.then(|| next.clone()));
                let said = match issue {
                    true => bundle(&[outcome("error")], &links),
                    false => first(&links),
                };
                let total = format!("\"total\":{total}");
                let body = said.replace("\"total\":0", &total).replace("\"total\":1", &total);
                fhir(200, body)
            })
            .await;
        let found = world.authority(&server).find(IDENTIFIER).await;
        let found = found.map(|found| found.answers.len()).map_err(|fault| told(&fault).1);
        assert_eq!(found, expected, "{total} {linked} {issue}");
    }
    // A walk without end ends.
    let endless = world.server(move |_| fhir(200, bundle(&[], std::slice::from_ref(&next)))).await;
    let fault = world.authority(&endless).find(IDENTIFIER).await.unwrap_err();
    assert_eq!(told(&fault), ("transient", "too-many-pages"));
    assert_eq!(endless.seen().len(), 2, "a page that leads to itself is read once");
}

/// What proves an answer is the page that it stands on.
#[tokio::test]
async fn of_several_pages_the_one_that_counts_is_the_proof() {
    let world = World::new();
    for (states, proof) in [
        (["in-progress", "completed"], 1),
        (["completed", "failed"], 0),
        (["failed", "in-progress"], 1),
        (["completed", "completed"], 0),
    ] {
        let server = world
            .server(move |seen| {
                let at = usize::from(seen.target.contains("_page"));
                let next = ("next", "/v1/fhir/DocumentReference?identifier=x&_page=1".to_owned());
                let links: Vec<_> = [next].into_iter().filter(|_| at == 0).collect();
                let entry = reference(&format!("r-{at}"), states[at], IDENTIFIER);
                fhir(200, bundle(&[entry], &links))
            })
            .await;
        let found = world.authority(&server).find(IDENTIFIER).await.unwrap();
        assert_eq!(found.answers.len(), 2, "{states:?}");
        let body = String::from_utf8(found.evidence.body).unwrap();
        assert!(body.contains(&format!("r-{proof}")), "{states:?}: {body}");
    }
}

#[tokio::test]
async fn changes_follow_the_links_as_given() {
    let world = World::new();
    let server = world
        .server(|seen| {
            let page = |n: u32, next: Option<&str>| {
                let entry = reference(&format!("r-{n}"), "completed", &format!("urn:uuid:{n}"));
                let next = next.map(|url| ("next", url.to_owned()));
                let links: Vec<_> = [own(seen)].into_iter().chain(next).collect();
                fhir(200, bundle(&[entry], &links))
            };
            match seen.target.as_str() {
                t if t.contains("_page=1") => page(2, Some("?_page=2&_count=1")),
                t if t.contains("_page=2") => page(3, None),
                _ => page(1, Some("/v1/fhir/DocumentReference?_page=1&_count=1")),
            }
        })
        .await;
    let since = Instant::from_seconds(1_782_000_000);
    for release in [Release::R1_13_1, Release::R1_8_0] {
        let mut endpoint = world.endpoint(&server);
        endpoint.release = release;
        let before = server.seen().len();
        let authority = world.authority_of(&endpoint);
        let changes = authority.changed_since(Some(since)).await.unwrap();
        let receipts: Vec<_> = changes.answers.iter().filter_map(|a| a.receipt.clone()).collect();
        assert_eq!(receipts, ["r-1", "r-2", "r-3"]);
        assert_eq!((changes.incomplete, changes.evidence.len()), (None, 3));
        assert_eq!(changes.server_time, Instant::parse("2026-07-01T12:00:00Z"));
        let asked = server.seen()[before].target.clone();
        // A full instant: a day alone would leave that whole day out.
        let time = format!("{}=ge2026-06-21T00%3A00%3A00.000000", release.facts().last_updated);
        assert!(asked.contains(&time) && asked.contains("_sort=_lastUpdated"), "{asked}");
    }
}

/// Pages by number, while reports move: one that changes goes to the end, and another takes the
/// place that was read already. The pages show less than they say there is, so they are read again;
/// where they stay short of it, this is not everything.
#[tokio::test]
async fn entries_that_move_between_pages_are_found() {
    let world = World::new();
    // What each reading shows, page by page; how many of them there are, and what is said of the
    // result.
    type Row = (&'static [[u32; 3]], usize, Option<Why>);
    let rows: [Row; 4] = [
        (&[[1, 2, 3]], 3, None),
        (&[[1, 3, 1], [2, 3, 1]], 3, None),
        (&[[1, 2, 2], [1, 2, 2]], 2, None),
        (&[[1, 1, 1], [1, 2, 1], [1, 1, 1]], 2, Some(Why::PagesMoved)),
    ];
    for (readings, shown, why) in rows {
        let readings_of = readings.to_vec();
        let server = world
            .server(move |seen| {
                let reading = readings_of[seen.number / 3];
                let at = seen.number % 3;
                let next = format!("/v1/fhir/DocumentReference?_page={}", at + 1);
                let next = (at < 2).then_some(("next", next));
                let links: Vec<_> = [own(seen)].into_iter().chain(next).collect();
                let id = reading[at];
                let entry = reference(&format!("r-{id}"), "completed", &format!("urn:uuid:{id}"));
                fhir(200, bundle(&[entry], &links).replace("\"total\":1", "\"total\":3"))
            })
            .await;
        let changes = world.authority(&server).changed_since(None).await.unwrap();
        let found: BTreeSet<_> = changes.answers.iter().filter_map(|a| a.receipt.clone()).collect();
        assert_eq!((found.len(), changes.incomplete), (shown, why), "{readings:?}");
        assert_eq!(server.seen().len(), 3 * readings.len(), "{readings:?}");
    }
}

#[tokio::test]
async fn changes_say_when_they_are_not_everything() {
    let world = World::new();
    let rows: [(&str, Why); 3] = [
        ("https://elsewhere.example/v1/fhir/DocumentReference?_page=1", Why::ForeignLink),
        ("/v1/fhir/DocumentReference?_page=1", Why::TooManyPages),
        ("", Why::ParameterIgnored { name: "_lastUpdated".to_owned() }),
    ];
    for (next, why) in rows {
        let server = world
            .server(move |seen| {
                let own = match next.is_empty() {
                    true => ("self", "https://localhost/v1/fhir/DocumentReference".to_owned()),
                    false => own(seen),
                };
                let next = (!next.is_empty()).then(|| ("next", next.to_owned()));
                let links: Vec<_> = [own].into_iter().chain(next).collect();
                fhir(200, bundle(&[], &links))
            })
            .await;
        let authority = world.authority(&server);
        let changes = authority.changed_since(Some(Instant::from_seconds(0))).await.unwrap();
        assert_eq!(changes.incomplete, Some(why));
        assert!(server.seen().len() <= 3, "no endless circle");
    }
    // Endless pages, each with another link.
    let server = world
        .server(|seen| {
            let next = format!("/v1/fhir/DocumentReference?_page={}", seen.number + 1);
            fhir(200, bundle(&[], &[("next", next)]))
        })
        .await;
    let changes = world.authority(&server).changed_since(None).await.unwrap();
    assert_eq!(changes.incomplete, Some(Why::TooManyPages));
    assert_eq!(server.seen().len(), 5);
    // Or each of them slow.
    let limits = Limits { walk: Duration::ZERO, ..limits() };
    let endpoint = world.endpoint(&server);
    let slow = HttpAuthority::with_limits(&endpoint, Some(&world.identity()), limits).unwrap();
    let changes = slow.changed_since(None).await.unwrap();
    assert_eq!(changes.incomplete, Some(Why::TooManyPages));
    assert_eq!((changes.evidence.len(), server.seen().len()), (1, 6), "what was read counts");
}

/// A server that knows no `_sort` or `_count` and says so: what matters is what changed.
#[tokio::test]
async fn a_refused_search_is_asked_with_fewer_parameters() {
    let world = World::new();
    for refusal in [outcome("error"), String::new()] {
        let server = world
            .server(move |seen| match seen.target.contains("_sort") {
                true => fhir(400, refusal.clone()),
                false => {
                    let entry = reference("r-1", "completed", IDENTIFIER);
                    fhir(200, bundle(&[entry], &[own(seen)]))
                }
            })
            .await;
        let authority = world.authority(&server);
        for _ in 0..3 {
            let since = Some(Instant::from_seconds(1_782_000_000));
            let changes = authority.changed_since(since).await.unwrap();
            assert_eq!((changes.answers.len(), changes.incomplete), (1, None));
        }
        let seen = server.seen();
        assert_eq!(seen.len(), 4, "the refusal is remembered");
        assert!(seen[1..].iter().all(|seen| seen.target.contains("_lastUpdated=ge2026")));
    }
    let server = world.server(|_| fhir(400, outcome("error"))).await;
    let fault = world.authority(&server).changed_since(None).await.unwrap_err();
    assert_eq!((told(&fault).0, server.seen().len()), ("refused", 2), "in its own words");
}

/// The result is not shown where the server made something else of the question.
#[tokio::test]
async fn a_search_whose_values_page_order_or_size_were_ignored_is_not_shown() {
    let world = World::new();
    let query = Query {
        status: Some(Processing::Failed),
        sort: vec![(exchange::SortKey::Date, true)],
        count: Some(20),
        page: Some(3),
        ..Query::default()
    };
    for (from, to, name) in [
        ("", "", None),
        ("elm-status=failed", "elm-status=completed", Some("elm-status")),
        ("&_sort=-date", "", Some("_sort")),
        ("_count=20", "_count=10", None),
        ("&_count=20", "", Some("_count")),
        ("page=3", "page=1", Some("page")),
    ] {
        let server = world
            .server(move |seen| {
                let link = format!("https://localhost{}", seen.target.replace(from, to));
                fhir(200, bundle(&[], &[("self", link)]))
            })
            .await;
        let result = world.authority(&server).search(&query).await;
        let why = name.map(|name| Why::ParameterIgnored { name: name.to_owned() });
        assert_eq!(result.err().and_then(|fault| fault.why().cloned()), why, "{from} → {to}");
    }
}

#[tokio::test]
async fn search_speaks_the_release_and_shows_no_wrong_result() {
    let world = World::new();
    let server = world.server(|seen| fhir(200, bundle(&[], &[own(seen)]))).await;
    let mut endpoint = world.endpoint(&server);
    endpoint.release = Release::R1_8_0;
    let query = Query {
        last_updated: vec![exchange::TimeFilter::parse("gt2026-07-01").unwrap()],
        status: Some(Processing::Failed),
        ..Query::default()
    };
    let (page, evidence) = world.authority_of(&endpoint).search(&query).await.unwrap();
    assert_eq!((page.total, evidence.status), (Some(0), 200));
    assert!(server.seen()[0].target.contains("_lastUpdate=gt2026-07-01"));
    let since = Some(Instant::from_seconds(1_782_000_000));
    world.authority_of(&endpoint).changed_since(since).await.unwrap();
    let asked = server.seen()[1].target.clone();
    let times = "?_lastUpdate=ge2026-06-21T00%3A00%3A00.000000Z&_sort=_lastUpdated&";
    assert!(asked.contains(times), "a key as the page names it, a time with its zone: {asked}");
    endpoint.release = Release::R1_0_0Trialuse;
    let fault = world.authority_of(&endpoint).changed_since(None).await.unwrap_err();
    assert_eq!(told(&fault), ("transient", "search-unsupported"));
    let fault = world.authority_of(&endpoint).search(&query).await.unwrap_err();
    assert_eq!(told(&fault), ("transient", "search-unsupported"), "nothing is left out in silence");
    let links =
        [("self", "https://localhost/v1/fhir/DocumentReference?elm-status=failed".to_owned())];
    let ignoring = world.server(move |_| fhir(200, bundle(&[], &links))).await;
    let fault = world.authority(&ignoring).search(&query).await.unwrap_err();
    assert_eq!(fault.why(), Some(&Why::ParameterIgnored { name: "_lastUpdated".to_owned() }));
}

/// A server that knows bare identifiers alone, and answers the other form
/// with nothing. The question in the form that it knows is refused for this one report: that the
/// other form shows nothing says nothing.
#[tokio::test]
async fn nothing_in_a_form_that_never_shows_anything_outweighs_no_refusal() {
    let world = World::new();
    let hit = || reference("r-2", "completed", "urn:uuid:witness");
    let server = world
        .server(move |seen| match (seen.target.contains("%7C"), seen.target.contains("witness")) {
            (true, _) => fhir(200, bundle(&[], &[own(seen)])),
            (false, true) => fhir(200, bundle(&[hit()], &[own(seen)])),
            (false, false) => fhir(400, outcome("error")),
        })
        .await;
    let authority = world.authority(&server);
    assert_eq!(authority.find("urn:uuid:witness").await.unwrap().answers.len(), 1);
    assert!(authority.find(IDENTIFIER).await.is_err(), "believed to be empty");
}
