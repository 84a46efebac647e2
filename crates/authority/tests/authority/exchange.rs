//! Create, read and the answers to what is wrong, through real HTTPS.

use crate::common::{House, as_xml, document, outcome_of, resource, urn, wrapped};
use crate::setting::{has_full_search, last_updated, on_postgres, release, tells_outcomes_alone};
use authority::{PRACTICE_RULES, Rules};
use exchange::{Answer, Processing, Release, Strictness, canonical};
use fhir::{Format, Instant, Severity, issues_of};
use reqwest::{Method, StatusCode, Version};

in_every_release![
    what_the_table_requires_is_required_unless_it_is_lenient,
    warnings_are_told_on_acceptance_and_when_it_is_completed,
    rules_speak_as_validators_do,
    a_report_goes_every_way_and_is_corrected,
    a_document_is_accepted_and_completes_in_both_encodings,
    reading_is_cheap_where_nothing_changed,
    what_the_caller_prefers_is_returned,
    the_contained_text_is_stored_as_sent_and_survives_a_restart_processed_once,
    the_capabilities_say_what_is_offered,
    times_rise_strictly_in_order_of_acceptance,
    all_errors_of_an_invalid_document_are_told_with_their_places,
    whatever_is_wrong_the_answer_is_an_outcome_in_the_encoding_asked_for,
    a_laboratory_sees_its_own_documents_only,
    rules_fail_a_document_and_tell_of_duplicates,
];

/// What goes through the releases itself.
mod of_all_releases {
    use super::earlier_releases_answer_an_invalid_document_with_status_and_outcome;

    on_every_store![earlier_releases_answer_an_invalid_document_with_status_and_outcome];
}

/// What stands in files of ours.
mod files {
    use super::the_text_of_a_failed_document_is_gone_from_every_file;

    mod sqlite {
        in_setting!(Sqlite, R1_13_1, (), [the_text_of_a_failed_document_is_gone_from_every_file]);
    }
}

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
        let (body, format) = wrapped(&text, &identifier);
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
    let (body, _) = wrapped(&document(&urn(), "A", "1"), &urn());
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
    let kind = if tells_outcomes_alone() { "OperationOutcome" } else { "DocumentReference" };
    assert_eq!(tree.root().resource_type(), Some(kind));
    let issues = outcome_of(tree.root()).map(issues_of).unwrap_or_default();
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
    assert_eq!(lab.search("").await.total, Some(u64::from(!tells_outcomes_alone())));
}

async fn whatever_is_wrong_the_answer_is_an_outcome_in_the_encoding_asked_for() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    let json = "application/fhir+json";
    let big = format!("\"{}\"", "x".repeat(21 << 20));
    let here = "/DocumentReference";
    let unreadable_time = format!("{here}?{}=yesterday", last_updated());
    // A parameter that the release does not know is ignored, whatever it says.
    let if_known = if has_full_search() { 400 } else { 200 };
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
        (Method::GET, "/DocumentReference?elm-status=a", json, "", if_known),
        (Method::GET, &unreadable_time, json, "", if_known),
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
            if status == 200 {
                assert_eq!(tree.root().resource_type(), Some("Bundle"), "{path}");
                continue;
            }
            let outcome = outcome_of(tree.root()).expect(path);
            assert_eq!(outcome.resource_type(), Some("OperationOutcome"));
            assert!(!issues_of(outcome).is_empty());
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
        let (body, format) = wrapped(&document(&urn(), "A", "1"), &urn());
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
    let failures = format!("identifier={}", failed.identifiers[0]);
    let page = lab.search(if has_full_search() { "elm-status=failed" } else { &failures }).await;
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
    assert_eq!(folder.body(), wrapped(&text, &identifier).0);
    folder.execute("UPDATE queue SET due = 0").unwrap();
    let house = House::open_in(folder, |_| {}).await;
    let lab = house.client("alpha");
    assert_eq!(lab.processed(&receipt).await.processing, Some(Processing::Completed));
    let folder = house.close().await;
    assert_eq!(folder.count("SELECT count(*) FROM version"), 2);
}

