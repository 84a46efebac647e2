//! What is put on record about requests: who sent and read what, and what was refused.

use std::path::Path;
use std::time::{Duration, Instant};

use authority::{AuditFilter, audit};
use reqwest::StatusCode;
use tempfile::TempDir;

use crate::administration::told;
use crate::common::{House, document, urn};

on_every_store![
    the_audit_log_says_who_sent_and_read_what_and_nothing_of_patients,
    a_laboratory_can_have_limits_of_its_own_and_refusals_are_on_record,
    lines_of_the_audit_log_are_kept_until_it_is_on_record_that_they_are_not,
];

async fn the_audit_log_says_who_sent_and_read_what_and_nothing_of_patients() {
    let house = House::open(|_| {}).await;
    let (alpha, beta) = (house.client("alpha"), house.client("beta"));
    let receipt = alpha.deliver(&document(&urn(), "Geheim", "1"), &urn()).await.receipt.unwrap();
    alpha.read(&receipt).await;
    alpha.search("identifier=Geheim").await;
    alpha.search("").await;
    beta.get(&format!("/DocumentReference/{receipt}")).await;
    beta.get("/DocumentReference/Geheim").await;
    alpha.post(b"{}".to_vec(), "application/fhir+json").await;
    alpha.get("/metadata").await;
    let data = house.close().await;
    let lines = audit(data.path(), &AuditFilter::default()).unwrap();
    let seen: Vec<_> = lines
        .iter()
        .map(|line| {
            let (lab, receipt) = (line.laboratory.as_deref().unwrap(), line.receipt.is_some());
            (lab, line.interaction.as_str(), line.status, receipt, line.entries)
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("alpha", "create", 201, true, None),
            ("alpha", "read", 200, true, None),
            ("alpha", "search", 200, false, Some(0)),
            ("alpha", "search", 200, false, Some(1)),
            ("beta", "read", 404, false, None),
            ("beta", "read", 404, false, None),
            ("alpha", "create", 400, false, None),
            ("alpha", "capabilities", 200, false, None),
        ]
    );
    let about = AuditFilter { receipt: Some(receipt), ..AuditFilter::default() };
    let about = audit(data.path(), &about).unwrap();
    let interactions: Vec<_> = about.iter().map(|line| line.interaction.as_str()).collect();
    assert_eq!(interactions, ["create", "read", "search"], "who was shown it is told too");
    assert_eq!(about[2].shown, [about[0].receipt.clone().unwrap()]);
    let text = told(data.path(), &["audit", "list", "--laboratory", "beta", "--last", "1"]);
    assert_eq!((text.lines().count(), text.split('\t').count()), (1, 8), "{text}");
    assert!(!told(data.path(), &["audit", "list"]).contains("Geheim"));
    for sql in ["DELETE FROM audit", "UPDATE audit SET status = 200"] {
        assert!(data.execute(sql).is_err(), "{sql}");
    }
}

