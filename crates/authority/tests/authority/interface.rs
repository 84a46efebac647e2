//! The interface, line by line: encodings, conditions, methods, search parameters; through real
//! HTTPS.

use crate::common::{House, Lab, document, resource, urn, wrapped};
use crate::setting::{has_full_search, last_updated};
use exchange::{Answer, Page, Release, encode};
use fhir::{Format, Instant, Severity, issues_of};
use reqwest::{Method, Response, StatusCode};

in_every_release![
    the_encoding_of_an_answer_is_what_was_asked_for,
    a_report_may_come_under_every_name_of_its_encoding,
    every_address_says_what_it_takes,
    what_is_known_is_not_sent_again,
    a_search_by_form_is_a_search,
    a_query_that_cannot_be_read_is_refused_with_every_reason,
    what_is_not_known_is_ignored_unless_the_caller_is_strict,
    ids_and_summaries_are_searched_as_fhir_has_them,
    a_request_keeps_its_id_and_the_capabilities_their_date,
];

/// What goes through the releases itself.
mod of_all_releases {
    use super::each_release_answers_as_its_table_says;

    on_every_store![each_release_answers_as_its_table_says];
}

const ROUTES: [&str; 5] = [
    "/metadata",
    "/openapi.json",
    "/DocumentReference",
    "/DocumentReference/_search",
    "/DocumentReference/x",
];

async fn ask(lab: &Lab, path: &str, headers: &[(&str, &str)]) -> Response {
    let url = format!("{}{path}", lab.base);
    let request =
        headers.iter().fold(lab.client.get(url), |request, (n, v)| request.header(*n, *v));
    request.send().await.unwrap()
}

fn said(response: &Response, name: &str) -> String {
    response.headers()[name].to_str().unwrap().to_owned()
}

/// Diagnostics of an answer that must be an OperationOutcome of errors.
async fn refusals(response: Response) -> Vec<String> {
    let tree = resource(response).await;
    assert_eq!(tree.root().resource_type(), Some("OperationOutcome"));
    let issues = issues_of(tree.root());
    assert!(issues.iter().all(|issue| issue.severity == Severity::Error));
    issues.into_iter().map(|issue| issue.text).collect()
}

async fn the_encoding_of_an_answer_is_what_was_asked_for() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    let receipt = lab.deliver(&document(&urn(), "A", "1"), &urn()).await.receipt.unwrap();
    let (json, xml) = ("application/fhir+json", "application/fhir+xml");
    for (accept, format, kind) in [
        ("*/*", "", json),
        ("application/*;q=0.3, text/html", "", json),
        ("application/fhir+xml", "", xml),
        ("application/fhir+xml;q=0.2, application/fhir+json;q=0.3", "", json),
        ("application/fhir+json;q=0.2, application/fhir+xml;q=0.9", "", xml),
        ("application/fhir+json;q=0, */*;q=0.1", "", xml),
        ("application/xml, text/html;q=0.9", "", xml),
        ("text/json", "", json),
        ("application/json+fhir", "", json),
        ("application/fhir+xml; charset=UTF-8; fhirVersion=4.0", "", xml),
        ("text/html", "json", json),
        ("application/fhir+json", "xml", xml),
        ("application/fhir+json", "application%2Ffhir%2Bxml", xml),
        ("application/fhir+json", "application/fhir+xml", xml),
        ("application/fhir+xml", "text/json", json),
    ] {
        for path in ["/metadata", "/DocumentReference", &format!("/DocumentReference/{receipt}")] {
            let mark = if format.is_empty() { String::new() } else { format!("?_format={format}") };
            let answer = ask(&lab, &format!("{path}{mark}"), &[("accept", accept)]).await;
            assert_eq!(answer.status(), StatusCode::OK, "{accept} {mark}");
            assert_eq!(said(&answer, "content-type"), format!("{kind};charset=utf-8"), "{accept}");
            assert_eq!(said(&answer, "vary"), "accept");
            resource(answer).await;
        }
    }
    // Several fields are one list (RFC 9110 section 5.3).
    let two = [("accept", "text/html"), ("accept", xml)];
    assert!(said(&ask(&lab, "/metadata", &two).await, "content-type").starts_with(xml));
}

