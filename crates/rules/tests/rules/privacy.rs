//! Which form of a patient's name an organism permits: a stop at the place that says too much.

use fhir::{Format, Limits, Tree};
use rules::{Mode, privacy, suggestion};
use serde_json::{Value, json};

use crate::published::{DOCUMENT, found_in, shared};
use crate::teaching::{element, errors, found, profile, set};

const PRACTICE: &str = "http://labcourier.example/practice";

/// A map that permits initials for one code and the whole name for another, and the rule that asks.
fn definitions() -> Vec<Value> {
    let map = format!("{PRACTICE}/ConceptMap/name-forms");
    let form = format!("{PRACTICE}/StructureDefinition/patient-initials");
    let named = |name: &str, mut definition: Value| {
        definition["url"] = json!(format!("{PRACTICE}/StructureDefinition/{name}"));
        definition
    };
    let rows = format!(
        "'{map}'.resolve().group.where(source='http://loinc.org')\
         .element.where(code=%context.code.coding.where(system='http://loinc.org').first().code)"
    );
    let rule = json!({ "constraint": [{
        "key": "form-of-name", "severity": "error", "human": "Initials only.",
        "expression": format!(
            "{rows}.empty() or ({rows}.target.first().code = 'initials' implies \
             subject.resolve().conformsTo('{form}'))"
        )
    }]});
    let initials = json!({ "constraint": [{
        "key": "short", "severity": "error", "human": "One letter for each name.",
        "expression": "family.first().length() = 1 and given.all(length() = 1)"
    }]});
    let row = |code: &str, form: &str| json!({ "code": code, "target": [{ "code": form }] });
    vec![
        json!({
            "resourceType": "ConceptMap", "url": map, "version": "1.0.0", "group": [{
                "source": "http://loinc.org",
                "element": [row("1-8", "initials"), row("2-6", "full-name")]
            }]
        }),
        named(
            "patient",
            profile("patient", "Patient", &[element("Patient.name", "1..*", "", json!({}))]),
        ),
        named(
            "patient-initials",
            profile(
                "patient-initials",
                "Patient",
                &[
                    element("Patient.identifier", "0..0", "", json!({})),
                    element("Patient.name", "1..*", "", initials),
                ],
            ),
        ),
        profile("result", "Observation", &[element("Observation", "0..*", "", rule)]),
    ]
}

fn result(code: &str, patient: Value) -> Value {
    let mut patient = patient;
    patient["resourceType"] = json!("Patient");
    patient["id"] = json!("p");
    json!({
        "resourceType": "Observation", "status": "final", "contained": [patient],
        "code": { "coding": [{ "system": "http://loinc.org", "code": code }] },
        "subject": { "reference": "#p" }
    })
}

fn tree(resource: &Value) -> Tree {
    Tree::read(resource.to_string().as_bytes(), Format::Json, &Limits::default()).unwrap()
}

#[test]
fn what_says_too_much_is_told_where_it_stands() {
    let rules = set(definitions());
    let told = |resource: &Value| errors(&found(&rules, resource, Some("result"), Mode::Authority));
    let full = json!({
        "identifier": [{ "value": "1" }, { "value": "2" }],
        "name": [{ "family": "Muster-Feld", "given": ["anna", "B"] }]
    });
    let resource = result("1-8", full.clone());
    assert_eq!(
        told(&resource),
        [
            "rule-privacy-not-permitted Observation.contained[0].identifier[0]",
            "rule-privacy-not-permitted Observation.contained[0].identifier[1]",
            "rule-privacy-initials Observation.contained[0].name[0].family",
            "rule-privacy-initials Observation.contained[0].name[0].given[0]",
        ]
    );
    let short = json!({ "name": [{ "family": "M", "given": ["A"] }] });
    assert_eq!(told(&result("1-8", short)), [""; 0]);
    assert_eq!(told(&result("2-6", full.clone())), [""; 0]);
    assert_eq!(told(&result("3-4", full)), [""; 0]);
    // Nothing too much, and yet not the form: its own reason, at its own place.
    let short = result("1-8", json!({ "name": [{ "given": ["A"] }] }));
    assert_eq!(told(&short), ["rule-invariant Observation.contained[0].name[0]"]);
}

/// A mistake that has nothing to do with the name makes the patient unlike every form. It is told,
/// and the rule about the form of the name is not told beside it.
#[test]
fn another_mistake_in_the_patient_is_not_taken_for_a_name_that_says_too_much() {
    let rules = set(definitions());
    let told = |resource: &Value| errors(&found(&rules, resource, Some("result"), Mode::Authority));
    let mut patient = json!({ "name": [{ "family": "M", "given": ["A"] }] });
    patient["meta"] = json!({ "profile": [format!("{PRACTICE}/StructureDefinition/patient")] });
    patient["extension"] = json!([{ "valueString": "without a url" }]);
    let found = told(&result("1-8", patient));
    assert_eq!(found, ["rule-missing Observation.contained[0].extension[0]"]);
}

