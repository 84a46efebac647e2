//! What is wrong with a document, and how the answer says so, through real HTTPS.

use crate::common::{House, as_xml, document, outcome_of, resource, urn, wrapped};
use crate::setting::{has_full_search, last_updated, on_postgres, tells_outcomes_alone};
use authority::{PRACTICE_RULES, Rules};
use exchange::{Answer, Processing, Release, Strictness, canonical};
use fhir::{Format, Severity, issues_of};
use reqwest::{Method, StatusCode};

in_every_release![
    what_the_table_requires_is_required_unless_it_is_lenient,
    warnings_are_told_on_acceptance_and_when_it_is_completed,
    rules_speak_as_validators_do,
    all_errors_of_an_invalid_document_are_told_with_their_places,
    whatever_is_wrong_the_answer_is_an_outcome_in_the_encoding_asked_for,
    rules_fail_a_document_and_tell_of_duplicates,
];

/// What goes through the releases itself.
mod of_all_releases {
    use super::earlier_releases_answer_an_invalid_document_with_status_and_outcome;
    use super::rules_answer_in_the_language_of_the_report;

    on_every_store![
        earlier_releases_answer_an_invalid_document_with_status_and_outcome,
        rules_answer_in_the_language_of_the_report,
    ];
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
    assert!(text.starts_with("Übung: Diese Meldung schlägt absichtlich fehl"), "{text}");
    assert_eq!(diagnostics, format!("Constraint failed: FOPH-002: '{text}'"));
    assert_eq!(system, canonical::RULES_SYSTEM);
}

async fn rules_answer_in_the_language_of_the_report() {
    let house = House::open(|options| options.rules = Rules::parse(PRACTICE_RULES).unwrap()).await;
    let lab = house.client("alpha");
    for (language, begins) in [
        ("en-GB", "Practice: this report"),
        ("de-CH", "Übung: Diese Meldung"),
        ("fr-CH", "Exercice\u{a0}: cette déclaration"),
        ("it-CH", "Esercitazione: questa dichiarazione"),
        ("rm-CH", "Practice: this report"),
    ] {
        let failing = document(&urn(), "Muster-Fehler", "1").replace("de-CH", language);
        let receipt = lab.deliver(&failing, &urn()).await.receipt.unwrap();
        let told = lab.processed(&receipt).await;
        let text = &told.issues[0].text;
        assert!(text.starts_with(begins) && text.contains("Muster-Fehler"), "{language}: {text}");
    }
}
