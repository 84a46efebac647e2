//! What the display of a published leading code says: which disease, how it is tested, in what.

use super::{Tested, all};

/// Words of a display, and how it is tested. The first that is found wins.
const TEST_WORDS: &[(&str, &str)] = &[
    ("prion protein", "protein"),
    ("14-3-3", "protein"),
    ("genotype", "typing"),
    ("clade [", "typing"),
    ("serovar", "typing"),
    ("antigenic formula", "typing"),
    ("subtype", "typing"),
    ("igg and igm", "antibody"),
    ("igm", "igm"),
    ("igg", "igg"),
    (" iga", "antibody"),
    (" ab ", "antibody"),
    ("antibody", "antibody"),
    (" ag ", "antigen"),
    ("sequencing", "sequencing"),
    ("dna", "pcr"),
    ("rna", "pcr"),
    ("naa ", "pcr"),
    ("gene", "pcr"),
    ("probe", "pcr"),
    ("culture", "culture"),
    ("stain", "microscopy"),
    ("microscop", "microscopy"),
    ("toxin", "toxin"),
];

/// Words behind "in", and what that is.
const SPECIMEN_WORDS: &[(&str, &str)] = &[
    ("positive blood culture", "blood"),
    ("serum, plasma or blood", "blood"),
    ("cerebral spinal fluid", "csf"),
    ("serum", "serum"),
    ("blood", "blood"),
    ("stool", "stool"),
    ("urine", "urine"),
    ("urethra", "urethra"),
    ("sputum", "sputum"),
    ("bronchial", "bronchial"),
    ("respiratory", "respiratory"),
    ("nasopharynx", "nose"),
    ("nose", "nose"),
    ("throat", "throat"),
    ("oropharyngeal", "throat"),
    ("saliva", "saliva"),
    ("anorectal", "anal"),
    ("anal", "anal"),
    ("cervix", "genital"),
    ("vaginal", "genital"),
    ("genital", "genital"),
    ("semen", "semen"),
    ("isolate", "isolate"),
    ("brain", "brain"),
    ("tissue", "tissue"),
    ("wound", "wound"),
    ("synovial", "body-fluid"),
    ("body fluid", "body-fluid"),
    ("aspirate", "body-fluid"),
];

/// What a published leading code stands for, by its English display; also by words that say too
/// little elsewhere.
pub fn of_published(display: &str) -> Option<Tested> {
    let display = display.to_lowercase();
    let words = all().iter().flat_map(|it| it.published.iter().map(move |word| (*word, it)));
    let named = words.filter(|(word, _)| display.contains(word));
    let (_, disease) = named.max_by_key(|(word, _)| word.len())?;
    let place = display.split(" in ").nth(1).unwrap_or_default();
    let test = first(TEST_WORDS, &display).unwrap_or_default();
    let specimen = first(SPECIMEN_WORDS, place).unwrap_or_default();
    Some(Tested { disease, test, specimen })
}

fn first(words: &[(&str, &'static str)], text: &str) -> Option<&'static str> {
    // A blank at the end, so that a word may ask to be the last one.
    let text = format!("{text} ");
    words.iter().find(|(word, _)| text.contains(word)).map(|(_, means)| *means)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_published_display_says_disease_test_and_specimen() {
        let tested = of_published("Legionella pneumophila 1 Ag [Presence] in Urine").unwrap();
        assert_eq!(
            (tested.disease.key, tested.test, tested.specimen),
            ("legionellosis", "antigen", "urine")
        );
        let tested = of_published("Vibrio sp identified in Stool by Culture").unwrap();
        assert_eq!((tested.disease.key, tested.test), ("cholera", "culture"));
        assert_eq!(of_published("Glucose [Mass/volume] in Blood"), None);
    }
}
