//! Everything odd that can be switched on, the admin port that does it, and the descriptions.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use crate::common::{House, document, urn, wrapped};
use authority::{FaultScript, Rules};
use exchange::Processing;
use reqwest::StatusCode;
use serde_json::Value;
use tempfile::TempDir;

in_every_release![
    answers_to_a_create_can_be_odd,
    instants_have_seven_digits_and_narratives_are_hostile_on_request,
    pages_are_zero_based_shifted_or_newest_first_on_request,
    a_conditional_create_makes_one_document_however_many_try,
    every_operation_of_the_openapi_description_is_served,
    the_published_rules_answer_by_their_codes,
    the_code_of_a_rule_can_stand_in_each_place_where_it_was_seen,
];

/// Nothing about the wire.
mod newest {
    use super::{
        fault_plans_come_by_a_socket_of_the_owner_only, the_admin_port_tells_health_and_counts,
    };

    on_every_store![
        the_admin_port_tells_health_and_counts,
        fault_plans_come_by_a_socket_of_the_owner_only,
    ];
}

async fn desk() -> (House, reqwest::Client, String) {
    let house = House::open(|options| options.admin = Some(([127, 0, 0, 1], 0).into())).await;
    let address = house.serving.as_ref().unwrap().admin.unwrap();
    let client = reqwest::Client::builder()
        .no_proxy()
        .tls_backend_preconfigured(crate::common::tls(house.folder.path(), Some("alpha")));
    (house, client.build().unwrap(), format!("http://{address}"))
}

async fn the_admin_port_tells_health_and_counts() {
    let (house, admin, base) = desk().await;
    let get = |path: &str| admin.get(format!("{base}{path}")).send();
    for path in ["/healthz", "/readyz"] {
        assert_eq!(get(path).await.unwrap().status(), StatusCode::OK, "{path}");
    }
    let lab = house.client("alpha");
    lab.deliver(&document(&urn(), "A", "1"), &urn()).await;
    lab.get("/DocumentReference/nothing").await;
    let metrics = get("/metrics").await.unwrap().text().await.unwrap();
    for line in [
        "authority_requests_total{interaction=\"create\",status=\"201\"} 1\n",
        "authority_requests_total{interaction=\"read\",status=\"404\"} 1\n",
        "authority_request_seconds_bucket{interaction=\"create\",le=\"+Inf\"} 1\n",
        "authority_open_requests 0\n",
        "authority_connections 1\n",
    ] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }
    assert_eq!(get("/nothing").await.unwrap().status(), StatusCode::NOT_FOUND);
    let rebound = admin.get(format!("{base}/metrics")).header("host", "evil.example");
    assert_eq!(rebound.send().await.unwrap().status(), StatusCode::FORBIDDEN);
    let post = admin.post(format!("{base}/metrics")).send().await.unwrap();
    assert_eq!(post.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(post.headers()["allow"], "GET");
    // Whoever reaches the port, every program of this computer, can disturb nothing by it.
    let plan = "[[fault]]\non = \"search\"\nkind = { bare-status = 502 }\n";
    let put = admin.put(format!("{base}/faults")).body(plan).send().await.unwrap();
    assert_eq!(put.status(), StatusCode::NOT_FOUND);
    assert_eq!(lab.get("/DocumentReference").await.status(), StatusCode::OK);
}

async fn fault_plans_come_by_a_socket_of_the_owner_only() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("faults");
    // What a process left that was killed is no hindrance.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let house = House::open(|options| {
        options.admin = Some(([127, 0, 0, 1], 0).into());
        options.faults_socket = Some(path.clone());
    })
    .await;
    let mode = std::fs::symlink_metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing beside it");
    let admin = crate::common::by_socket(house.folder.path(), &path);
    let here = "http://localhost/faults";
    let put = |body: &str| admin.put(here).body(body.to_owned()).send();
    let lab = house.client("alpha");
    let plan = "[[fault]]\non = \"search\"\ntimes = \"always\"\nkind = { bare-status = 502 }\n";
    assert_eq!(put(plan).await.unwrap().status(), StatusCode::OK);
    let bad = lab.get("/DocumentReference").await;
    assert_eq!((bad.status(), bad.content_length()), (StatusCode::BAD_GATEWAY, Some(0)));
    let told = admin.get(here).send().await.unwrap().text().await.unwrap();
    assert_eq!(FaultScript::parse(&told).unwrap(), FaultScript::parse(plan).unwrap());
    assert_eq!(put("nonsense").await.unwrap().status(), StatusCode::BAD_REQUEST);
    assert_eq!(lab.get("/DocumentReference").await.status(), StatusCode::BAD_GATEWAY, "kept");
    admin.delete(here).send().await.unwrap();
    assert_eq!(lab.get("/DocumentReference").await.status(), StatusCode::OK);
    // A handshake can be refused.
    put("[[fault]]\non = \"handshake\"\nkind = \"cut-before-commit\"").await.unwrap();
    let url = format!("{}/metadata", house.base);
    assert!(house.client("beta").client.get(&url).send().await.is_err());
    assert!(house.client("beta").client.get(&url).send().await.is_ok());
    let post = admin.post(here).send().await.unwrap();
    assert_eq!(post.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(post.headers()["allow"], "GET, PUT, DELETE");
    let elsewhere = admin.get("http://localhost/metrics").send().await.unwrap();
    assert_eq!(elsewhere.status(), StatusCode::NOT_FOUND);
    house.close().await;
    assert!(!path.exists(), "it goes with the service");
}

