//! What results and interpretations say, by their codes.

use fhir::Element;

/// Codes of results and of interpretations, and what they say.
const OUTCOMES: &[(&str, &str)] = &[
    ("POS", "positive"),
    ("10828004", "positive"),
    ("260373001", "positive"),
    ("52101004", "positive"),
    ("DET", "positive"),
    ("NEG", "negative"),
    ("260385009", "negative"),
    ("260415000", "negative"),
    ("2667000", "negative"),
    ("ND", "negative"),
    ("R", "resistant"),
    ("S", "susceptible"),
    ("I", "intermediate"),
    ("RR", "reactive"),
    ("NR", "not-reactive"),
    ("WR", "weakly-reactive"),
    ("IND", "indeterminate"),
    ("E", "equivocal"),
    ("82334004", "indeterminate"),
    ("419984006", "indeterminate"),
    ("H", "high"),
    ("L", "low"),
    ("N", "normal"),
    ("A", "abnormal"),
    // Of a titre, of avidity, and of antibodies that were not there before.
    ("U", "rise"),
    ("D", "fall"),
    ("75540009", "graded-high"),
    ("255508009", "graded-medium"),
    ("62482003", "graded-low"),
    ("1290194006", "seroconversion"),
];

/// Every value of `outcome`.
pub fn outcomes() -> impl Iterator<Item = &'static str> {
    OUTCOMES.iter().map(|(_, outcome)| *outcome)
}

/// What a coded result or interpretation says.
pub(crate) fn outcome_of(concept: Element<'_>) -> Option<&'static str> {
    concept.all("coding").find_map(|coding| {
        let code = coding.text("code")?;
        OUTCOMES.iter().find(|(known, _)| *known == code).map(|(_, outcome)| *outcome)
    })
}
