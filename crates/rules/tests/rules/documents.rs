//! A mistake of a document as a whole is one line: what cannot be known for want of it is not told
//! beside it.

use rules::Mode;
use serde_json::{Value, json};

use crate::published::{DOCUMENT, found_in, shared};
use crate::slices::slicing;
use crate::teaching::{element, errors, found, profile, set, url};

const ONE: &str = "urn:uuid:0b1f4f0c-6b3f-4f8e-9d55-000000000001";
const TWO: &str = "urn:uuid:0b1f4f0c-6b3f-4f8e-9d55-000000000002";
const THREE: &str = "urn:uuid:0b1f4f0c-6b3f-4f8e-9d55-000000000003";

/// What is told of a resource under these profiles, without what the base check alone says.
fn told(profiles: &[Value], resource: &Value) -> Vec<String> {
    let mut resource = resource.clone();
    let urls: Vec<Value> = profiles.iter().map(|of| of["url"].clone()).collect();
    resource["meta"] = json!({ "profile": urls });
    errors(&found(&set(profiles.to_vec()), &resource, None, Mode::Authority))
}

/// A Bundle that must have a Composition and a Patient, each with an address, told in two profiles.
fn rules() -> Vec<Value> {
    let constraint = |key: &str, expression: &str| {
        json!({ "key": key, "severity": "error",
        "human": key, "expression": expression })
    };
    let of = |name: &str, rules: Value| {
        let slice = |kind: &str| {
            let types = json!({ "id": format!("Bundle.entry:{kind}.resource"),
                "min": 1, "type": [{ "code": kind }] });
            [
                element("Bundle.entry", "1..", "", json!({ "sliceName": kind })),
                element("Bundle.entry.resource", "", "", types),
            ]
        };
        let head = [
            element("Bundle", "", "", json!({ "constraint": rules })),
            element("Bundle.entry", "", "", slicing("type", "resource", "open")),
            element("Bundle.entry.fullUrl", "1..1", "", json!({})),
        ];
        let all = [&head[..], &slice("Composition"), &slice("Patient")].concat();
        profile(name, "Bundle", &all)
    };
    let first = "type = 'document' implies entry.first().resource.is(Composition)";
    let one = "entry.resource.ofType(Composition).count() = 1";
    let same = "entry.resource.ofType(Patient).exists()";
    vec![
        of("whole", json!([constraint("bdl-11", first), constraint("one-patient", same)])),
        of("again", json!([constraint("one-comp", one)])),
    ]
}

/// A Composition, a Patient and an Organization that the Composition leads to.
fn document() -> Value {
    let composition = json!({ "resourceType": "Composition", "subject": { "reference": TWO },
        "author": [{ "reference": THREE }] });
    json!({ "resourceType": "Bundle", "type": "document", "entry": [
        { "fullUrl": ONE, "resource": composition },
        { "fullUrl": TWO, "resource": { "resourceType": "Patient", "name": [{ "family": "A" }] } },
        { "fullUrl": THREE, "resource": { "resourceType": "Organization", "name": "B" } } ] })
}

fn changed(change: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut document = document();
    change(&mut document);
    told(&rules(), &document)
}

fn without_address(document: &mut Value, entry: usize) {
    document["entry"][entry].as_object_mut().unwrap().remove("fullUrl");
}

#[test]
fn a_document_without_its_composition_is_one_mistake() {
    assert_eq!(changed(|_| ()), [""; 0]);
    let gone = changed(|of| drop(of["entry"].as_array_mut().unwrap().remove(0)));
    assert_eq!(gone, ["rule-bundle-first-entry Bundle"]);
    let second = changed(|of| of["entry"].as_array_mut().unwrap().swap(0, 1));
    assert_eq!(second, ["rule-bundle-first-entry Bundle"]);
    // Another kind of resource that is missing is another mistake, and one line too.
    let patient = changed(|of| {
        of["entry"][1]["resource"] = json!({ "resourceType": "Organization", "name": "C" });
        of["entry"][0]["resource"].as_object_mut().unwrap().remove("subject");
        of["entry"][0]["resource"]["author"] =
            json!([{ "reference": TWO }, { "reference": THREE }]);
    });
    assert_eq!(patient, ["rule-slice-missing Bundle"]);
}

