//! Create, read and the answers to what is wrong, through real HTTPS.

use crate::common::{House, as_xml, document, resource, sealed, urn};
use crate::setting::on_postgres;
use authority::{PRACTICE_RULES, Rules};
use exchange::{Answer, Processing, Release};
use fhir::{Format, Instant, Severity, issues_of};
use reqwest::{Method, StatusCode, Version};

on_every_store![
    a_document_is_accepted_and_completes_in_both_encodings,
    reading_is_cheap_where_nothing_changed,
    all_errors_of_an_invalid_document_are_told_with_their_places,
    whatever_is_wrong_the_answer_is_an_outcome_in_the_encoding_asked_for,
    what_the_caller_prefers_is_returned,
    a_laboratory_sees_its_own_documents_only,
    rules_fail_a_document_and_tell_of_duplicates,
    the_contained_text_is_stored_as_sent_and_survives_a_restart_processed_once,
    earlier_releases_answer_an_invalid_document_with_status_and_outcome,
    the_capabilities_say_what_is_offered,
    times_rise_strictly_in_order_of_acceptance,
];

/// Of published material, which may not be there.
mod published_documents {
    use crate::setting::{Setting, StoreKind};

    use super::every_published_document_is_accepted_and_completes_in_its_encoding as test;

    #[published::needs("corpus/documents")]
    #[tokio::test]
    async fn are_accepted_and_complete_on_sqlite() {
        Setting::on(StoreKind::Sqlite).run(test()).await;
    }

    #[cfg(postgres_is_installed)]
    #[published::needs("corpus/documents")]
    #[tokio::test]
    async fn are_accepted_and_complete_on_postgres() {
        Setting::on(StoreKind::Postgres).run(test()).await;
    }
}

async fn a_document_is_accepted_and_completes_in_both_encodings() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    let json = document(&urn(), "Muster", "positive");
    for text in [json.clone(), as_xml(&json)] {
        let identifier = urn();
        let (body, format) = sealed(&text, &identifier);
        let response = lab.post(body, format.media_type()).await;
        assert_eq!((response.status(), response.version()), (StatusCode::CREATED, Version::HTTP_2));
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        assert!(header("content-type").starts_with(format.media_type()));
        assert_eq!(header("etag"), "W/\"1\"");
        assert!(header("last-modified").ends_with(" GMT"));
        let location = header("location");
        let answer = Answer::read(resource(response).await.root()).unwrap();
        let receipt = answer.receipt.clone().unwrap();
        assert_eq!(location, format!("{}/DocumentReference/{receipt}", house.base));
        assert_eq!(answer.processing, Some(Processing::InProgress));
        assert_eq!(answer.identifiers, [identifier]);
        assert_eq!(answer.date, answer.last_updated);
        let done = lab.processed(&receipt).await;
        assert_eq!((done.processing, done.issues.len()), (Some(Processing::Completed), 0));
        assert_eq!(done.date, answer.date);
        assert!(done.last_updated > answer.last_updated);
    }
    house.close().await;
}

async fn reading_is_cheap_where_nothing_changed() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    let receipt = lab.deliver(&document(&urn(), "A", "1"), &urn()).await.receipt.unwrap();
    lab.processed(&receipt).await;
    let path = format!("{}/DocumentReference/{receipt}", house.base);
    let full = lab.client.get(&path).send().await.unwrap();
    let length = full.headers()["content-length"].clone();
    assert_eq!(full.headers()["etag"], "W/\"2\"");
    let head = lab.client.head(&path).send().await.unwrap();
    assert_eq!((head.status(), &head.headers()["content-length"]), (StatusCode::OK, &length));
    assert_eq!(head.bytes().await.unwrap().len(), 0);
    let known =
        lab.client.get(&path).header("if-none-match", "W/\"1\", W/\"2\"").send().await.unwrap();
    assert_eq!(known.status(), StatusCode::NOT_MODIFIED);
    let stale = lab.client.get(&path).header("if-none-match", "W/\"1\"").send().await.unwrap();
    assert_eq!(stale.status(), StatusCode::OK);
}

