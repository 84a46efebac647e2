//! Texts that may tell what the patient is called, where the report may not: narrative, the text of
//! a name, and what a reference to the patient displays. The published rules look at none of them.

use fhir::{Element, Severity};

use super::{Demand, Issue, Run};
use crate::facts::privacy::Name;
use crate::html;

/// A text that may tell the name, with the code of what is told of it.
struct Text<'t> {
    at: Element<'t>,
    words: Vec<&'t str>,
    is_narrative: bool,
}

impl Text<'_> {
    const fn code(&self) -> &'static str {
        if self.is_narrative { "rule-privacy-narrative" } else { "rule-privacy-elsewhere" }
    }

    /// Whether it repeats one of these names, in whatever letters.
    fn repeats(&self, names: &[Vec<String>]) -> bool {
        let words: Vec<String> = self.words.iter().map(|word| word.to_lowercase()).collect();
        names.iter().any(|name| words.windows(name.len()).any(|of| of == name))
    }
}

impl<'t> Run<'t> {
    /// Texts that say what the patient is called, where no form of the name permits it: with the
    /// name that the report has, with more than initials in the text of a name, or with two words
    /// that begin as the initials do, which somebody has to look at.
    pub(in crate::validate) fn telling_texts(&self, issues: &mut Vec<Issue>) {
        for (_, demand) in self.demands() {
            if demand.profiles().next().is_none() {
                continue;
            }
            self.in_texts(&demand, Severity::Warning, issues);
            let initials = Initials::of(demand.patient);
            let begins = |text: &Text<'_>| initials.iter().any(|of| of.are_in(&text.words));
            for text in self.texts(&demand) {
                if !text.is_narrative && (begins(&text) || text.is_more_than_initials(&demand)) {
                    demand.say(text.at, text.code(), Severity::Warning, issues);
                }
                if text.is_narrative && text.is_about_a_person() && begins(&text) {
                    let code = "rule-privacy-narrative-initials";
                    demand.say(text.at, code, Severity::Warning, issues);
                }
            }
        }
    }

    /// Texts that repeat the name of the patient, wherever in the document they stand.
    pub(super) fn in_texts(&self, demand: &Demand<'t>, severity: Severity, told: &mut Vec<Issue>) {
        let names = names_of(demand.patient);
        if names.is_empty() {
            return;
        }
        for text in self.texts(demand) {
            // The text of the name is where the name comes from.
            if !text.is_of_a_name() && text.repeats(&names) {
                demand.say(text.at, text.code(), severity, told);
            }
        }
    }

    fn texts(&self, demand: &Demand<'t>) -> Vec<Text<'t>> {
        let mut all = Vec::new();
        self.gather(self.tree.root(), demand.patient, &mut all);
        let names = demand.patient.all("name").filter_map(|name| name.child("text"));
        all.extend(
            names
                .filter_map(|at| Some(Text { at, words: words(at.value()?), is_narrative: false })),
        );
        all
    }

    fn gather(&self, of: Element<'t>, patient: Element<'t>, all: &mut Vec<Text<'t>>) {
        match of.type_name() {
            "Narrative" => {
                return all.push(Text { at: of, words: words_of(of), is_narrative: true });
            }
            "Reference" => {
                let display = of.child("display").and_then(|at| Some((at, at.value()?)));
                if let Some((at, text)) = display
                    && self.leads_to(of, patient)
                {
                    all.push(Text { at, words: words(text), is_narrative: false });
                }
            }
            _ => {}
        }
        for child in of.children() {
            self.gather(child, patient, all);
        }
    }

    fn leads_to(&self, reference: Element<'t>, patient: Element<'t>) -> bool {
        let target = reference.text("reference").and_then(|text| self.resolve(text, reference));
        target.is_some_and(|of| of.number() == patient.number())
    }
}

impl Text<'_> {
    /// Narrative of the patient or of the whole report; elsewhere two such words are something else
    /// more often.
    fn is_about_a_person(&self) -> bool {
        let kind = self.at.parent().and_then(|owner| resource_around(owner).resource_type());
        matches!(kind, Some("Patient" | "Composition"))
    }

    fn is_of_a_name(&self) -> bool {
        !self.is_narrative && self.at.name() == "text"
    }

    /// Whether the text of a name spells a word, where initials are permitted.
    fn is_more_than_initials(&self, demand: &Demand<'_>) -> bool {
        let permits_initials = demand.profiles().any(|(_, name)| name == Name::Initials);
        let spells = self.words.iter().any(|word| word.chars().nth(1).is_some());
        self.is_of_a_name() && permits_initials && spells
    }
}

/// The first letters of a name of which nothing else is there.
struct Initials {
    family: char,
    given: char,
}

impl Initials {
    fn of(patient: Element<'_>) -> Vec<Self> {
        let letter = |of: Element<'_>| {
            let mut letters = of.value()?.trim_end_matches('.').chars();
            letters.next().filter(|_| letters.next().is_none()).map(|of| of.to_ascii_uppercase())
        };
        let initials = |name: Element<'_>| {
            let family = name.all("family").find_map(letter)?;
            Some(Self { family, given: name.all("given").find_map(letter)? })
        };
        patient.all("name").filter_map(initials).collect()
    }

    /// Whether two words beside each other begin so, in either order: `Anna Muster`,
    /// `Muster, Anna`.
    fn are_in(&self, words: &[&str]) -> bool {
        let begins = |word: &str, with: char| {
            let mut letters = word.chars();
            letters.next() == Some(with) && letters.next().is_some_and(char::is_lowercase)
        };
        words.windows(2).any(|of| {
            (begins(of[0], self.given) && begins(of[1], self.family))
                || (begins(of[0], self.family) && begins(of[1], self.given))
        })
    }
}

/// The family names of a patient and the texts of names, as words; initials name nobody.
fn names_of(patient: Element<'_>) -> Vec<Vec<String>> {
    let parts = patient.all("name").flat_map(|name| name.all("family").chain(name.all("text")));
    let words = parts.filter_map(Element::value).map(|part| {
        let words = words(part).into_iter().filter(|word| word.chars().nth(1).is_some());
        words.map(str::to_lowercase).collect::<Vec<_>>()
    });
    words.filter(|words| !words.is_empty()).collect()
}

fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect()
}

/// What a reader sees of a narrative, as words.
fn words_of(narrative: Element<'_>) -> Vec<&str> {
    let mut all = Vec::new();
    if let Some(text) = narrative.text("div") {
        html::walk(text, |event| {
            if let html::Event::Text(text) = event {
                all.extend(words(text));
            }
        });
    }
    all
}

fn resource_around(of: Element<'_>) -> Element<'_> {
    let mut at = of;
    while at.resource_type().is_none() {
        let Some(above) = at.parent() else { break };
        at = above;
    }
    at
}