#[test]
fn an_entry_without_an_address_is_one_mistake() {
    for entry in 0..3 {
        let told = changed(|of| without_address(of, entry));
        assert_eq!(told, [format!("rule-bundle-full-url-missing Bundle.entry[{entry}]")]);
    }
    // More addresses that lead nowhere than entries that lack one: one of them is a mistake of its
    // own.
    let both = changed(|of| {
        without_address(of, 2);
        let lost = json!({ "reference": "urn:uuid:0b1f4f0c-6b3f-4f8e-9d55-000000000004" });
        of["entry"][0]["resource"]["author"].as_array_mut().unwrap().push(lost);
    });
    assert_eq!(both.len(), 3, "{both:?}");
    // Nothing leads to an entry that has an address, whatever another one lacks.
    let loose = changed(|of| {
        without_address(of, 2);
        let resource = json!({ "resourceType": "Organization", "name": "C" });
        let url = "urn:uuid:0b1f4f0c-6b3f-4f8e-9d55-000000000004";
        let entry = json!({ "fullUrl": url, "resource": resource });
        of["entry"].as_array_mut().unwrap().push(entry);
    });
    let expected =
        ["rule-bundle-full-url-missing Bundle.entry[2]", "rule-bundle-not-reached Bundle.entry[3]"];
    assert_eq!(loose, expected);
}

#[test]
fn addresses_by_type_and_id_follow_from_an_entry_without_an_address() {
    let rest = |kind: &str| format!("http://a.test/fhir/{kind}/1");
    let by_type = |of: &mut Value| {
        for (at, kind) in ["Composition", "Patient", "Organization"].iter().enumerate() {
            of["entry"][at]["fullUrl"] = json!(rest(kind));
            of["entry"][at]["resource"]["id"] = json!("1");
        }
        of["entry"][0]["resource"]["subject"]["reference"] = json!("Patient/1");
        of["entry"][0]["resource"]["author"][0]["reference"] = json!("Organization/1");
        of["entry"][1]["resource"]["managingOrganization"] =
            json!({ "reference": "Organization/1" });
    };
    assert_eq!(changed(by_type), [""; 0]);
    for entry in 0..3 {
        let told = changed(|of| {
            by_type(of);
            without_address(of, entry);
        });
        assert_eq!(told, [format!("rule-bundle-full-url-missing Bundle.entry[{entry}]")]);
    }
}

#[test]
fn a_resource_of_a_type_that_there_is_not_is_one_mistake() {
    for entry in 0..3 {
        let unknown =
            changed(|of| of["entry"][entry]["resource"]["resourceType"] = json!("Colour"));
        assert_eq!(unknown, [format!("unknown-resource-type Bundle.entry[{entry}].resource")]);
        let untyped = changed(|of| {
            let resource = of["entry"][entry]["resource"].as_object_mut().unwrap();
            resource.remove("resourceType");
        });
        assert_eq!(untyped, [format!("resource-type-missing Bundle.entry[{entry}].resource")]);
    }
}

#[test]
fn an_entry_that_several_slices_could_mean_is_told_once() {
    let a = profile(
        "a",
        "Organization",
        &[element("Organization.name", "", "", json!({ "fixedString": "A" }))],
    );
    let b = profile(
        "b",
        "Organization",
        &[
            element("Organization.name", "0..0", "", json!({})),
            element("Organization.partOf", "1..1", "", json!({})),
        ],
    );
    let slice = |name: &str| {
        let types = json!({ "sliceName": name, "min": 1,
            "type": [{ "code": "Reference", "targetProfile": [url(name)] }] });
        element("Observation.performer", "", "", types)
    };
    let of = |rules: &str, contained: Value| {
        let sliced = slicing("profile", "$this.resolve()", rules);
        let elements = [element("Observation.performer", "", "", sliced), slice("a"), slice("b")];
        let performer: Vec<Value> = contained
            .as_array()
            .unwrap()
            .iter()
            .map(|of| json!({ "reference": format!("#{}", of["id"].as_str().unwrap()) }))
            .collect();
        let resource = json!({ "resourceType": "Observation", "status": "final",
            "code": { "text": "a" }, "contained": contained, "performer": performer });
        told(&[a.clone(), b.clone(), profile("case", "Observation", &elements)][..], &resource)
            .into_iter()
            // The two profiles of organizations are none of an Observation.
            .filter(|of| !of.starts_with("rule-profile-type"))
            .collect::<Vec<_>>()
    };
    let organization =
        |id: &str, name: &str| json!({ "resourceType": "Organization", "id": id, "name": name });
    for rules in ["open", "closed"] {
        // One entry: it is nearest to the first slice, and the second has none.
        let one = of(rules, json!([organization("x", "X")]));
        let expected =
            ["rule-slice-missing Observation", "rule-fixed-value Observation.contained[0].name"];
        assert_eq!(one, expected, "{rules}");
        // Two entries: each is meant for one of them.
        let mut other = organization("y", "Y");
        other["partOf"] = json!({ "reference": "Organization/1" });
        let two = of(rules, json!([organization("x", "X"), other]));
        let expected = [
            "rule-fixed-value Observation.contained[0].name",
            "rule-too-many Observation.contained[1].name",
        ];
        assert_eq!(two, expected, "{rules}");
    }
}

