//! Questionnaires and responses to them as documents.

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

/// A question that is required where its conditions hold, and what is found in a response.
fn asked(question: Value, items: Value) -> Vec<String> {
    let mut asked = json!({ "linkId": "more", "type": "string", "required": true });
    asked.as_object_mut().unwrap().extend(question.as_object().unwrap().clone());
    let questionnaire = json!({ "resourceType": "Questionnaire", "url": URL, "status": "active",
        "item": [
            { "linkId": "a", "type": "boolean" },
            { "linkId": "b", "type": "choice" },
            asked
        ] });
    let response = response("completed", items.as_array().unwrap().clone());
    errors(&found(&set(vec![questionnaire]), &response, None, Mode::Authority))
}

#[test]
fn conditions_hold_as_their_questionnaire_says() {
    let missing = ["rule-answer-missing QuestionnaireResponse"];
    let is = |question: &str, answer: Value| {
        let mut of = json!({ "question": question, "operator": "=" });
        of.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
        of
    };
    let yes = is("a", json!({ "answerBoolean": true }));
    let no = is("a", json!({ "answerBoolean": false }));
    let given = json!([answer("a", json!({ "valueBoolean": true }))]);
    let with = |conditions: Value, behavior: Option<&str>| {
        let mut of = json!({ "enableWhen": conditions });
        if let Some(behavior) = behavior {
            of["enableBehavior"] = json!(behavior);
        }
        asked(of, given.clone())
    };
    assert_eq!(with(json!([yes]), None), missing);
    assert_eq!(with(json!([no]), None), [""; 0]);
    assert_eq!(with(json!([yes, no]), Some("any")), missing);
    assert_eq!(with(json!([yes, no]), Some("all")), [""; 0]);
    // Of several, HL7's validator asks none where nobody says which must hold.
    assert_eq!(with(json!([yes, no]), None), missing);
    // A code without a code system is that code of any.
    let coded =
        json!([answer("b", json!({ "valueCoding": { "system": "http://a.test", "code": "x" } }))]);
    for (coding, is_met) in [
        (json!({ "code": "x" }), true),
        (json!({ "system": "http://a.test", "code": "x" }), true),
        (json!({ "system": "http://b.test", "code": "x" }), false),
        (json!({ "code": "y" }), false),
    ] {
        let conditions = json!({ "enableWhen": [is("b", json!({ "answerCoding": coding }))] });
        assert_eq!(asked(conditions, coded.clone()).len(), usize::from(is_met), "{coding}");
    }
}

#[test]
fn an_expression_says_whether_a_question_is_asked() {
    let sdc =
        "http://hl7.org/fhir/uv/sdc/StructureDefinition/sdc-questionnaire-enableWhenExpression";
    let kanta = "http://phr.kanta.fi/StructureDefinition/fiphr-ext-questionnaire-enablewhen";
    let given = |more: Vec<Value>| {
        let mut items = vec![answer("a", json!({ "valueBoolean": true }))];
        items.extend(more);
        json!(items)
    };
    let path = |answer: bool| {
        format!("%resource.item.where(linkId = 'a').answer.value.where($this = {answer}).exists()")
    };
    let more = || vec![answer("more", json!({ "valueString": "x" }))];
    for (expression, is_asked) in [
        (path(true), Some(true)),
        (path(false), Some(false)),
        // Nothing is no; what cannot be evaluated is not known.
        ("{}".to_owned(), Some(false)),
        ("item.where(".to_owned(), None),
        ("resolve('Patient/1')".to_owned(), None),
    ] {
        let of_sdc = json!({ "extension": [{ "url": sdc,
            "valueExpression": { "language": "text/fhirpath", "expression": expression } }] });
        let of_kanta = json!({ "extension": [{ "url": kanta, "valueString": expression }] });
        for of in [of_sdc, of_kanta] {
            let missing = usize::from(is_asked == Some(true));
            assert_eq!(asked(of.clone(), given(Vec::new())).len(), missing, "{of}");
            let unasked = usize::from(is_asked == Some(false));
            assert_eq!(asked(of.clone(), given(more())).len(), unasked, "{of}");
        }
    }
    let foreign = json!({ "extension": [{ "url": sdc,
        "valueExpression": { "language": "text/cql", "expression": "false" } }] });
    assert_eq!(asked(foreign, given(more())), [""; 0]);
}

