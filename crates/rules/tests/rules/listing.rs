//! The codes of a value set, for people who choose one.

use rules::{ListedCode, RuleSet};
use serde_json::{Value, json};

use super::teaching::{set, value_set};

const MOST: usize = 5;

fn code_system(name: &str, content: &str, concepts: &[(&str, &str)]) -> Value {
    let concepts: Vec<Value> = concepts
        .iter()
        .map(|(code, display)| json!({ "code": code, "display": display }))
        .collect();
    json!({
        "resourceType": "CodeSystem", "url": format!("http://rules.test/{name}"),
        "version": "1.0.0", "content": content, "concept": concepts
    })
}

fn members(name: &str, compose: Value) -> Value {
    json!({
        "resourceType": "ValueSet", "url": value_set(name), "version": "1.0.0", "compose": compose
    })
}

fn listed(set: &RuleSet, name: &str) -> Option<Vec<(String, String)>> {
    let codes = set.codes_of_value_set(&value_set(name), MOST)?;
    Some(codes.into_iter().map(|ListedCode { display, code, .. }| (code, display)).collect())
}

fn some(codes: &[(&str, &str)]) -> Option<Vec<(String, String)>> {
    Some(codes.iter().map(|(code, display)| ((*code).to_owned(), (*display).to_owned())).collect())
}

/// By their names, each as the value set calls it, else as its code system does; without what is
/// taken out again; and nothing where there are too many, or not all of them are known.
#[test]
fn the_codes_of_a_value_set_are_listed_where_they_are_few_and_all_known() {
    let places = "http://rules.test/places";
    let many: Vec<(String, String)> =
        (0..9).map(|n| (format!("c{n}"), format!("Code {n}"))).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(code, name)| (&**code, &**name)).collect();
    let set = set(vec![
        code_system("places", "complete", &[("ZH", "Zurich"), ("BE", "Bern"), ("GE", "Geneva")]),
        code_system("many", "complete", &many),
        code_system("part", "fragment", &[("a", "A")]),
        members("all", json!({ "include": [{ "system": places }] })),
        members(
            "named",
            json!({ "include": [{ "system": places, "concept": [
                { "code": "ZH", "display": "Canton of Zurich" }, { "code": "BE" }
            ] }] }),
        ),
        members(
            "without",
            json!({
                "include": [{ "system": places }],
                "exclude": [{ "system": places, "concept": [{ "code": "GE" }] }]
            }),
        ),
        members("several", json!({ "include": [{ "valueSet": [value_set("without")] }] })),
        members("many", json!({ "include": [{ "system": "http://rules.test/many" }] })),
        members("part", json!({ "include": [{ "system": "http://rules.test/part" }] })),
        members("elsewhere", json!({ "include": [{ "system": "http://elsewhere.test/all" }] })),
    ]);
    let two = [("BE", "Bern"), ("ZH", "Zurich")];
    assert_eq!(listed(&set, "all"), some(&[("BE", "Bern"), ("GE", "Geneva"), ("ZH", "Zurich")]));
    assert_eq!(listed(&set, "named"), some(&[("BE", "Bern"), ("ZH", "Canton of Zurich")]));
    assert_eq!(listed(&set, "without"), some(&two));
    assert_eq!(listed(&set, "several"), some(&two));
    for unlisted in ["many", "part", "elsewhere", "unknown"] {
        assert_eq!(listed(&set, unlisted), None, "{unlisted}");
    }
    let of = |name: &str| set.codes_of_system(&format!("http://rules.test/{name}"), MOST);
    assert_eq!(of("places").map(|codes| codes.len()), Some(3));
    assert_eq!((of("many"), of("part"), of("unknown")), (None, None, None));
}
