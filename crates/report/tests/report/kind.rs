use fhir::Format;
use report::{Kind, recognise};

fn code(bytes: &[u8]) -> &'static str {
    recognise(bytes).code()
}

#[test]
fn reports() {
    let json = Kind::FhirDocument(Format::Json);
    assert_eq!(recognise(br#"{"resourceType":"Bundle","type":"document"}"#), json);
    assert_eq!(
        recognise(b"\xEF\xBB\xBF\n {\"type\":\"document\",\"resourceType\":\"Bundle\"}"),
        json
    );
    let meant = br#"{"resourceType":"Bundle","type":"collection","entry":[{"fullUrl":"a:b",
        "resource":{"id":"1","resourceType":"Composition"}}]}"#;
    assert_eq!(recognise(meant), json);
    let xml = Kind::FhirDocument(Format::Xml);
    assert_eq!(recognise(b"<Bundle xmlns=\"http://hl7.org/fhir\"><type value='document'/>"), xml);
    let prefixed = b"<?xml version='1.0'?><!-- > --><f:Bundle xmlns:f='http://hl7.org/fhir'/>";
    assert_eq!(recognise(prefixed), xml);
    assert_eq!(xml.is_report(), Some(Format::Xml));
}

#[test]
fn resource_type_last() {
    let text = br#"{"entry":[{"resource":{"resourceType":"Composition"}}],"type":"document",
        "note":"a \" { [ in text","resourceType":"Bundle"}"#;
    assert_eq!(recognise(text), Kind::FhirDocument(Format::Json));
}

#[test]
fn envelopes() {
    let json = br#"{"resourceType":"DocumentReference","contained":[{"resourceType":"Patient"},
        {"id":"d","resourceType":"Bundle"}]}"#;
    assert_eq!(recognise(json), Kind::FhirEnvelope(Format::Json));
    let xml = b"<DocumentReference xmlns='http://hl7.org/fhir'><id value='1'/><contained><Bundle>";
    assert_eq!(recognise(xml), Kind::FhirEnvelope(Format::Xml));
}

