//! Elements whose content is described at another element.

use rules::Mode;
use serde_json::{Value, json};

use crate::teaching::{BASE, element, errors, found, profile, set};

/// A profile of one element, and resources with what must be found in each.
fn cases(of: &str, elements: &[Value], cases: &[(Value, &[&str])]) {
    let set = set(vec![profile("case", of, elements)]);
    for (resource, expected) in cases {
        let found = found(&set, resource, Some("case"), Mode::Authority);
        assert_eq!(errors(&found), *expected, "{resource}");
    }
}

/// The snapshots of HL7's publisher name the definition whose element describes the content, which
/// is that of FHIR and not the profile.
#[test]
fn what_a_profile_says_of_an_element_is_not_said_of_its_content_elsewhere() {
    let short = |path: &str| element(path, "", "", json!({ "maxLength": 2 }));
    let questionnaire = |outer: &str, inner: &str| {
        json!({ "resourceType": "Questionnaire", "status": "draft", "item": [{
            "linkId": outer, "item": [{ "linkId": inner }] }] })
    };
    let too_long = |item: &str| format!("rule-too-long Questionnaire.item[0]{item}.linkId");
    let (outer, inner) = (too_long(""), too_long(".item[0]"));
    let of_outer = [short("Questionnaire.item.linkId")];
    let of_inner = [short("Questionnaire.item.item.linkId")];
    cases(
        "Questionnaire",
        &of_outer,
        &[(questionnaire("12", "123"), &[]), (questionnaire("123", "1"), &[&outer])],
    );
    cases(
        "Questionnaire",
        &of_inner,
        &[(questionnaire("123", "12"), &[]), (questionnaire("1", "123"), &[&inner])],
    );
    // A snapshot that names no other definition means itself.
    let mut own = profile("case", "Questionnaire", &[]);
    own["snapshot"] = json!({ "element": [
        element("Questionnaire", "0..*", "", json!({})),
        element("Questionnaire.item", "0..*", "BackboneElement", json!({})),
        element("Questionnaire.item.linkId", "1..1", "string", json!({ "maxLength": 2 })),
        element("Questionnaire.item.item", "0..*", "",
            json!({ "contentReference": "#Questionnaire.item" })),
    ] });
    let base = format!("{BASE}Questionnaire#Questionnaire.item");
    let mut other = own.clone();
    other["snapshot"]["element"][3]["contentReference"] = json!(base);
    for (definition, expected) in [(own, &[&*inner][..]), (other, &[])] {
        let set = set(vec![definition]);
        let found = found(&set, &questionnaire("1", "123"), Some("case"), Mode::Authority);
        assert_eq!(errors(&found), expected);
    }
}

#[test]
fn content_references_are_followed() {
    let set = set(Vec::new());
    let inner = json!({ "linkId": "2", "item": [{ "text": "no linkId" }] });
    let resource = json!({ "resourceType": "Questionnaire", "status": "draft",
        "item": [{ "linkId": "1", "item": [inner] }] });
    assert_eq!(
        errors(&found(&set, &resource, None, Mode::Authority)),
        ["rule-missing Questionnaire.item[0].item[0].item[0]"]
    );
}
