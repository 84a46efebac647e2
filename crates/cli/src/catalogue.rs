//! Every word that the program says, by key. English here; another language is another file of the same
//! keys, and what it lacks is said in English.

use std::collections::HashMap;
use std::path::Path;

use bridge::Problem;
use bridge::headless::{Family, IssueRecord};

const ENGLISH: &str = include_str!("catalogue/en.txt");

/// Texts of one language.
pub(crate) struct Catalogue {
    texts: HashMap<&'static str, &'static str>,
    /// How the program is called, with the profile that was named: what is proposed can be typed as it is.
    program: String,
}

impl Catalogue {
    /// In the language that the environment asks for, as far as there is one. `profile` is the folder that
    /// was named, if it was.
    pub(crate) fn of_the_environment(profile: Option<&Path>) -> Self {
        let wanted = ["LC_ALL", "LC_MESSAGES", "LANG"]
            .into_iter()
            .filter_map(|name| std::env::var(name).ok())
            .find(|value| !value.is_empty());
        let program = profile.map_or_else(
            || "labcourier".to_owned(),
            |folder| {
                let folder = folder.display().to_string();
                let plain = |c: char| c.is_alphanumeric() || "/\\._-~:".contains(c);
                let quote = if folder.chars().all(plain) { "" } else { "\"" };
                format!("labcourier --profile {quote}{folder}{quote}")
            },
        );
        Self { program, ..Self::of(wanted.as_deref().unwrap_or_default()) }
    }

    /// In the language of a locale name like `de_CH.UTF-8`.
    pub(crate) fn of(locale: &str) -> Self {
        let language = locale.split(['_', '.', '-', '@']).next().unwrap_or_default();
        let mut texts: HashMap<_, _> = entries(ENGLISH).collect();
        if let Some((_, other)) = OTHERS.iter().find(|(code, _)| *code == language) {
            texts.extend(entries(other));
        }
        Self { texts, program: "labcourier".to_owned() }
    }

    /// The text of a key with its parameters; a key without text stands for itself.
    pub(crate) fn text(&self, key: &str, params: &[(&str, &str)]) -> String {
        match self.texts.get(key) {
            Some(text) => self.filled(text, params),
            None => key.to_owned(),
        }
    }

    /// The text of a key without parameters.
    pub(crate) fn say(&self, key: &str) -> String {
        self.text(key, &[])
    }

    /// The word for a code.
    pub(crate) fn word(&self, family: Family, code: &str) -> String {
        let key = format!("{}.{code}", family.code());
        self.texts.get(key.as_str()).map_or_else(|| code.to_owned(), |text| (*text).to_owned())
    }

    /// What a message says: the authority's own words, or ours for our code.
    pub(crate) fn message(&self, issue: &IssueRecord) -> String {
        if let Some(text) = issue.text.as_ref().filter(|text| !text.trim().is_empty()) {
            return text.clone();
        }
        let mut params: Vec<(&str, &str)> =
            issue.params.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let of = |name: &str| issue.params.get(name).map(String::as_str).unwrap_or_default();
        let key = match issue.code.as_str() {
            "not-a-report" if of("kind") == "fhir-other" => "message.not-a-report-fhir".to_owned(),
            code => format!("message.{code}"),
        };
        // Parameters that are codes themselves are said in words.
        let kind = self.word(Family::Kind, of("kind"));
        let nothing = self.say("say.nothing");
        let reason = self.texts.get(format!("archive.{}", of("reason")).as_str());
        for (name, value) in &mut params {
            match *name {
                "kind" => *value = &kind,
                "reason" if issue.code == "archive" => *value = reason.copied().unwrap_or(value),
                "expected" | "found" | "value" if value.is_empty() => *value = &nothing,
                _ => {}
            }
        }
        match self.texts.get(key.as_str()) {
            Some(text) => self.filled(text, &params),
            None => issue.code.clone(),
        }
    }

    /// What a problem says.
    pub(crate) fn problem(&self, problem: &Problem) -> String {
        let of = |name: &str| problem.params.get(name).map(String::as_str).unwrap_or_default();
        let words = [
            ("state", self.word(Family::State, of("state"))),
            ("action", self.word(Family::Action, of("action"))),
            ("kind", self.word(Family::Kind, of("kind"))),
            ("reason", self.reason(of("reason"))),
            ("cause", self.reason(of("cause"))),
            ("aside", self.or_none("say.none-aside", of("aside"))),
        ];
        let params: Vec<(&str, &str)> = problem
            .params
            .iter()
            .map(|(name, value)| {
                let word = words.iter().find(|(known, _)| known == name);
                (name.as_str(), word.map_or(value.as_str(), |(_, word)| word))
            })
            .collect();
        self.text(&format!("problem.{}", variant(problem)), &params)
    }