async fn all_errors_of_an_invalid_document_are_told_with_their_places() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    let (body, _) = sealed(&document(&urn(), "A", "1"), &urn());
    let text = String::from_utf8(body).unwrap();
    let broken = text
        .replace("\"status\": \"final\"", "\"status\": \"finished\"")
        .replace("\"family\"", "\"familly\"")
        .replace("\"timestamp\": \"2025-07-10T08:30:00+02:00\",", "")
        .replace(
            "\"content\":[",
            "\"relatesTo\":[{\"code\":\"replaces\",\"target\":{\"display\":\"x\"}}],\"content\":[",
        );
    let response = lab.post(broken.into_bytes(), "application/fhir+json").await;
    assert_eq!(response.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(!response.headers().contains_key("location"));
    let tree = resource(response).await;
    assert_eq!(tree.root().resource_type(), Some("OperationOutcome"));
    let issues = issues_of(tree.root());
    let rules: Vec<_> = issues.iter().filter_map(|issue| issue.rule.as_deref()).collect();
    for rule in ["code-not-allowed", "unknown-element", "bdl-10", "envelope-relates-to"] {
        assert!(rules.contains(&rule), "{rule} is not in {rules:?}");
    }
    for issue in &issues {
        assert_eq!(issue.severity, Severity::Error);
        assert!(issue.expression.as_deref().unwrap().starts_with("DocumentReference"), "{issue:?}");
        assert!(issue.line.is_some() && issue.column.is_some(), "{issue:?}");
        assert!(!issue.text.contains('{'), "{issue:?}");
    }
    let relation = issues.iter().find(|issue| issue.rule.as_deref() == Some("envelope-relates-to"));
    assert_eq!(relation.unwrap().code, "not-supported");
    assert_eq!(lab.search("").await.total, Some(0));
}

async fn whatever_is_wrong_the_answer_is_an_outcome_in_the_encoding_asked_for() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    let json = "application/fhir+json";
    let big = format!("\"{}\"", "x".repeat(21 << 20));
    let here = "/DocumentReference";
    for (method, path, kind, body, status) in [
        (Method::POST, here, json, "", 400),
        (Method::POST, here, json, "{", 400),
        (Method::POST, here, json, "<a/>", 400),
        (Method::POST, here, json, "{\"resourceType\":\"Patient\"}", 422),
        (Method::POST, here, json, "{\"resourceType\":\"DocumentReference\"}", 422),
        (Method::POST, here, "application/fhir+xml", "<!DOCTYPE a []><a/>", 400),
        (Method::POST, here, "text/plain", "{}", 415),
        (Method::POST, here, "application/fhir+json; charset=utf-16", "{}", 415),
        (Method::POST, here, json, &big, 413),
        (Method::POST, "/DocumentReference/_search", json, "{}", 415),
        (Method::PUT, "/DocumentReference/x", json, "{}", 405),
        (Method::DELETE, "/DocumentReference/x", json, "", 405),
        (Method::PUT, here, json, "{}", 405),
        (Method::POST, "/metadata", json, "", 405),
        (Method::GET, "/DocumentReference/x", json, "", 404),
        (Method::GET, "/DocumentReference/%00%C3%84", json, "", 404),
        (Method::GET, "/DocumentReference/%00%ff", json, "", 400),
        (Method::GET, "/DocumentReference/x/_history/1", json, "", 404),
        (Method::GET, "/Patient", json, "", 404),
        (Method::GET, "/../../etc/passwd", json, "", 404),
        (Method::GET, "/DocumentReference?elm-status=a", json, "", 400),
        (Method::GET, "/DocumentReference?_lastUpdated=yesterday", json, "", 400),
        (Method::GET, "/DocumentReference?_snapshot=x", json, "", 400),
    ] {
        for format in [Format::Json, Format::Xml] {
            let request = lab
                .client
                .request(method.clone(), format!("{}{path}", house.base))
                .header("content-type", kind)
                .header("accept", format.media_type())
                .body(body.to_owned());
            let response = request.send().await.unwrap();
            assert_eq!(response.status().as_u16(), status, "{method} {path} {kind}");
            if status == 405 {
                assert!(response.headers().contains_key("allow"));
            }
            let said = response.headers()["content-type"].to_str().unwrap().to_owned();
            assert!(said.starts_with(format.media_type()), "{said}");
            let tree = resource(response).await;
            assert_eq!(tree.root().resource_type(), Some("OperationOutcome"));
            assert!(!issues_of(tree.root()).is_empty());
        }
    }
    for (accept, query) in [("text/html", ""), ("*/*", "?_format=html")] {
        let url = format!("{}{here}{query}", house.base);
        let response = lab.client.get(url).header("accept", accept).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::NOT_ACCEPTABLE);
        assert_eq!(resource(response).await.root().resource_type(), Some("OperationOutcome"));
    }
}

