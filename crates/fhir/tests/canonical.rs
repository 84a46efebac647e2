//! What counts for the canonical digest, and what does not, case by case.

#![allow(clippy::unwrap_used, reason = "a test says what is wrong by ending")]

use fhir::{Format, Limits, Tree};

fn read(text: &str) -> Tree {
    let format = Format::sniff(text.as_bytes()).unwrap();
    Tree::read(text.as_bytes(), format, &Limits::default()).unwrap()
}

fn digest(text: &str) -> String {
    let tree = read(text);
    tree.canonical_digest(&tree.check())
}

fn same(texts: &[&str]) {
    for text in &texts[1..] {
        assert_eq!(digest(text), digest(texts[0]), "{text}");
    }
}

fn different(texts: &[&str]) {
    let mut digests: Vec<String> = texts.iter().map(|text| digest(text)).collect();
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(digests.len(), texts.len(), "{texts:#?}");
}

#[test]
fn how_it_is_written_does_not_count() {
    same(&[
        r#"{"resourceType":"Patient","id":"a","active":true,"name":[{"family":"Ö","given":["A","B"]}]}"#,
        "\u{FEFF}{\n  \"name\": [ {\"given\": [\"A\", \"\\u0042\"], \"family\": \"\\u00d6\"} ],
            \"active\": true, \"id\": \"a\", \"resourceType\": \"Patient\" }\n",
        "<?xml version=\"1.0\"?>\n<Patient xmlns=\"http://hl7.org/fhir\"><id value=\"a\"/>
            <active value='true'/><!-- so --><name><family value=\"&#xD6;\"/><given value=\"A\"/>
            <given value=\"B\"></given></name></Patient>",
        "<f:Patient xmlns:f=\"http://hl7.org/fhir\"><f:id value=\"a\"/><f:active \
         value=\"true\"/><f:name>\
            <f:family value=\"Ö\"/><f:given value=\"A\"/><f:given \
            value=\"B\"/></f:name></f:Patient>",
    ]);
}

#[test]
fn what_it_says_counts() {
    let of = |members: &str| format!("{{\"resourceType\":\"Patient\",{members}}}");
    let texts: Vec<String> = [
        r#""name":[{"given":["A","B"]}]"#,
        r#""name":[{"given":["B","A"]}]"#,
        r#""name":[{"given":["A"]},{"given":["B"]}]"#,
        r#""name":[{"given":["AB"]}]"#,
        r#""name":[{"given":["A "]},{"given":["B"]}]"#,
        r#""name":[{"family":"A","given":["B"]}]"#,
        r#""name":[{"given":["A","B"],"_given":[{"id":"x"},null]}]"#,
        r#""name":[{"given":["A","B"],"_given":[null,{"id":"x"}]}]"#,
        r#""name":[{"given":["A",null],"_given":[null,{"id":"x"}]}]"#,
        r#""birthDate":"2024-01-01""#,
        r#""birthDate":"2024-01""#,
        r#""multipleBirthInteger":1"#,
        r#""deceasedBoolean":true"#,
        r#""deceasedBoolean":false"#,
        r#""extension":[{"url":"a","valueDecimal":1.0}]"#,
        r#""extension":[{"url":"a","valueDecimal":1.00}]"#,
        r#""extension":[{"url":"a","valueString":"1.0"}]"#,
        r#""contained":[{"resourceType":"Organization","name":"A"}]"#,
        r#""contained":[{"resourceType":"Location","name":"A"}]"#,
    ]
    .map(of)
    .to_vec();
    different(&texts.iter().map(String::as_str).collect::<Vec<_>>());
}

/// A report that is held for how it is written is not the corrected one.
#[test]
fn an_error_of_writing_counts() {
    different(&[
        r#"{"resourceType":"Patient","active":true,"multipleBirthInteger":1}"#,
        r#"{"resourceType":"Patient","active":true,"multipleBirthInteger":"1"}"#,
        r#"{"resourceType":"Patient","active":"true","multipleBirthInteger":1}"#,
        r#"{"resourceType":"Patient","active":[true],"multipleBirthInteger":1}"#,
        "<Patient xmlns=\"http://hl7.org/fhir\"><multipleBirthInteger value=\"1\"/><active \
         value=\"true\"/>\
         </Patient>",
    ]);
}

#[test]
fn a_narrative_counts_as_its_text() {
    let of = |div: &str| {
        let div = div.replace('"', "\\\"");
        format!(
            "{{\"resourceType\":\"Patient\",\"text\":{{\"status\":\"generated\",\"div\":\"{div}\"}}}}"
        )
    };
    let plain = "<div xmlns=\"http://www.w3.org/1999/xhtml\"><p id=\"a\" class=\"b\">Ada &amp; \
                 Bo</p></div>";
    let json = of(plain);
    let xml = format!(
        "<Patient xmlns=\"http://hl7.org/fhir\"><text><status \
         value=\"generated\"/>{plain}</text></Patient>"
    );
    let spaced = "<h:div xmlns:h=\"http://www.w3.org/1999/xhtml\">  <h:p class='b' id=\"a\">Ada \
                  <!-- x -->\
                  &#38; Bo </h:p> </h:div>";
    let prefixed = format!(
        "<Patient xmlns=\"http://hl7.org/fhir\"><text><status \
         value=\"generated\"/>{spaced}</text></Patient>"
    );
    same(&[&json, &xml, &of(&spaced.replace("<!-- x -->", "")), &prefixed]);
    let other = [
        plain.replace("Ada", "Eda"),
        plain.replace("<p ", "<b ").replace("</p>", "</b>"),
        plain.replace("class=\"b\"", "class=\"c\""),
        plain.replace("Ada", "&lt;i&gt;Ada"),
        plain.replace("Ada &amp; Bo", "<br/>Ada &amp; Bo"),
        plain.replace("Ada &amp; Bo", "Ada<br/> &amp; Bo"),
        "no markup".to_owned(),
    ];
    let mut texts = vec![json];
    texts.extend(other.iter().map(|div| of(div)));
    different(&texts.iter().map(String::as_str).collect::<Vec<_>>());
}