fn always(house: &House, on: &str, kind: &str) {
    let plan = format!("[[fault]]\non = \"{on}\"\ntimes = \"always\"\nkind = {kind}\n");
    house.faults().replace(FaultScript::parse(&plan).unwrap());
}

async fn sent(house: &House) -> reqwest::Response {
    let (body, format) = wrapped(&document(&urn(), "A", "1"), &urn());
    house.client("alpha").post(body, format.media_type()).await
}

async fn json(response: reqwest::Response) -> Value {
    serde_json::from_slice(&response.bytes().await.unwrap()).unwrap()
}

async fn answers_to_a_create_can_be_odd() {
    let house = House::open(|_| {}).await;
    always(&house, "create", "\"no-meta\"");
    let bare = json(sent(&house).await).await;
    assert!(bare.get("meta").is_none() && bare.get("id").is_some());
    always(&house, "create", "\"created-is-200\"");
    assert_eq!(sent(&house).await.status(), StatusCode::OK);
    always(&house, "create", "\"date-drift\"");
    let created = json(sent(&house).await).await;
    let path = format!("/DocumentReference/{}", created["id"].as_str().unwrap());
    let read = json(house.client("alpha").get(&path).await).await;
    assert_ne!(created["date"], read["date"]);
    always(&house, "create", "\"unparsable-is-422\"");
    let refused = house.client("alpha").post(b"{".to_vec(), "application/fhir+json").await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    always(&house, "create", "{ content-type = \"text/plain\" }");
    let labelled = sent(&house).await;
    assert_eq!(labelled.headers()["content-type"], "text/plain");
    always(&house, "create", "\"endless-body\"");
    let mut endless = sent(&house).await;
    let mut bytes = 0;
    while bytes < 4 << 20 {
        bytes += endless.chunk().await.unwrap().expect("no end").len();
    }
    drop(endless);
    house.faults().clear();
    assert_eq!(sent(&house).await.status(), StatusCode::CREATED);
}

async fn instants_have_seven_digits_and_narratives_are_hostile_on_request() {
    let house = House::open(|_| {}).await;
    let receipt = json(sent(&house).await).await["id"].as_str().unwrap().to_owned();
    let lab = house.client("alpha");
    always(&house, "read", "\"seven-digits\"");
    let read = json(lab.get(&format!("/DocumentReference/{receipt}")).await).await;
    for instant in [&read["meta"]["lastUpdated"], &read["date"]] {
        let fraction = instant.as_str().unwrap().split_once('.').unwrap().1;
        assert_eq!(fraction.len(), "1234567Z".len(), "{instant}");
    }
    assert!(lab.read(&receipt).await.receipt.is_some(), "a client reads it all the same");
    always(&house, "search", "\"hostile-narrative\"");
    for format in ["json", "xml"] {
        let answer = lab.get(&format!("/DocumentReference?_format={format}")).await;
        let text = answer.text().await.unwrap();
        assert!(text.contains("<script") || text.contains("\\u003cscript"), "{text}");
    }
}

async fn pages_are_zero_based_shifted_or_newest_first_on_request() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    let mut receipts = Vec::new();
    for _ in 0..5 {
        let answer = lab.deliver(&document(&urn(), "A", "1"), &urn()).await;
        receipts.push(answer.receipt.unwrap());
    }
    let ids = |page: &exchange::Page| {
        page.answers.iter().map(|answer| answer.receipt.clone().unwrap()).collect::<Vec<_>>()
    };
    always(&house, "search", "\"zero-based-pages\"");
    let mut page = lab.search("_count=2&_sort=date").await;
    let mut walked = ids(&page);
    while let Some(next) = page.links.next.clone() {
        assert!(next.contains("_page=") && !next.contains("&page="), "{next}");
        page = lab.follow(&next).await;
        walked.extend(ids(&page));
    }
    assert_eq!(walked, receipts);
    always(&house, "search", "\"newest-first\"");
    let newest: Vec<_> = receipts.iter().rev().cloned().collect();
    assert_eq!(ids(&lab.search("_sort=date").await), newest);
    always(&house, "search", "\"shifted-pages\"");
    let first = lab.search("_count=2").await;
    lab.deliver(&document(&urn(), "A", "1"), &urn()).await;
    let second = lab.follow(&first.links.next.clone().unwrap()).await;
    assert_eq!(ids(&first)[1], ids(&second)[0], "shown twice, as it was shifted");
}

