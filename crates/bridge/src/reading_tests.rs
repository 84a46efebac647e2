//! The reading view and the placing of messages, on whole documents.

use std::collections::BTreeSet;
use std::path::Path;

use fhir::{Element, Format, Limits, Tree};

use crate::fields::{keys, resource_types};
use crate::placement::place;
use crate::results::results_of;
use crate::sections::sections_of;
use crate::views::{MessageView, SectionView};

const SAMPLE: &str = include_str!("../samples/covid-19.json");

fn read(text: &str) -> Tree {
    let format = if text.trim_start().starts_with('<') { Format::Xml } else { Format::Json };
    Tree::read(text.as_bytes(), format, &Limits::default()).unwrap()
}

fn sections(tree: &Tree) -> Vec<SectionView> {
    sections_of(tree.root(), exchange::document_of(tree).unwrap())
}

fn message(expression: Option<&str>) -> MessageView {
    MessageView {
        source: journal::Source::Authority,
        severity: fhir::Severity::Error,
        code: "invalid".to_owned(),
        rule: None,
        text: None,
        params: std::collections::BTreeMap::new(),
        expression: expression.map(str::to_owned),
        line: None,
        column: None,
        section: None,
        field: None,
        path: None,
        found: None,
        suggestion: None,
    }
}

/// Resource of the section and key of the field that a message is put into.
fn placed(tree: &Tree, mut message: MessageView) -> (Option<String>, Option<String>) {
    let sections = sections(tree);
    place(&mut message, tree, exchange::document_of(tree).unwrap(), &sections);
    (message.section.map(|at| sections[at as usize].resource.clone()), message.field)
}

fn at(resource: &str, field: &str) -> (Option<String>, Option<String>) {
    (Some(resource.to_owned()), Some(field.to_owned()))
}

/// The list names the disease by these words too, where the code is not in the table.
#[test]
fn a_result_names_its_disease_by_its_words_where_its_code_is_not_known() {
    for (sample, disease) in [
        (include_str!("../samples/salmonellosis-muster-fehler.json"), "salmonellosis"),
        (include_str!("../samples/malaria.json"), "malaria"),
    ] {
        let tree = read(sample);
        let results = results_of(&report::Links::of(exchange::document_of(&tree).unwrap()));
        let named: Vec<_> = results.iter().filter_map(|it| it.disease.as_deref()).collect();
        assert!(named.contains(&disease), "{named:?}");
    }
}

#[test]
fn keys_are_named_after_their_resource() {
    let unique: BTreeSet<_> = keys().collect();
    assert_eq!(unique.len(), keys().count());
    assert!(
        keys().all(|key| key.bytes().all(|b| b.is_ascii_lowercase() || b == b'.' || b == b'-'))
    );
    assert_eq!(resource_types().collect::<BTreeSet<_>>().len(), resource_types().count());
}

#[test]
fn a_report_reads_as_a_laboratory_prints_it() {
    let tree = read(SAMPLE);
    let sections = sections(&tree);
    let order: Vec<_> = sections.iter().map(|section| section.resource.as_str()).collect();
    assert_eq!(&order[..2], ["Patient", "Observation"]);
    assert_eq!(order.last(), Some(&"Bundle"));
    let all: Vec<_> = sections.iter().flat_map(|section| &section.fields).collect();
    for key in ["patient.name", "patient.birth-date", "observation.code", "observation.value"] {
        let field = all.iter().find(|field| field.key == key).expect(key);
        assert!(!field.value.is_empty() && field.line > 1);
        assert_eq!(tree.find(&field.expression).unwrap().expression(), field.expression);
    }
    // The author is shown by name, not by address.
    let author = all.iter().find(|field| field.key == "composition.author").unwrap();
    assert!(!author.value.contains('/'), "{}", author.value);
    assert!(author.detail.is_some());
}

/// `Specimen/specimen` has a section of its own: the address is folded with what serves machines.
#[test]
fn what_only_refers_to_another_section_is_folded() {
    let tree = read(SAMPLE);
    let all = sections(&tree);
    let folded = |key: &str| {
        let mut fields = all.iter().flat_map(|section| &section.fields);
        fields.find(|field| field.key == key).map(|field| field.technical)
    };
    assert_eq!(folded("observation.specimen"), Some(true));
    assert_eq!(folded("observation.code"), Some(false));
    // With a name of its own it tells who that was.
    assert_eq!(folded("composition.author"), Some(false));
}