async fn earlier_releases_answer_an_invalid_document_with_status_and_outcome() {
    let (identifier, own) = (urn(), urn());
    let (body, _) = wrapped(&document(&own, "Geheim", "1"), &identifier);
    let broken = String::from_utf8(body).unwrap().replace("\"current\"", "\"superseded\"");
    let nameless = r#"{"resourceType":"DocumentReference","status":"current"}"#;
    for release in [Release::R1_8_0, Release::R1_0_0Trialuse] {
        let house = House::open(|options| options.release = release).await;
        let lab = house.client("alpha");
        for (sent, url) in [(broken.as_str(), Some(&own)), (nameless, None)] {
            let response = lab.post(sent.as_bytes().to_vec(), "application/fhir+json").await;
            assert_eq!(response.status(), StatusCode::UNPROCESSABLE_ENTITY);
            let tree = resource(response).await;
            let answer = Answer::read(tree.root()).unwrap();
            assert_eq!(answer.processing, Some(Processing::Failed));
            assert!(answer.date.is_some() && answer.last_updated == answer.date, "{answer:?}");
            let receipt = answer.receipt.clone().unwrap();
            let named = tree.root().text("content.attachment.url").unwrap().to_owned();
            assert_eq!(&named, url.unwrap_or(&format!("urn:uuid:{receipt}")));
            assert!(!answer.issues.is_empty());
            if url.is_some() {
                assert_eq!(answer.issues[0].rule.as_deref(), Some("envelope-status"));
                assert_eq!(answer.identifiers, [identifier.as_str()]);
                let found = lab.search(&format!("identifier={identifier}")).await;
                assert_eq!(found.answers, std::slice::from_ref(&answer));
            }
            // It can be read as it was answered, and stays what it is.
            assert_eq!(lab.read(&receipt).await, answer);
        }
        let later = urn();
        lab.deliver(&document(&urn(), "A", "1"), &later).await;
        assert_eq!(lab.search(&format!("identifier={later}")).await.total, Some(1));
        let name = release.facts().last_updated;
        let future = lab.search(&format!("{name}=gt2999")).await;
        let self_ = future.links.self_.unwrap();
        match release {
            Release::R1_8_0 => {
                assert_eq!(lab.search("elm-status=failed").await.total, Some(2));
                assert_eq!(future.total, Some(0));
                assert!(self_.contains("_lastUpdate=gt2999"), "{self_}");
            }
            _ => {
                assert_eq!(future.total, Some(3));
                assert!(!self_.contains('?'), "{self_}");
            }
        }
        let other = house.client("beta").search("").await;
        assert_eq!(other.total, Some(0));
        let folder = house.close().await;
        assert_eq!(folder.count("SELECT count(*) FROM content"), 1, "no text of what was refused");
        assert_eq!(folder.count("SELECT count(*) FROM audit WHERE status = 422"), 2);
    }
}

/// The same envelope with one thing changed.
fn changed(from: &str, to: &str) -> Vec<u8> {
    let own = "urn:uuid:0b1f7a9e-52a4-4c1b-9f6e-8d2c3a4b5c6d";
    let (body, _) = wrapped(&document(own, "A", "1"), &urn());
    let text = String::from_utf8(body).unwrap();
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1).into_bytes()
}

async fn what_the_table_requires_is_required_unless_it_is_lenient() {
    let strict = House::open(|_| {}).await;
    let lenient = House::open(|options| options.strictness = Strictness::Deployed).await;
    let document_system = "\"identifier\": { \"system\": \"urn:ietf:rfc:3986\"";
    for (from, to, code) in [
        (canonical::DOCUMENT, "http://labor.example/p", "envelope-profile-missing"),
        (canonical::BUNDLE_EU_LAB, "http://labor.example/p", "envelope-profile-missing"),
        ("\"language\":\"de-CH\"", "\"language\":\"german\"", "envelope-language-form"),
        ("\"language\":\"de-CH\"", "\"language\":\"de_CH\"", "envelope-language-form"),
        ("\"language\":\"de-CH\",\"url\"", "\"url\"", "envelope-language-missing"),
        (document_system, "\"identifier\": { \"system\": \"urn:oid:1.2\"", "identifier-system"),
        ("urn:uuid:0b1f7a9e", "0b1f7a9e", "identifier-not-uuid"),
    ] {
        let refused = strict.client("alpha").post(changed(from, to), "application/fhir+json").await;
        assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY, "{to}");
        let told = rules_of(resource(refused).await.root());
        assert!(told.iter().any(|(rule, severity)| rule == code && *severity == Severity::Error));
        let lab = lenient.client("alpha");
        let taken = lab.post(changed(from, to), "application/fhir+json").await;
        assert_eq!(taken.status(), StatusCode::CREATED, "{to}");
        let told = rules_of(resource(taken).await.root());
        assert_eq!(told, [(code.to_owned(), Severity::Warning)], "{to}");
    }
    // What is no UUID is sent all the same: a warning, whoever demands what.
    for house in [&strict, &lenient] {
        let odd = changed("urn:uuid:0b1f7a9e-52a4", "urn:uuid:0b1f7a9e-52t4");
        let taken = house.client("alpha").post(odd, "application/fhir+json").await;
        assert_eq!(taken.status(), StatusCode::CREATED);
        let told = rules_of(resource(taken).await.root());
        assert_eq!(told, [("identifier-uuid-malformed".to_owned(), Severity::Warning)]);
    }
}

