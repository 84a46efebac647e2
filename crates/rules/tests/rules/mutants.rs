//! Mutants of published reports: each kind of mistake, made at places all over a document, must be
//! found.

use serde_json::{Value, json};

use crate::published::{DOCUMENT, errors, found_in, shared};

/// What a mistake puts in place of a value; `Null` takes it away.
type Mistake = (&'static str, fn(&Spot<'_>) -> Option<Value>);

/// A value of a document.
struct Spot<'d> {
    document: &'d Value,
    /// Where it stands, as a JSON pointer.
    at: String,
    /// Name of the member that it is, or in whose list it stands.
    name: &'d str,
    value: &'d Value,
}

impl Spot<'_> {
    fn is(&self, names: &[&str]) -> bool {
        names.contains(&self.name)
    }

    /// Type of the resource around it, and the path in that, lists left out.
    fn place(&self) -> (&str, String) {
        let parts: Vec<&str> = self.at.split('/').skip(1).collect();
        let ["entry", entry, "resource", rest @ ..] = &parts[..] else {
            return ("Bundle", parts.join("."));
        };
        let kind = &self.document["entry"][entry.parse::<usize>().unwrap()]["resource"];
        let named = rest.iter().filter(|part| part.parse::<usize>().is_err());
        (
            kind["resourceType"].as_str().unwrap_or_default(),
            named.copied().collect::<Vec<_>>().join("."),
        )
    }
}

/// What every report of these types must have.
const OWED: &[(&str, &[&str])] = &[
    ("Bundle", &["identifier", "type", "timestamp", "identifier.system", "identifier.value"]),
    (
        "Composition",
        &[
            "identifier",
            "status",
            "type",
            "subject",
            "date",
            "author",
            "title",
            "section",
            "section.code",
        ],
    ),
    ("Patient", &["name", "gender", "birthDate", "address"]),
    ("Observation", &["status", "category", "code", "subject", "specimen", "interpretation"]),
    ("Specimen", &["type", "subject"]),
    ("ServiceRequest", &["identifier", "status", "intent", "code", "subject", "requester"]),
    ("DiagnosticReport", &["status", "code", "subject", "result"]),
];

/// Each kind of mistake, and where it can be made.
const MISTAKES: &[Mistake] = &[
    ("a required element is gone", |of| {
        let (kind, path) = of.place();
        let owed = OWED.iter().any(|(of, all)| *of == kind && all.contains(&&*path));
        (owed && !of.value.is_null() && !of.at.ends_with(char::is_numeric)).then_some(Value::Null)
    }),
    ("a code that nobody knows", |of| {
        of.is(&["status", "gender", "intent", "use"]).then(|| json!("no-such-code"))
    }),
    ("a code system that is not absolute", |of| {
        let system = of.value.as_str().filter(|_| of.is(&["system"]))?;
        system.strip_prefix("http").map(|rest| json!(format!("x{rest}")))
    }),
    ("a date that there is not", |of| {
        let names = ["birthDate", "effectiveDateTime", "date", "timestamp", "collectedDateTime"];
        of.is(&names).then(|| json!("2026-02-30"))
    }),
    ("a reference to nothing", |of| {
        let (kind, path) = of.place();
        let is_owed = kind == "Composition" && path.ends_with("reference");
        is_owed.then(|| json!("urn:uuid:00000000-0000-4000-8000-000000000000"))
    }),
    ("a reference to the wrong kind", |of| {
        let (kind, path) = of.place();
        let is_target = kind != "Composition" && path.ends_with("subject.reference");
        is_target.then(|| of.document["entry"][0]["fullUrl"].clone())
    }),
    ("an object with nothing in it", |of| {
        (of.value.is_object() && of.is(&["code", "subject", "type", "specimen"])).then(|| json!({}))
    }),
    ("a list where one is allowed", |of| {
        of.is(&["status", "gender", "birthDate"]).then(|| json!([of.value, of.value]))
    }),
    ("an element that there is not", |of| {
        let mut more = of.value.as_object().filter(|_| !of.at.is_empty())?.clone();
        more.insert("colour".to_owned(), json!("red"));
        Some(Value::Object(more))
    }),
    ("a value of another type", |of| {
        let is_text = of.value.is_string() && of.is(&["birthDate", "family", "code", "display"]);
        is_text.then(|| json!(7))
    }),
    ("an empty text", |of| {
        let is_text = of.value.is_string() && of.is(&["value", "family", "code", "reference"]);
        is_text.then(|| json!(""))
    }),
    ("a modifier that nobody knows", |of| {
        let mut more = of.value.as_object().filter(|_| of.name == "resource")?.clone();
        let unknown = json!([{ "url": "http://nobody.test/e", "valueBoolean": true }]);
        more.insert("modifierExtension".to_owned(), unknown);
        Some(Value::Object(more))
    }),
    ("another kind of resource", |of| {
        (of.name == "resourceType" && of.at.len() > 20).then(|| json!("Basic"))
    }),
    ("an address that two entries share", |of| {
        let is_first = of.at == "/entry/0/fullUrl";
        (of.name == "fullUrl" && !is_first).then(|| of.document["entry"][0]["fullUrl"].clone())
    }),
];

