//! Documents are validated by packages of rules, where an operator put some into use, as a
//! laboratory would.

use std::path::Path;
use std::process::Command;

use authority::{AuthorityError, ServeOptions, import_rules, rules_packages, serve, use_rules};
use fhir::{Format, Instant, Limits, Severity, Tree, issues_of};
use reqwest::StatusCode;
use rules::{Asked, Mode, Package, PackageLimits, RuleSet};
use tokio_util::sync::CancellationToken;

use crate::common::{House, as_xml, document, resource, urn, wrapped};

on_every_store![what_the_rules_refuse_is_refused_as_a_laboratory_would_have_known];

/// As much of FHIR as leads to a patient, and one rule: nobody is called Gesperrt.
const RULES: &str = r#"{ "resourceType": "Bundle", "type": "collection", "entry": [
  { "resource": { "resourceType": "StructureDefinition", "version": "4.0.1",
    "url": "http://hl7.org/fhir/StructureDefinition/Patient", "kind": "resource", "abstract": false,
    "type": "Patient", "derivation": "specialization", "snapshot": { "element": [
      { "id": "Patient", "path": "Patient", "min": 0, "max": "*", "constraint": [
        { "key": "own-1", "severity": "error", "human": "nobody is called Gesperrt",
          "expression": "name.family != 'Gesperrt'" }] }] } } },
  { "resource": { "resourceType": "StructureDefinition", "version": "4.0.1",
    "url": "http://hl7.org/fhir/StructureDefinition/Bundle", "kind": "resource", "abstract": false,
    "type": "Bundle", "derivation": "specialization", "snapshot": { "element": [
      { "id": "Bundle", "path": "Bundle", "min": 0, "max": "*" },
      { "id": "Bundle.entry", "path": "Bundle.entry", "min": 0, "max": "*",
        "type": [{ "code": "BackboneElement" }] },
      { "id": "Bundle.entry.resource", "path": "Bundle.entry.resource", "min": 0, "max": "1",
        "type": [{ "code": "Resource" }] }] } } },
  { "resource": { "resourceType": "StructureDefinition", "version": "4.0.1",
    "url": "http://hl7.org/fhir/StructureDefinition/DocumentReference", "kind": "resource",
    "abstract": false, "type": "DocumentReference", "derivation": "specialization",
    "snapshot": { "element": [
      { "id": "DocumentReference", "path": "DocumentReference", "min": 0, "max": "*" },
      { "id": "DocumentReference.contained", "path": "DocumentReference.contained", "min": 0,
        "max": "*", "type": [{ "code": "Resource" }] }] } } }] }"#;

/// A document whose observation says whose it is.
fn report(family: &str) -> String {
    let whose = r#""subject": { "reference": "urn:uuid:00000000-0000-4000-8000-000000000002" },
      "valueString""#;
    document(&urn(), family, "1").replace("\"valueString\"", whose)
}

/// Runs the program and takes its output.
fn told(data: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_labcourier-authority"));
    let output = command.args(arguments).arg("--data").arg(data).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

async fn what_the_rules_refuse_is_refused_as_a_laboratory_would_have_known() {
    let house = House::open(|_| {}).await;
    let data = house.folder.path();
    let lab = house.client("alpha");
    // Without rules in use nothing is asked, and the service needs no restart once there are some.
    lab.deliver(&report("Gesperrt"), &urn()).await;
    let file = data.join("rules.json");
    std::fs::write(&file, RULES).unwrap();
    let imported = told(data, &["rules", "import", file.to_str().unwrap()]);
    let label = imported.split('\t').next().unwrap().to_owned();
    lab.deliver(&report("Gesperrt"), &urn()).await;
    told(data, &["rules", "use", &label]);
    assert!(told(data, &["rules", "list"]).contains("in use"));
    lab.deliver(&report("Muster"), &urn()).await;

    let package = Package::read(RULES.as_bytes(), &PackageLimits::default()).unwrap();
    let laboratory = RuleSet::of(vec![package]);
    let text = report("Gesperrt");
    for text in [text.clone(), as_xml(&text)] {
        let format = Format::sniff(text.as_bytes()).unwrap();
        let tree = Tree::read(text.as_bytes(), format, &Limits::default()).unwrap();
        let asked = Asked { profiles: &[], mode: Mode::Authority, now: Instant(0) };
        let known = laboratory.validate(&tree, &asked);
        let errors: Vec<_> = known.iter().filter(|of| of.severity == Severity::Error).collect();
        let [known] = errors[..] else { panic!("{errors:?}") };

        let (body, format) = wrapped(&text, &urn());
        let response = lab.post(body, format.media_type()).await;
        assert_eq!(response.status(), StatusCode::UNPROCESSABLE_ENTITY);
        let answer = resource(response).await;
        // Profiles that these rules do not have are named as a warning.
        let mut told = issues_of(answer.root());
        told.retain(|of| of.severity == Severity::Error);
        let [told] = &told[..] else { panic!("{}", told.len()) };
        // The same rule, at the same place of the document inside of its envelope.
        let place = told.expression.as_deref().unwrap();
        let inside = place.split_once("contained[0]").unwrap().1;
        assert!(known.expression.ends_with(inside), "{place} {}", known.expression);
        assert!(told.text.contains("nobody is called"), "{}", told.text);
    }
    told(data, &["rules", "remove", &label]);
    assert!(rules_packages(data).unwrap().is_empty());
}

#[tokio::test]
async fn rules_that_cannot_be_read_keep_the_service_from_starting() {
    let house = House::open(|_| {}).await;
    let folder = house.close().await;
    let file = folder.path().join("rules.json");
    std::fs::write(&file, "no package").unwrap();
    let refused = import_rules(folder.path(), &file);
    assert!(matches!(refused, Err(AuthorityError::Package { .. })));
    std::fs::write(&file, RULES).unwrap();
    let label = import_rules(folder.path(), &file).unwrap().label;
    use_rules(folder.path(), &label).unwrap();
    for entry in std::fs::read_dir(folder.path().join("rules")).unwrap().flatten() {
        if entry.path().extension().is_some_and(|end| end == "rules") {
            std::fs::write(entry.path(), "broken").unwrap();
        }
    }
    let started = serve(ServeOptions::new(folder.path()), CancellationToken::new()).await;
    assert!(matches!(started, Err(AuthorityError::RulesPackages(_))));
}

/// A service that cannot read its rules must not accept what its operator wants refused.
#[tokio::test]
async fn nothing_is_accepted_while_the_rules_cannot_be_read() {
    let house = House::open(|_| {}).await;
    let data = house.folder.path();
    let lab = house.client("alpha");
    lab.deliver(&report("Muster"), &urn()).await;
    let file = data.join("rules.json");
    std::fs::write(&file, RULES).unwrap();
    let label = import_rules(data, &file).unwrap().label;
    use_rules(data, &label).unwrap();
    let packages = || {
        let entries = std::fs::read_dir(data.join("rules")).unwrap().flatten();
        entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|it| it == "rules"))
    };
    for package in packages() {
        std::fs::write(package, "broken").unwrap();
    }
    for family in ["Gesperrt", "Muster"] {
        let (body, format) = wrapped(&report(family), &urn());
        let response = lab.post(body, format.media_type()).await;
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(response.headers().contains_key("retry-after"));
    }
}