/// Rules that an answer tells of, contained or alone.
fn rules_of(root: fhir::Element<'_>) -> Vec<(String, Severity)> {
    let issues = outcome_of(root).map(issues_of).unwrap_or_default();
    issues.into_iter().map(|issue| (issue.rule.unwrap_or_default(), issue.severity)).collect()
}

async fn warnings_are_told_on_acceptance_and_when_it_is_completed() {
    let rules = Rules::parse(PRACTICE_RULES).unwrap();
    let house = House::open(|options| options.rules = rules).await;
    let lab = house.client("alpha");
    let malformed = [("envelope-identifier-uuid".to_owned(), Severity::Warning)];
    let odd = || format!("{}t", &urn()[..44]);
    for (prefer, kind) in [
        ("return=representation", Some("DocumentReference")),
        ("return=OperationOutcome", Some("OperationOutcome")),
        ("return=minimal", None),
    ] {
        let identifier = odd();
        let (body, format) = wrapped(&document(&urn(), "A", prefer), &identifier);
        let url = format!("{}/DocumentReference", house.base);
        let asked = lab.client.post(url).header("content-type", format.media_type());
        let response = asked.header("prefer", prefer).body(body).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::CREATED, "{prefer}");
        let location = response.headers()["location"].to_str().unwrap().to_owned();
        if let Some(kind) = kind {
            let tree = resource(response).await;
            assert_eq!(tree.root().resource_type(), Some(kind));
            let told = rules_of(tree.root());
            assert!(told.ends_with(&malformed), "{told:?}");
        }
        let receipt = location.rsplit('/').next().unwrap();
        let done = lab.processed(receipt).await;
        assert_eq!(done.processing, Some(Processing::Completed));
        let told: Vec<_> = done.issues.iter().filter_map(|issue| issue.rule.as_deref()).collect();
        assert_eq!(told, ["envelope-identifier-uuid"], "{prefer}");
        let found = lab.search(&format!("identifier={identifier}")).await;
        assert_eq!(found.answers, [done]);
    }
    // With what the rules say later.
    let failed = document(&urn(), "Muster-Fehler", "1");
    let receipt = lab.deliver(&failed, &odd()).await.receipt.unwrap();
    let told = lab.processed(&receipt).await;
    let rules: Vec<_> = told.issues.iter().filter_map(|issue| issue.rule.as_deref()).collect();
    assert_eq!(rules, ["envelope-identifier-uuid", "FOPH-002"]);
}

async fn rules_speak_as_validators_do() {
    let house = House::open(|options| options.rules = Rules::parse(PRACTICE_RULES).unwrap()).await;
    let lab = house.client("alpha");
    let told = |root: fhir::Element<'_>| {
        let issue = root.at_path("issue").or_else(|| root.at_path("contained.issue")).unwrap();
        let text = |path| issue.text(path).unwrap_or_default().to_owned();
        (text("diagnostics"), text("details.text"), text("details.coding.system"))
    };
    let refused = lab.post(changed("\"current\"", "\"superseded\""), "application/fhir+json").await;
    let (diagnostics, text, system) = told(resource(refused).await.root());
    assert_eq!(text, "The envelope’s status is “superseded” instead of current.");
    assert_eq!(diagnostics, format!("Constraint failed: envelope-status: '{text}'"));
    assert_eq!(system, "urn:labcourier:finding");
    let failing = document(&urn(), "Muster-Fehler", "1");
    let receipt = lab.deliver(&failing, &urn()).await.receipt.unwrap();
    lab.processed(&receipt).await;
    let read = resource(lab.get(&format!("/DocumentReference/{receipt}")).await).await;
    let (diagnostics, text, system) = told(read.root());
    assert!(text.starts_with("Practice: this report fails on purpose"), "{text}");
    assert_eq!(diagnostics, format!("Constraint failed: FOPH-002: '{text}'"));
    assert_eq!(system, canonical::RULES_SYSTEM);
}