#[test]
fn a_condition_asks_in_its_own_repetition_of_a_group() {
    let questionnaire = json!({ "resourceType": "Questionnaire", "url": URL, "status": "active",
        "item": [{ "linkId": "child", "type": "group", "repeats": true, "item": [
            { "linkId": "ill", "type": "boolean" },
            { "linkId": "since", "type": "string", "required": true,
              "enableWhen": [{ "question": "ill", "operator": "=", "answerBoolean": true }] }
        ] }] });
    let child = |ill: bool, since: Option<&str>| {
        let mut items = vec![answer("ill", json!({ "valueBoolean": ill }))];
        items.extend(since.map(|of| answer("since", json!({ "valueString": of }))));
        json!({ "linkId": "child", "item": items })
    };
    for (items, expected) in [
        (vec![child(true, Some("May")), child(false, None)], None),
        (vec![child(true, None), child(false, None)], Some("rule-answer-missing @.item[0]")),
        (
            vec![child(true, Some("May")), child(false, Some("May"))],
            Some("rule-answer-not-enabled @.item[1].item[1]"),
        ),
    ] {
        let response = response("completed", items);
        let rules = set(vec![questionnaire.clone()]);
        let found = errors(&found(&rules, &response, None, Mode::Authority));
        let expected: Vec<String> =
            expected.iter().map(|of| of.replace('@', "QuestionnaireResponse")).collect();
        assert_eq!(found, expected, "{response}");
    }
}

#[test]
fn options_may_be_contained_in_the_questionnaire() {
    let options = json!({ "resourceType": "ValueSet", "id": "o", "status": "active",
        "compose": { "include": [{ "system": "http://a.test", "concept": [{ "code": "x" }] }] } });
    let questionnaire = json!({ "resourceType": "Questionnaire", "url": URL, "status": "active",
        "contained": [options],
        "item": [{ "linkId": "b", "type": "choice", "answerValueSet": "#o" }] });
    for (code, expected) in [("x", 0), ("y", 1)] {
        let coding = json!({ "valueCoding": { "system": "http://a.test", "code": code } });
        let response = response("completed", vec![answer("b", coding)]);
        let rules = set(vec![questionnaire.clone()]);
        let found = errors(&found(&rules, &response, None, Mode::Authority));
        assert_eq!(found.len(), expected, "{code}: {found:?}");
    }
}