#[test]
fn messages_are_placed_by_whatever_the_authority_says() {
    let tree = read(SAMPLE);
    let patient = sections(&tree).into_iter().find(|s| s.resource == "Patient").unwrap();
    let birth = at("Patient", "patient.birth-date");
    let here = format!("{}.birthDate", patient.expression);
    assert_eq!(placed(&tree, message(Some(&here))), birth);
    assert_eq!(placed(&tree, message(Some("Patient.birthDate"))), birth);
    let enveloped = here.replacen("Bundle", "DocumentReference.contained[0]", 1);
    assert_eq!(placed(&tree, message(Some(&enveloped))), birth);
    let typed = here.replace(".birthDate", "/*Patient/p*/.birthDate.ofType(date)");
    assert_eq!(placed(&tree, message(Some(&typed))), birth);
    // What does not exist stands at what is around it.
    let missing = format!("{}.name[0].prefix[7]", patient.expression);
    assert_eq!(placed(&tree, message(Some(&missing))), at("Patient", "patient.name"));
    let nothing = format!("{}.maritalStatus", patient.expression);
    assert_eq!(placed(&tree, message(Some(&nothing))), (Some("Patient".to_owned()), None));
    // Inside a choice.
    let value = placed(&tree, message(Some("Observation.value.coding[0].code")));
    assert_eq!(value.0.as_deref(), Some("Observation"));
    // By line and column, by rule, and not at all.
    let field = patient.fields.iter().find(|field| field.key == "patient.birth-date").unwrap();
    let position = tree.find(&field.expression).unwrap().position();
    let by_line =
        MessageView { line: Some(position.line), column: Some(position.column), ..message(None) };
    assert_eq!(placed(&tree, by_line), birth);
    let by_rule = MessageView { rule: Some("FOPH-021".to_owned()), ..message(None) };
    assert_eq!(placed(&tree, by_rule), at("Bundle", "bundle.identifier"));
    let by_rule =
        |rule: &str| placed(&tree, MessageView { rule: Some(rule.to_owned()), ..message(None) });
    assert_eq!(by_rule("FOPH-012"), at("Observation", "observation.code"));
    assert_eq!(by_rule("FOPH-014"), at("Patient", "patient.address"));
    assert_eq!(by_rule("FOPH-018").0.as_deref(), Some("Organization"));
    assert_eq!(by_rule("FOPH-002"), (None, None));
    assert_eq!(placed(&tree, message(None)), (None, None));
    assert_eq!(placed(&tree, message(Some("DocumentReference.status"))), (None, None));
    assert_eq!(placed(&tree, message(Some("Claim.item"))), (None, None));
    for odd in [
        "",
        "/",
        "//[",
        "/é:é[é]/@é",
        "é/*é",
        "Bundle.é[",
        ".",
        "..",
        "[0]",
        "Bundle.entry[99999999999]",
    ] {
        let _ = placed(&tree, message(Some(odd)));
    }
    let far = MessageView { line: Some(u32::MAX), column: Some(u32::MAX), ..message(None) };
    let _ = placed(&tree, far);
}

/// Every element of a document.
fn elements<'t>(element: Element<'t>, found: &mut Vec<Element<'t>>) {
    found.push(element);
    for child in element.children() {
        elements(child, found);
    }
}

/// Whether every message about an element of these documents stands in the section of its resource.
fn assert_all_placed(text: &str) {
    let tree = read(text);
    let sections = sections(&tree);
    let mut all = Vec::new();
    elements(tree.root(), &mut all);
    let document = exchange::document_of(&tree).unwrap();
    for element in all {
        let mut told = message(Some(&element.expression()));
        place(&mut told, &tree, document, &sections);
        let section = &sections[told.section.expect("a section") as usize];
        assert!(element.expression().starts_with(&section.expression));
        assert_eq!(told.line, Some(element.position().line));
    }
}

#[test]
fn every_element_of_a_document_has_its_place() {
    assert_all_placed(SAMPLE);
    assert_all_placed(include_str!("../samples/legionellosis.xml"));
    for report in testkit::collection() {
        assert_all_placed(&report.json);
    }
}

#[published::needs("corpus/documents")]
#[test]
fn every_element_of_a_published_document_has_its_place() {
    for text in documents() {
        assert_all_placed(&text);
    }
}

/// The published documents, in both encodings.
fn documents() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap();
    let folders = ["json", "xml"].map(|of| root.join("shared/corpus/documents").join(of));
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap().flatten());
    files.map(|file| std::fs::read_to_string(file.path()).unwrap()).collect()
}

#[test]
fn a_flood_of_entries_is_bounded() {
    let entry = r#"{"resource":{"resourceType":"Patient","name":[{"family":"A"},{"family":"B"}]}}"#;
    let entries = vec![entry; 6_000].join(",");
    let text = format!(r#"{{"resourceType":"Bundle","type":"document","entry":[{entries}]}}"#);
    let tree = read(&text);
    let sections = sections(&tree);
    assert_eq!(sections.len(), 500);
    assert!(sections.iter().map(|section| section.fields.len()).sum::<usize>() <= 5_000);
}

/// Every value of every published document stands in the reading view of its resource, in words or
/// by its path, but for the text made for reading, which says nothing more.
#[test]
fn every_value_of_a_document_is_shown() {
    for report in testkit::collection() {
        assert!(assert_all_shown(&report.json) > 50);
    }
}

#[published::needs("corpus/documents")]
#[test]
fn every_value_of_the_published_documents_is_shown() {
    let seen: usize = documents().iter().map(|text| assert_all_shown(text)).sum();
    assert!(seen > 5_000, "{seen}");
}

/// How many values a document has; each stands in the reading view.
fn assert_all_shown(text: &str) -> usize {
    let mut seen = 0;
    let tree = read(text);
    let sections = sections(&tree);
    let fields: Vec<_> = sections.iter().flat_map(|section| &section.fields).collect();
    crate::writing::leaves(tree.root(), &mut |leaf| {
        let (expression, value) = (leaf.expression(), leaf.value().unwrap_or_default().trim());
        if expression.contains(".text.") {
            return;
        }
        let shown = fields.iter().any(|field| {
            let around = expression.starts_with(&field.expression);
            let told = [Some(&field.value), field.detail.as_ref()];
            around && told.into_iter().flatten().any(|told| told.contains(value))
        });
        assert!(shown, "{expression}: {value}");
        seen += 1;
    });
    seen
}
