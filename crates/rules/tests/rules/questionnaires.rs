//! Questionnaires, responses to them, code systems and value sets as documents.

use rules::Mode;
use serde_json::{Value, json};

use crate::teaching::{errors, found, set};

const URL: &str = "http://rules.test/Questionnaire/symptoms";

fn questionnaire() -> Value {
    json!({ "resourceType": "Questionnaire", "url": URL, "status": "active", "item": [
        { "linkId": "ill", "text": "Ill?", "type": "boolean", "required": true },
        { "linkId": "since", "type": "date", "required": true,
          "enableWhen": [{ "question": "ill", "operator": "=", "answerBoolean": true }] },
        { "linkId": "more", "type": "group", "item": [
            { "linkId": "where", "type": "choice", "repeats": true, "answerOption": [
                { "valueCoding": { "system": "http://a.test", "code": "head" } },
                { "valueCoding": { "system": "http://a.test", "code": "foot" } }
            ] },
            { "linkId": "other", "type": "open-choice",
              "answerOption": [{ "valueString": "tired" }] }
        ] }
    ] })
}

fn answer(link: &str, value: Value) -> Value {
    json!({ "linkId": link, "answer": [value] })
}

fn response(status: &str, items: Vec<Value>) -> Value {
    json!({ "resourceType": "QuestionnaireResponse", "status": status, "questionnaire": URL,
        "item": items })
}

/// What is found in a response; `@` stands for the response itself.
fn check(status: &str, items: Vec<Value>, expected: &[&str]) {
    let rules = set(vec![questionnaire()]);
    let response = response(status, items);
    let found = errors(&found(&rules, &response, None, Mode::Authority));
    let expected: Vec<String> =
        expected.iter().map(|of| of.replace('@', "QuestionnaireResponse")).collect();
    assert_eq!(found, expected, "{response}");
}

#[test]
fn answers_are_those_that_are_asked_for() {
    let ill = |value: bool| answer("ill", json!({ "valueBoolean": value }));
    let since = || answer("since", json!({ "valueDate": "2026-11-01" }));
    let place = |code: &str| json!({ "valueCoding": { "system": "http://a.test", "code": code } });
    let more = |items: Vec<Value>| json!({ "linkId": "more", "item": items });
    check("completed", vec![ill(true), since()], &[]);
    check("completed", vec![ill(false)], &[]);
    check("completed", vec![ill(true)], &["rule-answer-missing @"]);
    check("in-progress", vec![ill(true)], &[]);
    check("completed", vec![ill(false), since()], &["rule-answer-not-enabled @.item[1]"]);
    check("completed", vec![since(), ill(true)], &["rule-answer-order @.item[1]"]);
    check(
        "completed",
        vec![ill(false), answer("weight", json!({ "valueInteger": 1 }))],
        &["rule-answer-item-unknown @.item[1]"],
    );
    check(
        "completed",
        vec![answer("ill", json!({ "valueString": "yes" }))],
        &["rule-answer-type @.item[0].answer[0].valueString"],
    );
    check(
        "completed",
        vec![json!({ "linkId": "ill", "text": "Sick?", "answer": [{ "valueBoolean": false }] })],
        &["rule-answer-text @.item[0]"],
    );
    let twice = json!({ "linkId": "ill", "answer": [{ "valueBoolean": false }, { "valueBoolean": false }] });
    check("completed", vec![twice], &["rule-answer-repeats @.item[0].answer[1]"]);
    let both = json!({ "linkId": "where", "answer": [place("head"), place("foot")] });
    let free = answer("other", json!({ "valueString": "dizzy" }));
    check("completed", vec![ill(false), more(vec![both, free])], &[]);
    check(
        "completed",
        vec![ill(false), more(vec![answer("where", place("nose"))])],
        &["rule-answer-option @.item[1].item[0].answer[0].valueCoding"],
    );
    check(
        "completed",
        vec![ill(false), answer("where", place("head"))],
        &["rule-answer-place @.item[1]"],
    );
    check(
        "completed",
        vec![ill(false), json!({ "linkId": "more", "answer": [{ "valueString": "x" }] })],
        &["rule-answer-group @.item[1].answer[0]"],
    );
}

#[test]
fn conditions_ask_other_questions() {
    for (question, is_right) in [("b", true), ("a", false), ("inner", false), ("none", false)] {
        let condition =
            json!({ "question": question, "operator": "exists", "answerBoolean": true });
        let questionnaire = json!({ "resourceType": "Questionnaire", "status": "draft", "item": [
            { "linkId": "b", "type": "string" },
            { "linkId": "a", "type": "group", "enableWhen": [condition],
              "item": [{ "linkId": "inner", "type": "string" }] }
        ] });
        let found = errors(&found(&set(Vec::new()), &questionnaire, None, Mode::Authority));
        assert_eq!(found.is_empty(), is_right, "{question}: {found:?}");
    }
}

#[test]
fn code_systems_and_value_sets_go_with_themselves() {
    let system = |more: Value| {
        let mut of = json!({ "resourceType": "CodeSystem", "url": "http://a.test/c",
            "status": "draft", "content": "complete" });
        of.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        of
    };
    let set_of = |system: &str| {
        json!({ "resourceType": "ValueSet", "status": "draft",
            "compose": { "include": [{ "system": system }] } })
    };
    let nested = json!([{ "code": "a", "concept": [{ "code": "b" }] }]);
    for (resource, expected) in [
        (system(json!({ "count": 2, "concept": nested })), &[][..]),
        (system(json!({ "count": 3, "concept": nested })), &["rule-code-system-count"]),
        (system(json!({ "content": "supplement" })), &["rule-code-system-supplement"]),
        (system(json!({ "content": "supplement", "supplements": "http://a.test/d" })), &[]),
        (system(json!({ "supplements": "http://a.test/d" })), &["rule-code-system-supplement"]),
        (
            system(json!({ "content": "not-present", "concept": nested })),
            &["rule-code-system-not-present"],
        ),
        (system(json!({ "url": "c" })), &["rule-system-not-absolute"]),
        (set_of("http://a.test/c"), &[]),
        (set_of("http://a.test/c|2"), &["rule-value-set-version"]),
    ] {
        let found = errors(&found(&set(Vec::new()), &resource, None, Mode::Authority));
        let codes: Vec<&str> = found.iter().filter_map(|of| of.split(' ').next()).collect();
        assert_eq!(codes, *expected, "{resource}");
    }
}
