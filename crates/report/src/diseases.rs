//! Diseases in words: which disease a code stands for, how it was tested, and in what.
//!
//! Three tables of facts of ours: `names.tsv` has the diseases in four languages and the words by
//! which the display of a code names them; `codes.tsv` has the published leading codes and
//! `organisms.tsv` the scientific names of organisms, both made from the published displays by
//! `cargo xtask tables diseases`. A code that is in none is placed by the words that the report
//! itself brings.

mod displays;

use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

pub use displays::of_published;

/// What a leading code stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tested {
    /// The disease.
    pub disease: &'static Disease,
    /// How it was tested: `pcr`, `culture`, `antigen`, …; empty where the code does not say.
    pub test: &'static str,
    /// In what: `blood`, `stool`, …; empty where the code does not say.
    pub specimen: &'static str,
}

/// A disease by its names.
#[derive(Debug, PartialEq, Eq)]
pub struct Disease {
    /// Stable key, e.g. `hepatitis-b`.
    pub key: &'static str,
    /// Names in the order of [`LANGUAGES`].
    pub names: [&'static str; 4],
    /// Words that name it anywhere.
    words: Vec<&'static str>,
    /// Words that name it among the displays of published codes.
    published: Vec<&'static str>,
}

/// Languages of the names.
pub const LANGUAGES: [&str; 4] = ["en", "de", "fr", "it"];

/// How something is tested: every value of [`Tested::test`] but the empty one.
pub const TESTS: [&str; 11] = [
    "antibody",
    "antigen",
    "culture",
    "igg",
    "igm",
    "microscopy",
    "pcr",
    "protein",
    "sequencing",
    "toxin",
    "typing",
];

/// In what it is tested: every value of [`Tested::specimen`] but the empty one.
pub const SPECIMENS: [&str; 20] = [
    "anal",
    "blood",
    "body-fluid",
    "brain",
    "bronchial",
    "csf",
    "genital",
    "isolate",
    "nose",
    "respiratory",
    "saliva",
    "semen",
    "serum",
    "sputum",
    "stool",
    "throat",
    "tissue",
    "urethra",
    "urine",
    "wound",
];

static DISEASES: LazyLock<Vec<Disease>> =
    LazyLock::new(|| lines(include_str!("diseases/names.tsv")).filter_map(disease).collect());

static CODES: LazyLock<HashMap<&'static str, Tested>> =
    LazyLock::new(|| lines(include_str!("diseases/codes.tsv")).filter_map(code).collect());

static ORGANISMS: LazyLock<HashMap<&'static str, &'static str>> =
    LazyLock::new(|| lines(include_str!("diseases/organisms.tsv")).filter_map(organism).collect());

/// What further codes stand for, by the rules that a laboratory has imported. One table for the
/// program: what a published code stands for does not depend on who asks.
static LEARNED: LazyLock<RwLock<HashMap<String, Tested>>> = LazyLock::new(RwLock::default);

fn lines(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let told = |line: &&str| !line.starts_with('#') && !line.is_empty();
    table.lines().filter(told).map(|line| line.split('\t').collect())
}

fn disease(columns: Vec<&'static str>) -> Option<Disease> {
    let [key, en, de, fr, it, words] = columns[..] else { return None };
    let published = words.split('|').map(|word| word.trim_start_matches('~')).collect();
    let words = words.split('|').filter(|word| !word.starts_with('~')).collect();
    Some(Disease { key, names: [en, de, fr, it], words, published })
}

fn code(columns: Vec<&'static str>) -> Option<(&'static str, Tested)> {
    let [code, key, test, specimen] = columns[..] else { return None };
    let disease = of_key(key)?;
    Some((code, Tested { disease, test, specimen }))
}

fn organism(columns: Vec<&'static str>) -> Option<(&'static str, &'static str)> {
    let [code, name] = columns[..] else { return None };
    Some((code, name))
}

/// Every disease.
pub fn all() -> &'static [Disease] {
    &DISEASES
}

/// What a published code stands for, by the table, else by what was learned.
pub fn of_code(code: &str) -> Option<Tested> {
    let learned = || LEARNED.read().unwrap_or_else(PoisonError::into_inner).get(code).copied();
    CODES.get(code).copied().or_else(learned)
}

