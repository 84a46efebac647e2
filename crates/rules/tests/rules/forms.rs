//! The forms of values: addresses, sizes, ids, codes of code systems, narrative.

use fhir::{Format, Instant, Limits, Tree};
use rules::{Asked, Mode};
use serde_json::{Value, json};

use crate::teaching::{element, errors, found, profile, set, value_set};

fn patient(more: Value) -> Value {
    let mut patient = json!({ "resourceType": "Patient" });
    patient.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    patient
}

#[test]
fn addresses_sizes_and_narrative() {
    let narrative = |div: &str| patient(json!({ "text": { "status": "generated", "div": div } }));
    let html = "<div xmlns=\"http://www.w3.org/1999/xhtml\">";
    let profiled = |canonical: &str| patient(json!({ "meta": { "profile": [canonical] } }));
    for (resource, expected) in [
        (
            patient(json!({ "identifier": [{ "system": "local", "value": "1" }] })),
            &["rule-system-not-absolute Patient.identifier[0].system"][..],
        ),
        (
            patient(json!({ "identifier": [{ "system": "oid:1.2.3", "value": "1" }] })),
            &[
                "rule-system-not-absolute Patient.identifier[0].system",
                "rule-address-form Patient.identifier[0].system",
            ],
        ),
        (
            patient(json!({ "identifier": [{ "system": "urn:oid:1.2.3", "value": "1" }] })),
            &["rule-address-form Patient.identifier[0].system"],
        ),
        (patient(json!({ "identifier": [{ "system": "urn:oid:2.16.0.1", "value": "1" }] })), &[]),
        // A number of an OID is written in one way (R4, datatypes.html#oid).
        (
            patient(json!({ "identifier": [{ "system": "urn:oid:2.16.06.1", "value": "1" }] })),
            &["rule-address-form Patient.identifier[0].system"],
        ),
        (
            patient(json!({ "identifier": [{ "system": "urn:oid:22.16.6.1", "value": "1" }] })),
            &["rule-address-form Patient.identifier[0].system"],
        ),
        (
            patient(json!({ "identifier": [{ "system": "urn:oid:2.16.0.1#a", "value": "1" }] })),
            &["rule-address-form Patient.identifier[0].system"],
        ),
        (profiled("urn:uuid:0b1f4f0c-6b3f-4f8e-9d55-000000000001|1.0#a"), &[]),
        (
            profiled("urn:uuid:0b1f4f0c-6b3f-4f8e|1.0"),
            &["rule-address-form Patient.meta.profile[0]"],
        ),
        (
            patient(json!({ "identifier": [{ "system": "urn:ietf:rfc:3986", "value": "1" }] })),
            &["rule-system-not-absolute Patient.identifier[0].value"],
        ),
        (patient(json!({ "photo": [{ "data": "AAAA", "size": 3 }] })), &[]),
        (
            patient(json!({ "photo": [{ "data": "AAA=", "size": 3 }] })),
            &["rule-attachment-size Patient.photo[0]"],
        ),
        (narrative(&format!("{html}<p class=\"a\">x &lt; y</p></div>")), &[]),
        (
            narrative(&format!("{html}<script>x</script></div>")),
            &["rule-narrative-element Patient.text.div"],
        ),
        (
            narrative(&format!("{html}<p onclick=\"x\">x</p></div>")),
            &["rule-narrative-attribute Patient.text.div"],
        ),
        (narrative(&format!("{html}<p> </p></div>")), &["rule-narrative-empty Patient.text.div"]),
    ] {
        assert_eq!(
            errors(&found(&set(Vec::new()), &resource, None, Mode::Authority)),
            *expected,
            "{resource}"
        );
    }
}

#[test]
fn what_may_stand_where_in_a_narrative() {
    let html = "<div xmlns=\"http://www.w3.org/1999/xhtml\">";
    for (content, expected) in [
        ("<table border=\"1\"><tr><td colspan=\"2\">a</td></tr></table>", None),
        ("<ul> <li><p>a<br/>b</p></li> </ul><hr/><p>c <span>d <b>e</b></span></p>", None),
        ("<a href=\"http://a.test/x?y=1&amp;z=2#q\">a</a><a name=\"here\">b</a>", None),
        ("<p id=\"x\">a</p><a href=\"#x\">b</a><a href=\"#c1\">c</a>", None),
        ("<div xmlns=\"http://www.w3.org/1999/xhtml\">a</div>", None),
        ("<div xmlns=\"http://other.test\">a</div>", Some("rule-narrative-attribute")),
        ("<strike>a</strike>", Some("rule-narrative-element")),
        ("<p border=\"1\">a</p>", Some("rule-narrative-attribute")),
        ("<p><table><tr><td>a</td></tr></table></p>", Some("rule-narrative-place")),
        ("<p><b><ul><li>a</li></ul></b></p>", Some("rule-narrative-place")),
        ("<b>a <i>b <b>c</b></i></b>", Some("rule-narrative-place")),
        ("<ul>a</ul>", Some("rule-narrative-place")),
        ("<td>a</td>", Some("rule-narrative-place")),
        ("<table><p>a</p></table>", Some("rule-narrative-place")),
        ("<br>a</br>", Some("rule-narrative-place")),
        ("<a href=\"\">a</a>", Some("rule-narrative-address")),
        ("<a href=\"http://a.test/b c\">a</a>", Some("rule-narrative-address")),
        ("<a href=\"javascript:alert(1)\">a</a>", Some("rule-narrative-address")),
        ("a <img src=\"data:image/png;base64\"/>", Some("rule-narrative-address")),
        ("<a href=\"#nowhere\">a</a>", Some("rule-fragment-unknown")),
    ] {
        let div = format!("{html}{content}</div>");
        let patient = patient(json!({ "text": { "status": "generated", "div": div },
            "contact": [{ "id": "c1", "name": { "family": "A" } }] }));
        let found = errors(&found(&set(Vec::new()), &patient, None, Mode::Authority));
        let expected: Vec<String> =
            expected.map(|code| format!("{code} Patient.text.div")).into_iter().collect();
        assert_eq!(found, expected, "{content}");
    }
}

