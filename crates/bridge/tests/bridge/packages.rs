//! Packages of rules of a room: what another version would change is told before it is used.

use std::path::Path;

use bridge::{Desk, KnownContent};
use serde_json::json;

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
    let all = json!({ "resourceType": "Bundle", "type": "collection", "entry": [bundle, patient] });
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