#[test]
fn a_result_whose_patient_nobody_finds_says_so() {
    let rules = set(definitions());
    let mut resource = result("1-8", json!({ "name": [{ "family": "M", "given": ["A"] }] }));
    resource["subject"]["reference"] = json!("http://elsewhere.test/Patient/1");
    let found = errors(&found(&rules, &resource, Some("result"), Mode::Authority));
    assert!(found.contains(&"rule-subject-not-found Observation.subject".to_owned()), "{found:?}");
    assert!(!found.iter().any(|of| of.starts_with("rule-invariant")), "{found:?}");
}

#[test]
fn a_code_takes_the_place_of_the_whole_name() {
    let elm = "http://fhir.ch/ig/ch-elm";
    let map = format!("{elm}/ConceptMap/ch-elm-results-to-foph-patient-name-representation");
    let form = format!("{elm}/StructureDefinition/ChElmPatientHIV");
    let constraint = |expression: &str| {
        json!({ "constraint": [{ "key": "form-of-name", "severity": "error",
            "human": "A code stands for the name.", "expression": expression }] })
    };
    let nameless = element("Patient.name", "", "", constraint("family.empty()"));
    let mut coded = profile("coded", "Patient", &[nameless]);
    coded["url"] = json!(form);
    let rule = format!("'{map}'.empty() or subject.resolve().conformsTo('{form}')");
    let rule = element("Observation", "0..*", "", constraint(&rule));
    let rules = set(vec![
        json!({ "resourceType": "ConceptMap", "url": map, "version": "1.0.0", "group": [{
            "source": "http://loinc.org",
            "element": [{ "code": "1-8", "target": [{ "code": "hiv-code" }] }]
        }] }),
        coded,
        profile("result", "Observation", &[rule]),
    ]);
    for (name, expected) in [
        (json!({ "given": ["M9"] }), &[][..]),
        (json!({ "family": "Muster" }), &["rule-privacy-code Observation.contained[0].name[0]"]),
    ] {
        let resource = result("1-8", json!({ "name": [name] }));
        let found = errors(&found(&rules, &resource, Some("result"), Mode::Authority));
        assert_eq!(found, *expected, "{resource}");
    }
}

#[test]
fn the_preview_says_what_is_permitted_and_what_is_too_much() {
    let rules = set(definitions());
    let full = json!({
        "identifier": [{ "value": "1" }], "name": [{ "family": "Muster", "given": ["anna"] }]
    });
    let seen = privacy(&rules, &tree(&result("1-8", full.clone()))).unwrap();
    assert_eq!(
        (&*seen.permitted, &*seen.because, &*seen.patient),
        ("initials", "Observation", "Observation.contained[0]")
    );
    let all: Vec<_> =
        seen.too_much.iter().map(|of| (&*of.expression, of.instead.as_deref())).collect();
    let name = |part: &str| format!("Observation.contained[0].name[0].{part}");
    assert_eq!(
        all,
        [
            ("Observation.contained[0].identifier[0]", None),
            (&*name("family"), Some("M")),
            (&*name("given[0]"), Some("A")),
        ]
    );
    assert!(!format!("{seen:?}{:?}", seen.too_much).contains("Muster"));
    let whole = privacy(&rules, &tree(&result("2-6", full.clone()))).unwrap();
    assert_eq!((&*whole.permitted, whole.too_much.len()), ("full-name", 0));
    assert!(privacy(&rules, &tree(&result("3-4", full.clone()))).is_none(), "no such row");
    assert!(privacy(&set(Vec::new()), &tree(&result("1-8", full))).is_none(), "no such map");
}

