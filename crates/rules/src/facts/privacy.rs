//! Which form of a patient's name may be sent: the ConceptMaps that say it for each leading code,
//! and the profiles of a Patient in each form. What an organism permits stands in the packages;
//! here stands where to look.

use std::collections::BTreeSet;

/// A ConceptMap from leading codes to forms of the patient's name.
#[derive(Debug)]
pub(crate) struct NameForms {
    /// Its canonical.
    pub(crate) map: &'static str,
    /// What every Patient must conform to, whatever its form: what that says is not said again.
    pub(crate) patient: &'static str,
    /// Code of a form, and the profiles of which a Patient in this form keeps one. The strictest
    /// form first.
    pub(crate) forms: &'static [(&'static str, &'static [(&'static str, Name)])],
}

impl NameForms {
    /// The profiles of which a Patient in a form keeps one; none where the whole name may be told.
    pub(crate) fn profiles(&self, form: &str) -> impl Iterator<Item = (&'static str, Name)> {
        let mine = self.forms.iter().find(|(of, _)| *of == form);
        mine.into_iter().flat_map(|(_, profiles)| profiles.iter().copied())
    }
}

/// How a profile shows the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    /// One letter for each of its parts.
    Initials,
    /// A code stands for it.
    Code,
}

const INITIALS: (&str, Name) =
    ("http://fhir.ch/ig/ch-elm/StructureDefinition/ChElmPatientInitials", Name::Initials);
const HIV: (&str, Name) =
    ("http://fhir.ch/ig/ch-elm/StructureDefinition/ChElmPatientHIV", Name::Code);
const VCT: (&str, Name) =
    ("http://fhir.ch/ig/ch-elm/StructureDefinition/ChElmPatientVCT", Name::Code);

/// Every such map that is known.
pub(crate) const MAPS: &[NameForms] = &[
    NameForms {
        map: "http://fhir.ch/ig/ch-elm/ConceptMap/ch-elm-results-to-foph-patient-name-representation",
        patient: "http://fhir.ch/ig/ch-elm/StructureDefinition/ch-elm-patient",
        forms: &[
            ("hiv-code", &[HIV]),
            ("initials", &[INITIALS]),
            ("initials-or-vctcode", &[INITIALS, VCT]),
            ("conditional", &[]),
            ("full-name", &[]),
        ],
    },
    // The lessons of practice.
    NameForms {
        map: "http://labcourier.example/practice/ConceptMap/name-forms",
        patient: "http://labcourier.example/practice/StructureDefinition/patient",
        forms: &[
            (
                "initials",
                &[(
                    "http://labcourier.example/practice/StructureDefinition/patient-initials",
                    Name::Initials,
                )],
            ),
            ("full-name", &[]),
        ],
    },
];

/// Codes of all forms of a name.
pub fn name_forms() -> impl Iterator<Item = &'static str> {
    let all: BTreeSet<_> =
        MAPS.iter().flat_map(|map| map.forms.iter().map(|(form, _)| *form)).collect();
    all.into_iter()
}

/// The map that an invariant asks about the form of a name.
pub(crate) fn asked_by(expression: &str) -> Option<&'static NameForms> {
    let asks = |of: &&NameForms| expression.contains(of.map) && expression.contains("conformsTo(");
    MAPS.iter().find(asks)
}