async fn a_report_may_come_under_every_name_of_its_encoding() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    let json = document(&urn(), "A", "1");
    for (text, kinds) in [
        (
            json.clone(),
            [
                "application/fhir+json",
                "application/fhir+json; charset=UTF-8",
                "application/fhir+json;charset=\"utf-8\";fhirVersion=4.0",
                "application/json",
                "text/json",
                "application/json+fhir",
            ],
        ),
        (
            crate::common::as_xml(&json),
            [
                "application/fhir+xml",
                "Application/FHIR+XML; Charset=utf8",
                "application/fhir+xml;charset=us-ascii",
                "application/xml",
                "text/xml",
                "application/xml+fhir",
            ],
        ),
    ] {
        for kind in kinds {
            let (body, format) = wrapped(&text, &urn());
            let answer = lab.post(body, kind).await;
            assert_eq!(answer.status(), StatusCode::CREATED, "{kind}");
            let own = said(&answer, "content-type");
            assert!(own.starts_with(format.media_type()), "follows the request: {kind} {own}");
        }
    }
    // The specification requires that it is named.
    let (body, _) = wrapped(&json, &urn());
    let url = format!("{}/DocumentReference", house.base);
    let nameless = lab.client.post(url).body(body).send().await.unwrap();
    assert_eq!(nameless.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    refusals(nameless).await;
    for kind in
        ["application/fhir+json;charset=iso-8859-1", "application/octet-stream", "text/plain"]
    {
        let (body, _) = wrapped(&json, &urn());
        let answer = lab.post(body, kind).await;
        assert_eq!(answer.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE, "{kind}");
        refusals(answer).await;
    }
}

async fn every_address_says_what_it_takes() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    for path in ROUTES {
        let url = format!("{}{path}", house.base);
        let allowed = match path {
            "/DocumentReference" => "GET, HEAD, POST",
            "/DocumentReference/_search" => "POST",
            _ => "GET, HEAD",
        };
        for method in ["DELETE", "PUT", "PATCH", "OPTIONS", "TRACE", "BREW", "GET", "POST"] {
            if allowed.split(", ").any(|one| one == method) {
                continue;
            }
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            // What it does not take it does not read either.
            let request = lab.client.request(method.clone(), &url).body(vec![b' '; 1 << 20]);
            let answer = request.header("accept", "application/fhir+xml").send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::METHOD_NOT_ALLOWED, "{method} {path}");
            assert_eq!(said(&answer, "allow"), allowed, "{method} {path}");
            assert!(said(&answer, "content-type").starts_with("application/fhir+xml"));
            refusals(answer).await;
        }
        let get = allowed.contains("GET");
        let picky = if get { lab.client.get(&url) } else { lab.client.post(&url) };
        let picky = picky.header("accept", "text/html, image/*;q=0.5").send().await.unwrap();
        assert_eq!(picky.status(), StatusCode::NOT_ACCEPTABLE, "{path}");
        refusals(picky).await;
        if get {
            let full = lab.client.get(&url).send().await.unwrap();
            let head = lab.client.head(&url).send().await.unwrap();
            assert_eq!(head.status(), full.status(), "{path}");
            for name in ["content-type", "vary", "allow", "etag", "last-modified"] {
                assert_eq!(head.headers().get(name), full.headers().get(name), "{path} {name}");
            }
            let length: usize = said(&head, "content-length").parse().unwrap();
            assert!(head.bytes().await.unwrap().is_empty());
            let body = full.bytes().await.unwrap();
            if path != "/DocumentReference" {
                assert_eq!(length, body.len(), "{path}");
            }
        }
        let large = if get { lab.client.get(&url) } else { lab.client.post(&url) };
        let large = large.body(vec![b' '; (20 << 20) + 1]).send().await.unwrap();
        // A form has a bound of its own.
        let status = if get { StatusCode::PAYLOAD_TOO_LARGE } else { StatusCode::BAD_REQUEST };
        assert_eq!(large.status(), status, "{path}");
        refusals(large).await;
    }
}

async fn what_is_known_is_not_sent_again() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    let receipt = lab.deliver(&document(&urn(), "A", "1"), &urn()).await.receipt.unwrap();
    lab.processed(&receipt).await;
    let path = format!("/DocumentReference/{receipt}");
    for (tags, status) in [
        ("W/\"2\"", 304),
        ("\"2\"", 304),
        ("W/\"1\" , W/\"2\"", 304),
        ("*", 304),
        ("W/\"1\"", 200),
        ("W/\"22\"", 200),
        ("2", 200),
        ("nonsense", 200),
    ] {
        for method in [Method::GET, Method::HEAD] {
            let url = format!("{}{path}", house.base);
            let request = lab.client.request(method, url).header("if-none-match", tags);
            let answer = request.send().await.unwrap();
            assert_eq!(answer.status().as_u16(), status, "{tags}");
            assert_eq!(said(&answer, "etag"), "W/\"2\"");
            assert_eq!(status == 304, !answer.headers().contains_key("content-type"));
        }
    }
    let read = Answer::read(resource(lab.get(&path).await).await.root()).unwrap();
    assert!(read.last_updated > read.date);
    assert_eq!(ask(&lab, "/DocumentReference/x", &[("if-none-match", "*")]).await.status(), 404);
}