#[test]
fn narrative_tells_no_more_than_the_name_may() {
    let rules = set(definitions());
    let div = |text: &str| {
        let div = format!("<div xmlns=\"http://www.w3.org/1999/xhtml\"><p>{text}</p></div>");
        json!({ "status": "generated", "div": div })
    };
    let told = |resource: &Value| -> Vec<String> {
        let found = rules.validate(
            &tree(resource),
            &rules::Asked { profiles: &[], mode: Mode::Authority, now: fhir::Instant(0) },
        );
        let private = found.iter().filter(|of| of.code.starts_with("rule-privacy-narrative"));
        let told = private.map(|of| {
            // What only may be the name is told as that.
            let guess = if of.code == "rule-privacy-narrative-initials" { "guess " } else { "" };
            format!("{guess}{:?} {}", of.severity, of.expression)
        });
        told.collect()
    };
    let of_patient = |code: &str, family: &str, given: &str, text: &str| {
        result(code, json!({ "text": div(text), "name": [{ "family": family, "given": [given] }] }))
    };
    let patient = "Warning Observation.contained[0].text";
    let guess = "guess Warning Observation.contained[0].text";
    for (code, family, given, text, expected) in [
        // The name that the report has, wherever it stands, in any letters.
        ("1-8", "Muster-Feld", "anna", "Patient: MUSTER-FELD, Anna", &[patient][..]),
        ("1-8", "Muster", "Anna", "<b>Muster</b> wurde untersucht", &[patient]),
        ("1-8", "Muster", "Anna", "Mustern und Musterung", &[]),
        // Two words that begin as the initials do.
        ("1-8", "M", "A", "Anna Muster, 1980", &[guess]),
        ("1-8", "M.", "A.", "Muster, Anna", &[guess]),
        ("1-8", "M", "A", "A. M., 1980, MAURER ANDREAS AG", &[]),
        ("1-8", "M", "A", "Resultat: positiv", &[]),
        // The whole name is permitted, or nobody says anything about it.
        ("2-6", "Muster", "Anna", "Anna Muster", &[]),
        ("3-4", "Muster", "Anna", "Anna Muster", &[]),
    ] {
        assert_eq!(told(&of_patient(code, family, given, text)), expected, "{family} {text}");
    }
    let mut elsewhere = of_patient("1-8", "Muster", "Anna", "nothing");
    elsewhere["text"] = div("Muster: positive");
    assert_eq!(told(&elsewhere), ["Warning Observation.text"]);
    // The text of a name, and what a reference to the patient displays, are read like narrative.
    let texts = |family: &str, text: &str, display: &str| -> Vec<String> {
        let name = json!({ "family": family, "given": ["A"], "text": text });
        let mut result = result("1-8", json!({ "name": [name] }));
        result["subject"]["display"] = json!(display);
        let asked = rules::Asked { profiles: &[], mode: Mode::Authority, now: fhir::Instant(0) };
        let found = rules.validate(&tree(&result), &asked);
        let private = found.iter().filter(|of| of.code == "rule-privacy-elsewhere");
        private.map(|of| format!("{:?} {}", of.severity, of.expression)).collect()
    };
    let in_name = "Warning Observation.contained[0].name[0].text";
    let in_display = "Warning Observation.subject.display";
    assert_eq!(texts("M", "A. M.", "A. M."), [""; 0]);
    assert_eq!(texts("M", "Anna Muster", "A. M."), [in_name]);
    assert_eq!(texts("M", "A. M.", "Anna Muster"), [in_display]);
    assert_eq!(texts("Muster", "A. M.", "Frau MUSTER"), [in_display]);
    // Where the rule holds the report, its narrative holds it as well; the preview has it, and it
    // can be taken out.
    let held = of_patient("1-8", "Muster", "Anna", "Anna Muster");
    let errors = errors(&found(&rules, &held, Some("result"), Mode::Authority));
    let text = "Observation.contained[0].text";
    assert!(errors.contains(&format!("rule-privacy-narrative {text}")), "{errors:?}");
    let seen = privacy(&rules, &tree(&held)).unwrap();
    assert!(seen.too_much.iter().any(|of| of.expression == text && of.instead.is_none()));
    let findings = rules.validate(
        &tree(&held),
        &rules::Asked { profiles: &[], mode: Mode::Authority, now: fhir::Instant(0) },
    );
    let narrative = findings.iter().find(|of| of.code == "rule-privacy-narrative").unwrap();
    assert_eq!(suggestion(&tree(&held), narrative).unwrap().cure, rules::Cure::Remove);
}

/// The published samples, with a name in full where initials are permitted.
#[published::needs("packages")]
#[test]
fn suggestions_alone_bring_a_published_report_back_to_initials() {
    let file = shared().join("corpus/documents-1.14/Bundle-5Doc-TreponemaPallidum.json");
    let mut sample: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let entries = sample["entry"].as_array_mut().unwrap();
    let patient = entries.iter_mut().map(|entry| &mut entry["resource"]);
    let patient = patient.into_iter().find(|of| of["resourceType"] == "Patient").unwrap();
    patient["name"] = json!([{ "family": "Muster", "given": ["Anna"] }]);
    patient["telecom"] = json!([{ "system": "phone", "value": "+41 79 999 55 66" }]);
    let text = sample.to_string();
    let findings = found_in(text.as_bytes(), DOCUMENT);
    let told = crate::published::errors(&findings);
    assert_eq!(told.len(), 3, "{told:#?}");
    let tree = Tree::read(text.as_bytes(), Format::Json, &Limits::default()).unwrap();
    let cures: Vec<String> = findings
        .iter()
        .filter(|of| of.code.starts_with("rule-privacy-"))
        .filter_map(|of| Some(format!("{:?} {}", suggestion(&tree, of)?.cure, of.code)))
        .collect();
    assert_eq!(
        cures,
        [
            "Replace rule-privacy-initials",
            "Replace rule-privacy-initials",
            "Remove rule-privacy-not-permitted"
        ]
    );
    // The rule that the authority names stays named.
    let rule = "ch-elm-patient-name-representation";
    assert!(told.iter().all(|of| of.contains(rule)), "{told:#?}");
}