async fn the_text_of_a_failed_document_is_gone_from_every_file() {
    let house = House::open(|options| options.rules = Rules::parse(PRACTICE_RULES).unwrap()).await;
    let lab = house.client("alpha");
    let canary = "Zwinglicanary".repeat(40);
    let holding = |folder: &std::path::Path| -> Vec<_> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries
            .filter(|path| path.is_file())
            .filter(|path| {
                let bytes = std::fs::read(path).unwrap_or_default();
                bytes.windows(13).any(|window| window == b"Zwinglicanary")
            })
            .collect()
    };
    // Others are read and written meanwhile.
    let (busy, over) = (house.client("beta"), tokio_util::sync::CancellationToken::new());
    let stop = over.clone();
    let noise = tokio::spawn(async move {
        while !stop.is_cancelled() {
            busy.deliver(&document(&urn(), "B", "1"), &urn()).await;
            busy.search("").await;
        }
    });
    for _ in 0..3 {
        let text = document(&urn(), "Muster-Fehler", &canary);
        let receipt = lab.deliver(&text, &urn()).await.receipt.unwrap();
        assert_eq!(lab.processed(&receipt).await.processing, Some(Processing::Failed));
        let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while !holding(house.folder.path()).is_empty() {
            let left = holding(house.folder.path());
            assert!(std::time::Instant::now() < end, "it stays in {left:?}");
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }
    over.cancel();
    noise.await.unwrap();
}

async fn a_report_goes_every_way_and_is_corrected() {
    let house = House::open(|options| options.rules = Rules::parse(PRACTICE_RULES).unwrap()).await;
    let lab = house.client("alpha");
    // By the identifier alone, which is what every release can search for.
    let verdict = async |identifier: &str| {
        let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
        loop {
            let page = lab.search(&format!("identifier={identifier}&_sort=-_lastUpdated")).await;
            let answer = page.answers.into_iter().next().expect("what was accepted is found");
            if answer.processing != Some(Processing::InProgress) {
                return answer;
            }
            assert!(std::time::Instant::now() < end, "not processed");
        }
    };
    for text in [document(&urn(), "Muster", "1"), as_xml(&document(&urn(), "Muster", "2"))] {
        let identifier = urn();
        lab.deliver(&text, &identifier).await;
        let done = verdict(&identifier).await;
        assert_eq!((done.processing, done.issues.len()), (Some(Processing::Completed), 0));
        assert_eq!(lab.read(done.receipt.as_deref().unwrap()).await, done);
    }
    // Refused at once, with messages.
    let own = urn();
    let (body, _) = wrapped(&document(&own, "Muster", "3"), &urn());
    let broken = String::from_utf8(body).unwrap().replace("\"final\"", "\"finished\"");
    let refused = lab.post(broken.into_bytes(), "application/fhir+json").await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let answer = Answer::read(resource(refused).await.root()).unwrap();
    assert_eq!(answer.issues[0].rule.as_deref(), Some("code-not-allowed"));
    assert_eq!(answer.receipt.is_some(), !tells_outcomes_alone(), "{:?}", release());
    if let Some(receipt) = &answer.receipt {
        assert_eq!(lab.read(receipt).await, answer, "the messages can be read again");
    }
    // Corrected, it fails later, with messages; corrected once more, it completes.
    for (family, processing, count) in
        [("Muster-Fehler", Processing::Failed, 1), ("Muster", Processing::Completed, 0)]
    {
        let identifier = urn();
        lab.deliver(&document(&own, family, "3"), &identifier).await;
        let answer = verdict(&identifier).await;
        assert_eq!((answer.processing, answer.issues.len()), (Some(processing), count));
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
    // The published requests declare no profiles.
    let house = House::open(|options| {
        options.rules = Rules::parse(PRACTICE_RULES).unwrap();
        options.strictness = Strictness::Deployed;
    })
    .await;
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