#[test]
fn other_resources() {
    let other = |format, name: &str| Kind::FhirOther { format, resource_type: name.to_owned() };
    assert_eq!(recognise(br#"{"resourceType":"Patient"}"#), other(Format::Json, "Patient"));
    let search = br#"{"resourceType":"Bundle","type":"searchset","entry":[]}"#;
    assert_eq!(recognise(search), other(Format::Json, "Bundle"));
    let bare = br#"{"resourceType":"DocumentReference","status":"current"}"#;
    assert_eq!(recognise(bare), other(Format::Json, "DocumentReference"));
    let xml = b"<Observation xmlns='http://hl7.org/fhir'/>";
    assert_eq!(recognise(xml), other(Format::Xml, "Observation"));
    assert_eq!(code(b"<Order xmlns='urn:shop'/>"), "other-xml");
    assert_eq!(code(br#"{"a":{"resourceType":"Bundle"}}"#), "other-json");
    assert_eq!(code(b"[1]"), "other-json");
}

#[test]
fn ndjson() {
    assert_eq!(
        code(b"{\"resourceType\":\"Bundle\"}\r\n\n{\"resourceType\":\"Bundle\"}\n"),
        "ndjson"
    );
    assert_eq!(code(b"{\"resourceType\":\"Bundle\"}\n"), "fhir-document");
    assert_eq!(code(b"{\n\"resourceType\":\"Bundle\",\"entry\":[{}\n,{}]}"), "fhir-document");
}

#[test]
fn everything_else_has_its_name() {
    assert_eq!(code(b""), "empty");
    assert_eq!(code(b" \r\n\t"), "empty");
    assert_eq!(code(b"%PDF-1.7\n"), "pdf");
    assert_eq!(code(b"PK\x03\x04\x14\0\0\0report.json"), "zip");
    assert_eq!(code(b"PK\x05\x06\0\0"), "zip");
    assert_eq!(code(b"PK\x03\x04\x14\0[Content_Types].xml"), "office");
    assert_eq!(code(b"{\\rtf1"), "rtf");
    assert_eq!(code(b"MSH|^~\\&|LAB|"), "hl7v2");
    assert_eq!(code(b"id;name\n1;x\n"), "csv");
    assert_eq!(code(b"one sentence, two words\n"), "text");
    assert_eq!(code("Grüezi".as_bytes()), "text");
    assert_eq!(code(b"\xFF\xFE{\0"), "utf16");
    assert_eq!(code(b"{\0\"\0"), "utf16");
    assert_eq!(code(b"\x89PNG\r\n\x1A\n"), "image");
    assert_eq!(code(b"BM6\0\0\0"), "image");
    assert_eq!(code(b"BMI of the patient"), "text");
    assert_eq!(code(b"\x1F\x8B\x08"), "archive");
    assert_eq!(code(b"<!DOCTYPE html><html>"), "html");
    assert_eq!(code(b"<!doctype HTML>\n<p>"), "html");
    assert_eq!(code(b"<HTML><BODY>"), "html");
    let xhtml = b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'>";
    assert_eq!(code(xhtml), "html");
    assert_eq!(code(b"<ClinicalDocument xmlns='urn:hl7-org:v3'>"), "cda");
    assert_eq!(code(b"-----BEGIN CERTIFICATE-----"), "certificate");
    assert_eq!(code(b"\x30\x82\x0A\x00\x02\x01\x03\x30"), "certificate");
    assert_eq!(code(b"\x7FELF\x02\x01\x01\0"), "binary");
}

/// A signature counts where it stands in full.
#[test]
fn pictures_and_keys_are_told_by_all_of_their_signature() {
    let after =
        |count: usize, signature: &[u8]| [b"\x01".repeat(count), signature.to_vec()].concat();
    assert_eq!(code(b"RIFF\x10\0\0\0WEBPVP8 "), "image");
    assert_eq!(code(b"RIFF\x10\0\0\0WAVEfmt "), "binary");
    assert_eq!(code(&after(8, b"WEBP")), "binary");
    assert_eq!(code(&after(4, b"ftypheic")), "image");
    assert_eq!(code(&after(128, b"DICM")), "image");
    assert_eq!(code(&after(257, b"ustar")), "archive");
    for head in [&b"\x02\x01"[..], b"\x30\x82", b"\x30\x81"] {
        assert_eq!(code(&[b"\x30\x82\x0A\x00", head].concat()), "certificate");
    }
    assert_eq!(code(b"\x30\x82\x0A\x00\x31\x82\x01"), "binary");
}

#[test]
fn text_in_an_old_encoding_is_text_and_mostly_strange_bytes_are_none() {
    assert_eq!(code(b"Gr\xFCezi aus Z\xFCrich"), "text");
    assert_eq!(code(b"\xFC\xE4\xF6 ab"), "binary");
    // A third of it is the limit; in UTF-8 all of it may be beyond ASCII.
    assert_eq!(code(b"\xFC\xE4abcd"), "text");
    assert_eq!(code(b"\xFC\xE4abc"), "binary");
    assert_eq!(code("Ελληνικά".as_bytes()), "text");
}

#[test]
fn lines_without_a_separator_are_no_table() {
    assert_eq!(code(b"first line\nsecond line\n"), "text");
    assert_eq!(code(b"first line\nsecond; line\n"), "text");
    assert_eq!(code(b"a;b\n\n\"x;y\";z\n"), "csv");
    assert_eq!(code(b"a;b;c"), "csv");
    assert_eq!(code(b"a;b"), "text");
}

#[test]
fn hostile_shapes_end() {
    let deep = [b"{\"a\":".repeat(300_000), b"[".repeat(300_000)].concat();
    assert_eq!(code(&deep), "other-json");
    assert_eq!(code(&b"<a>".repeat(300_000)), "other-xml");
    assert_eq!(code(b"{\"resourceType\":\"Bundle"), "other-json");
    assert_eq!(code(b"<"), "other-xml");
    assert_eq!(code(b"<!--"), "other-xml");
    assert_eq!(
        code(b"<!DOCTYPE Bundle [<!ENTITY a \"b>\">]><Bundle xmlns='http://hl7.org/fhir'>"),
        "fhir-document"
    );
}

#[test]
fn codes_are_listed_once() {
    let unique: std::collections::BTreeSet<_> = Kind::CODES.into_iter().collect();
    assert_eq!(unique.len(), Kind::CODES.len());
}
