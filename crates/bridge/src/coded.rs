//! Codes that the catalogue of the window may have words of: a report brings its words in the
//! language of who has written it.

use fhir::Element;

/// Code systems, and the family that their codes have in the catalogue: `snomed.119339001`.
const SYSTEMS: &[(&str, &str)] = &[
    ("http://snomed.info/sct", "snomed"),
    ("http://loinc.org", "loinc"),
    ("http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation", "interpretation"),
    ("http://terminology.hl7.org/CodeSystem/observation-category", "category"),
    ("http://terminology.hl7.org/CodeSystem/data-absent-reason", "value"),
];

/// Codes of one concept at most, and the longest that is one: a hostile document may have any.
const CODES_MAX: usize = 8;
const LENGTH_MAX: usize = 64;

/// What the catalogue calls the codes of a coding, or of each coding of a concept, in their order.
pub(crate) fn ids_of(element: Element<'_>) -> Vec<String> {
    let inside = element.all("coding");
    let own = (element.type_name() == "Coding").then_some(element);
    let all = own.into_iter().chain(inside).take(CODES_MAX);
    all.filter_map(|coding| id_of(coding.text("system")?, coding.text("code")?)).collect()
}

/// What the catalogue calls a code.
pub(crate) fn id_of(system: &str, code: &str) -> Option<String> {
    let (_, family) = SYSTEMS.iter().find(|(known, _)| *known == system)?;
    (code.len() <= LENGTH_MAX).then(|| format!("{family}.{code}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_code_of_a_system_with_words_has_an_id() {
        assert_eq!(id_of("http://loinc.org", "11502-2").as_deref(), Some("loinc.11502-2"));
        assert_eq!(id_of("http://lab.example/codes", "11502-2"), None);
        assert_eq!(id_of("http://snomed.info/sct", &"1".repeat(LENGTH_MAX + 1)), None);
    }
}
