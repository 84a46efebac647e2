//! What people recognise a report by.

use std::fmt::Write as _;

use fhir::{Element, Instant, Period};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::diseases::{self, Tested};
use crate::links::Links;

/// The few facts of a report that lists and searches show. Patient data: only ever inside the
/// journal and on screen.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Summary {
    /// `Bundle.identifier.value`, the document's own identifier; a UUID in small letters.
    pub identifier: Option<String>,
    /// Patient, `Family, Given` (or initials, as the report has it).
    pub patient: Option<String>,
    /// Patient's `birthDate` as written.
    pub birth_date: Option<String>,
    /// Leading code in words: the result's organism or the observation's code, display or text.
    pub subject: Option<String>,
    /// Code behind `subject`.
    pub code: Option<String>,
    /// Name of the author (laboratory).
    pub laboratory: Option<String>,
    /// `Bundle.timestamp`, else `Composition.date`.
    pub date: Option<Instant>,
    /// Language of the document.
    pub language: Option<String>,
}

/// Shows nothing of its content: a summary may stand in a value that is printed by accident.
impl std::fmt::Debug for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Summary").finish_non_exhaustive()
    }
}

/// SHA-256 of the received bytes, in lower-case hex.
pub fn digest(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    hash.iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

impl Summary {
    /// What the report is about: its leading code, else the words beside it.
    pub fn tested(&self) -> Option<Tested> {
        diseases::of_subject(self.code.as_deref(), self.subject.as_deref())
    }

    /// Whether this report and a later one with its document identifier may be about the same case.
    /// Laboratories reuse identifiers: one that stands for an order is in the reports of all its
    /// diseases, and in those of several patients. A correction may change the patient's name or
    /// the birth date, not both, and not what was found: what does is sent as a report of its own,
    /// so that nothing is given up for it. What one of them does not say tells nothing.
    pub fn may_be_case_of(&self, later: &Self) -> bool {
        let agree = |one: &Option<String>, other: &Option<String>| match (one, other) {
            (Some(one), Some(other)) => Some(one.trim().eq_ignore_ascii_case(other.trim())),
            _ => None,
        };
        let patient =
            [agree(&self.patient, &later.patient), agree(&self.birth_date, &later.birth_date)];
        // Many patients have the same initials: beside another birth date they say nothing.
        let initials =
            [&self.patient, &later.patient].into_iter().flatten().any(|name| is_initials(name));
        let is_another = initials && patient[1] == Some(false);
        let is_same_patient =
            !is_another && (patient.contains(&Some(true)) || patient == [None, None]);
        is_same_patient && agree(&self.code, &later.code) != Some(false)
    }

    /// Whether it says who the patient is: by name, initials, a code in their place, or birth date.
    pub const fn names_somebody(&self) -> bool {
        self.patient.is_some() || self.birth_date.is_some()
    }

    /// Reads the facts out of a document Bundle. What is missing or strange is `None`: the rules
    /// say what is wrong, this only shows what is there.
    pub fn of(document: Element<'_>) -> Self {
        let links = Links::of(document);
        let composition = links.composition();
        let patient = patient_of(&links, composition);
        let subject = subject_of(&links, composition);
        Self {
            identifier: owned(document.text("identifier.value"))
                .map(|value| fhir::uuid_in_small(&value).into_owned()),
            patient: patient.and_then(name_of_patient),
            birth_date: patient.and_then(|patient| owned(patient.text("birthDate"))),
            code: subject.as_ref().map(|words| words.code.clone()).filter(|code| !code.is_empty()),
            subject: subject.map(|words| words.words),
            laboratory: composition.and_then(|composition| author_of(&links, composition)),
            date: document
                .text("timestamp")
                .or_else(|| composition?.text("date"))
                .and_then(Period::parse)
                .map(|period| period.start),
            language: owned(document.text("language").or_else(|| composition?.text("language"))),
        }
    }
}

/// Longest text taken into a summary, in characters; longer ones are cut.
const TEXT_MAX: usize = 200;

/// On one line, without control characters and cut to [`TEXT_MAX`]; `None` if nothing is left.
fn owned(text: Option<&str>) -> Option<String> {
    let words = text?.split(|c: char| c.is_whitespace() || c.is_control());
    let line = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then(|| line.chars().take(TEXT_MAX).collect())
}

/// The patient whom the Composition is about, else the only or first Patient of the document.
fn patient_of<'t>(links: &Links<'t>, composition: Option<Element<'t>>) -> Option<Element<'t>> {
    let named = composition.and_then(|composition| {
        links.follow(composition, composition, "subject").filter(|found| is(*found, "Patient"))
    });
    named.or_else(|| links.first("Patient"))
}

fn is(resource: Element<'_>, resource_type: &str) -> bool {
    resource.resource_type() == Some(resource_type)
}

/// `Family, Given Given`; where the name is masked, the code that stands for it (an extension on
/// the name with a string, as reports of HIV and of anonymous tests have it); else the name's text.
fn name_of_patient(patient: Element<'_>) -> Option<String> {
    let official = || {
        patient
            .children()
            .find(|child| child.name() == "name" && child.text("use") == Some("official"))
    };
    name_of(official().or_else(|| patient.child("name"))?)
}

fn name_of(name: Element<'_>) -> Option<String> {
    let children = || name.children();
    let given: Vec<&str> =
        children().filter(|child| child.name() == "given").filter_map(Element::value).collect();
    let given = given.join(" ");
    let full = match (name.text("family"), given.as_str()) {
        (Some(family), "") => family.to_owned(),
        (Some(family), given) => format!("{family}, {given}"),
        (None, given) => given.to_owned(),
    };
    let code = || {
        children().filter(|child| child.name() == "extension").find_map(|e| e.text("valueString"))
    };
    owned(Some(&full)).or_else(|| owned(code())).or_else(|| owned(name.text("text")))
}

/// Name of the first author: an organisation, the organisation of a role, or a person.
fn author_of(links: &Links<'_>, composition: Element<'_>) -> Option<String> {
    let author = links.follow(composition, composition, "author")?;
    match author.resource_type()? {
        "PractitionerRole" => {
            let organization = links.follow(author, author, "organization");
            let person = || links.follow(author, author, "practitioner");
            organization
                .and_then(|organization| owned(organization.text("name")))
                .or_else(|| name_of(person()?.child("name")?))
        }
        "Practitioner" => name_of(author.child("name")?),
        _ => owned(author.text("name")),
    }
}

/// A concept in words, and its code.
struct Words {
    words: String,
    code: String,
}

/// The leading result: what the report's own order of results begins with.
fn leading_result<'t>(links: &Links<'t>, composition: Option<Element<'t>>) -> Option<Element<'t>> {
    let is_observation = |found: &Element<'t>| is(*found, "Observation");
    let from_sections = composition.and_then(|composition| {
        let sections = composition.children().filter(|child| child.name() == "section");
        sections
            .flat_map(|section| section.children().filter(|child| child.name() == "entry"))
            .filter_map(|entry| links.resolve(composition, entry.text("reference")?).resource())
            .find(is_observation)
    });
    from_sections
        .or_else(|| {
            let report = links.first("DiagnosticReport")?;
            links.follow(report, report, "result").filter(is_observation)
        })
        .or_else(|| links.first("Observation"))
}

/// In this order: an organism found, what was observed (or ordered, or reported) in words, a value
/// in words, and failing all words the code itself.
fn subject_of(links: &Links<'_>, composition: Option<Element<'_>>) -> Option<Words> {
    let result = leading_result(links, composition);
    let code = |resource: Option<Element<'_>>| concept(resource?.child("code")?);
    let value = result.and_then(|result| concept(result.child("valueCodeableConcept")?));
    let observed = code(result);
    let ordered = code(links.first("ServiceRequest"));
    let reported = code(links.first("DiagnosticReport")).filter(|words| words.code != GENERIC);

    let value = value.filter(|value| !QUALIFIERS.contains(&value.code.as_str()));
    let candidates = [value, observed, ordered, reported];
    let organism = candidates[0].as_ref().filter(|value| value.is_organism());
    let in_words =
        || candidates[1..].iter().chain(&candidates[..1]).flatten().find(|c| c.has_words());
    let any = || candidates[1..].iter().chain(&candidates[..1]).flatten().next();
    let mut subject = organism.or_else(in_words).or_else(any).map(Words::shown)?;
    // A value that is no organism, as a clade, is of what was observed: that names the disease.
    let observed = candidates[1].as_ref().filter(|it| diseases::is_in_table(&it.code));
    let is_value = candidates[0].as_ref().is_some_and(|value| value.code == subject.code);
    if let Some(observed) = observed.filter(|_| is_value && !subject.is_organism()) {
        subject.code.clone_from(&observed.code);
    }
    Some(subject)
}

/// LOINC "Laboratory report": says nothing of the disease.
const GENERIC: &str = "11502-2";

/// SNOMED CT qualifiers that stand as a result: positive, negative, detected, not detected,
/// present, absent, indeterminate, inconclusive.
const QUALIFIERS: [&str; 8] = [
    "10828004",
    "260385009",
    "260373001",
    "260415000",
    "52101004",
    "2667000",
    "82334004",
    "419984006",
];

/// Display of the first coding that has one, else the text, else the organism that the code stands
/// for, with the code of that coding.
fn concept(concept: Element<'_>) -> Option<Words> {
    let codings: Vec<_> = concept.children().filter(|child| child.name() == "coding").collect();
    let with_display = codings.iter().find(|coding| coding.text("display").is_some());
    let coding = with_display.or(codings.first());
    let code = coding.and_then(|coding| owned(coding.text("code"))).unwrap_or_default();
    let words = with_display
        .and_then(|coding| owned(coding.text("display")))
        .or_else(|| owned(concept.text("text")))
        .or_else(|| diseases::organism_of(&code).map(str::to_owned))
        .unwrap_or_else(|| code.clone());
    (!words.is_empty()).then_some(Words { words, code })
}

impl Words {
    fn has_words(&self) -> bool {
        self.words != self.code
    }

    fn is_organism(&self) -> bool {
        self.words.ends_with("(organism)") || diseases::organism_of(&self.code).is_some()
    }

    /// Without SNOMED CT's semantic tag, which is for terminologists.
    fn shown(&self) -> Self {
        const TAGS: [&str; 5] =
            [" (organism)", " (qualifier value)", " (disorder)", " (procedure)", " (substance)"];
        let words = TAGS.iter().find_map(|tag| self.words.strip_suffix(tag)).unwrap_or(&self.words);
        Self { words: words.to_owned(), code: self.code.clone() }
    }
}

/// Whether a name has no part of more than one letter.
fn is_initials(name: &str) -> bool {
    let letters = |part: &str| part.chars().filter(|letter| letter.is_alphabetic()).count();
    name.split(|at: char| at.is_whitespace() || at == '.').all(|part| letters(part) <= 1)
}