#[test]
fn ids_and_labels_stand_once() {
    let name = |id: &str| json!({ "id": id, "family": "A" });
    let label = |code: &str| json!({ "system": "http://labels.test", "code": code });
    for (resource, expected) in [
        (patient(json!({ "name": [name("a"), name("b")] })), &[][..]),
        (patient(json!({ "name": [name("a"), name("a")] })), &["rule-id-twice Patient.name[1]"]),
        (patient(json!({ "meta": { "security": [label("R"), label("V")] } })), &[]),
        (
            patient(json!({ "meta": { "security": [label("R"), label("R")] } })),
            &["rule-security-label-twice Patient.meta.security[1]"],
        ),
    ] {
        let found = errors(&found(&set(Vec::new()), &resource, None, Mode::Authority));
        assert_eq!(found, *expected, "{resource}");
    }
}

#[test]
fn a_code_is_asked_for_even_where_the_value_is_absent() {
    let absent = "http://hl7.org/fhir/StructureDefinition/data-absent-reason";
    let binding =
        json!({ "binding": { "strength": "required", "valueSet": value_set("colours") } });
    let reason = json!({ "extension": [{ "url": absent, "valueCode": "unknown" }] });
    let of = profile("case", "Patient", &[element("Patient.gender", "", "", binding)]);
    let found = found(
        &set(vec![of]),
        &patient(json!({ "_gender": reason })),
        Some("case"),
        Mode::Authority,
    );
    assert_eq!(errors(&found), ["rule-code-missing Patient.gender"]);
}

#[test]
fn addresses_of_well_known_code_systems_are_written_as_they_are() {
    for (system, is_right) in [
        ("http://loinc.org", true),
        ("http://loinc.org/", false),
        ("https://loinc.org", false),
        ("http://snomed.info/sct/900000000000207008", false),
        ("http://snomed.info/sctx", false),
        ("http://rules.test/colours", false),
        ("https://rules.test/colours", false),
        ("https://other.test/colours", true),
        // A warning: whoever decides may know it, or asks somebody who does not.
        ("http://hl7.org/fhir/nobody-defines-this", true),
        ("http://hl7.org/fhir/codesystem-animals.html", true),
        ("http://hl7.org/fhir/sid/us-ssn", true),
        ("ftp://codes.test", false),
    ] {
        let coded = json!({ "resourceType": "Observation", "status": "final",
            "code": { "coding": [{ "system": system, "code": "1-8" }] } });
        let found = errors(&found(&set(Vec::new()), &coded, None, Mode::Authority));
        assert_eq!(found.is_empty(), is_right, "{system}: {found:?}");
    }
}

#[test]
fn named_characters_of_html_may_stand_in_the_narrative_of_a_json_document() {
    let html = "<div xmlns=\"http://www.w3.org/1999/xhtml\">";
    for (text, is_right) in [("a&nbsp;b &eacute;", true), ("a&nothing;b", false)] {
        let div = format!("{html}{text}</div>");
        let patient = patient(json!({ "text": { "status": "generated", "div": div } })).to_string();
        let tree = Tree::read(patient.as_bytes(), Format::Json, &Limits::default()).unwrap();
        let asked = Asked { profiles: &[], mode: Mode::Authority, now: Instant(0) };
        let found = errors(&set(Vec::new()).validate(&tree, &asked));
        assert_eq!(found.is_empty(), is_right, "{text}: {found:?}");
    }
}

/// The hash is that of the content, however its lines are broken.
#[test]
fn a_hash_goes_with_its_content() {
    for (photo, expected) in [
        (json!({ "data": "AA\nAA", "hash": "KeLc+7FvY7sCVN91haFbtvtekn0=" }), &[][..]),
        (
            json!({ "data": "AAAA", "hash": "FIn5I8TcpykXiz4yM0WFUNjd3yk=" }),
            &["rule-attachment-hash Patient.photo[0]"],
        ),
        (json!({ "hash": "FIn5I8TcpykXiz4yM0WFUNjd3yk=" }), &[]),
    ] {
        let resource = patient(json!({ "photo": [photo] }));
        let found = errors(&found(&set(Vec::new()), &resource, None, Mode::Authority));
        assert_eq!(found, *expected, "{resource}");
    }
}