async fn what_the_caller_prefers_is_returned() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    for (prefer, kind) in [
        ("return=minimal", None),
        ("return=representation", Some("DocumentReference")),
        ("respond-async, return=OperationOutcome", Some("OperationOutcome")),
    ] {
        let (body, format) = sealed(&document(&urn(), "A", "1"), &urn());
        let response = lab
            .client
            .post(format!("{}/DocumentReference", house.base))
            .header("content-type", format.media_type())
            .header("prefer", prefer)
            .body(body)
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), StatusCode::CREATED);
        assert!(response.headers().contains_key("location"));
        match kind {
            None => assert_eq!(response.bytes().await.unwrap().len(), 0),
            Some(kind) => assert_eq!(resource(response).await.root().resource_type(), Some(kind)),
        }
    }
}

async fn a_laboratory_sees_its_own_documents_only() {
    let house = House::open(|_| {}).await;
    let (alpha, beta) = (house.client("alpha"), house.client("beta"));
    let identifier = urn();
    let receipt = alpha.deliver(&document(&urn(), "A", "1"), &identifier).await.receipt.unwrap();
    alpha.processed(&receipt).await;
    assert_eq!(alpha.search(&format!("identifier={identifier}")).await.total, Some(1));
    for query in [String::new(), format!("identifier={identifier}"), format!("_id={receipt}")] {
        let page = beta.search(&query).await;
        assert_eq!((page.total, page.answers.len()), (Some(0), 0), "{query}");
    }
    let denied = beta.get(&format!("/DocumentReference/{receipt}")).await;
    let absent = beta.get("/DocumentReference/none").await;
    assert_eq!((denied.status(), absent.status()), (StatusCode::NOT_FOUND, StatusCode::NOT_FOUND));
    assert_eq!(denied.bytes().await.unwrap(), absent.bytes().await.unwrap());
}

async fn rules_fail_a_document_and_tell_of_duplicates() {
    let house = House::open(|options| options.rules = Rules::parse(PRACTICE_RULES).unwrap()).await;
    let lab = house.client("alpha");
    let bad = document(&urn(), "Muster-Fehler", "1");
    let receipt = lab.deliver(&bad, &urn()).await.receipt.unwrap();
    let failed = lab.processed(&receipt).await;
    assert_eq!(failed.processing, Some(Processing::Failed));
    assert_eq!(failed.issues.len(), 1);
    assert_eq!(failed.issues[0].rule.as_deref(), Some("FOPH-002"));
    assert!(failed.issues[0].text.contains("Muster-Fehler"));
    assert!(failed.issues[0].expression.as_deref().unwrap().ends_with(".name[0].family"));
    assert!(failed.issues[0].line.is_some());
    // The same data in the other encoding, in a new envelope, are a duplicate; a failed one is not.
    let good = document(&urn(), "Muster", "1");
    let first = lab.deliver(&good, &urn()).await.receipt.unwrap();
    assert_eq!(lab.processed(&first).await.issues, []);
    let again = lab.deliver(&as_xml(&good), &urn()).await.receipt.unwrap();
    let notice = lab.processed(&again).await;
    assert_eq!(notice.processing, Some(Processing::Completed));
    assert_eq!(notice.issues[0].rule.as_deref(), Some("FOPH-021"));
    assert_eq!(notice.issues[0].severity, Severity::Information);
    let other = house.client("beta").deliver(&good, &urn()).await.receipt.unwrap();
    assert_eq!(house.client("beta").processed(&other).await.issues, []);
    // In a search the outcome is there too; the failed content is gone, its metadata stay.
    let page = lab.search("elm-status=failed").await;
    assert_eq!(page.answers.iter().map(|a| a.issues.len()).collect::<Vec<_>>(), [1]);
    let folder = house.close().await;
    assert_eq!(folder.count("SELECT count(*) FROM document"), 4);
    assert_eq!(folder.count("SELECT count(*) FROM content"), 3);
    assert_eq!(folder.count("SELECT count(*) FROM queue"), 0);
    if on_postgres() {
        // Its VACUUM frees the place some time later.
        return;
    }
    let bytes = std::fs::read(folder.path().join("authority.sqlite")).unwrap();
    let body = b"\"family\": \"Muster-Fehler\"";
    assert!(
        !bytes.windows(body.len()).any(|window| window == body),
        "overwritten, not only unlinked"
    );
}

