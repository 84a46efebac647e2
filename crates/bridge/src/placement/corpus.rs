//! How many of an authority's messages are placed where they belong: messages made by rule from our
//! own documents, in the forms in which validators and the authority write them, each with the
//! element beside it that it is about.
//!
//! The forms are written here by walking up from the element, and read by what is tested: neither
//! knows the other.

mod forms;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fhir::{Element, Format, Limits, Severity, Tree};
use serde_json::json;
use testkit::{Disease, DocumentBuilder};

use self::forms::{forms, issue, slices, values, with_types};
use super::found;
use crate::views::MessageView;

/// Elements that messages are made about: the resource, and the path below it.
const TARGETS: &[(&str, &str)] = &[
    ("Patient", "name.family"),
    ("Patient", "birthDate"),
    ("Patient", "gender"),
    ("Patient", "address"),
    ("Patient", "address.state"),
    ("Patient", "address.country"),
    ("Patient", "identifier.value"),
    ("Observation", "code.coding.code"),
    ("Observation", "effectiveDateTime"),
    ("Observation", "valueCodeableConcept.coding.code"),
    ("Observation", "interpretation.coding"),
    ("Specimen", "type"),
    ("Specimen", "type.coding.code"),
    ("ServiceRequest", "requester"),
    ("DiagnosticReport", "status"),
    ("Composition", "title"),
    ("Composition", "section.title"),
    ("Practitioner", "name.family"),
    ("Organization", "name"),
    ("Organization", "identifier.value"),
];

/// One message, and what it is about.
struct Case {
    form: &'static str,
    issue: serde_json::Value,
    /// Expressions that are right: of the element, or of its parent.
    right: Vec<String>,
}

/// Our own documents: the samples of practice, and those that tests are made of.
fn documents() -> Vec<(String, Tree)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/samples");
    let mut all: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().display().to_string(), std::fs::read(path).unwrap()))
        .collect();
    for (seed, disease) in (0..).zip(Disease::ALL) {
        let made = DocumentBuilder::new(seed).disease(disease);
        all.push((format!("made-{seed}.json"), made.json().into_bytes()));
        all.push((format!("made-{seed}.xml"), made.xml().into_bytes()));
    }
    all.sort();
    let read = |bytes: &[u8]| {
        let format = Format::sniff(bytes).unwrap();
        Tree::read(bytes, format, &Limits::default()).unwrap()
    };
    all.into_iter().map(|(name, bytes)| (name, read(&bytes))).collect()
}

fn right(element: Element<'_>) -> Vec<String> {
    let parent = element.parent().filter(|parent| parent.parent().is_some());
    [Some(element), parent].into_iter().flatten().map(Element::expression).collect()
}

fn resources<'t>(root: Element<'t>, kind: &str) -> Vec<Element<'t>> {
    let all = root.all("entry").filter_map(|entry| entry.child("resource"));
    all.filter(|resource| resource.resource_type() == Some(kind)).collect()
}

/// An element that is not there, at a parent that is.
fn missing(resource: Element<'_>) -> Vec<Case> {
    let expression = resource.expression();
    let typed = with_types(resource);
    let right = vec![expression.clone()];
    let case = |form, issue| Case { form, issue, right: right.clone() };
    vec![
        case("what is missing", issue("is missing", Some(format!("{expression}.implicitRules")))),
        case(
            "what is missing, with types",
            issue("minimum required = 1, but only found 0", Some(format!("{typed}.photo[0]"))),
        ),
    ]
}

fn by_element(root: Element<'_>) -> Vec<Case> {
    let mut cases = Vec::new();
    for (kind, below) in TARGETS {
        for resource in resources(root, kind) {
            let Some(element) = resource.at_path(below) else { continue };
            let all = forms(element).into_iter().chain(slices(element));
            cases.extend(all.chain(values(element, root)).map(|(form, issue)| Case {
                form,
                issue,
                right: right(element),
            }));
        }
    }
    let all = root.all("entry").filter_map(|entry| entry.child("resource"));
    cases.extend(all.flat_map(missing));
    cases
}