/// Whether the program's own table has a code, whatever was learned.
pub fn is_in_table(code: &str) -> bool {
    CODES.contains_key(code)
}

/// The scientific name of an organism by its SNOMED CT code: a report may bring that alone.
pub fn organism_of(code: &str) -> Option<&'static str> {
    ORGANISMS.get(code).copied()
}

/// Learns what further codes stand for, for as long as the program runs. What the table has stays.
pub fn learn(codes: impl IntoIterator<Item = (String, Tested)>) {
    LEARNED.write().unwrap_or_else(PoisonError::into_inner).extend(codes);
}

/// The disease of a key.
pub fn of_key(key: &str) -> Option<&'static Disease> {
    all().iter().find(|disease| disease.key == key)
}

/// The disease that a display names, by the words of the table.
pub fn of_display(display: &str) -> Option<&'static Disease> {
    let display = display.to_lowercase();
    // The longest word wins: "salmonella typhi (" says more than "salmonella".
    let found =
        all().iter().flat_map(|disease| disease.words.iter().map(move |word| (word, disease)));
    let named = found.filter(|(word, _)| display.contains(**word));
    named.max_by_key(|(word, _)| word.len()).map(|(_, disease)| disease)
}

/// What a leading code stands for, else the words beside it.
pub fn of_subject(code: Option<&str>, words: Option<&str>) -> Option<Tested> {
    code.and_then(of_code).or_else(|| {
        let disease = of_display(words?)?;
        Some(Tested { disease, test: "", specimen: "" })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_whole() {
        let named = lines(include_str!("diseases/names.tsv")).count();
        assert_eq!(all().len(), named, "every line has six columns");
        let listed = lines(include_str!("diseases/codes.tsv")).count();
        assert_eq!(CODES.len(), listed, "every code once, of a disease that there is");
        assert!(listed > 380, "{listed}");
        let organisms = lines(include_str!("diseases/organisms.tsv")).count();
        assert_eq!(ORGANISMS.len(), organisms, "every organism once");
        assert!(organisms > 150, "{organisms}");
        let mut keys: Vec<_> = all().iter().map(|disease| disease.key).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), named);
        for disease in all() {
            assert!(disease.names.iter().all(|name| !name.trim().is_empty()), "{}", disease.key);
        }
        for tested in CODES.values() {
            assert!(tested.test.is_empty() || TESTS.contains(&tested.test), "{}", tested.test);
            let specimen = tested.specimen;
            assert!(specimen.is_empty() || SPECIMENS.contains(&specimen), "{specimen}");
        }
    }

    #[test]
    fn codes_and_displays_name_the_disease() {
        let malaria = of_code("70569-9").unwrap();
        assert_eq!(
            (malaria.disease.key, malaria.test, malaria.specimen),
            ("malaria", "antigen", "blood")
        );
        assert_eq!(of_code("89293008").unwrap().disease.key, "hiv");
        assert_eq!(of_display("Salmonella Typhi (organism)").unwrap().key, "typhoid");
        assert_eq!(of_display("Salmonella Typhimurium (organism)").unwrap().key, "salmonellosis");
        assert_eq!(of_display("Treponema pallidum").unwrap().key, "syphilis");
        let smear = "Microscopic observation [Identifier] in Blood by Malaria smear";
        assert_eq!(of_display(smear).unwrap().key, "malaria");
        assert_eq!(of_code("14357-8").unwrap().disease.key, "meningococcal");
        assert_eq!(of_code("11477-7").unwrap().disease.key, "tuberculosis");
        // What only resembles a notifiable organism is not called one.
        for other in [
            "Laboratory report",
            "Microscopic observation [Identifier] in Specimen by Gram stain",
            "Streptococcus pyogenes",
            "Vibrio vulnificus",
            "Mycobacterium avium complex",
            "Escherichia coli",
            "Haemophilus parainfluenzae",
            "Enterovirus D68",
        ] {
            assert_eq!(of_display(other), None, "{other}");
        }
        let cholera = of_subject(None, Some("Vibrio cholerae O1")).unwrap();
        assert_eq!(cholera.disease.names[1], "Cholera");
    }
}
