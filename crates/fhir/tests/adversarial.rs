//! Documents of our own that are harder than what is published: twins that must be equal and clean,
//! and broken ones with all that the base check has to say of them.

#![allow(clippy::unwrap_used, reason = "a test says what is wrong by ending")]

use std::path::Path;

use fhir::{Format, Limits, Tree};

fn data(path: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(path)).unwrap()
}

fn read(bytes: &[u8], format: Format) -> Tree {
    Tree::read(bytes, format, &Limits::default()).unwrap_or_else(|finding| panic!("{finding:?}"))
}

/// `code expression line:column` of each finding.
fn said(tree: &Tree) -> Vec<String> {
    let line = |finding: &fhir::Finding| {
        let place =
            finding.position.map_or_else(String::new, |at| format!("{}:{}", at.line, at.column));
        format!("{} {} {place}", finding.code, finding.expression)
    };
    tree.check().iter().map(line).collect()
}

/// `_x` is a list where `x` is one, whichever stands first; with the value beside it as alone.
#[test]
fn what_stands_beside_a_value_has_its_form() {
    let patient = |members: &str| {
        let text = format!(r#"{{"resourceType":"Patient",{members}}}"#);
        said(&read(text.as_bytes(), Format::Json))
            .into_iter()
            .map(|told| told.rsplit_once(' ').unwrap().0.to_owned())
            .collect::<Vec<_>>()
    };
    for right in [
        r#""gender":"male","_gender":{"id":"x"}"#,
        r#""_gender":{"id":"x"},"gender":"male""#,
        r#""name":[{"given":["A","B"],"_given":[null,{"id":"x"}]}]"#,
        r#""name":[{"_given":[{"id":"x"},null],"given":["A","B"]}]"#,
    ] {
        assert_eq!(patient(right), [""; 0], "{right}");
    }
    for wrong in
        [r#""gender":"male","_gender":[{"id":"x"}]"#, r#""_gender":[{"id":"x"}],"gender":"male""#]
    {
        assert_eq!(patient(wrong), ["array-not-allowed Patient.gender"], "{wrong}");
    }
    for wrong in [
        r#""name":[{"given":["A"],"_given":{"id":"x"}}]"#,
        r#""name":[{"_given":{"id":"x"},"given":["A"]}]"#,
    ] {
        assert_eq!(patient(wrong), ["array-expected Patient.name[0].given"], "{wrong}");
    }
}

#[test]
fn twins_are_equal_and_clean() {
    for name in ["padding", "narrative"] {
        let json = read(&data(&format!("good/{name}.json")), Format::Json);
        let xml = read(&data(&format!("good/{name}.xml")), Format::Xml);
        assert_eq!(said(&json), Vec::<String>::new(), "{name}");
        assert_eq!(said(&xml), Vec::<String>::new(), "{name}");
        let (from_json, from_xml) = (json.to_xml(), xml.to_json());
        let there = read(from_json.as_bytes(), Format::Xml);
        let back = read(from_xml.as_bytes(), Format::Json);
        assert!(json.root().same_as(there.root()), "{name}: {from_json}");
        assert!(xml.root().same_as(back.root()), "{name}: {from_xml}");
        assert_eq!(said(&there), Vec::<String>::new(), "{name}: {from_json}");
        assert_eq!(said(&back), Vec::<String>::new(), "{name}: {from_xml}");
        assert!(json.root().same_as(xml.root()), "{name}");
    }
}

#[test]
fn narrative_and_decimals_keep_their_bytes() {
    let xml = read(&data("good/narrative.xml"), Format::Xml);
    let div = xml.find("Bundle.entry[0].resource.text.div").unwrap();
    assert!(
        div.value()
            .unwrap()
            .contains("\r\n  <p title='a>b \"c\"'>x &lt; y &amp;&#160;z</p><!-- kept -->")
    );
    assert_eq!(div.value().unwrap().as_bytes(), div.source());
    assert!(xml.to_xml().contains(div.value().unwrap()));
    let json = read(xml.to_json().as_bytes(), Format::Json);
    assert_eq!(json.find("entry[0].resource.text.div").unwrap().value(), div.value());
    for number in ["1.0", "-0.00", "1e400", "1E+2"] {
        assert!(xml.to_json().contains(&format!("\"value\":{number}")), "{number}");
    }
    // A prefix declared outside of the narrative comes along.
    let contained = xml.find("entry[0].resource.contained[0].text.div").unwrap().value().unwrap();
    assert!(contained.starts_with("<h:div xmlns:h=\"http://www.w3.org/1999/xhtml\">"));
}

/// FHIR advises against them, and HL7's validator warns.
#[test]
fn a_control_character_in_a_text_is_a_warning() {
    let told = |member: &str| {
        let text = format!(r#"{{"resourceType":"Observation","status":"final",{member}}}"#);
        let found = read(text.as_bytes(), Format::Json).check();
        let told: Vec<_> = found.into_iter().map(|of| (of.code, of.severity)).collect();
        told.into_iter().filter(|(code, _)| code != "missing-element").collect::<Vec<_>>()
    };
    let warning = [("control-character".to_owned(), fhir::Severity::Warning)];
    let error = [("invalid-value".to_owned(), fhir::Severity::Error)];
    for text in ["a\\u0000b", "\\u0001", "a\\u000bb", "a\\u000c", "\\uffff", "a\\ufffeb"] {
        assert_eq!(told(&format!("\"valueString\":\"{text}\"")), warning, "{text}");
    }
    for text in ["a\\tb", "a\\r\\nb", " ", "\\u00a0", "\\u007f", "\\u2028"] {
        assert_eq!(told(&format!("\"valueString\":\"{text}\"")), [], "{text}");
    }
    for (code, expected) in [
        ("a\\u0001b", &warning[..]),
        ("a b", &[]),
        ("a\\u00a0b", &[]),
        ("a  b", &error),
        ("a\\tb", &error),
        ("a\\u2003b", &error),
        ("a\\u001fb", &error),
        ("a\\u0001", &error),
        ("\\u0001a", &error),
    ] {
        let member = format!(r#""method":{{"coding":[{{"code":"{code}"}}]}}"#);
        assert_eq!(told(&member), expected, "{code}");
    }
    for (uri, expected) in [("urn:a\\u0001", &warning[..]), ("urn:a\\tb", &error)] {
        assert_eq!(told(&format!(r#""implicitRules":"{uri}""#)), expected, "{uri}");
    }
}

/// What FHIR says of XML beside its elements.
#[test]
fn nothing_stands_beside_elements_and_comments_in_xml() {
    let told = |before: &str, inside: &str, behind: &str| {
        let text = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>{before}<Patient \
             xmlns=\"http://hl7.org/fhir\" xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\" \
             {inside}</Patient>{behind}"
        );
        said(&read(text.as_bytes(), Format::Xml))
    };
    let gender = "<gender value=\"male\"/>";
    let style = "<?xml-stylesheet href=\"a.xsl\"?>";
    assert_eq!(told("<!-- a -->", &format!("><!-- c -->{gender}"), "<!-- b -->"), [""; 0]);
    let instruction = |place: &str| [format!("processing-instruction Patient {place}")];
    assert_eq!(told("", &format!(">{style}{gender}"), ""), instruction("1:129"));
    let inside = told("", "><gender value=\"male\"><?b?></gender>", "");
    assert_eq!(inside, ["processing-instruction Patient.gender 1:150"]);
    assert_eq!(told(style, &format!(">{gender}"), ""), instruction("1:39"));
    assert_eq!(told("", &format!(">{gender}"), "<?b?>"), instruction("1:161"));
    // A declaration stands first, or it is an instruction.
    let first = |before: &str| {
        let text = format!(
            "{before}<?xml version=\"1.0\"?><Patient \
             xmlns=\"http://hl7.org/fhir\">{gender}</Patient>"
        );
        said(&read(text.as_bytes(), Format::Xml))
    };
    assert_eq!(first(""), [""; 0]);
    assert_eq!(first("\u{FEFF}"), [""; 0]);
    assert_eq!(first("\n"), instruction("2:1"));
    assert_eq!(first("<!-- a -->"), instruction("1:11"));
    let located = "i:schemaLocation=\"http://hl7.org/fhir fhir-all.xsd\">";
    assert_eq!(told("", &format!("{located}{gender}"), ""), [""; 0]);
    for other in ["i:type=\"a\"", "xml:lang=\"de\"", "xmlns:o=\"urn:o\" o:schemaLocation=\"a\""] {
        let found = told("", &format!("{other}>{gender}"), "");
        assert!(found[0].starts_with("unknown-attribute Patient "), "{other}: {found:?}");
        let found = told("", &format!("><gender value=\"male\" {other}/>"), "");
        assert!(found[0].starts_with("unknown-attribute Patient.gender "), "{other}: {found:?}");
    }
}

/// What XML writes as an attribute may be there twice, as an element or as a key of JSON.
#[test]
fn a_second_attribute_of_a_name_is_kept_as_an_element() {
    let xml = "<Patient xmlns=\"http://hl7.org/fhir\"><extension><url value=\"a\"/>\
               <url value=\"b\"/></extension></Patient>";
    let json = r#"{"resourceType":"Patient","extension":[{"url":"a","url":"b"}]}"#;
    for (text, format) in [(xml, Format::Xml), (json, Format::Json)] {
        let tree = read(text.as_bytes(), format);
        let written = tree.to_xml();
        let again = read(written.as_bytes(), Format::Xml);
        assert!(tree.root().same_as(again.root()), "{written}");
        assert_eq!(again.to_xml(), written);
    }
}

#[test]
fn both_faces_of_a_primitive_are_one_element() {
    let tree = read(&data("good/padding.json"), Format::Json);
    let given: Vec<_> = tree.find("Patient.name[0]").unwrap().all("given").collect();
    assert_eq!(
        given.iter().map(|given| given.value()).collect::<Vec<_>>(),
        [Some("Renée 😀"), None, Some("C")]
    );
    assert_eq!(given[1].expression(), "Patient.name[0].given[1]");
    assert_eq!(given[2].text("id"), Some("third"));
    assert_eq!(tree.find("name.given[1].extension.value").unwrap().value(), Some("true"));
    let gender = tree.root().child("gender").unwrap();
    assert_eq!((gender.value(), gender.source()), (Some("other"), &b"\"other\""[..]));
    assert_eq!(tree.root().resource_type(), Some("Patient"));
    assert_eq!(tree.root().name(), "Patient");
    assert_eq!(tree.root().child("multipleBirthInteger").unwrap().type_name(), "integer");
}

#[test]
fn every_departure_is_found_in_json() {
    let tree = read(&data("bad/json.json"), Format::Json);
    assert_eq!(said(&tree), EXPECTED_JSON);
    reread(&tree);
}

#[test]
fn every_departure_is_found_in_xml() {
    let tree = read(&data("bad/xml.xml"), Format::Xml);
    assert_eq!(said(&tree), EXPECTED_XML);
    reread(&tree);
}

/// Whatever is wrong, what is written can be read, and writing it again gives the same.
fn reread(tree: &Tree) {
    for format in [Format::Json, Format::Xml] {
        let text = tree.write(format);
        let again = read(text.as_bytes(), format);
        assert_eq!(again.write(format), text);
    }
}

#[test]
fn codes_are_listed_with_their_parameters() {
    for file in ["bad/json.json", "bad/xml.xml"] {
        let tree = read(&data(file), Format::sniff(&data(file)).unwrap());
        for finding in tree.check() {
            let listed = fhir::codes::CODES.iter().find(|(code, _)| *code == finding.code);
            let names: Vec<_> = finding.params.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(listed.map(|(_, names)| *names), Some(&names[..]), "{}", finding.code);
        }
    }
}

/// No code is said without being listed, or listed without being said.
#[test]
fn the_list_of_codes_is_what_the_source_says() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut text = String::new();
    for file in ["arena", "check", "encoding", "json", "json/scan", "tree", "xml", "xml/tags"] {
        text += &std::fs::read_to_string(source.join(file).with_extension("rs")).unwrap();
    }
    let codes = fhir::codes::CODES.iter().map(|(code, _)| code);
    for word in codes.chain(fhir::codes::XML_REASONS) {
        assert!(text.contains(&format!("\"{word}\"")), "{word} is never said");
    }
    // A word in kebab-case that stands alone in quotes is a code or a reason.
    for word in text.split('"').skip(1).step_by(2).filter(|word| word.contains('-')) {
        let is_kebab = word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        let listed = fhir::codes::CODES.iter().any(|(code, _)| *code == word);
        let other = ["utf-8", "us-ascii"].contains(&word);
        assert!(
            !is_kebab || listed || other || fhir::codes::XML_REASONS.contains(&word),
            "{word} is not listed"
        );
    }
}

const EXPECTED_JSON: &[&str] = &[
    "wrong-json-type Patient.active 3:13",
    "code-not-allowed Patient.gender[0] 4:13",
    "duplicate-key Patient.gender 5:3",
    "too-many Patient.gender[1] 5:13",
    "invalid-value Patient.birthDate 6:16",
    "array-expected Patient.name[0] 7:11",
    "empty-value Patient.name[0].family 7:23",
    "empty-array Patient.telecom 8:14",
    "array-not-allowed Patient.maritalStatus 9:21",
    "two-choices Patient.deceasedDateTime 11:23",
    "choice-type-not-allowed Patient.multipleBirthString 12:26",
    "unknown-element Patient.nickname 13:15",
    "unknown-element Patient._name[0] 14:13",
    "unknown-element Patient._active 15:14",
    "empty-element Patient.contact[0] 16:15",
    "null-not-allowed Patient.contact[1] 16:19",
    "wrong-json-type Patient.contact[2] 16:25",
    "null-not-allowed Patient.address[0].line[1] 17:31",
    "invalid-value Patient.photo[0].size 18:23",
    "invalid-value Patient.photo[0].data 18:36",
    "null-not-allowed Patient.managingOrganization 19:27",
    "resource-type-missing Patient.contained[0] 20:17",
    "unknown-resource-type Patient.contained[1] 20:32",
    "wrong-json-type Patient.contained[2] 20:69",
    "narrative-not-xhtml Patient.text.div 21:43",
    "missing-element Patient.communication[0] 22:21",
    "wrong-json-type Patient.communication[0].preferred 22:36",
    "duplicate-key Patient.resourceType 23:3",
];
const EXPECTED_XML: &[&str] = &[
    "unknown-attribute Patient 1:38",
    "invalid-value Patient.active 2:3",
    "wrong-order Patient.id 3:3",
    "invalid-value Patient.id 3:3",
    "wrong-order Patient.text 4:3",
    "code-not-allowed Patient.text.status 4:9",
    "wrong-namespace Patient.text.div 4:31",
    "unexpected-text Patient 4:61",
    "empty-element Patient.name[0].given[0] 6:9",
    "wrong-order Patient.name[0].family 6:17",
    "empty-value Patient.name[0].family 6:17",
    "empty-element Patient.gender[0] 7:3",
    "too-many Patient.gender[1] 8:3",
    "unknown-attribute Patient.gender[1] 8:24",
    "two-choices Patient.deceasedDateTime 10:3",
    "wrong-namespace Patient.other 11:3",
    "value-not-allowed Patient.contact[0] 12:3",
    "wrong-order Patient.extension[0] 13:3",
    "attribute-expected Patient.extension[0].url 13:14",
    "wrong-order Patient.contained[0] 14:14",
    "wrong-order Patient.contained[1] 14:24",
    "two-resources Patient.contained[0] 14:24",
    "wrong-order Patient.contained[2] 15:3",
    "resource-type-missing Patient.contained[2] 15:3",
    "unknown-element Patient.nickname 16:3",
];
