//! Packages of rules of a room: what another version would change is told before it is used.

use std::path::Path;

use bridge::{Desk, KnownContent};
use serde_json::json;

use crate::screen::must;

/// A package of our own that permits names of places up to so many letters.
fn package(home: &Path, version: &str, letters: u32) -> String {
    let element = |path: &str, kind: &str| json!({ "id": path, "path": path, "min": 0, "max": "*", "type": [{ "code": kind }] });
    let root = |path: &str| json!({ "id": path, "path": path, "min": 0, "max": "*" });
    let mut city = element("Patient.address.city", "string");
    city["maxLength"] = json!(letters);
    let structure = |kind: &str, elements: Vec<serde_json::Value>| {
        json!({ "resource": {
            "resourceType": "StructureDefinition", "version": version, "kind": "resource", "type": kind,
            "url": format!("http://hl7.org/fhir/StructureDefinition/{kind}"),
            "derivation": "specialization", "snapshot": { "element": elements },
        } })
    };
    let bundle = structure(
        "Bundle",
        vec![
            root("Bundle"),
            element("Bundle.entry", "BackboneElement"),
            element("Bundle.entry.resource", "Resource"),
        ],
    );
    let patient =
        structure("Patient", vec![root("Patient"), element("Patient.address", "Address"), city]);
    written(home, version, &[bundle, patient])
}

fn written(home: &Path, version: &str, entries: &[serde_json::Value]) -> String {
    let all = json!({ "resourceType": "Bundle", "type": "collection", "entry": entries });
    let file = home.join(format!("{version}.json"));
    std::fs::write(&file, all.to_string()).unwrap();
    file.display().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_version_would_change_is_told_before_it_is_used() {
    let root = tempfile::tempdir().unwrap();
    let desk = Desk::open(root.path()).await.unwrap();
    let samples = desk.practice_samples().await.unwrap();
    // Nobody works here: they stay as they were taken in.
    let taken = desk.send_files(samples[..2].to_vec(), KnownContent::Show).await.unwrap();
    let ids: Vec<i64> = taken.submissions.iter().map(|id| id.expect("taken in")).collect();
    assert_eq!(ids.len(), 2);

    let mut labels = Vec::new();
    for (version, letters) in [("1.0.0", 60), ("2.0.0", 3)] {
        let entry = desk.import_rules(package(root.path(), version, letters)).await.unwrap();
        labels.push(format!("{}@{}", entry.name, entry.version));
    }
    let used = || async {
        let all = desk.rules().await.unwrap();
        let used = all.into_iter().find(|entry| entry.in_use);
        used.map(|entry| format!("{}@{}", entry.name, entry.version))
    };
    assert_eq!(used().await.as_deref(), Some("labcourier.practice@1.0.0"));
    desk.use_rules(labels[0].clone()).await.unwrap();

    let plan = desk.plan_rules(labels[0].clone()).await.unwrap();
    assert_eq!((plan.looked, plan.refused, plan.accepted, plan.still), (2, 0, 0, 0));
    let plan = desk.plan_rules(labels[1].clone()).await.unwrap();
    assert_eq!((plan.looked, plan.refused, plan.accepted, plan.still), (2, 2, 0, 0));
    assert_eq!(plan.in_use.as_ref(), Some(&labels[0]));
    let reasons: Vec<_> =
        plan.reasons.iter().map(|of| (of.message.code.as_str(), of.reports)).collect();
    assert_eq!(reasons, [("rule-too-long", 2)]);
    assert_eq!(plan.reasons[0].message.path.as_deref(), Some("Patient.address.city"));
    // Nothing was changed by asking, and names are masked.
    assert_eq!(used().await.as_ref(), Some(&labels[0]));
    let mut told: Vec<i64> = plan.reports.iter().map(|row| row.id).collect();
    told.sort_unstable();
    assert_eq!(told, ids);
    for row in &plan.reports {
        let shown = desk.detail(row.id).await.unwrap().row.patient;
        assert!(row.patient.is_some() && row.patient != shown);
    }

    // The stricter one in use, the other would let both pass.
    desk.use_rules(labels[1].clone()).await.unwrap();
    let plan = desk.plan_rules(labels[0].clone()).await.unwrap();
    assert_eq!((plan.looked, plan.refused, plan.accepted, plan.still), (2, 0, 2, 0));
    desk.remove_rules(labels[1].clone()).await.unwrap();
    assert_eq!(used().await, None);
    let unknown = desk.plan_rules(labels[1].clone()).await.unwrap_err();
    assert_eq!(unknown.code, "rules-not-imported");
}

/// A code that is newer than this program: a package of the laboratory says what it stands for.
#[tokio::test(flavor = "multi_thread")]
async fn a_code_of_an_imported_package_is_a_disease_in_lists_search_and_filters() {
    let codes = json!([
        { "code": "99999-9", "display": "Legionella pneumophila DNA [Presence] in Sputum" },
        { "code": "99998-1", "display": "Glucose [Mass/volume] in Blood" },
    ]);
    let set = json!({ "resource": {
        "resourceType": "ValueSet", "version": "3.0.0",
        "url": "https://example.org/ValueSet/results", "status": "active",
        "compose": { "include": [{ "system": "http://loinc.org", "concept": codes }] },
    } });
    let report = |root: &Path, seed: u64| {
        let disease = testkit::Disease {
            test: "99999-9",
            test_display: "Assay 12",
            ..testkit::Disease::ALL[0]
        };
        let text = testkit::DocumentBuilder::new(seed).disease(disease).json();
        let file = root.join(format!("{seed}.json"));
        std::fs::write(&file, text).unwrap();
        file.display().to_string()
    };
    let query = |search: Option<&str>, about: serde_json::Value| {
        json!({
            "query": { "group": null, "states": [], "search": search, "about": about },
            "reveal": false,
        })
    };
    let root = tempfile::tempdir().unwrap();
    let desk = Desk::open(root.path()).await.unwrap();
    let sent = desk.send_files(vec![report(root.path(), 1)], KnownContent::Show).await.unwrap();
    assert_eq!(sent.submissions.len(), 1);
    let rows = |answer: serde_json::Value| answer["rows"].as_array().unwrap().clone();
    let all = rows(must(&desk, "list", query(None, json!(null))).await);
    assert_eq!(all[0]["disease"], json!(null));

    let entry = desk.import_rules(written(root.path(), "3.0.0", &[set])).await.unwrap();
    desk.use_rules(format!("{}@{}", entry.name, entry.version)).await.unwrap();
    desk.send_files(vec![report(root.path(), 2)], KnownContent::Show).await.unwrap();
    let all = rows(must(&desk, "list", query(None, json!(null))).await);
    assert_eq!(all.iter().map(|row| &row["disease"]).collect::<Vec<_>>(), ["legionellosis"; 2]);
    assert_eq!((&all[0]["test"], &all[0]["specimen"]), (&json!("pcr"), &json!("sputum")));
    // What is taken in from then on is found by the name of the disease, too.
    let found = rows(must(&desk, "list", query(Some("Legionellose"), json!(null))).await);
    assert_eq!(found.len(), 1);
    let table = || std::fs::read_to_string(root.path().join("practice/leading-codes.tsv")).unwrap();
    assert_eq!(table(), "99999-9\tlegionellosis\tpcr\tsputum\n");
    // Put to use once more it says the same, although the program knows the code by now.
    desk.use_rules(format!("{}@{}", entry.name, entry.version)).await.unwrap();
    assert_eq!(table(), "99999-9\tlegionellosis\tpcr\tsputum\n");
}