async fn a_laboratory_can_have_limits_of_its_own_and_refusals_are_on_record() {
    let files = TempDir::new().unwrap();
    let path = files.path().join("limits.toml");
    // As the manual has it, for another laboratory.
    let manual = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/authority.md"),
    );
    let manual = manual.unwrap();
    let (_, example) = manual.split_once("```toml\n[laboratory.my-lab]").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let own = example.replace("requests-per-second = 50", "requests-per-second = 1");
    std::fs::write(&path, format!("[laboratory.alpha]{own}")).unwrap();
    let house = House::open(|options| options.own_limits = Some(path.clone())).await;
    let (alpha, beta) = (house.client("alpha"), house.client("beta"));
    let large = vec![b' '; 5_000_001];
    let refused = alpha.post(large.clone(), "application/fhir+json").await;
    assert_eq!(refused.status(), StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(beta.post(large, "application/fhir+json").await.status(), StatusCode::BAD_REQUEST);
    let mut refusals = 0;
    let end = Instant::now() + Duration::from_secs(20);
    while refusals < 3 {
        assert!(Instant::now() < end, "no limit");
        let answer = alpha
            .client
            .get(format!("{}/metadata", alpha.base))
            .header("accept", "application/fhir+xml");
        let answer = answer.send().await.unwrap();
        if answer.status() == StatusCode::TOO_MANY_REQUESTS {
            let kind = answer.headers()["content-type"].to_str().unwrap().to_owned();
            assert!(kind.starts_with("application/fhir+xml"), "{kind}");
            crate::common::resource(answer).await;
            refusals += 1;
        }
    }
    for _ in 0..50 {
        assert_eq!(beta.get("/metadata").await.status(), StatusCode::OK);
    }
    // What is left out, or cannot be read, changes nothing; a new file holds without a restart.
    std::fs::write(&path, "[laboratory.alpha]\nrequests-per-second = 1000\n").unwrap();
    let end = Instant::now() + Duration::from_secs(30);
    let mut row = 0;
    while row < 20 {
        assert!(Instant::now() < end, "the new limits do not hold");
        match alpha.get("/metadata").await.status() {
            StatusCode::OK => row += 1,
            StatusCode::TOO_MANY_REQUESTS => (refusals, row) = (refusals + 1, 0),
            // The database was busy: nobody was refused for the limit.
            _ => row = 0,
        }
    }
    let data = house.close().await;
    let lines = audit(data.path(), &AuditFilter::default()).unwrap();
    let throttled: Vec<_> = lines.iter().filter(|line| line.interaction == "throttled").collect();
    assert!(throttled.iter().all(|line| line.status == 429));
    assert!(throttled.iter().all(|line| line.laboratory.as_deref() == Some("alpha")));
    let told: u32 = throttled.iter().filter_map(|line| line.entries).sum();
    assert_eq!(told, refusals, "none is forgotten");
}

async fn lines_of_the_audit_log_are_kept_until_it_is_on_record_that_they_are_not() {
    let house = House::open(|_| {}).await;
    house.client("alpha").get("/metadata").await;
    let data = house.close().await;
    let lines = || audit(data.path(), &AuditFilter::default()).unwrap();
    let before = lines();
    let next = before[0].at.plus_micros(1);
    let refused = authority::forget_audit(data.path(), next.plus_seconds(3600));
    assert!(refused.is_err(), "a time to come");
    assert_eq!(told(data.path(), &["audit", "delete", "--before", "2020-01-01"]), "0 deleted\n");
    assert!(data.execute("DELETE FROM audit").is_err(), "kept");
    assert_eq!(lines(), before);
    assert_eq!(authority::forget_audit(data.path(), next).unwrap(), 1);
    assert_eq!(lines(), []);
    for sql in ["DELETE FROM audit_retention", "UPDATE audit_retention SET until = 0"] {
        assert!(data.execute(sql).is_err(), "{sql}");
    }
}

/// On a full disk nothing can be put on record: then nothing is shown either, until it can again.
#[tokio::test]
async fn nothing_is_shown_while_it_cannot_be_put_on_record() {
    let house = House::open(|_| {}).await;
    let alpha = house.client("alpha");
    let until = async |wanted: StatusCode| {
        for _ in 0..200 {
            let status = alpha.get("/DocumentReference?_summary=count").await.status();
            if status == wanted {
                return;
            }
        }
        panic!("never {wanted}");
    };
    until(StatusCode::OK).await;
    let full = "CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END";
    house.folder.execute(full).unwrap();
    until(StatusCode::SERVICE_UNAVAILABLE).await;
    let again = alpha.get("/DocumentReference?_summary=count").await.status();
    assert_eq!(again, StatusCode::SERVICE_UNAVAILABLE, "as long as it is so");
    house.folder.execute("DROP TRIGGER full").unwrap();
    until(StatusCode::OK).await;
}
