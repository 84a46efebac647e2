//! The results of a report as a laboratory prints them: test, result, what it means.

use fhir::Element;
use report::Links;
use report::diseases::of_subject;

use crate::outcomes::outcome_of;
use crate::views::ResultView;
use crate::words::{Words, words};

/// Results at most: a hostile document may have any number.
const RESULTS_MAX: usize = 1_000;

/// FHIR's code system of reasons why a value is absent.
const ABSENT_REASONS: &str = "http://terminology.hl7.org/CodeSystem/data-absent-reason";

/// Every observation, its parts below it, in the order of the document.
pub(crate) fn results_of<'t>(links: &Links<'t>) -> Vec<ResultView> {
    let observations = links.resources().map(|(_, resource)| resource);
    let observations = observations.filter(|found| found.resource_type() == Some("Observation"));
    let mut views = Vec::new();
    for observation in observations {
        views.push(result(observation, observation, links, false));
        for part in observation.children().filter(|child| child.name() == "component") {
            views.push(result(part, observation, links, true));
        }
    }
    views.truncate(RESULTS_MAX);
    views
}

fn result<'t>(
    of: Element<'t>,
    resource: Element<'t>,
    links: &Links<'t>,
    is_part: bool,
) -> ResultView {
    let in_words = |element: Option<Element<'t>>| words(element?, resource, links);
    let code = in_words(of.child("code"));
    let tested = of
        .child("code")
        .into_iter()
        .flat_map(|code| code.all("coding"))
        .find_map(|coding| report::diseases::of_code(coding.text("code")?))
        .or_else(|| of_subject(None, code.as_ref().map(|words| &*words.value)));
    let value = of.choice("value");
    let interpretation = of.child("interpretation");
    let (value_words, interpreted) = (in_words(value), in_words(interpretation));
    let outcome = [interpretation, value].into_iter().flatten().find_map(outcome_of);
    ResultView {
        is_part,
        code: code.as_ref().and_then(|words| words.detail.clone()),
        name: code.as_ref().map(|words| words.value.clone()),
        name_coded: code.as_ref().and_then(Words::as_coded),
        disease: tested.map(|tested| tested.disease.key.to_owned()),
        test: tested.and_then(|tested| told(tested.test)),
        specimen: tested.and_then(|tested| told(tested.specimen)),
        value: value_words.as_ref().map(|words| words.value.clone()),
        value_coded: value_words.as_ref().and_then(Words::as_coded),
        outcome: outcome.map(str::to_owned),
        interpretation: interpreted.as_ref().map(|words| words.value.clone()),
        interpretation_coded: interpreted.as_ref().and_then(Words::as_coded),
        absent: of.child("dataAbsentReason").and_then(|reason| {
            standard_reason(reason).or_else(|| in_words(Some(reason)).map(|words| words.value))
        }),
        expression: of.expression(),
        line: of.position().line,
    }
}

/// Why a value is absent, by FHIR's own code: the catalogue has that in every language. A code of
/// another system stands in the words that the report brings.
fn standard_reason(reason: Element<'_>) -> Option<String> {
    let mut codings = reason.all("coding");
    let standard = codings.find(|coding| coding.text("system") == Some(ABSENT_REASONS))?;
    standard.text("code").map(str::to_owned)
}

/// A fact that a code may leave unsaid.
pub(crate) fn told(fact: &str) -> Option<String> {
    (!fact.is_empty()).then(|| fact.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::views::CodedView;

    fn results(element: &str, code: &str) -> Vec<ResultView> {
        read(element, &format!("\"code\":\"{code}\""))
    }

    fn read(element: &str, coding: &str) -> Vec<ResultView> {
        let concept = format!("{{\"coding\":[{{{coding}}}]}}");
        let concept = if element == "interpretation" { format!("[{concept}]") } else { concept };
        let text = format!(
            "{{\"resourceType\":\"Bundle\",\"entry\":[{{\"resource\":{{\
             \"resourceType\":\"Observation\",\"{element}\":{concept}}}}}]}}"
        );
        let limits = fhir::Limits::default();
        let tree = fhir::Tree::read(text.as_bytes(), fhir::Format::Json, &limits).unwrap();
        results_of(&Links::of(tree.root()))
    }

    /// Codes that a report brings without words are said in words, wherever they are known.
    #[test]
    fn what_is_a_code_alone_is_said_in_words() {
        let organism = results("valueCodeableConcept", "40754006");
        assert_eq!(organism[0].value.as_deref(), Some("Puumala virus"));
        for (code, outcome) in
            [("U", "rise"), ("62482003", "graded-low"), ("1290194006", "seroconversion")]
        {
            let interpreted = results("interpretation", code);
            assert_eq!(interpreted[0].outcome.as_deref(), Some(outcome));
        }
    }

    /// By the codes, whatever words the report brings, so that every reader has their own.
    #[test]
    fn a_code_brings_its_id_of_the_catalogue_whatever_the_report_calls_it() {
        let id = |coded: &Option<CodedView>| coded.as_ref().map(|of| of.id.clone());
        let snomed = r#""system":"http://snomed.info/sct","code":"52584002""#;
        for (display, own, is_ours) in
            [("", "Measles virus", true), (",\"display\":\"Masern\"", "Masern", false)]
        {
            let found = read("valueCodeableConcept", &format!("{snomed}{display}"));
            let coded = found[0].value_coded.as_ref().unwrap();
            assert_eq!((&*coded.own, coded.is_ours), (own, is_ours));
            assert_eq!(id(&found[0].value_coded).as_deref(), Some("snomed.52584002"));
        }
        let of = "http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation";
        let coding = format!("\"system\":\"{of}\",\"code\":\"AA\"");
        let interpreted = read("interpretation", &coding);
        let told = &interpreted[0].interpretation_coded;
        assert_eq!(id(told).as_deref(), Some("interpretation.AA"));
        let foreign = r#""system":"http://lab.example/results","code":"POS""#;
        assert!(read("interpretation", foreign)[0].interpretation_coded.is_none());
        // The words are those of the laboratory's coding, and the other one may mean less.
        let two = r#""system":"http://lab.example/values","code":"ST","display":"Salmonella Typhi"},
            {"system":"http://snomed.info/sct","code":"27268008""#;
        let found = read("valueCodeableConcept", two);
        assert_eq!(found[0].value.as_deref(), Some("Salmonella Typhi"));
        assert!(found[0].value_coded.is_none());
    }

    /// The laboratory's own code of a reason keeps its words: no catalogue has it.
    #[test]
    fn why_a_value_is_absent_is_said_by_the_code_of_fhir_or_in_the_words_of_the_report() {
        let words = r#""code":"not-applicable","display":"Not Applicable""#;
        for (system, told) in
            [(ABSENT_REASONS, "not-applicable"), ("http://lab.example/reasons", "Not Applicable")]
        {
            let coding = format!("\"system\":\"{system}\",{words}");
            let absent = read("dataAbsentReason", &coding);
            assert_eq!(absent[0].absent.as_deref(), Some(told));
        }
    }
}