async fn a_search_by_form_is_a_search() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    let identifier = urn();
    lab.deliver(&document(&urn(), "A", "1"), &identifier).await;
    lab.deliver(&document(&urn(), "A", "2"), &urn()).await;
    let post = |query: &str, kind: Option<&str>, body: Vec<u8>| {
        let url = format!("{}/DocumentReference/_search{query}", lab.base);
        let request = lab.client.post(url).body(body);
        match kind {
            Some(kind) => request.header("content-type", kind),
            None => request,
        }
    };
    let form = "application/x-www-form-urlencoded";
    for (query, kind, body, total) in [
        ("", Some(form), format!("identifier={identifier}"), 1),
        ("", Some("application/x-www-form-urlencoded; charset=UTF-8"), String::new(), 2),
        ("", None, String::new(), 2),
        (
            "?elm-status=failed",
            Some(form),
            format!("identifier={identifier}"),
            u64::from(!has_full_search()),
        ),
        ("", Some(form), format!("identifier={}&x=a+b", encode(&identifier)), 1),
    ] {
        let answer = post(query, kind, body.clone().into_bytes()).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "{query} {body}");
        let page = Page::read(resource(answer).await.root()).unwrap();
        assert_eq!(page.total, Some(total), "{query} {body}");
        assert!(!page.links.self_.unwrap().contains("x="));
    }
    // In a form `_format` is a parameter as any other, and wins over `Accept` all the same.
    let asked = post("", Some(form), b"_format=application%2Ffhir%2Bxml&_count=1".to_vec());
    let answer = asked.header("accept", "text/html").send().await.unwrap();
    assert!(said(&answer, "content-type").starts_with("application/fhir+xml"));
    let page = Page::read(resource(answer).await.root()).unwrap();
    let next = page.links.next.unwrap();
    assert!(next.ends_with("&_format=application%2Ffhir%2Bxml"), "{next}");
    let followed = lab.client.get(&next).send().await.unwrap();
    assert!(said(&followed, "content-type").starts_with("application/fhir+xml"));
    for (kind, body, status) in [
        (form, b"_format=html".to_vec(), 406),
        (form, b"identifier=%zz".to_vec(), 400),
        (form, b"identifier=\xff".to_vec(), 400),
        (form, b"_count=many".to_vec(), 400),
        ("application/x-www-form-urlencodedness", b"a=b".to_vec(), 415),
        ("application/x-www-form-urlencoded;charset=utf-16", b"a=b".to_vec(), 415),
        ("application/fhir+json", b"{}".to_vec(), 415),
    ] {
        let answer = post("", Some(kind), body).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), status, "{kind}");
        refusals(answer).await;
    }
}

async fn a_query_that_cannot_be_read_is_refused_with_every_reason() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    for (query, named) in [
        ("elm-status=done", &["elm-status: 'done'"][..]),
        ("elm-status=failed,completed", &["elm-status", "several"]),
        ("elm-status=failed&elm-status=completed", &["elm-status", "several"]),
        ("date=yesterday&_lastUpdated=gt2025-13&_count=x", &["_lastUpdated", "date", "_count"]),
        ("date=sa2025", &["date: 'sa2025'", "prefix"]),
        ("_count=-1&page=0", &["_count: '-1'", "page: '0'"]),
        ("_sort=colour", &["_sort: 'colour'"]),
        ("identifier=a|b|c", &["identifier: 'a|b|c'", "token"]),
        ("identifier:exact=a", &["identifier", "modifier exact"]),
        ("elm-status:not=failed", &["elm-status", "modifier not"]),
        ("_lastUpdated:missing=true", &["_lastUpdated", "modifier missing"]),
        ("identifier=%", &["identifier", "RFC 3986"]),
        ("identifier=%zz&date=%ff", &["identifier", "date"]),
    ] {
        let query = query.replace("_lastUpdated", last_updated());
        let answer = lab.get(&format!("/DocumentReference?{query}")).await;
        let only_full =
            |name: &str| ["elm-status", "date", "_lastUpdated"].iter().any(|n| name.starts_with(n));
        let asked_in_full: Vec<_> =
            named.iter().filter(|name| has_full_search() || !only_full(name)).collect();
        // Where the release knows the parameter: else it is ignored, whatever it says.
        if !has_full_search() && only_full(named[0]) && !named.contains(&"_count") {
            assert_eq!(answer.status(), StatusCode::OK, "{query}");
            continue;
        }
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{query}");
        let told = refusals(answer).await.join("\n");
        for name in asked_in_full {
            let name = name.replace("_lastUpdated", last_updated());
            assert!(told.contains(&name), "{query}: {name} in {told}");
        }
    }
}