fn spots<'d>(
    document: &'d Value,
    value: &'d Value,
    at: &str,
    name: &'d str,
    all: &mut Vec<Spot<'d>>,
) {
    all.push(Spot { document, at: at.to_owned(), name, value });
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                spots(document, value, &format!("{at}/{name}"), name, all);
            }
        }
        Value::Array(items) => {
            for (place, value) in items.iter().enumerate() {
                spots(document, value, &format!("{at}/{place}"), name, all);
            }
        }
        _ => {}
    }
}

fn mutant(document: &Value, at: &str, instead: Value) -> Value {
    let mut mutant = document.clone();
    match (at.rsplit_once('/'), instead) {
        (Some((owner, name)), Value::Null) => {
            mutant.pointer_mut(owner).unwrap().as_object_mut().unwrap().remove(name);
        }
        (_, instead) => *mutant.pointer_mut(at).unwrap() = instead,
    }
    mutant
}

/// How many mutants of each kind are made of each report; the environment asks for more.
fn places() -> usize {
    std::env::var("MUTANTS").ok().and_then(|count| count.parse().ok()).unwrap_or(2)
}

#[published::needs("packages")]
#[test]
fn mistakes_in_reports_are_found() {
    let (mut count, mut missed) = (0, Vec::new());
    for file in ["Bundle-11Doc-Malaria.json", "Bundle-61Doc-Tb-Susceptibility.json"] {
        let bytes = std::fs::read(shared().join("corpus/documents-1.14").join(file)).unwrap();
        let document: Value = serde_json::from_slice(&bytes).unwrap();
        let mut all = Vec::new();
        spots(&document, &document, "", "", &mut all);
        for (kind, mistake) in MISTAKES {
            let made: Vec<(&Spot<'_>, Value)> =
                all.iter().filter_map(|of| Some((of, mistake(of)?))).collect();
            assert!(!made.is_empty(), "{kind}: nowhere in {file}");
            let step = made.len().div_ceil(places());
            for (spot, instead) in made.into_iter().step_by(step) {
                let mutant = mutant(&document, &spot.at, instead).to_string();
                count += 1;
                if errors(&found_in(mutant.as_bytes(), DOCUMENT)).is_empty() {
                    missed.push(format!("{kind}: {file}{}", spot.at));
                }
            }
        }
    }
    assert!(count >= 40, "{count}");
    assert!(missed.len() * 20 <= count, "{} of {count}: {missed:#?}", missed.len());
    println!("{count} mutants, {} not found: {missed:#?}", missed.len());
}
