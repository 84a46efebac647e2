//! What an ImplementationGuide demands of every resource of a type (`global`).

use rules::{Mode, Package, PackageLimits, Store};
use serde_json::{Value, json};

use crate::packages::archive;
use crate::teaching::{element, errors, found, profile, set, url};

fn guide(of: &[(&str, &str)]) -> Value {
    let global: Vec<Value> =
        of.iter().map(|(kind, name)| json!({ "type": kind, "profile": url(name) })).collect();
    json!({ "resourceType": "ImplementationGuide", "url": "http://rules.test/guide",
        "version": "1.0.0", "name": "Guide", "status": "draft", "packageId": "guide",
        "fhirVersion": ["4.0.1"], "global": global })
}

fn named() -> Value {
    profile("named", "Patient", &[element("Patient.name", "1..*", "", json!({}))])
}

#[test]
fn every_resource_of_the_type_conforms_to_a_global_profile() {
    let set = set(vec![guide(&[("Patient", "named"), ("Observation", "absent")]), named()]);
    let nameless = json!({ "resourceType": "Patient" });
    let inside = json!({ "resourceType": "Bundle", "type": "collection",
        "entry": [{ "fullUrl": "urn:uuid:0b1f4f0c-6b3f-4f8e-9d55-000000000001",
            "resource": nameless }] });
    for (resource, expected) in [
        (json!({ "resourceType": "Patient", "name": [{ "family": "A" }] }), &[][..]),
        (nameless, &["rule-missing Patient"]),
        (inside, &["rule-missing Bundle.entry[0].resource"]),
        (json!({ "resourceType": "Organization" }), &[]),
        // A profile that nobody has cannot be asked.
        (json!({ "resourceType": "Observation", "status": "final", "code": { "text": "x" } }), &[]),
    ] {
        let found = errors(&found(&set, &resource, None, Mode::Authority));
        assert_eq!(found, *expected, "{resource}");
    }
}

#[test]
fn a_guide_counts_where_its_package_is_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    let import = |name: &str, files: &[(&str, Value)]| {
        let manifest = json!({ "name": name, "version": "1.0.0", "fhirVersions": ["4.0.1"] });
        let mut all = vec![("package/package.json", manifest.to_string().into_bytes())];
        all.extend(files.iter().map(|(path, of)| (*path, of.to_string().into_bytes())));
        let package = Package::read(&archive(&all), &PackageLimits::default()).unwrap();
        store.import(&package, "2026-01-01T00:00:00Z".to_owned()).unwrap();
    };
    let mut patient = profile("Patient", "Patient", &[element("Patient", "", "", json!({}))]);
    patient["snapshot"] = patient["differential"].take();
    let mut strict = named();
    strict["differential"]["element"][0]["path"] = json!("Patient.name");
    strict["baseDefinition"] = json!(url("Patient"));
    let with_guide = [
        ("package/Guide.json", guide(&[("Patient", "named")])),
        ("package/Named.json", strict),
        ("package/Patient.json", patient.clone()),
    ];
    import("with-guide", &with_guide);
    import("without", &[("package/Patient.json", patient)]);
    for (label, expected) in [("with-guide@1.0.0", 1), ("without@1.0.0", 0)] {
        let set = store.load(Some(label)).unwrap();
        let found = found(&set, &json!({ "resourceType": "Patient" }), None, Mode::Authority);
        assert_eq!(errors(&found).len(), expected, "{label}");
    }
}