/// A response with this answer to a question that has this besides, and what is found in it.
fn answered(question: Value, value: Value) -> Vec<String> {
    let mut asked = json!({ "linkId": "q" });
    asked.as_object_mut().unwrap().extend(question.as_object().unwrap().clone());
    let questionnaire = json!({ "resourceType": "Questionnaire", "url": URL, "status": "active",
        "item": [asked] });
    let response = response("completed", vec![answer("q", value)]);
    let found = errors(&found(&set(vec![questionnaire]), &response, None, Mode::Authority));
    found.iter().map(|of| of.split(' ').next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn an_answer_keeps_the_limits_of_its_question() {
    let core = |name: &str, value: Value| {
        let mut of = json!({ "url": format!("http://hl7.org/fhir/StructureDefinition/{name}") });
        of.as_object_mut().unwrap().extend(value.as_object().unwrap().clone());
        json!([of])
    };
    let of = |kind: &str, name: &str, value: Value| {
        let extension = core(name, value);
        json!({ "type": kind, "extension": extension })
    };
    let text = |text: &str| json!({ "valueString": text });
    let long = json!({ "type": "string", "maxLength": 3 });
    let short = of("string", "minLength", json!({ "valueInteger": 2 }));
    let form = of("string", "regex", json!({ "valueString": "[0-9]+" }));
    let least = of("integer", "minValue", json!({ "valueInteger": 5 }));
    let most = of("decimal", "maxValue", json!({ "valueDecimal": 5.5 }));
    let digits = of("decimal", "maxDecimalPlaces", json!({ "valueInteger": 1 }));
    let since = of("date", "minValue", json!({ "valueDate": "2020-05-01" }));
    let moment =
        of("dateTime", "maxValue", json!({ "valueDateTime": "2020-05-01T12:00:00+02:00" }));
    let unit = json!({ "system": "http://unitsofmeasure.org", "code": "mg" });
    let unit = of("quantity", "questionnaire-unitOption", json!({ "valueCoding": unit }));
    let in_unit = |code: &str| {
        json!({ "valueQuantity":
            { "value": 1, "system": "http://unitsofmeasure.org", "code": code } })
    };
    let image = of("attachment", "mimeType", json!({ "valueCode": "image/" }));
    let attached = |kind: &str| json!({ "valueAttachment": { "contentType": kind } });
    for (question, value, expected) in [
        (&long, text("abc"), None),
        (&long, text("abcd"), Some("rule-too-long")),
        (&short, text("a"), Some("rule-too-short")),
        (&form, text("12"), None),
        (&form, text("12a"), Some("rule-text-pattern")),
        (&least, json!({ "valueInteger": 5 }), None),
        (&least, json!({ "valueInteger": 4 }), Some("rule-too-small")),
        (&most, json!({ "valueDecimal": 5.50 }), None),
        (&most, json!({ "valueDecimal": 10 }), Some("rule-too-great")),
        (&digits, json!({ "valueDecimal": 1.5 }), None),
        (&digits, json!({ "valueDecimal": 1.25 }), Some("rule-too-many-decimals")),
        (&since, json!({ "valueDate": "2020-05" }), None),
        (&since, json!({ "valueDate": "2020-04-30" }), Some("rule-too-small")),
        (&moment, json!({ "valueDateTime": "2020-05-01T10:00:00Z" }), None),
        (&moment, json!({ "valueDateTime": "2020-05-01T10:00:01Z" }), Some("rule-too-great")),
        (&unit, in_unit("mg"), None),
        (&unit, in_unit("g"), Some("rule-answer-option")),
        (&image, attached("image/png"), None),
        (&image, attached("text/plain"), Some("rule-answer-type")),
    ] {
        let expected: Vec<&str> = expected.into_iter().collect();
        assert_eq!(answered(question.clone(), value.clone()), expected, "{question} {value}");
    }
}

#[test]
fn options_bind_answers_of_every_plain_type() {
    let number = json!({ "type": "integer",
        "answerOption": [{ "valueInteger": 1 }, { "valueInteger": 2 }] });
    let day = json!({ "type": "dateTime", "answerOption": [{ "valueDate": "2020-05-01" }] });
    for (question, value, is_right) in [
        (&number, json!({ "valueInteger": 2 }), true),
        (&number, json!({ "valueInteger": 3 }), false),
        (&day, json!({ "valueDateTime": "2020-05-01" }), true),
        (&day, json!({ "valueDateTime": "2020-05-02" }), false),
    ] {
        let expected = if is_right { &[][..] } else { &["rule-answer-option"] };
        assert_eq!(answered(question.clone(), value.clone()), expected, "{question} {value}");
    }
    let url = "http://hl7.org/fhir/StructureDefinition/questionnaire-optionExclusive";
    let questionnaire = json!({ "resourceType": "Questionnaire", "url": URL, "status": "active",
        "item": [{ "linkId": "q", "type": "choice", "repeats": true, "answerOption": [
            { "valueString": "a" }, { "valueString": "b" },
            { "extension": [{ "url": url, "valueBoolean": true }], "valueString": "none" }
        ] }] });
    for (given, is_right) in [(&["a", "b"][..], true), (&["none"], true), (&["none", "a"], false)] {
        let given: Vec<Value> = given.iter().map(|of| json!({ "valueString": of })).collect();
        let response = response("completed", vec![json!({ "linkId": "q", "answer": given })]);
        let rules = set(vec![questionnaire.clone()]);
        let found = errors(&found(&rules, &response, None, Mode::Authority));
        assert_eq!(found.is_empty(), is_right, "{found:?}");
    }
}

/// An item may stand there without an answer; what is said of it holds all the same.
#[test]
fn an_item_without_an_answer_is_looked_at() {
    let questionnaire = json!({ "resourceType": "Questionnaire", "url": URL, "status": "active",
        "item": [
            { "linkId": "hint", "text": "Read this.", "type": "display" },
            { "linkId": "more", "type": "group", "required": true,
              "item": [{ "linkId": "ill", "type": "boolean" }] },
            { "linkId": "since", "type": "date",
              "enableWhen": [{ "question": "ill", "operator": "=", "answerBoolean": true }] }
        ] });
    let hint = |text: &str| json!({ "linkId": "hint", "text": text });
    let ill = answer("ill", json!({ "valueBoolean": false }));
    let more = || json!({ "linkId": "more", "item": [ill] });
    let empty = |link: &str| json!({ "linkId": link });
    for (status, items, expected) in [
        ("completed", vec![hint("Read this."), more(), empty("since")], &[][..]),
        ("completed", vec![hint("Read that."), more()], &["rule-answer-text @.item[0]"]),
        (
            "completed",
            vec![answer("hint", json!({ "valueString": "x" })), more()],
            &["rule-answer-group @.item[0].answer[0]"],
        ),
        ("completed", vec![empty("more")], &["rule-answer-missing @.item[0]"]),
        ("amended", vec![], &["rule-answer-missing @"]),
        // Only what is finished must be complete.
        ("in-progress", vec![], &[]),
        ("stopped", vec![], &[]),
        ("entered-in-error", vec![], &[]),
        (
            "completed",
            vec![more(), empty("since"), empty("since")],
            &["rule-answer-repeats @.item[2]"],
        ),
    ] {
        let mut response = response(status, items);
        if response["item"] == json!([]) {
            response.as_object_mut().unwrap().remove("item");
        }
        let rules = set(vec![questionnaire.clone()]);
        let found = errors(&found(&rules, &response, None, Mode::Authority));
        let expected: Vec<String> =
            expected.iter().map(|of| of.replace('@', "QuestionnaireResponse")).collect();
        assert_eq!(found, expected, "{response}");
    }
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