#[test]
fn a_section_without_entries_is_measured_against_the_section_that_it_is() {
    let slice = |name: &str, entry: &str, title: &str| {
        let id = |of: &str| json!({ "id": format!("Composition.section:{name}.{of}") });
        let mut fixed = id("title");
        fixed["patternString"] = json!(title);
        vec![
            element("Composition.section", "", "", json!({ "sliceName": name })),
            element("Composition.section.title", "1..1", "", fixed),
            element("Composition.section.entry", entry, "", id("entry")),
        ]
    };
    let by = |paths: &[(&str, &str)], rules: &str| {
        let all: Vec<Value> =
            paths.iter().map(|(kind, path)| json!({ "type": kind, "path": path })).collect();
        let own_rule = json!([{ "key": "cmp-1", "severity": "error", "human": "entries or text",
            "expression": "title.exists() and entry.exists()" }]);
        let sliced = json!({ "slicing": { "discriminator": all, "rules": rules },
            "constraint": own_rule });
        vec![element("Composition.section", "", "", sliced)]
    };
    let results = || slice("results", "1..", "Results");
    let notes = || slice("notes", "..0", "Notes");
    let strict = by(&[("exists", "$this.entry"), ("value", "title")], "closed");
    let strict = profile("strict", "Composition", &[strict, notes(), results()].concat());
    // Tells its sections apart by their entries alone.
    let plain = by(&[("exists", "entry")], "open");
    let plain = profile("plain", "Composition", &[plain, notes(), results()].concat());
    let of = |section: Value| {
        let resource = json!({ "resourceType": "Composition", "section": [section],
            "author": [{ "display": "A" }] });
        let told = told(&[strict.clone(), plain.clone()], &resource).into_iter();
        told.filter(|of| of.starts_with("rule-")).collect::<Vec<_>>()
    };
    let entry = json!([{ "display": "A" }]);
    assert_eq!(of(json!({ "title": "Results", "entry": entry })), [""; 0]);
    assert_eq!(of(json!({ "title": "Results" })), ["rule-missing Composition.section[0]"]);
    let among_notes = of(json!({ "title": "Notes", "entry": entry }));
    assert!(
        among_notes.contains(&"rule-too-many Composition.section[0].entry[0]".to_owned()),
        "{among_notes:?}"
    );
    // No section of these rules has this title.
    let other = of(json!({ "title": "Others", "entry": entry }));
    assert!(other.contains(&"rule-slice-unknown Composition.section[0]".to_owned()), "{other:?}");
}

/// Each of these mistakes in a published report is one line.
#[published::needs("packages")]
#[test]
fn mistakes_of_published_reports_are_one_line() {
    let told = |document: &Value| errors(&found_in(document.to_string().as_bytes(), DOCUMENT));
    for file in ["Bundle-11Doc-Malaria.json", "Bundle-61Doc-Tb-Susceptibility.json"] {
        let bytes = std::fs::read(shared().join("corpus/documents-1.14").join(file)).unwrap();
        let document: Value = serde_json::from_slice(&bytes).unwrap();
        let with = |change: &dyn Fn(&mut Value)| {
            let mut document = document.clone();
            change(&mut document);
            told(&document)
        };
        let gone = with(&|of| drop(of["entry"].as_array_mut().unwrap().remove(0)));
        assert_eq!(gone, ["rule-bundle-first-entry Bundle"], "{file}");
        let bare = with(&|of| {
            let section = &mut of["entry"][0]["resource"]["section"][0];
            section.as_object_mut().unwrap().remove("entry");
        });
        assert_eq!(bare, ["rule-missing Bundle.entry[0].resource.section[0]"], "{file}");
        for at in [0, 1, 3, 5, 6] {
            // What an invariant finds behind a reference that leads nowhere cannot be told apart.
            let plain = |told: Vec<String>| -> Vec<String> {
                told.into_iter()
                    .filter(|of| !of.starts_with("rule-invariant Bundle.entry"))
                    .collect()
            };
            let bare = plain(with(&|of| without_address(of, at)));
            assert_eq!(
                bare,
                [format!("rule-bundle-full-url-missing Bundle.entry[{at}]")],
                "{file}"
            );
            let odd = with(&|of| of["entry"][at]["resource"]["resourceType"] = json!("Colour"));
            let expected = format!("unknown-resource-type Bundle.entry[{at}].resource");
            assert_eq!(plain(odd), [expected], "{file}");
        }
    }
}