async fn the_contained_text_is_stored_as_sent_and_survives_a_restart_processed_once() {
    let house =
        House::open(|options| options.processing_delay = std::time::Duration::from_secs(3600))
            .await;
    let lab = house.client("alpha");
    let text = document(&urn(), "A", "1");
    let identifier = urn();
    let receipt = lab.deliver(&text, &identifier).await.receipt.unwrap();
    assert_eq!(lab.read(&receipt).await.processing, Some(Processing::InProgress));
    let folder = house.close().await;
    assert_eq!(folder.body(), sealed(&text, &identifier).0);
    folder.execute("UPDATE queue SET due = 0").unwrap();
    let house = House::open_in(folder, |_| {}).await;
    let lab = house.client("alpha");
    assert_eq!(lab.processed(&receipt).await.processing, Some(Processing::Completed));
    let folder = house.close().await;
    assert_eq!(folder.count("SELECT count(*) FROM version"), 2);
}

async fn earlier_releases_answer_an_invalid_document_with_status_and_outcome() {
    let (body, _) = sealed(&document(&urn(), "A", "1"), &urn());
    let broken = String::from_utf8(body).unwrap().replace("\"current\"", "\"superseded\"");
    for release in [Release::R1_8_0, Release::R1_0_0Trialuse] {
        let house = House::open(|options| options.release = release).await;
        let lab = house.client("alpha");
        let response = lab.post(broken.clone().into_bytes(), "application/fhir+json").await;
        assert_eq!(response.status(), StatusCode::UNPROCESSABLE_ENTITY);
        let answer = Answer::read(resource(response).await.root()).unwrap();
        assert_eq!((answer.receipt, answer.processing), (None, Some(Processing::Failed)));
        assert_eq!(answer.issues[0].rule.as_deref(), Some("envelope-status"));
        let identifier = urn();
        lab.deliver(&document(&urn(), "A", "1"), &identifier).await;
        assert_eq!(lab.search(&format!("identifier={identifier}")).await.total, Some(1));
        let name = release.facts().last_updated;
        let future = lab.search(&format!("{name}=gt2999")).await;
        let self_ = future.links.self_.unwrap();
        match release {
            Release::R1_8_0 => {
                assert_eq!(future.total, Some(0));
                assert!(self_.contains("_lastUpdate=gt2999"), "{self_}");
            }
            _ => {
                assert_eq!(future.total, Some(1));
                assert!(!self_.contains('?'), "{self_}");
            }
        }
    }
}

async fn the_capabilities_say_what_is_offered() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    for query in ["", "?_format=xml"] {
        let tree = resource(lab.get(&format!("/metadata{query}")).await).await;
        let root = tree.root();
        assert_eq!(root.resource_type(), Some("CapabilityStatement"));
        assert_eq!(root.text("rest.resource.type"), Some("DocumentReference"));
        assert_eq!(root.text("implementation.url"), Some(house.base.as_str()));
    }
}

async fn times_rise_strictly_in_order_of_acceptance() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    let tasks: Vec<_> = (0..40)
        .map(|number| {
            let lab = lab.clone();
            let text = document(&urn(), "A", &number.to_string());
            tokio::spawn(async move { lab.deliver(&text, &urn()).await.date.unwrap() })
        })
        .collect();
    let mut times: Vec<Instant> = Vec::new();
    for task in tasks {
        times.push(task.await.unwrap());
    }
    times.sort();
    times.dedup();
    assert_eq!(times.len(), 40);
    let page = lab.search("_sort=date&_count=100").await;
    let found: Vec<_> = page.answers.iter().filter_map(|answer| answer.date).collect();
    assert_eq!(found, times);
}

async fn every_published_document_is_accepted_and_completes_in_its_encoding() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let house = House::open(|options| options.rules = Rules::parse(PRACTICE_RULES).unwrap()).await;
    let lab = house.client("alpha");
    let mut receipts = Vec::new();
    for folder in ["documents/json", "documents/xml"] {
        for entry in std::fs::read_dir(corpus.join(folder)).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            receipts.push(lab.deliver(&text, &urn()).await.receipt.unwrap());
        }
    }
    assert!(receipts.len() > 60);
    for receipt in &receipts {
        assert_eq!(lab.processed(receipt).await.processing, Some(Processing::Completed));
    }
    // The same reports in the other encoding are the same data.
    let all = lab.search("elm-status=completed&_count=1000").await;
    let known = all.answers.iter().filter(|answer| !answer.issues.is_empty()).count();
    println!("{} documents, of which {known} were known from the other encoding", receipts.len());
    for name in ["Publish-1Doc-NeisseriaGonorrhoeae", "Publish-7Doc-SARSCoV2"] {
        let body = std::fs::read(corpus.join(format!("exchange/DocumentReference-{name}.json")));
        let response = lab.post(body.unwrap(), "application/fhir+json").await;
        assert_eq!(response.status(), StatusCode::CREATED, "{name}");
    }
}
