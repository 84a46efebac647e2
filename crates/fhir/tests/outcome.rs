//! What authorities say, in the forms that they say it in.

#![allow(clippy::unwrap_used, reason = "a test says what is wrong by ending")]

use fhir::{Format, Limits, Severity, Tree, issues_of};

fn issues(json: &str) -> Vec<fhir::Issue> {
    let text = format!("{{\"resourceType\":\"OperationOutcome\",\"issue\":{json}}}");
    let tree = Tree::read(text.as_bytes(), Format::Json, &Limits::default()).unwrap();
    issues_of(tree.root())
}

#[test]
fn a_rule_is_found_wherever_it_sits() {
    let issues = issues(
        r#"[
        {"severity":"error","code":"processing","details":{"coding":[{"system":"http://example.org/rules","code":"FOPH-013","display":"Initials only"}]}},
        {"severity":"warning","code":"duplicate","details":{"text":" FOPH-020: older than 360 days "},"diagnostics":"x"},
        {"severity":"fatal","code":"invariant","diagnostics":"Constraint failed: ch-elm-1: 'a title is needed'","expression":["Bundle.entry[0]"],"location":["Line[12] Col[3]"]},
        {"severity":"information","code":"informational","details":{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/operation-outcome","code":"MSG_X"}]},
         "extension":[{"url":"http://hl7.org/fhir/StructureDefinition/operationoutcome-issue-line","valueInteger":7},{"url":"http://hl7.org/fhir/StructureDefinition/operationoutcome-issue-col","valueInteger":9}],
         "location":["Bundle.type"]},
        {}]"#,
    );
    let rules: Vec<_> = issues.iter().map(|issue| issue.rule.as_deref()).collect();
    assert_eq!(rules, [Some("FOPH-013"), Some("FOPH-020"), Some("ch-elm-1"), None, None]);
    let texts: Vec<_> = issues.iter().map(|issue| issue.text.as_str()).collect();
    let failed = "Constraint failed: ch-elm-1: 'a title is needed'";
    assert_eq!(texts, ["Initials only", "FOPH-020: older than 360 days", failed, "", ""]);
    assert_eq!(issues[1].severity, Severity::Warning);
    assert_eq!(issues[2].severity, Severity::Error);
    assert_eq!(issues[2].expression.as_deref(), Some("Bundle.entry[0]"));
    assert_eq!((issues[2].line, issues[2].column), (Some(12), Some(3)));
    assert_eq!((issues[3].line, issues[3].column), (Some(7), Some(9)));
    assert_eq!(issues[3].expression.as_deref(), Some("Bundle.type"));
    assert_eq!(issues[4].severity, Severity::Error);
}

#[test]
fn paths_of_other_programs_are_understood() {
    let text = br#"{"resourceType":"Bundle","entry":[{},{"resource":{"resourceType":"Observation","valueQuantity":{"unit":"g"},"note":[{"text":"a"},{"text":"b"}]}}]}"#;
    let tree = Tree::read(text, Format::Json, &Limits::default()).unwrap();
    let found = |path: &str| tree.find(path).map(|element| element.expression());
    let unit = Some("Bundle.entry[1].resource.valueQuantity.unit".to_owned());
    assert_eq!(
        found("Bundle.entry[1].resource/*Observation/null*/.value.ofType(Quantity).unit"),
        unit
    );
    assert_eq!(found("entry[1].resource.valueQuantity.unit"), unit);
    assert_eq!(found("DocumentReference.entry[1].resource.value.unit.missing"), unit);
    assert_eq!(
        found("/f:Bundle/f:entry[2]/f:resource/f:Observation/f:valueQuantity/f:unit/@value"),
        unit
    );
    let note = Some("Bundle.entry[1].resource.note[1].text".to_owned());
    assert_eq!(found("Bundle.entry[1].resource.note[1].text"), note);
    assert_eq!(found("Bundle.entry[9].x"), Some("Bundle".to_owned()));
    assert_eq!(found(""), None);
}
