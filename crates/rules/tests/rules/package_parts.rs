//! Parts of a package that would count for nothing, or hold every report: they are named when it is
//! imported.

use rules::{Package, PackageLimits, Store, missing};
use serde_json::{Value, json};

use crate::packages::archive;
use crate::teaching::{BASE, element, profile, url};

/// The part of a definition that is named as wrong.
fn wrong(definition: &Value) -> Option<String> {
    let read = Package::read(definition.to_string().as_bytes(), &PackageLimits::default());
    let fault = read.err()?;
    assert_eq!(fault.code(), "definition-misshapen");
    let told = fault.definition()?;
    let before = format!("{}|1.0.0 (", url("parts"));
    told.strip_prefix(&before)?.strip_suffix(')').map(str::to_owned)
}

fn of(elements: &[Value]) -> Value {
    profile("parts", "Patient", elements)
}

#[test]
fn an_element_of_a_snapshot_whose_parent_is_not_listed() {
    let path = |path: &str| element(path, "0..1", "", json!({}));
    let snapshot = |elements: &[Value]| {
        let mut definition = of(&[]);
        definition["differential"].take();
        definition["snapshot"] = json!({ "element": elements });
        wrong(&definition)
    };
    let patient = || path("Patient");
    let name = || path("Patient.name");
    assert_eq!(snapshot(&[patient(), name(), path("Patient.name.family")]), None);
    let deep = [patient(), path("Patient.name.family")];
    assert_eq!(snapshot(&deep), Some("snapshot.element[1].path".to_owned()));
    // The one above is listed, but of another parent.
    let aside = [patient(), name(), path("Patient.contact.name")];
    assert_eq!(snapshot(&aside), Some("snapshot.element[2].path".to_owned()));
    assert_eq!(snapshot(&[name(), patient()]), Some("snapshot.element[0].path".to_owned()));
    // A differential lists only what differs.
    assert_eq!(wrong(&of(&[patient(), path("Patient.name.family")])), None);
}

#[test]
fn a_value_that_is_not_of_its_elements_type() {
    let with = |path: &str, types: &str, more: Value| {
        wrong(&of(&[element("Patient", "", "", json!({})), element(path, "", types, more)]))
    };
    let gender = |more: Value| with("Patient.gender", "code", more);
    for fine in [json!({ "fixedCode": "male" }), json!({ "patternCode": "male" })] {
        assert_eq!(gender(fine), None);
    }
    // Without its types nothing is compared, and a system type is nothing to compare with.
    assert_eq!(with("Patient.gender", "", json!({ "fixedString": "male" })), None);
    let system = "http://hl7.org/fhirpath/System.String";
    assert_eq!(with("Patient.id", system, json!({ "fixedUri": "a" })), None);
    let flag = |value: Value| with("Patient.active", "boolean", json!({ "fixedBoolean": value }));
    assert_eq!(flag(json!(true)), None);
    let at = |part: &str| Some(format!("differential.element[1].{part}"));
    assert_eq!(flag(json!("true")), at("fixedBoolean"));
    assert_eq!(gender(json!({ "fixedCode": 7 })), at("fixedCode"));
    assert_eq!(gender(json!({ "fixedBoolean": true })), at("fixedBoolean"));
    let coding = json!({ "patternCodeableConcept": [{ "text": "a" }] });
    assert_eq!(
        with("Patient.maritalStatus", "CodeableConcept", coding),
        at("patternCodeableConcept")
    );
    let least = json!({ "minValueInteger": "1" });
    assert_eq!(with("Patient.multipleBirth[x]", "integer", least), at("minValueInteger"));
}

#[test]
fn a_bound_with_a_value_of_another_kind() {
    let bound = |name: &str, value: Value| {
        let mut told = value;
        told["url"] = json!(format!("{BASE}{name}"));
        let more = json!({ "extension": [told] });
        wrong(&of(&[element("Patient", "", "", json!({})), element("Patient.id", "", "", more)]))
    };
    assert_eq!(bound("minLength", json!({ "valueInteger": 2 })), None);
    assert_eq!(bound("maxDecimalPlaces", json!({ "valueDecimal": 2.0 })), None);
    assert_eq!(bound("regex", json!({ "valueString": "[a-z]+" })), None);
    let at = Some("differential.element[1].extension[0]".to_owned());
    for (name, value) in [
        ("minLength", json!({ "valueString": "2" })),
        ("maxSize", json!({ "valueInteger": -1 })),
        ("maxDecimalPlaces", json!({})),
        ("regex", json!({ "valueInteger": 1 })),
    ] {
        assert_eq!(bound(name, value), at, "{name}");
    }
}

#[test]
fn dependencies_and_releases_in_another_form() {
    let read = |change: &dyn Fn(&mut Value)| {
        let mut manifest = json!({ "name": "a.b", "version": "1.0.0", "fhirVersions": ["4.0.1"],
            "dependencies": { "c.d": "1.0.0" } });
        change(&mut manifest);
        let definition = of(&[element("Patient", "", "", json!({}))]);
        let bytes = archive(&[
            ("package/package.json", manifest.to_string().into_bytes()),
            ("package/a.json", definition.to_string().into_bytes()),
        ]);
        Package::read(&bytes, &PackageLimits::default()).map_err(|fault| fault.code())
    };
    assert_eq!(read(&|_| ()).unwrap().manifest.dependencies.len(), 1);
    assert!(read(&|of| of["dependencies"] = Value::Null).is_ok());
    for other in [json!(["c.d"]), json!("c.d"), json!({ "c.d": 1 })] {
        let code = read(&|of| of["dependencies"] = other.clone()).unwrap_err();
        assert_eq!(code, "bad-manifest", "{other}");
    }
    assert!(read(&|of| of["fhirVersions"] = json!("4.0.1")).is_ok());
    assert_eq!(read(&|of| of["fhirVersions"] = json!("5.0.0")).unwrap_err(), "other-fhir");
}

/// What a definition builds on in a version that nobody has is told, with what stands in for it.
#[test]
fn a_base_in_another_version_is_told_when_it_is_imported() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path().join("rules"));
    let import = |name: &str, version: &str, base: &str| {
        let mut definition = profile(name, "Patient", &[]);
        (definition["version"], definition["baseDefinition"]) = (json!(version), json!(base));
        let bytes = definition.to_string();
        let package = Package::read(bytes.as_bytes(), &PackageLimits::default()).unwrap();
        store.import(&package, "then".to_owned()).unwrap();
        let all = store.list().unwrap();
        let own = all.iter().find(|of| of.manifest.digest == package.manifest.digest).unwrap();
        missing(&own.manifest, &all)
    };
    let patient = format!("{BASE}Patient|4.0.1");
    // Of what nobody has in any version, the packages that define it are told.
    assert_eq!(import("base", "1.1.0", &patient), []);
    assert_eq!(import("exact", "1.0.0", &format!("{}|1.1.0", url("base"))), []);
    assert_eq!(import("any", "1.0.0", &url("base")), []);
    let told = (url("base"), "1.0.0".to_owned(), Some("1.1.0".to_owned()));
    let other = format!("{}|1.0.0", url("base"));
    assert_eq!(import("other", "1.0.0", &other), std::slice::from_ref(&told));
    // As soon as somebody has it, nothing is missing.
    import("base", "1.0.0", &patient);
    assert_eq!(import("other", "1.0.0", &other), []);
}