/// The authority's own rules, which say no place at all: the code alone, with words of their kind,
/// and the element that the words are about.
fn by_rule(root: Element<'_>) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |rule: &str, words: &str, element: Option<Element<'_>>| {
        let Some(element) = element else { return };
        let issue = json!({ "severity": "error", "code": "business-rule",
            "details": { "coding": [{ "system": "urn:rules", "code": rule }], "text": words } });
        cases.push(Case { form: "a rule of the authority", issue, right: right(element) });
    };
    let first = |kind: &str, path: &str| resources(root, kind).first()?.at_path(path);
    let code = || first("Observation", "code.coding");
    let of_code = |words: &str| {
        let coding = code();
        let text = |name| coding.and_then(|coding| coding.text(name)).unwrap_or_default();
        words.replace("%c", text("code")).replace("%s", text("system"))
    };
    add("FOPH-014", "state should be a canton", first("Patient", "address.state"));
    add("FOPH-017", "postal code and city do not match", first("Patient", "address"));
    add("FOPH-006", "elements of the address are expected: city", first("Patient", "address"));
    add("FOPH-016", "the country code is not known", first("Patient", "address.country"));
    add("FOPH-005", "anonymisation was violated: Patient.name", first("Patient", "name"));
    add("FOPH-005", "field(s) affected: Patient.birthDate", first("Patient", "birthDate"));
    add("FOPH-020", "the test is too old", first("Observation", "effectiveDateTime"));
    add("FOPH-007", "the material does not fit", first("Specimen", "type"));
    add("FOPH-011", "the material is ignored", first("Specimen", "type"));
    add("FOPH-008", "the organism does not fit", first("Observation", "valueCodeableConcept"));
    add("FOPH-021", "already known", root.child("identifier"));
    for (rule, words) in [
        ("FOPH-012", "leading code %c (%s) is unknown"),
        ("FOPH-009", "the code %c (%s) is outside of its period"),
        ("FOPH-013", "the code %c (%s) is outside of its period"),
        ("FOPH-010", "the code %c (%s) expires on 2027-01-01"),
    ] {
        add(rule, &of_code(words), first("Observation", "code.coding.code"));
    }
    let laboratory = resources(root, "Organization").into_iter().find_map(|organization| {
        organization.at_path("identifier.value").filter(|value| value.value().is_some())
    });
    let identifier = laboratory.and_then(Element::value).unwrap_or_default();
    add("FOPH-004", &format!("identification \"{identifier}\" is unknown"), laboratory);
    add("FOPH-018", "postal code and city of the orderer", orderer(root, "organization"));
    add("FOPH-019", "postal code and city of the orderer", orderer(root, "practitioner"));
    cases
}

/// Address of whoever ordered the test, by the references of the document.
fn orderer<'t>(root: Element<'t>, which: &str) -> Option<Element<'t>> {
    let by = |reference: &str| {
        let meant = |entry: &Element<'_>| {
            entry.text("fullUrl").is_some_and(|full| full.ends_with(reference))
        };
        root.all("entry").find(meant)?.child("resource")
    };
    let order = resources(root, "ServiceRequest").into_iter().next()?;
    let role = by(order.text("requester.reference")?)?;
    by(role.text(&format!("{which}.reference"))?)?.child("address")
}

/// What stands in the window of a message.
fn message(issue: &serde_json::Value) -> MessageView {
    let outcome = json!({ "resourceType": "OperationOutcome", "issue": [issue] }).to_string();
    let tree = Tree::read(outcome.as_bytes(), Format::Json, &Limits::default()).unwrap();
    let issue = fhir::issues_of(tree.root()).pop().unwrap();
    assert_eq!(issue.severity, Severity::Error);
    MessageView {
        source: journal::Source::Authority,
        severity: issue.severity,
        code: issue.code,
        rule: issue.rule,
        text: Some(issue.text),
        params: BTreeMap::new(),
        expression: issue.expression,
        line: issue.line,
        column: issue.column,
        section: None,
        field: None,
        path: None,
        found: None,
        suggestion: None,
    }
}

/// The published documents, in both encodings.
fn published() -> Vec<(String, Tree)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap();
    let folders = ["json", "xml"].map(|of| root.join("shared/corpus/documents").join(of));
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap().flatten());
    let mut all: Vec<_> = files.map(|file| file.path()).collect();
    all.sort();
    let read = |path: PathBuf| {
        let bytes = std::fs::read(&path).unwrap();
        let format = Format::sniff(&bytes).unwrap();
        (path.display().to_string(), Tree::read(&bytes, format, &Limits::default()).unwrap())
    };
    all.into_iter().map(read).collect()
}

#[test]
fn of_100_messages_95_are_placed_on_their_element_or_its_parent() {
    assert_placed(documents());
}

#[published::needs("corpus/documents")]
#[test]
fn of_100_messages_about_published_documents_95_are_placed_as_well() {
    assert_placed(published());
}

/// The aim of the design: 95 of 100 on the element or its parent, and no form that is left out.
fn assert_placed(documents: Vec<(String, Tree)>) {
    let (mut all, mut exact, mut near) = (0_u32, 0_u32, 0_u32);
    let mut forms: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    let mut wrong = Vec::new();
    for (name, tree) in documents {
        let root = tree.root();
        for case in by_element(root).into_iter().chain(by_rule(root)) {
            let found = found(&message(&case.issue), &tree).map(Element::expression);
            let place = case.right.iter().position(|right| Some(right) == found.as_ref());
            let form = forms.entry(case.form).or_default();
            (all, form.0) = (all + 1, form.0 + 1);
            match place {
                Some(0) => (exact, form.1) = (exact + 1, form.1 + 1),
                Some(_) => (near, form.1) = (near + 1, form.1 + 1),
                None => {
                    wrong.push(format!("{name}: {} is at {found:?}: {}", case.right[0], case.issue))
                }
            }
        }
    }
    let share = |some: u32, of: u32| f64::from(some) * 100.0 / f64::from(of.max(1));
    println!(
        "{all} messages: {exact} on the element, {near} on its parent, {} elsewhere",
        wrong.len()
    );
    forms.iter().for_each(|(form, (of, right))| println!("{form}: {right} of {of}"));
    wrong.iter().take(40).for_each(|one| println!("  {one}"));
    assert!(all >= 200, "{all}");
    assert!(share(exact + near, all) >= 95.0, "{:.1} %", share(exact + near, all));
    for (form, (of, right)) in forms {
        assert!(share(right, of) >= 90.0, "{form}: {right} of {of}");
    }
}