    /// The words for a reason that is a code; another is shown as it is.
    pub(crate) fn reason(&self, reason: &str) -> String {
        let of = |family| self.texts.get(format!("{family}.{reason}").as_str());
        let text = of("reason").or_else(|| of("archive"));
        text.map_or_else(|| reason.to_owned(), |text| (*text).to_owned())
    }

    /// What is there, or the words for there being nothing.
    fn or_none(&self, key: &str, value: &str) -> String {
        if value.is_empty() { self.say(key) } else { value.to_owned() }
    }

    /// What to do about a problem.
    pub(crate) fn next(&self, problem: &Problem) -> String {
        let params: Vec<(&str, &str)> =
            problem.params.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let own = format!("next.{}", variant(problem));
        match self.texts.get(own.as_str()) {
            Some(text) => self.filled(text, &params),
            None => self.text(&format!("remedy.{}", problem.remedy), &params),
        }
    }
}

impl Catalogue {
    fn filled(&self, text: &str, params: &[(&str, &str)]) -> String {
        let mut all = vec![(PROGRAM, self.program.as_str())];
        all.extend(params);
        filled(text, &all)
    }
}

/// The code of a problem, or the name of its other text where a part of the usual one would stay empty.
fn variant(problem: &Problem) -> &str {
    let of = |name: &str| problem.params.get(name).map(String::as_str);
    match problem.code.as_str() {
        "certificate-needed" if of("endpoints") == Some("") => REPORTS_ONLY,
        code => code,
    }
}

/// A certificate that no endpoint uses any more, and open reports need still.
const REPORTS_ONLY: &str = "certificate-needed-by-reports";

/// Parameter of every text: how the program is called.
const PROGRAM: &str = "labcourier";

/// Other languages: code and texts.
const OTHERS: &[(&str, &str)] = &[("de", include_str!("catalogue/de.txt"))];

/// Keys and texts of a catalogue file.
fn entries(file: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    file.lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(" = "))
        .map(|(key, text)| (key.trim(), text.trim()))
}