async fn a_conditional_create_makes_one_document_however_many_try() {
    for honoured in [true, false] {
        let house = House::open(|options| options.conditional_create = honoured).await;
        let identifier = urn();
        let tries: Vec<_> = (0..8)
            .map(|_| {
                let (body, format) = wrapped(&document(&urn(), "A", "1"), &identifier);
                let lab = house.client("alpha");
                let condition = format!("identifier=urn:ietf:rfc:3986|{identifier}");
                tokio::spawn(async move {
                    let url = format!("{}/DocumentReference", lab.base);
                    let request = lab.client.post(url).header("if-none-exist", condition);
                    let request = request.header("content-type", format.media_type()).body(body);
                    request.send().await.unwrap().status().as_u16()
                })
            })
            .collect();
        let mut created = 0;
        for one in tries {
            created += usize::from(one.await.unwrap() == 201);
        }
        assert_eq!(created, if honoured { 1 } else { 8 });
        let lab = house.client("alpha");
        let told = json(lab.get("/metadata").await).await;
        assert_eq!(told["rest"][0]["resource"][0]["conditionalCreate"], honoured);
        let (body, format) = wrapped(&document(&urn(), "A", "1"), &urn());
        let url = format!("{}/DocumentReference", lab.base);
        let request = lab.client.post(url).header("content-type", format.media_type()).body(body);
        let vague = request.header("if-none-exist", "colour=red").send().await.unwrap();
        assert_eq!(vague.status().as_u16(), if honoured { 400 } else { 201 });
        let unclear: [&[&[u8]]; 3] =
            [&["identifier=\u{e9}".as_bytes()], &[b"identifier=a", b"identifier=b"], &[b""]];
        for values in unclear {
            let (body, format) = wrapped(&document(&urn(), "A", "1"), &urn());
            let url = format!("{}/DocumentReference", lab.base);
            let mut request = lab.client.post(url).header("content-type", format.media_type());
            for value in values {
                let value = reqwest::header::HeaderValue::from_bytes(value).unwrap();
                request = request.header("if-none-exist", value);
            }
            let answer = request.body(body).send().await.unwrap().status().as_u16();
            assert_eq!(answer, if honoured { 400 } else { 201 }, "{values:?}");
        }
    }
}

async fn every_operation_of_the_openapi_description_is_served() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    let answer = lab.get("/openapi.json").await;
    assert_eq!(answer.headers()["content-type"], "application/json");
    let told = json(answer).await;
    assert_eq!(told["servers"][0]["url"], house.base.as_str());
    let mut operations = 0;
    for (path, methods) in told["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let method = method.to_ascii_uppercase().parse().unwrap();
            let url = format!("{}{}", lab.base, path.replace("{id}", "1"));
            let answer = lab.client.request(method, url).send().await.unwrap();
            assert!(!matches!(answer.status().as_u16(), 405 | 500..), "{path}");
            assert!(operation["responses"].is_object());
            operations += 1;
        }
    }
    assert_eq!(operations, 6);
}

