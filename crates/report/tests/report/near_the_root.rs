//! What counts near the root, and what must not: names at another level, repeated, or cut off.

use fhir::Format;
use report::{Kind, recognise};

const JSON: Kind = Kind::FhirDocument(Format::Json);
const XML: Kind = Kind::FhirDocument(Format::Xml);

fn other(format: Format, name: &str) -> Kind {
    Kind::FhirOther { format, resource_type: name.to_owned() }
}

fn xml(inner: &str) -> Kind {
    recognise(format!("<Bundle xmlns='http://hl7.org/fhir'>{inner}</Bundle>").as_bytes())
}

#[test]
fn what_is_said_first_counts() {
    let twice =
        recognise(br#"{"resourceType":"Bundle","resourceType":"Patient","type":"history"}"#);
    assert_eq!(twice, other(Format::Json, "Bundle"));
    assert_eq!(recognise(br#"{"type":"document","type":"history","resourceType":"Bundle"}"#), JSON);
    assert_eq!(xml("<type value='document'/><type value='history'/>"), XML);
    // Only the attribute of that very name.
    assert_eq!(xml("<type xvalue='history' value='document'/>"), XML);
    assert_eq!(
        xml("<type value='history'/><type value='document'/>"),
        other(Format::Xml, "Bundle")
    );
}

#[test]
fn only_the_first_entrys_resource_tells_what_a_bundle_is_meant_as() {
    let json = |entry: &str| {
        let text = format!(r#"{{"resourceType":"Bundle","type":"collection","entry":[{entry}]}}"#);
        recognise(text.as_bytes())
    };
    let composition = r#"{"resource":{"resourceType":"Composition"}}"#;
    assert_eq!(json(composition), JSON);
    assert_eq!(
        json(&format!(r#"{{"fullUrl":"a:b"}},{composition}"#)),
        other(Format::Json, "Bundle")
    );
    let elsewhere = r#"{"response":{"resourceType":"Composition"}}"#;
    assert_eq!(json(elsewhere), other(Format::Json, "Bundle"));

    let composition = "<entry><resource><Composition/></resource></entry>";
    let collection = "<type value='collection'/>";
    assert_eq!(xml(&format!("{collection}{composition}")), XML);
    assert_eq!(
        xml(&format!("{collection}<total value='1'/><link><url value='x'/></link>{composition}")),
        XML
    );
    let none_first = format!("{collection}<entry><fullUrl value='a:b'/></entry>{composition}");
    assert_eq!(xml(&none_first), other(Format::Xml, "Bundle"));
    let elsewhere = format!("{collection}<entry><search><Composition/></search></entry>");
    assert_eq!(xml(&elsewhere), other(Format::Xml, "Bundle"));
    let outside = format!("{collection}<link><resource><Composition/></resource></link>");
    assert_eq!(xml(&outside), other(Format::Xml, "Bundle"));
}

#[test]
fn a_type_is_found_behind_other_elements() {
    let declared =
        b"<?xml version='1.0'?><Bundle xmlns='http://hl7.org/fhir'><type value='history'/>";
    assert_eq!(recognise(declared), other(Format::Xml, "Bundle"));
    assert_eq!(
        xml("<meta><profile value='p'/></meta><type value='history'/>"),
        other(Format::Xml, "Bundle")
    );
    assert_eq!(xml("<id></id><type value='history'/>"), other(Format::Xml, "Bundle"));
    assert_eq!(xml("<id value='document'/><type value='history'/>"), other(Format::Xml, "Bundle"));
}

#[test]
fn depth_does_not_matter_and_a_wrong_namespace_is_for_the_reader_to_say() {
    let deep = "<meta><extension><extension><extension><url>x</url></extension></extension></extension></meta>";
    assert_eq!(xml(&format!("{deep}<type value='history'/>")), other(Format::Xml, "Bundle"));
    assert_eq!(recognise(b"<Bundle xmlns='urn:shop'><type value='document'/></Bundle>"), XML);
    let bare =
        recognise(b"<DocumentReference><contained><Bundle/></contained></DocumentReference>");
    assert_eq!(bare, Kind::FhirEnvelope(Format::Xml));
    assert_eq!(recognise(b"<Patient xmlns='urn:shop'/>"), Kind::OtherXml);
}

#[test]
fn only_a_contained_bundle_makes_an_envelope() {
    let json = br#"{"resourceType":"DocumentReference","contained":[{"resourceType":"Patient"}]}"#;
    assert_eq!(recognise(json), other(Format::Json, "DocumentReference"));
    let text = |inner: &str| {
        let open = "<DocumentReference xmlns='http://hl7.org/fhir'>";
        recognise(format!("{open}{inner}</DocumentReference>").as_bytes())
    };
    let bare = other(Format::Xml, "DocumentReference");
    assert_eq!(text("<contained><Patient/></contained>"), bare);
    assert_eq!(text("<context><Bundle/></context>"), bare);
    assert_eq!(text("<contained><Bundle/></contained>"), Kind::FhirEnvelope(Format::Xml));
}

#[test]
fn a_text_cut_in_a_tag_is_known_by_its_root() {
    assert_eq!(recognise(b"<Bundle xmlns='http://hl7.org/fhir' id='"), XML);
    let cut = b"<Bundle xmlns='http://hl7.org/fhir'><type value='history'/><DocumentReference id='";
    assert_eq!(recognise(cut), other(Format::Xml, "Bundle"));
}

/// What looks like a tag where none can be.
#[test]
fn tags_in_comments_and_declarations_are_none() {
    let before = |text: &str| {
        let text = format!("<?xml version='1.0'?>{text}<Bundle xmlns='http://hl7.org/fhir'/>");
        recognise(text.as_bytes())
    };
    assert_eq!(before("<!--> <Order/> -->"), XML, "a comment does not end in its beginning");
    assert_eq!(before("<!DOCTYPE a [<!-- > <Order/> -->]>"), XML);
    assert_eq!(before("<Order/>"), Kind::OtherXml);
    let other_type = "<type value='history'/>";
    assert_eq!(
        xml(&format!("<![CDATA[{other_type}<]]><type value='document'/>")),
        XML,
        "the end of CDATA belongs to it"
    );
    assert_eq!(xml(&format!("<?note {other_type}?><type value='document'/>")), XML);
}
