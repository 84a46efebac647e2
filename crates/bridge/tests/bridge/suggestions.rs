//! Cures that need no judgement: offered with what is found in a draft, and put into its text when
//! somebody asks.

use std::path::Path;

use bridge::headless::{import_rules, use_rules};
use bridge::{Desk, KnownContent};
use fhir::{Format, Limits, Tree};
use serde_json::{Value, json};

fn value_set(name: &str, codes: &[&str]) -> Value {
    let named = |code: &&str| json!({ "code": code, "display": format!("Place {code}") });
    let concept: Vec<_> = codes.iter().map(named).collect();
    json!({
        "resourceType": "ValueSet", "url": format!("http://rules.test/{name}"), "version": "1.0.0",
        "compose": { "include": [{ "system": "http://rules.test/places", "concept": concept }] }
    })
}

/// Rules of our own in the place of the authority's: countries and cantons by their letters.
fn rules(home: &Path) {
    std::fs::remove_dir_all(home.join("practice/rules")).unwrap();
    let place = |name: &str, set: &str| {
        json!({
            "id": format!("Patient.address.{name}"), "path": format!("Patient.address.{name}"),
            "min": 0, "max": "1", "type": [{ "code": "string" }],
            "binding": { "strength": "required", "valueSet": format!("http://rules.test/{set}") }
        })
    };
    let patient = json!({
        "resourceType": "StructureDefinition", "url": "http://hl7.org/fhir/StructureDefinition/Patient",
        "version": "1.0.0", "kind": "resource", "type": "Patient", "derivation": "specialization",
        "snapshot": { "element": [
            { "id": "Patient", "path": "Patient", "min": 0, "max": "*" },
            {
                "id": "Patient.address", "path": "Patient.address", "min": 0, "max": "*",
                "type": [{ "code": "Address" }]
            },
            place("country", "countries"),
            place("state", "cantons")
        ] }
    });
    let part = |path: &str, kind: &str| json!({ "id": path, "path": path, "min": 0, "max": "*", "type": [{ "code": kind }] });
    let document = json!({
        "resourceType": "StructureDefinition", "url": "http://hl7.org/fhir/StructureDefinition/Bundle",
        "version": "1.0.0", "kind": "resource", "type": "Bundle", "derivation": "specialization",
        "snapshot": { "element": [
            { "id": "Bundle", "path": "Bundle", "min": 0, "max": "*" },
            part("Bundle.entry", "BackboneElement"),
            part("Bundle.entry.resource", "Resource")
        ] }
    });
    let all =
        [document, patient, value_set("countries", &["CH"]), value_set("cantons", &["BE", "ZH"])];
    let entry: Vec<_> = all.map(|resource| json!({ "resource": resource })).to_vec();
    let package = json!({ "resourceType": "Bundle", "type": "collection", "entry": entry });
    let file = home.join("rules.json");
    std::fs::write(&file, package.to_string()).unwrap();
    let imported = import_rules(&home.join("practice"), &file).unwrap();
    use_rules(&home.join("practice"), &format!("{}@{}", imported.name, imported.version)).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cure_is_offered_with_its_finding_and_put_in_alone_or_with_all_others() {
    let home = tempfile::tempdir().unwrap();
    let desk = Desk::open(home.path()).await.unwrap();
    let samples = desk.practice_samples().await.unwrap();
    rules(home.path());
    let sample = samples.iter().find(|path| path.contains("malaria")).unwrap();
    let intake = desk.send_files(vec![sample.clone()], KnownContent::Show).await.unwrap();
    let id = intake.submissions[0].expect("taken in");

    let good = std::fs::read_to_string(sample).unwrap();
    let bad = good
        .replace("\"country\": \"CH\"", "\"country\": \"Schweiz\"")
        .replace("\"state\": \"BE\"", "\"state\": \"Bern\"");
    let xml = |json: &str| {
        Tree::read(json.as_bytes(), Format::Json, &Limits::default()).unwrap().to_xml()
    };
    for (bad, good) in [(bad.clone(), good.clone()), (xml(&bad), xml(&good))] {
        let draft = desk.look_at_draft(id, bad.clone()).await.unwrap();
        let offered: Vec<_> =
            draft.messages.iter().filter_map(|message| message.suggestion.as_ref()).collect();
        let told: Vec<_> = offered.iter().map(|of| (&*of.path, &*of.value)).collect();
        assert_eq!(told, [("Patient.address.state", "BE"), ("Patient.address.country", "CH")]);
        assert_eq!(offered[1].before.as_deref(), Some("Schweiz"));
        let message = draft.messages.iter().find(|message| message.suggestion.is_some()).unwrap();
        assert_eq!(message.found.as_deref(), Some("Bern"));
        // Each stands beside its value in the form.
        let field = draft.fields.iter().find(|field| field.path == "Patient.address.country");
        let beside = &draft.messages[field.unwrap().messages[0] as usize];
        assert_eq!(beside.params["value"], "Schweiz");
        // What may stand there is offered by its names.
        let field = draft.fields.iter().find(|field| field.path == "Patient.address.state");
        let choices = &field.unwrap().choices;
        let choices: Vec<_> = choices.iter().map(|it| (&*it.code, &*it.display)).collect();
        assert_eq!(choices, [("BE", "Place BE"), ("ZH", "Place ZH")]);

        let only = Some(offered[1].expression.clone());
        let one = desk.apply_suggestions(bad.clone(), only).await.unwrap();
        assert_eq!((one.count, one.changed), (1, 1));
        assert!(one.text.contains("Bern") && !one.text.contains("Schweiz"));
        let all = desk.apply_suggestions(bad, None).await.unwrap();
        assert_eq!((all.count, &all.text), (2, &good), "and nothing else changes, to the byte");
        let none = desk.apply_suggestions(good.clone(), None).await.unwrap();
        assert_eq!((none.count, none.changed, none.text), (0, 0, good));
    }
    // What cannot be read comes back as it is.
    let broken = desk.apply_suggestions("{".to_owned(), None).await.unwrap();
    assert_eq!((broken.count, &*broken.text), (0, "{"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_authority_would_see_of_the_patient_stands_beside_what_the_report_says() {
    let home = tempfile::tempdir().unwrap();
    let desk = Desk::open(home.path()).await.unwrap();
    // The rules of practice permit only initials for syphilis.
    let lesson = home.path().join("practice/lessons/syphilis-full-name.json");
    let report = std::fs::read_to_string(lesson).unwrap();
    let held = desk.send_text(report, "syphilis.json".to_owned()).await.unwrap();
    let id = held.submissions[0].expect("taken in");
    let detail = desk.detail(id).await.unwrap();
    let privacy = detail.privacy.expect("the rules say it");
    assert_eq!((&*privacy.permitted, privacy.too_much), ("initials", true));
    let told = |key: &str| {
        let row = privacy.rows.iter().find(|row| row.key == key).unwrap();
        (row.now.join(", "), row.seen.join(", "))
    };
    let (now, seen) = told("patient.name");
    assert!(now.contains("Lehmann-Muster") && !seen.contains("Lehmann"), "{seen}");
    assert_eq!(told("patient.telecom").1, "");
    let (now, seen) = told("patient.birth-date");
    assert_eq!(now, seen);

    // What is suggested for the patient makes it so, and leaves all else as it is.
    let reduced =
        desk.apply_suggestions(detail.source, Some(privacy.patient.clone())).await.unwrap();
    assert!(reduced.count >= 3, "{}", reduced.count);
    let draft = desk.look_at_draft(id, reduced.text).await.unwrap();
    let after = draft.privacy.expect("the rules say it");
    assert!(!after.too_much && after.rows.iter().all(|row| row.now == row.seen));
    assert!(!draft.messages.iter().any(|message| message.code.starts_with("rule-privacy-")));
}