async fn the_published_rules_answer_by_their_codes() {
    let house = House::open(|options| options.rules = Rules::published(true).unwrap()).await;
    let lab = house.client("alpha");
    let plain = document(&urn(), "Muster", "1");
    let old = "\"effectiveDateTime\": \"2019-05-06\", \"valueString\"";
    let with = |from: &str, to: &str| plain.replace(from, to);
    let address = |part: &str| with("\"id\": \"p\",", &format!("\"id\": \"p\", {part},"));
    for (document, status, codes) in [
        (plain.clone(), Processing::Completed, &["FOPH-006"][..]),
        (plain.clone(), Processing::Failed, &["FOPH-021", "FOPH-006"]),
        (with("697-3", "99998-3"), Processing::Failed, &["FOPH-012", "FOPH-006"]),
        (with("697-3", "56888-1"), Processing::Completed, &["FOPH-005", "FOPH-006"]),
        (with("\"valueString\"", old), Processing::Failed, &["FOPH-020", "FOPH-006"]),
        (
            address(r#""address": [ { "postalCode": "1", "state": "Bern", "country": "CHEL" } ]"#),
            Processing::Failed,
            &["FOPH-014", "FOPH-016"],
        ),
    ] {
        let receipt = lab.deliver(&document, &urn()).await.receipt.unwrap();
        let answer = lab.processed(&receipt).await;
        assert_eq!(answer.processing, Some(status), "{codes:?}");
        let read = json(lab.get(&format!("/DocumentReference/{receipt}")).await).await;
        let issues = read["contained"][0]["issue"].as_array().unwrap();
        let told: Vec<_> = issues
            .iter()
            .map(|issue| issue["details"]["coding"][0]["code"].as_str().unwrap())
            .collect();
        assert_eq!(told, codes);
    }
    // One document for each of the others.
    let entry = |resource: &str| {
        plain.replace(
            "\n  ]\n}",
            &format!(",\n    {{ \"fullUrl\": \"{}\", \"resource\": {resource} }}\n  ]\n}}", urn()),
        )
    };
    let specimen = |code: &str| {
        entry(&format!(
            r#"{{ "resourceType": "Specimen", "type": {{ "coding": [ {{ "code": "{code}" }} ] }} }}"#
        ))
    };
    let result = |code: &str| {
        with(
            "\"valueString\": \"1\"",
            &format!(r#""valueCodeableConcept": {{ "coding": [ {{ "code": "{code}" }} ] }}"#),
        )
    };
    let located = |kind: &str| {
        entry(&format!(
            r#"{{ "resourceType": "{kind}", "identifier": [ {{ "value": "7601" }} ], "address": [ {{ "postalCode": "0000" }} ] }}"#
        ))
    };
    let request = r#"{ "resourceType": "ServiceRequest", "status": "active", "intent": "order", "subject": { "display": "x" } }"#;
    let twice =
        entry(&format!("{request} }}, {{ \"fullUrl\": \"{}\", \"resource\": {request}", urn()));
    let once = entry(request);
    for (document, code, status) in [
        (result("99999-1"), Some("FOPH-013"), Processing::Failed),
        (specimen("258500001").replace("697-3", "99996-7"), Some("FOPH-007"), Processing::Failed),
        (specimen("119297000").replace("697-3", "99996-7"), None, Processing::Completed),
        (result("112283007").replace("697-3", "99996-7"), Some("FOPH-008"), Processing::Failed),
        (result("68704007").replace("697-3", "99996-7"), None, Processing::Completed),
        (
            specimen("258500001").replace("697-3", "99995-9"),
            Some("FOPH-011"),
            Processing::Completed,
        ),
        (
            address(r#""address": [ { "postalCode": "0000" } ]"#),
            Some("FOPH-017"),
            Processing::Completed,
        ),
        (located("Organization"), Some("FOPH-018"), Processing::Completed),
        (located("Practitioner"), Some("FOPH-019"), Processing::Completed),
        (twice, Some("FOPH-022"), Processing::Completed),
        (once, None, Processing::Completed),
    ] {
        let receipt = lab.deliver(&document, &urn()).await.receipt.unwrap();
        let answer = lab.processed(&receipt).await;
        let told: Vec<_> = answer.issues.iter().filter_map(|issue| issue.rule.as_deref()).collect();
        let told: Vec<_> = told.into_iter().filter(|told| *told != "FOPH-006").collect();
        assert_eq!(told, code.into_iter().collect::<Vec<_>>());
        assert_eq!(answer.processing, Some(status), "{code:?}");
    }
    let testing = Rules::published(false).unwrap();
    let duplicate = testing.rules.iter().find(|rule| rule.code == "FOPH-021").unwrap();
    assert_eq!(duplicate.effect, authority::Effect::Notice);
    tokio::time::timeout(Duration::from_secs(10), house.close()).await.unwrap();
}

async fn the_code_of_a_rule_can_stand_in_each_place_where_it_was_seen() {
    let house = House::open(|options| options.rules = Rules::published(false).unwrap()).await;
    let lab = house.client("alpha");
    let receipt = lab.deliver(&document(&urn(), "Muster", "1"), &urn()).await.receipt.unwrap();
    lab.processed(&receipt).await;
    for (kind, place) in
        [("rule-in-text", "/details/text"), ("rule-in-diagnostics", "/diagnostics")]
    {
        for (on, path, issue) in [
            ("read", format!("/DocumentReference/{receipt}"), "/contained/0/issue/0"),
            ("search", "/DocumentReference".to_owned(), "/entry/0/resource/contained/0/issue/0"),
        ] {
            always(&house, on, &format!("\"{kind}\""));
            let answer = json(lab.get(&path).await).await;
            let issue = answer.pointer(issue).unwrap();
            let told = issue.pointer(place).unwrap().as_str().unwrap();
            assert!(told.starts_with("Constraint failed: FOPH-006: '"), "{told}");
            assert!(issue.pointer("/details/coding").is_none());
        }
    }
}
