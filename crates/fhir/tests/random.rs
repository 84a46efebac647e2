//! Random documents: correct ones survive both encodings without a finding, wrong ones are read,
//! written and read again without loss in their own encoding, and bytes of any kind never end in a
//! panic.

#![allow(clippy::unwrap_used, reason = "a test says what is wrong by ending")]

use fhir::{Format, Limits, Tree};
use proptest::collection::vec;
use proptest::prelude::*;

/// JSON text in the making; numbers are kept as written.
#[derive(Debug, Clone)]
enum Json {
    Raw(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    fn write(&self, out: &mut String) {
        match self {
            Self::Raw(text) => out.push_str(text),
            Self::Text(text) => out.push_str(&serde_json::to_string(text).unwrap()),
            Self::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { ", " } else { "" });
                    item.write(out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (at, (key, value)) in members.iter().enumerate() {
                    out.push_str(if at > 0 { ",\n" } else { "" });
                    out.push_str(&serde_json::to_string(key).unwrap());
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }

    fn to_text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }
}

fn read(text: &str, format: Format) -> Tree {
    Tree::read(text.as_bytes(), format, &Limits::default())
        .unwrap_or_else(|finding| panic!("{finding:?}\n{text}"))
}

fn shuffled(members: Vec<Option<(&'static str, Json)>>) -> impl Strategy<Value = Json> {
    let members: Vec<_> =
        members.into_iter().flatten().map(|(key, value)| (key.to_owned(), value)).collect();
    Just(members).prop_shuffle().prop_map(Json::Object)
}

/// A string that FHIR and XML both allow.
fn words() -> impl Strategy<Value = Json> {
    "[ -~äöüß€😀\t\n\r\u{a0}\u{2028}]{0,12}[a-z<>&\"']".prop_map(Json::Text)
}

fn decimal() -> impl Strategy<Value = Json> {
    "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?".prop_map(Json::Raw)
}

fn id() -> impl Strategy<Value = Json> {
    "[A-Za-z0-9.-]{1,64}".prop_map(Json::Text)
}

fn maybe<T: std::fmt::Debug>(of: impl Strategy<Value = T>) -> impl Strategy<Value = Option<T>> {
    proptest::option::of(of)
}

fn extension() -> impl Strategy<Value = Json> {
    let value = prop_oneof![
        words().prop_map(|value| ("valueString", value)),
        decimal().prop_map(|value| ("valueDecimal", value)),
        any::<bool>().prop_map(|value| ("valueBoolean", Json::Raw(value.to_string()))),
        any::<i32>().prop_map(|value| ("valueInteger", Json::Raw(value.to_string()))),
    ];
    let url = || "[a-z:/]{1,9}".prop_map(Json::Text);
    let leaf = (maybe(id()), url(), value).prop_flat_map(|(id, url, value)| {
        shuffled(vec![id.map(|id| ("id", id)), Some(("url", url)), Some(value)])
    });
    leaf.prop_recursive(3, 8, 3, move |inner| {
        (vec(inner, 1..3), "[a-z:/]{1,9}".prop_map(Json::Text)).prop_flat_map(|(inner, url)| {
            shuffled(vec![Some(("extension", Json::List(inner))), Some(("url", url))])
        })
    })
}

fn face() -> impl Strategy<Value = Json> {
    (maybe(id()), vec(extension(), 1..3)).prop_map(|(id, extensions)| {
        let mut members = vec![("extension".to_owned(), Json::List(extensions))];
        members.extend(id.map(|id| ("id".to_owned(), id)));
        Json::Object(members)
    })
}

/// `x` and `_x`.
type Faces = (Option<Json>, Option<Json>);

/// `given` and `_given`: each item has one face, the other, or both.
fn given() -> impl Strategy<Value = Faces> {
    let item = prop_oneof![
        words().prop_map(|value| (Some(value), None)),
        face().prop_map(|face| (None, Some(face))),
        (words(), face()).prop_map(|(value, face)| (Some(value), Some(face))),
    ];
    vec(item, 1..5).prop_map(|items| {
        let column = |pick: fn(&Faces) -> Option<Json>| {
            let column: Vec<_> = items.iter().map(pick).collect();
            let any = column.iter().any(Option::is_some);
            let null = || Json::Raw("null".to_owned());
            any.then(|| {
                Json::List(column.into_iter().map(|item| item.unwrap_or_else(null)).collect())
            })
        };
        (column(|item| item.0.clone()), column(|item| item.1.clone()))
    })
}

fn patient() -> impl Strategy<Value = Json> {
    let name =
        (given(), maybe(words()), maybe(id())).prop_flat_map(|((given, face), family, id)| {
            shuffled(vec![
                given.map(|given| ("given", given)),
                face.map(|face| ("_given", face)),
                family.map(|family| ("family", family)),
                id.map(|id| ("id", id)),
            ])
        });
    let gender = maybe("male|female|other|unknown".prop_map(Json::Text));
    let born =
        maybe("(19|20)[0-9]{2}(-(0[1-9]|1[0-2])(-(0[1-9]|1[0-9]|2[0-8]))?)?".prop_map(Json::Text));
    let parts = (id(), vec(name, 1..3), gender, maybe(face()), born, vec(extension(), 1..3));
    parts.prop_flat_map(|(id, names, gender, gender_face, born, extensions)| {
        shuffled(vec![
            Some(("resourceType", Json::Text("Patient".to_owned()))),
            Some(("id", id)),
            Some(("name", Json::List(names))),
            gender.map(|gender| ("gender", gender)),
            gender_face.map(|face| ("_gender", face)),
            born.map(|born| ("birthDate", born)),
            Some(("extension", Json::List(extensions))),
        ])
    })
}

fn bundle() -> impl Strategy<Value = Json> {
    vec(patient(), 1..4).prop_flat_map(|patients| {
        let entry = |patient| Json::Object(vec![("resource".to_owned(), patient)]);
        shuffled(vec![
            Some(("entry", Json::List(patients.into_iter().map(entry).collect()))),
            Some(("type", Json::Text("collection".to_owned()))),
            Some(("resourceType", Json::Text("Bundle".to_owned()))),
        ])
    })
}

/// Anything, often under names that FHIR knows.
fn anything() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        any::<String>().prop_map(Json::Text),
        decimal(),
        "null|true|false|\\[\\]|\\{\\}".prop_map(Json::Raw),
    ];
    let key = "_?(name|given|gender|active|extension|url|id|value|valueString|contained|text|div|resourceType|[a-zé _]{0,3})";
    leaf.prop_recursive(5, 40, 4, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Json::List),
            vec((key, inner), 0..5).prop_map(Json::Object),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn correct_documents_survive(bundle in bundle()) {
        let json = read(&bundle.to_text(), Format::Json);
        prop_assert_eq!(json.check(), vec![]);
        let xml = read(&json.to_xml(), Format::Xml);
        prop_assert_eq!(xml.check(), vec![]);
        prop_assert!(json.root().same_as(xml.root()));
        let back = read(&xml.to_json(), Format::Json);
        prop_assert!(json.root().same_as(back.root()));
        prop_assert_eq!(back.to_xml(), xml.to_xml());
        let digest = |tree: &Tree| tree.canonical_digest(&tree.check());
        let spaced = read(&xml.to_xml().replace("><", ">\n \t<!-- x --><"), Format::Xml);
        for other in [&xml, &back, &spaced] {
            prop_assert_eq!(digest(other), digest(&json));
            prop_assert_eq!(json.differences(other, 10), vec![]);
        }
        let mut open = vec![json.root()];
        while let Some(element) = open.pop() {
            let expression = element.expression();
            prop_assert_eq!(json.find(&expression).map(|found| found.expression()), Some(expression.clone()));
            let other = xml.find(&expression).unwrap();
            prop_assert_eq!((other.expression(), other.value()), (expression, element.value()));
            open.extend(element.children());
        }
    }

    /// Whatever one character of a value becomes, and whatever element is taken away: it shows.
    #[test]
    fn every_change_of_a_document_shows(bundle in bundle(), pick in any::<prop::sample::Index>()) {
        let json = read(&bundle.to_text(), Format::Json);
        let mut open = vec![json.root()];
        let mut values = Vec::new();
        while let Some(element) = open.pop() {
            values.extend(element.value().filter(|value| value.len() > 1).map(|_| element));
            open.extend(element.children());
        }
        let changed = values[pick.index(values.len())];
        let place = changed.position();
        let source = json.source();
        let quoted = source[place.start] == b'"';
        let new = if quoted { "\"changed-now\"" } else if changed.name() == "valueBoolean" {
            if changed.value() == Some("true") { "false" } else { "true" }
        } else { "987654321" };
        let text = [&source[..place.start], new.as_bytes(), &source[place.end..]].concat();
        let other = Tree::read(&text, Format::Json, &Limits::default()).unwrap();
        let digest = |tree: &Tree| tree.canonical_digest(&[]);
        prop_assert_ne!(digest(&other), digest(&json));
        let found = json.differences(&other, 10);
        prop_assert_eq!(found.len(), 1);
        prop_assert_eq!(&found[0].expression, &changed.expression());
        let before = changed.value().map(|value| value.chars().take(200).collect());
        prop_assert_eq!(&found[0].before, &before);
    }

    #[test]
    fn wrong_documents_are_kept(members in vec(("_?(name|gender|contained|[a-zé _]{0,3})", anything()), 0..5)) {
        let mut members = members;
        members.push(("resourceType".to_owned(), Json::Text("Patient".to_owned())));
        let text = Json::Object(members).to_text();
        let tree = Tree::read(text.as_bytes(), Format::Json, &Limits::default());
        // Two equal keys with another type of resource may come first.
        if let Ok(tree) = tree {
            drop(tree.check());
            let again = read(&tree.to_json(), Format::Json);
            prop_assert_eq!(again.to_json(), tree.to_json());
            let xml = read(&tree.to_xml(), Format::Xml);
            drop(xml.check());
            drop(xml.to_json());
        }
    }

    #[test]
    fn bytes_never_panic(bytes in vec(any::<u8>(), 0..200), text in "[<>/{}\\[\\]\"'&;:=,a-c\\\\u0-9 ]{0,80}") {
        for format in [Format::Json, Format::Xml] {
            for prefix in ["", "{\"resourceType\":\"Patient\",", "<Patient xmlns=\"http://hl7.org/fhir\">"] {
                let _ = Tree::read(&bytes, format, &Limits::default());
                if let Ok(tree) = Tree::read(format!("{prefix}{text}").as_bytes(), format, &Limits::default()) {
                    drop(tree.check());
                }
            }
        }
    }
}
