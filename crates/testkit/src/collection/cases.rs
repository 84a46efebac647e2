//! The reports of the collection as a table: what each tests, in which words, and what is unusual
//! about it.

/// The form of a result.
pub(super) enum Found {
    /// SNOMED CT code and display.
    Code(&'static str, &'static str),
    /// Value as written, comparator or nothing, UCUM unit.
    Quantity(&'static str, &'static str, &'static str),
    /// A titre: numerator and denominator.
    Ratio(&'static str, &'static str),
    /// Lower and upper end, UCUM unit.
    Range(&'static str, &'static str, &'static str),
    /// A result in words.
    Words(&'static str),
    Integer(&'static str),
    Boolean(&'static str),
    /// A point in time, as precise as written.
    Time(&'static str),
    /// No result, and why.
    Absent(&'static str),
    /// Parts: LOINC code, display, interpretation.
    Parts(&'static [(&'static str, &'static str, &'static str)]),
}

/// What is unusual about a document.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Twist {
    None,
    /// The laboratory is contained in the observation instead of being an entry of its own.
    ContainedLaboratory,
    /// The specimen is contained in the observation.
    ContainedSpecimen,
    /// Two reports, each with its observation and specimen, in two sections.
    TwoReports,
    /// Entries are named by `urn:uuid:` instead of by an address.
    UuidEntries,
    /// The patient is known by initials only, and the birth date is withheld.
    Initials,
    /// White space, quotes, markup and characters outside the basic plane in notes.
    Notes,
    /// Method, body site and reference range of the test.
    Method,
    /// The identifier is written with large letters.
    LargeLetters,
    /// A member observation that the first one refers to.
    Members,
}

pub(super) struct Case {
    pub(super) name: &'static str,
    /// LOINC code and display of the test.
    pub(super) test: (&'static str, &'static str),
    /// SNOMED CT code and display of the specimen.
    pub(super) specimen: (&'static str, &'static str),
    pub(super) language: &'static str,
    pub(super) found: Found,
    /// v3 interpretation; empty where there is none.
    pub(super) interpretation: &'static str,
    pub(super) twist: Twist,
}

const fn case(
    name: &'static str,
    test: (&'static str, &'static str),
    specimen: (&'static str, &'static str),
    language: &'static str,
    found: Found,
    interpretation: &'static str,
    twist: Twist,
) -> Case {
    Case { name, test, specimen, language, found, interpretation, twist }
}

const BLOOD: (&str, &str) = ("119297000", "Blood specimen");
const SERUM: (&str, &str) = ("119364003", "Serum specimen");
const STOOL: (&str, &str) = ("119339001", "Stool specimen");
const URINE: (&str, &str) = ("122575003", "Urine specimen");
const SPUTUM: (&str, &str) = ("119334006", "Sputum specimen");
const SWAB: (&str, &str) = ("258500001", "Nasopharyngeal swab");
const FLUID: (&str, &str) = ("258450006", "Cerebrospinal fluid specimen");
const BRAIN: (&str, &str) = ("256865009", "Brain tissue specimen");
const MUSCLE: (&str, &str) = ("309507002", "Muscle tissue specimen");

const POSITIVE: Found = Found::Code("10828004", "Positive");
const DETECTED: Found = Found::Code("260373001", "Detected");

const RESISTANCE: &[(&str, &str, &str)] = &[
    ("89489-9", "rifAMPin [Susceptibility] by Genotype method", "R"),
    ("89488-1", "isoniazid [Susceptibility] by Genotype method", "S"),
    ("89491-5", "pyrazinamide [Susceptibility] by Genotype method", "I"),
];
const CARBAPENEMASES: &[(&str, &str, &str)] = &[
    ("85827-4", "Carbapenem resistance blaOXA-48 gene", "POS"),
    ("73982-1", "Carbapenem resistance blaNDM gene", "NEG"),
];

/// The collection. Codes are facts of LOINC, SNOMED CT and UCUM; everything else is invented.
pub(super) const CASES: &[Case] = &[
    case(
        "gonorrhoea",
        ("697-3", "Neisseria gonorrhoeae [Presence] in Urethra by Organism specific culture"),
        URINE,
        "de-CH",
        POSITIVE,
        "POS",
        Twist::None,
    ),
    case(
        "chlamydia",
        ("21190-4", "Chlamydia trachomatis DNA [Presence] in Cervix by NAA"),
        SWAB,
        "fr-CH",
        DETECTED,
        "POS",
        Twist::ContainedLaboratory,
    ),
    case(
        "campylobacter",
        ("6331-3", "Campylobacter sp identified in Stool by Organism specific culture"),
        STOOL,
        "it-CH",
        Found::Code("66543000", "Campylobacter jejuni"),
        "POS",
        Twist::None,
    ),
    case(
        "salmonella",
        ("20955-1", "Salmonella sp identified in Stool by Organism specific culture"),
        STOOL,
        "de-CH",
        Found::Words("Salmonella Typhimurium, monophasisch (1,4,[5],12:i:-)"),
        "POS",
        Twist::Method,
    ),
    case(
        "legionella",
        ("32781-7", "Legionella pneumophila 1 Ag [Presence] in Urine"),
        URINE,
        "en-GB",
        POSITIVE,
        "POS",
        Twist::None,
    ),
    case(
        "malaria",
        ("32700-7", "Plasmodium sp [Presence] in Blood by Light microscopy"),
        BLOOD,
        "fr-CH",
        Found::Code("30020004", "Plasmodium falciparum"),
        "POS",
        Twist::ContainedSpecimen,
    ),
    case(
        "malaria-parasites",
        ("51587-4", "Plasmodium sp [#/volume] in Blood"),
        BLOOD,
        "de-CH",
        Found::Quantity("1.50e4", "", "/uL"),
        "HH",
        Twist::None,
    ),
    case(
        "hiv",
        ("75622-1", "HIV 1 and 2 tests - Meaningful Use set"),
        SERUM,
        "fr-CH",
        POSITIVE,
        "POS",
        Twist::Initials,
    ),
    case(
        "hiv-viral-load",
        ("20447-9", "HIV 1 RNA [#/volume] in Serum or Plasma by NAA"),
        SERUM,
        "de-CH",
        Found::Quantity("20", "<", "{copies}/mL"),
        "L",
        Twist::Initials,
    ),
    case(
        "syphilis",
        ("20507-0", "Reagin Ab [Presence] in Serum by RPR"),
        SERUM,
        "it-CH",
        Found::Ratio("1", "64"),
        "POS",
        Twist::Initials,
    ),
    case(
        "dengue",
        ("7855-0", "Dengue virus IgM Ab [Titer] in Serum"),
        SERUM,
        "de-CH",
        Found::Ratio("1", "1280"),
        "H",
        Twist::Members,
    ),
    case(
        "hepatitis-a",
        ("13950-1", "Hepatitis A virus IgM Ab [Presence] in Serum or Plasma by Immunoassay"),
        SERUM,
        "en-US",
        POSITIVE,
        "POS",
        Twist::None,
    ),
    case(
        "hepatitis-b",
        ("5196-1", "Hepatitis B virus surface Ag [Presence] in Serum or Plasma by Immunoassay"),
        SERUM,
        "de-CH",
        POSITIVE,
        "POS",
        Twist::TwoReports,
    ),
    case(
        "hepatitis-c",
        ("11259-9", "Hepatitis C virus RNA [Presence] in Serum or Plasma by NAA"),
        SERUM,
        "fr-CH",
        DETECTED,
        "POS",
        Twist::UuidEntries,
    ),
    case(
        "hepatitis-e",
        ("14212-5", "Hepatitis E virus IgM Ab [Presence] in Serum"),
        SERUM,
        "de-CH",
        Found::Range("2.10", "2.90", "[IU]/mL"),
        "POS",
        Twist::None,
    ),
    case(
        "measles",
        ("35275-7", "Measles virus IgM Ab [Presence] in Serum"),
        SERUM,
        "it-CH",
        POSITIVE,
        "POS",
        Twist::Notes,
    ),
    case(
        "rubella",
        ("40667-8", "Rubella virus IgG avidity [Ratio] in Serum"),
        SERUM,
        "de-CH",
        Found::Quantity("0.30", "", "{ratio}"),
        "L",
        Twist::Method,
    ),
    case(
        "influenza",
        ("76080-1", "Influenza virus A and B RNA panel"),
        SWAB,
        "de-AT",
        Found::Code("407479009", "Influenza A virus"),
        "POS",
        Twist::None,
    ),
    case(
        "sars-cov-2",
        (
            "94500-6",
            "SARS-CoV-2 (COVID-19) RNA [Presence] in Respiratory system specimen by NAA with probe \
             detection",
        ),
        SWAB,
        "rm-CH",
        DETECTED,
        "POS",
        Twist::UuidEntries,
    ),
    case(
        "sars-cov-2-cycles",
        ("94746-5", "SARS-CoV-2 (COVID-19) RNA [Cycle Threshold #] in Specimen by NAA"),
        SWAB,
        "en-GB",
        Found::Quantity("17.8", "", "{Ct}"),
        "",
        Twist::None,
    ),
    case(
        "rsv",
        (
            "92131-2",
            "Respiratory syncytial virus RNA [Presence] in Respiratory system specimen by NAA",
        ),
        SWAB,
        "fr-FR",
        Found::Boolean("true"),
        "POS",
        Twist::None,
    ),
    case(
        "tuberculosis",
        ("38379-4", "Mycobacterium tuberculosis complex DNA [Presence] in Specimen by NAA"),
        SPUTUM,
        "de-CH",
        DETECTED,
        "POS",
        Twist::TwoReports,
    ),
    case(
        "tuberculosis-resistance",
        ("89486-5", "Mycobacterium tuberculosis drug resistance panel by Molecular method"),
        SPUTUM,
        "it-IT",
        Found::Parts(RESISTANCE),
        "",
        Twist::Method,
    ),
    case(
        "carbapenemase",
        ("86930-5", "Carbapenemase genes panel by Molecular method"),
        STOOL,
        "de-CH",
        Found::Parts(CARBAPENEMASES),
        "POS",
        Twist::Members,
    ),
    case(
        "meningococcus",
        ("49672-8", "Neisseria meningitidis DNA [Presence] in Cerebral spinal fluid by NAA"),
        FLUID,
        "fr-CH",
        DETECTED,
        "POS",
        Twist::LargeLetters,
    ),
    case(
        "listeria",
        ("6609-2", "Listeria sp identified in Specimen by Organism specific culture"),
        FLUID,
        "de-DE",
        Found::Code("36094007", "Listeria monocytogenes"),
        "POS",
        Twist::Notes,
    ),
    case(
        "cholera",
        ("20954-4", "Vibrio cholerae identified in Stool by Organism specific culture"),
        STOOL,
        "en-US",
        Found::Code("75832006", "Vibrio cholerae O1"),
        "POS",
        Twist::ContainedSpecimen,
    ),
    case(
        "ebola",
        ("82459-9", "Ebola virus RNA [Presence] in Blood by NAA"),
        BLOOD,
        "fr-CH",
        Found::Absent("error"),
        "",
        Twist::None,
    ),
    case(
        "mpox",
        ("100383-9", "Monkeypox virus DNA [Presence] in Specimen by NAA"),
        ("309068002", "Specimen from skin"),
        "de-CH",
        DETECTED,
        "POS",
        Twist::Initials,
    ),
    case(
        "tick-encephalitis",
        ("22514-4", "Tick-borne encephalitis virus IgM Ab [Units/volume] in Serum"),
        SERUM,
        "de-CH",
        Found::Quantity("12.0", ">", "[VIEU]/mL"),
        "H",
        Twist::None,
    ),
    case(
        "rabies",
        ("31585-3", "Rabies virus Ag [Presence] in Brain"),
        BRAIN,
        "it-CH",
        POSITIVE,
        "POS",
        Twist::ContainedLaboratory,
    ),
    case(
        "trichinella",
        ("23310-6", "Trichinella spiralis IgG Ab [Presence] in Serum by Immunoassay"),
        MUSCLE,
        "fr-CH",
        Found::Integer("7"),
        "A",
        Twist::None,
    ),
    case(
        "prion",
        ("31019-3", "14-3-3 Ag [Presence] in Cerebral spinal fluid"),
        FLUID,
        "de-CH",
        Found::Absent("unknown"),
        "IND",
        Twist::Method,
    ),
    case(
        "yellow-fever",
        ("6588-8", "Yellow fever virus IgM Ab [Presence] in Serum"),
        SERUM,
        "de-CH",
        Found::Time("2026-06-02"),
        "POS",
        Twist::TwoReports,
    ),
];