/// A report says the same bare and in an envelope, and what is wrong with the envelope counts.
#[test]
fn a_contained_resource_has_the_digest_that_it_has_alone() {
    let alone = |gender: &str| format!("{{\"resourceType\":\"Patient\",\"active\":true,{gender}}}");
    let around = |status: &str, gender: &str| {
        let contained = alone(gender);
        read(&format!(
            "{{\"resourceType\":\"DocumentReference\",\"contained\":[{contained}],{status}\
             \"content\":[{{\"attachment\":{{\"url\":\"#a\"}}}}]}}"
        ))
    };
    let inside = |tree: &Tree| {
        let contained = tree.root().all("contained").next().unwrap();
        tree.canonical_digest_of(contained, &tree.check())
    };
    let (sound, faulty) = ("\"gender\":\"male\"", "\"gender\":true");
    let current = "\"status\":\"current\",";
    for gender in [sound, faulty] {
        assert_eq!(inside(&around(current, gender)), digest(&alone(gender)), "{gender}");
    }
    assert_ne!(inside(&around(current, faulty)), inside(&around(current, sound)));
    let later = "\"status\":\"current\",\"date\":\"2026-01-01T00:00:00Z\",";
    assert_eq!(inside(&around(current, sound)), inside(&around(later, sound)));
    let broken = "\"status\":true,";
    assert_ne!(inside(&around(current, sound)), inside(&around(broken, sound)));
}

/// The digest stands in journals: it must not change with a release. Computed by hand from the
/// bytes that the documentation of `Tree::canonical_digest` describes.
#[test]
fn the_bytes_are_as_described() {
    let mut bytes = b"fhir-canonical-1".to_vec();
    let mut text = |tag: &[u8], text: &str| {
        bytes.extend_from_slice(tag);
        bytes.extend_from_slice(&(text.len() as u64).to_be_bytes());
        bytes.extend_from_slice(text.as_bytes());
    };
    text(b"E", "Patient");
    text(b"R", "Patient");
    text(b"E", "id");
    text(b"V", "a");
    text(b".E", "active");
    text(b"V", "1");
    text(b"..!", "invalid-value");
    text(b"@", "Patient.active");
    let expected: String = {
        use sha2::Digest as _;
        sha2::Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect()
    };
    let wrong =
        "<Patient xmlns=\"http://hl7.org/fhir\"><id value=\"a\"/><active value=\"1\"/></Patient>";
    assert_eq!(digest(wrong), expected);
}

#[test]
fn differences_are_named_by_their_places() {
    let before = read(
        r#"{"resourceType":"Patient","active":true,"name":[{"family":"A"},{"family":"B"},{"family":"C"}]}"#,
    );
    let after = read(
        "{\"resourceType\":\"Patient\",\n\"name\":[{\"family\":\"A\"},\n{\"family\":\"X\"},{\"family\":\"C\"}],
          \"gender\":\"female\"}",
    );
    let found = before.differences(&after, 10);
    let told: Vec<_> = found
        .iter()
        .map(|d| (d.expression.as_str(), d.line, d.before.as_deref(), d.after.as_deref()))
        .collect();
    assert_eq!(
        told,
        [
            ("Patient.name[1].family", 3, Some("B"), Some("X")),
            ("Patient.gender", 4, None, Some("female")),
            ("Patient.active", 1, Some("true"), None),
        ]
    );
    assert_eq!(before.differences(&after, 1).len(), 1);
    let longer =
        read(r#"{"resourceType":"Patient","active":true,"name":[{"family":"A"},{"family":"B"}]}"#);
    let gone = before.differences(&longer, 10);
    assert_eq!(gone.len(), 1);
    assert_eq!(gone[0].expression, "Patient.name[2]");
    assert!(!format!("{:?}", found).contains('X'), "values are not shown");
}

/// Two systems of one laboratory write a UUID in capital letters and in small ones.
#[test]
fn a_uuid_is_the_same_in_capital_letters() {
    let of = |uuid: &str| {
        format!(r#"{{"resourceType":"Bundle","identifier":{{"system":"s","value":"{uuid}"}}}}"#)
    };
    let small = "urn:uuid:0a1b2c3d-0000-4000-8000-00000000abcd";
    same(&[
        &of(small),
        &of(&small.to_uppercase()),
        &of("urn:uuid:0A1b2c3d-0000-4000-8000-00000000ABCD"),
    ]);
    // Anything else has its letters.
    for other in ["urn:oid:1.2.A", "0a1b2c3d-0000-4000-8000-00000000abcd", "urn:uuid:0a1b"] {
        assert_ne!(digest(&of(other)), digest(&of(&other.to_uppercase())), "{other}");
    }
}