async fn what_is_not_known_is_ignored_unless_the_caller_is_strict() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    lab.deliver(&document(&urn(), "A", "1"), &urn()).await;
    for query in ["colour=red", "_lastupdated=gt2999", "_summary=text", "_pretty=true", "date="] {
        let page = lab.search(&format!("{query}&_count=7")).await;
        assert_eq!(page.total, Some(1), "{query}");
        assert!(page.links.self_.unwrap().ends_with("/DocumentReference?_count=7"), "{query}");
    }
    for (query, status) in [
        ("colour=red&shape=round", 400),
        ("_lastupdated=gt2999", 400),
        ("_summary=text", 400),
        ("_summary=count&_format=json&_pretty=true&identifier=", 200),
        ("identifier=a&_sort=-date&_count=1&page=1", 200),
    ] {
        for prefer in ["handling=strict", "respond-async, handling=\"strict\""] {
            let asked = format!("/DocumentReference?{query}");
            let answer = ask(&lab, &asked, &[("prefer", prefer)]).await;
            assert_eq!(answer.status().as_u16(), status, "{query}");
            if status == 400 {
                let told = refusals(answer).await;
                assert_eq!(told.len(), query.split('&').count(), "{told:?}");
            }
        }
        let lenient = [("prefer", "handling=lenient")];
        let answer = ask(&lab, &format!("/DocumentReference?{query}"), &lenient).await;
        assert_eq!(answer.status(), StatusCode::OK, "{query}");
    }
}

async fn ids_and_summaries_are_searched_as_fhir_has_them() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    let mut receipts = Vec::new();
    for _ in 0..3 {
        receipts.push(lab.deliver(&document(&urn(), "A", "1"), &urn()).await.receipt.unwrap());
    }
    let both = lab.search(&format!("_id={},{}", receipts[0], receipts[2])).await;
    assert_eq!(both.total, Some(if has_full_search() { 2 } else { 3 }));
    for query in ["_count=0", "_summary=count", "_count=0&_format=xml"] {
        let page = lab.search(query).await;
        assert_eq!((page.total, page.answers.len()), (Some(3), 0), "{query}");
        assert!(page.links.first.is_none() && page.links.last.is_none(), "{query}");
    }
}

async fn each_release_answers_as_its_table_says() {
    for (release, wanted) in [
        (Release::R1_13_1, &["date", "_lastUpdated", "identifier", "elm-status", "_id"][..]),
        (Release::R1_8_0, &["date", "_lastUpdate", "identifier", "elm-status", "_id"]),
        (Release::R1_0_0Trialuse, &["identifier"]),
    ] {
        let house = House::open(|options| options.release = release).await;
        let lab = house.client("alpha");
        lab.deliver(&document(&urn(), "A", "1"), &urn()).await;
        let told = resource(lab.get("/metadata").await).await;
        let offered: Vec<_> = told
            .root()
            .at_path("rest.resource")
            .unwrap()
            .all("searchParam")
            .filter_map(|parameter| parameter.text("name"))
            .collect();
        assert_eq!(offered, wanted, "{release:?}");
        for name in ["date", "_lastUpdated", "_lastUpdate", "elm-status", "_id", "_sort"] {
            let known = wanted.contains(&name) || name == "_sort";
            let answer = lab.get(&format!("/DocumentReference?{name}=!")).await;
            // What the release does not know is ignored; `_id` takes everything.
            let status = if known && name != "_id" { 400 } else { 200 };
            assert_eq!(answer.status().as_u16(), status, "{release:?} {name}");
        }
        let described = lab.get("/openapi.json").await.text().await.unwrap();
        assert_eq!(described.contains("\"_lastUpdate\""), wanted.contains(&"_lastUpdate"));
    }
}

async fn a_request_keeps_its_id_and_the_capabilities_their_date() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    let own = ask(&lab, "/metadata", &[("x-request-id", "lab-7")]).await;
    assert_eq!(said(&own, "x-request-id"), "lab-7");
    let long = "a".repeat(65);
    for odd in ["", " ", "a b", &long] {
        let answer = ask(&lab, "/metadata", &[("x-request-id", odd)]).await;
        assert_eq!(said(&answer, "x-request-id").len(), 36, "{odd}");
    }
    let date = |tree: &fhir::Tree| tree.root().text("date").map(str::to_owned).unwrap();
    let first = date(&resource(lab.get("/metadata").await).await);
    let again = date(&resource(lab.get("/metadata").await).await);
    assert_eq!(first, again);
    // Built some time after this line was written, and before it runs.
    let built = Instant::parse(&first).unwrap();
    let received = lab.deliver(&document(&urn(), "A", "1"), &urn()).await.date.unwrap();
    assert!(built < received && built > Instant::parse("2025-01-01T00:00:00Z").unwrap(), "{first}");
    assert_eq!(Format::sniff(first.as_bytes()), None);
}