/// Puts parameters in; `{count?report|reports}` is the word that goes with a number. What parameters hold is not
/// looked at again, so braces in them stay as they are.
fn filled(text: &str, params: &[(&str, &str)]) -> String {
    let mut shown = String::with_capacity(text.len() + 32);
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        shown.push_str(before);
        let Some((name, after)) = after.split_once('}') else {
            shown.push('{');
            rest = after;
            continue;
        };
        let (name, words) = match name.split_once('?') {
            Some((name, words)) => (name, words.split_once('|')),
            None => (name, None),
        };
        let value = params.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        shown.push_str(match (words, value.unwrap_or_default()) {
            (Some((one, _)), "1") => one,
            (Some((_, many)), _) => many,
            (None, value) => value,
        });
        rest = after;
    }
    shown.push_str(rest);
    shown.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bridge::headless::catalogue;
    use std::collections::BTreeSet;

    fn placeholders(text: &str) -> BTreeSet<&str> {
        let inside = text.split('{').skip(1).filter_map(|part| Some(part.split_once('}')?.0));
        inside.map(|inside| inside.split('?').next().unwrap()).collect()
    }

    #[test]
    fn every_code_has_a_text_that_asks_for_its_own_parameters_only() {
        let texts: HashMap<_, _> = entries(ENGLISH).collect();
        let mut missing = Vec::new();
        for (family, code, params) in catalogue() {
            let key = format!("{}.{code}", family.code());
            match texts.get(key.as_str()) {
                None => missing.push(key),
                Some(text) => {
                    let foreign: Vec<_> = placeholders(text)
                        .into_iter()
                        .filter(|p| *p != PROGRAM && !params.contains(p))
                        .collect();
                    assert!(foreign.is_empty(), "{key} asks for {foreign:?}");
                }
            }
        }
        assert!(missing.is_empty(), "no text for {missing:?}");
        for remedy in bridge::REMEDIES {
            assert!(texts.contains_key(format!("remedy.{remedy}").as_str()), "remedy.{remedy}");
        }
        let english = Catalogue::of("en");
        for reason in bridge::headless::REFUSAL_REASONS {
            assert_ne!(english.reason(reason), *reason, "no text");
        }
    }

    #[test]
    fn every_language_says_the_same_things() {
        let english: HashMap<_, _> = entries(ENGLISH).collect();
        for (language, file) in OTHERS {
            let texts: HashMap<_, _> = entries(file).collect();
            assert_eq!(texts.len(), entries(file).count(), "{language}: a key stands twice");
            let keys = |texts: &HashMap<&'static str, &str>| -> BTreeSet<_> {
                texts.keys().copied().collect()
            };
            let (theirs, ours) = (keys(&texts), keys(&english));
            assert_eq!(
                ours.difference(&theirs).collect::<Vec<_>>(),
                Vec::<&&str>::new(),
                "{language} lacks"
            );
            assert_eq!(
                theirs.difference(&ours).collect::<Vec<_>>(),
                Vec::<&&str>::new(),
                "{language}: of nothing"
            );
            for (key, text) in &texts {
                assert_eq!(placeholders(text), placeholders(english[key]), "{language}: {key}");
            }
        }
        assert_eq!(Catalogue::of("de_CH.UTF-8").say("state.held"), "Angehalten");
    }

    #[test]
    fn no_text_is_left_over_and_none_stands_twice() {
        let known: BTreeSet<String> = catalogue()
            .into_iter()
            .map(|(family, code, _)| format!("{}.{code}", family.code()))
            .collect();
        let mut seen = BTreeSet::new();
        for (key, text) in entries(ENGLISH) {
            assert!(seen.insert(key), "{key} stands twice");
            assert!(!text.is_empty(), "{key} is empty");
            let (family, code) = key.split_once('.').unwrap();
            let listed = match family {
                "message" => known.contains(key) || code == "not-a-report-fhir",
                "problem" | "next" if code == REPORTS_ONLY => true,
                "next" => known.contains(&format!("problem.{code}")),
                "remedy" => bridge::REMEDIES.contains(&code),
                "say" | "label" | "environment" | "vault" | "archive" | "reason" => true,
                _ => known.contains(key),
            };
            assert!(listed, "{key} is the text of nothing");
        }
    }

    #[test]
    fn every_key_that_the_program_says_exists() {
        let texts: HashMap<_, _> = entries(ENGLISH).collect();
        for source in SOURCES {
            for family in ["say.", "label.", "next."] {
                for part in source.split(&format!("\"{family}")).skip(1) {
                    let key = format!("{family}{}", part.split('"').next().unwrap());
                    if !key.contains('{') {
                        assert!(texts.contains_key(key.as_str()), "{key}");
                    }
                }
            }
        }
    }

    const SOURCES: &[&str] = &[
        include_str!("commands.rs"),
        include_str!("commands/export.rs"),
        include_str!("commands/follow.rs"),
        include_str!("commands/journal.rs"),
        include_str!("commands/practice.rs"),
        include_str!("commands/rules.rs"),
        include_str!("commands/search.rs"),
        include_str!("commands/send.rs"),
        include_str!("commands/setup.rs"),
        include_str!("commands/view.rs"),
        include_str!("commands/watch.rs"),
        include_str!("lib.rs"),
        include_str!("output.rs"),
        include_str!("report_lines.rs"),
    ];

    #[test]
    fn a_journal_that_was_not_there_is_not_said_to_be_kept() {
        let params = [
            ("submissions", "1"),
            ("last", "—"),
            ("doubted", "0"),
            ("salvaged", "0"),
            ("lost", "0"),
            ("aside", ""),
        ];
        let problem = Problem::new("journal-from-nothing", &params, "journal");
        let text = Catalogue::of("en").problem(&problem);
        assert!(
            text.contains("(1 report, ") && text.ends_with("is kept: there was nothing"),
            "{text}"
        );
        assert!(Catalogue::of("de").problem(&problem).ends_with("erhalten: es war nichts da"));
    }

    #[test]
    fn parameters_are_put_in_once() {
        assert_eq!(filled("{a} and {b}", &[("a", "{b}"), ("b", "x")]), "{b} and x");
        assert_eq!(filled("no {end", &[("a", "x")]), "no {end");
        let text = "{n} {n?report|reports}";
        assert_eq!(filled(text, &[("n", "1")]), "1 report");
        assert_eq!(filled(text, &[("n", "0")]), "0 reports");
        assert_eq!(filled(text, &[("n", "11")]), "11 reports");
        assert_eq!(Catalogue::of("xx_YY").say("state.held"), "On hold");
    }
}
