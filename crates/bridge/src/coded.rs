//! Codes that the catalogue of the window may have words of: a report brings its words in the
//! language of who has written it.

/// Code systems, and the family that their codes have in the catalogue: `snomed.119339001`.
const SYSTEMS: &[(&str, &str)] = &[
    ("http://snomed.info/sct", "snomed"),
    ("http://loinc.org", "loinc"),
    ("http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation", "interpretation"),
    ("http://terminology.hl7.org/CodeSystem/observation-category", "category"),
    ("http://terminology.hl7.org/CodeSystem/data-absent-reason", "value"),
];

/// The longest code that has words: a hostile document may have any.
const LENGTH_MAX: usize = 64;

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
