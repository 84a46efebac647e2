//! Every word that the program says, by id. What the core says by code is in the catalogue that the
//! window reads too (`texts`); what only this program says, and what it proposes to type, is in the
//! files beside this one.

use std::path::Path;

use bridge::headless::{
    DOCUMENT_CODES, EVENTS, Family, IssueRecord, MESSAGE_CODES, Moment, REFUSAL_REASONS, RULE_CODES,
};
use bridge::{OPINION_FAULTS, PROBLEMS, Problem, REMEDIES};
use texts::{CATALOGUE, Catalogue as Texts, Language};

/// What only this program says.
const OWN: Texts = Texts::new(include!(concat!(env!("OUT_DIR"), "/texts.rs")));

/// Texts of one language.
pub(crate) struct Catalogue {
    language: Language,
    /// How the program is called, with the profile that was named: what is proposed can be typed as
    /// it is.
    program: String,
}

impl Catalogue {
    /// In the language that the environment asks for, as far as there is one. `profile` is the
    /// folder that was named, if it was.
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
        Self { language: Language::of_locale(locale), program: "labcourier".to_owned() }
    }

    /// The language of the texts.
    pub(crate) fn language(&self) -> Language {
        self.language
    }

    /// The text of an id with its parameters; an id without text stands for itself.
    pub(crate) fn text(&self, id: &str, params: &[(&str, &str)]) -> String {
        self.known(id, params).unwrap_or_else(|| id.to_owned())
    }

    /// The text of an id without parameters.
    pub(crate) fn say(&self, id: &str) -> String {
        self.text(id, &[])
    }

    /// The word for a code.
    pub(crate) fn word(&self, family: Family, code: &str) -> String {
        self.word_of(family.code(), code)
    }

    /// The word for a value of a parameter that is a code; another is shown as it is.
    fn word_of(&self, family: &str, value: &str) -> String {
        self.known(&format!("{family}.{value}"), &[]).unwrap_or_else(|| value.to_owned())
    }

    /// What a message says: the authority's own words, else ours for the rule, else for our code.
    pub(crate) fn message(&self, issue: &IssueRecord) -> String {
        if let Some(text) = issue.text.as_ref().filter(|text| !text.trim().is_empty()) {
            return text.clone();
        }
        if let Some(sentence) = self.of_named_rule(issue) {
            return sentence;
        }
        let worded: Vec<(&str, String)> = issue
            .params
            .iter()
            .map(|(name, value)| match name.as_str() {
                "expected" | "found" | "value" if value.is_empty() => {
                    (&**name, self.say("say.nothing"))
                }
                "kind" | "reason" => (&**name, self.word_of(name, value)),
                "element" if is_about_elements(&issue.code) => (&**name, self.element(value)),
                name => (name, value.clone()),
            })
            .collect();
        // What would quote what is not there at all has a sentence of its own.
        let none = issue.params.get("found").filter(|found| found.is_empty()).map(|_| ".none");
        let of = |end| self.known(&format!("finding.{}{end}", issue.code), &borrowed(&worded));
        none.and_then(of).or_else(|| of("")).unwrap_or_else(|| issue.code.clone())
    }

    /// Our sentence for a rule of a package that is not met, where it is one that we know.
    fn of_named_rule(&self, issue: &IssueRecord) -> Option<String> {
        let rule = issue.rule.as_ref().filter(|_| BROKEN_RULE.contains(&&*issue.code))?;
        let family = VARIANTS.iter().find_map(|variant| rule.strip_suffix(variant));
        self.known(&format!("named.{}", family.unwrap_or(rule)), &[])
    }

    /// The words of the rule as they were published, where [`Self::message`] says it in ours.
    pub(crate) fn published(&self, issue: &IssueRecord) -> Option<String> {
        let is_said = issue.text.as_ref().is_some_and(|text| !text.trim().is_empty());
        let words =
            issue.params.get("text").filter(|words| !words.trim().is_empty() && !is_said)?;
        self.of_named_rule(issue).map(|_| words.clone())
    }

    /// `family`, `value[x]` or `identifier:AHV` (a slice) in people's words, with FHIR's name of
    /// it: whoever reads this on a terminal may be the one who writes the file.
    fn element(&self, element: &str) -> String {
        let plain = element.replace("[x]", "");
        let (name, slice) = plain.split_once(':').unwrap_or((&plain, ""));
        // A type of a choice is its slice: what stands there is called by that.
        let of_type = slice.starts_with(name).then(|| self.known(&format!("element.{slice}"), &[]));
        match of_type.flatten().or_else(|| self.known(&format!("element.{name}"), &[])) {
            Some(known) => format!("{known} ({element})"),
            None => element.to_owned(),
        }
    }

    /// What a problem says: what is wrong, and what more there is to say about it.
    pub(crate) fn problem(&self, problem: &Problem) -> String {
        let worded: Vec<(&str, String)> = problem
            .params
            .iter()
            .map(|(name, value)| match name.as_str() {
                "aside" if value.is_empty() => (&**name, self.say("say.none-aside")),
                "last" if value.is_empty() => (&**name, "—".to_owned()),
                "state" | "action" | "kind" | "environment" | "reason" => {
                    (&**name, self.word_of(name, value))
                }
                "cause" => (&**name, self.reason(value)),
                name => (name, value.clone()),
            })
            .collect();
        let (params, id) = (borrowed(&worded), format!("problem.{}", variant(problem)));
        let title = self.text(&id, &params);
        let id = format!("{id}.more");
        let Some(more) = self.known(&id, &params) else { return title };
        // A bare detail belongs to the title; a sentence stands beside it.
        if CATALOGUE.text(self.language, &id).is_some_and(|text| text.starts_with('{')) {
            return self.with_detail(&title, &more);
        }
        let end = if title.ends_with('.') { "" } else { "." };
        format!("{title}{end} {more}")
    }

    /// The words for a reason that is a code; another is shown as it is.
    pub(crate) fn reason(&self, reason: &str) -> String {
        self.word_of("reason", reason)
    }

    /// A line of a timeline.
    pub(crate) fn event(&self, moment: &Moment) -> String {
        let text = self.say(&format!("event.{}", moment.event));
        let Some((name, value)) = moment.params.iter().find(|(_, value)| !value.is_empty()) else {
            return text;
        };
        match name.as_str() {
            "why" => self.with_detail(&text, &self.word_of("problem", value)),
            _ => self.with_detail(&text, value),
        }
    }

    fn with_detail(&self, text: &str, detail: &str) -> String {
        self.text("say.with-detail", &[("text", text), ("detail", detail)])
    }

    /// What to do about a problem.
    pub(crate) fn next(&self, problem: &Problem) -> String {
        let params: Vec<(&str, &str)> =
            problem.params.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.known(&format!("next.{}", variant(problem)), &params)
            .unwrap_or_else(|| self.text(&format!("remedy.{}", problem.remedy), &params))
    }

    /// The text of an id, if there is one.
    fn known(&self, id: &str, params: &[(&str, &str)]) -> Option<String> {
        let text = OWN.text(self.language, id).or_else(|| CATALOGUE.text(self.language, id))?;
        let mut all = vec![(PROGRAM, self.program.as_str())];
        all.extend(params);
        Some(self.language.filled(text, &all).trim_end().to_owned())
    }
}

fn borrowed<'a>(params: &'a [(&'a str, String)]) -> Vec<(&'a str, &'a str)> {
    params.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

/// The code of a problem, or the name of its other text where a part of the usual one would stay
/// empty.
fn variant(problem: &Problem) -> &str {
    let of = |name: &str| problem.params.get(name).map(String::as_str);
    match problem.code.as_str() {
        "certificate-needed" if of("endpoints") == Some("") => REPORTS_ONLY,
        code => code,
    }
}

/// A certificate that no endpoint uses any more, and open reports need still.
const REPORTS_ONLY: &str = "certificate-needed-by-reports";

/// Codes by which a rule of a package is reported that is not met.
const BROKEN_RULE: [&str; 3] =
    ["rule-invariant", "rule-invariant-not-evaluated", "rule-extension-context-rule"];

/// Rules that differ only in the code system that they look at are one rule to a person.
const VARIANTS: [&str; 2] = ["-loinc", "-snomedct"];

/// Parameter of every text: how the program is called.
const PROGRAM: &str = "labcourier";

/// Compiled only where every code has its text; the build of the texts sees to it in all languages.
const _: () = {
    let mut at = 0;
    while at < MESSAGE_CODES.len() {
        CATALOGUE.must_have_each("finding", MESSAGE_CODES[at]);
        at += 1;
    }
    at = 0;
    while at < DOCUMENT_CODES.len() {
        CATALOGUE.must_help_each("finding", DOCUMENT_CODES[at]);
        at += 1;
    }
    at = 0;
    while at < PROBLEMS.len() {
        CATALOGUE.must_have("problem", &[PROBLEMS[at].code]);
        at += 1;
    }
    CATALOGUE.must_have_each("event", EVENTS);
    CATALOGUE.must_have("reason", REFUSAL_REASONS);
    CATALOGUE.must_have("opinion", OPINION_FAULTS);
    CATALOGUE.must_have("kind", Family::Kind.bare());
    CATALOGUE.must_have("state", Family::State.bare());
    CATALOGUE.must_have("state-meaning", Family::State.bare());
    CATALOGUE.must_have("layer", Family::Layer.bare());
    OWN.must_have("action", Family::Action.bare());
    OWN.must_have("flaw", Family::Flaw.bare());
    OWN.must_have("remedy", REMEDIES);
};

/// Codes about an element and not about how it is written: those of the authority's rules, and some
/// of the base check.
fn is_about_elements(code: &str) -> bool {
    let of_the_base_check = [
        "missing-element",
        "too-many",
        "empty-value",
        "empty-element",
        "invalid-value",
        "control-character",
        "code-not-allowed",
    ];
    RULE_CODES.iter().any(|(of, _)| *of == code) || of_the_base_check.contains(&code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_ask_for_the_parameters_of_their_code_only() {
        let messages = MESSAGE_CODES.iter().copied().flatten().map(|of| ("finding", of.0, of.1));
        let problems = PROBLEMS.iter().map(|of| ("problem", of.code, of.params));
        for (family, code, params) in messages.chain(problems) {
            for id in [format!("{family}.{code}"), format!("{family}.{code}.more")] {
                assert_eq!(CATALOGUE.foreign(&id, params), Vec::<String>::new(), "{id}");
            }
            let params = [params, &[PROGRAM]].concat();
            let next = format!("next.{code}");
            assert_eq!(OWN.foreign(&next, &params), Vec::<String>::new(), "{next}");
        }
        for (code, _) in EVENTS {
            assert_eq!(CATALOGUE.foreign(&format!("event.{code}"), &[]), Vec::<String>::new());
        }
    }

    #[test]
    fn no_text_is_left_over() {
        let is_problem =
            |code: &str| code == REPORTS_ONLY || PROBLEMS.iter().any(|of| of.code == code);
        for id in OWN.ids() {
            let (family, code) = id.split_once('.').unwrap();
            let listed = match family {
                "next" => is_problem(code),
                "remedy" => REMEDIES.contains(&code),
                "action" => Family::Action.bare().contains(&code),
                "flaw" => Family::Flaw.bare().contains(&code),
                family => ["say", "label", "environment", "vault"].contains(&family),
            };
            assert!(listed, "{id} is the text of nothing");
        }
        let messages = || MESSAGE_CODES.iter().copied().flatten();
        for id in CATALOGUE.ids() {
            let (family, code) = id.split_once('.').unwrap();
            let code = code.trim_end_matches(".more").trim_end_matches(".none");
            let listed = match family {
                "finding" => messages().any(|of| of.0 == code),
                "problem" => code == "window-fault" || is_problem(code),
                "event" => EVENTS.iter().any(|of| of.0 == code),
                "change" => bridge::headless::CHANGES.iter().any(|of| of.0 == code),
                "state" | "state-meaning" => Family::State.bare().contains(&code),
                "layer" => Family::Layer.bare().contains(&code),
                "opinion" => OPINION_FAULTS.contains(&code),
                // Names of FHIR's elements; any may be named.
                "element" => true,
                "statement" => bridge::STATEMENT_TEXTS.iter().any(|of| of.0 == code),
                "support-file" => bridge::SUPPORT_FILES.contains(&code),
                "support-summary" => bridge::SUPPORT_TEXTS.iter().any(|of| of.0 == code),
                "notification" => bridge::NOTIFICATIONS.iter().any(|of| of.0 == code),
                // The desktop app lists what its icon and dialogs say, where it is built.
                "tray" | "choose" => true,
                "kind" => code == "unknown" || Family::Kind.bare().contains(&code),
                // The sentence of a rule that has a name, and why something is as it is.
                family => ["named", "reason"].contains(&family),
            };
            assert!(listed, "{id} is the text of nothing");
        }
    }

    #[test]
    fn every_key_that_the_program_says_exists() {
        for source in SOURCES {
            for family in ["say.", "label.", "next."] {
                for part in source.split(&format!("\"{family}")).skip(1) {
                    let key = format!("{family}{}", part.split('"').next().unwrap());
                    if !key.contains('{') {
                        assert!(OWN.ids().any(|id| id == key), "{key}");
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
        include_str!("commands/statement.rs"),
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
            ("last", ""),
            ("doubted", "0"),
            ("salvaged", "0"),
            ("lost", "0"),
            ("aside", ""),
        ];
        let problem = Problem::new("journal-from-nothing", &params, "journal");
        let of = |language| Catalogue::of(language).problem(&problem);
        assert!(of("en").contains("It has 1 report, the last entry is of —."), "{}", of("en"));
        assert!(of("en").ends_with("are kept: there was nothing"), "{}", of("en"));
        assert!(of("de").ends_with("erhalten: es war nichts da"), "{}", of("de"));
    }

    #[test]
    fn a_problem_is_its_title_with_a_detail_or_a_sentence_beside_it() {
        let of = |language, code, params: &[(&str, &str)]| {
            Catalogue::of(language).problem(&Problem::new(code, params, "test"))
        };
        let (dns, host) = ("dns", [("host", "elm.example.org")]);
        assert_eq!(of("en", dns, &host), "The name of the server is not known: elm.example.org");
        assert_eq!(
            of("fr", dns, &host),
            "Le nom du serveur n’est pas connu\u{a0}: elm.example.org"
        );
        assert_eq!(
            of("en", "tls-server-untrusted", &[("reason", "expired")]),
            "The certificate of the server is not trusted. Reason: it has expired. Nothing was \
             sent."
        );
        let needed = [("endpoints", ""), ("open", "1")];
        assert!(of("it", "certificate-needed", &needed).contains("inviata 1 dichiarazione aperta"));
    }

    #[test]
    fn a_named_rule_is_told_in_every_language_and_its_own_words_stand_beside() {
        let words = "The AHV number must be 13 characters";
        let broken = |rule: &str| IssueRecord {
            severity: bridge::Severity::Error,
            code: "rule-invariant".to_owned(),
            rule: Some(rule.to_owned()),
            text: None,
            expression: None,
            line: None,
            column: None,
            source: bridge::IssueSource::Rules,
            suggestion: None,
            params: [("text".to_owned(), words.to_owned())].into(),
        };
        for rule in ["ahvn13-length", "ch-elm-leading-code-loinc"] {
            for language in ["en", "de", "fr", "it"] {
                let (texts, issue) = (Catalogue::of(language), broken(rule));
                assert!(!texts.message(&issue).contains(words), "{language} {rule}");
                assert_eq!(texts.published(&issue).as_deref(), Some(words));
            }
        }
        let (texts, issue) = (Catalogue::of("de"), broken("of-nobody-we-know"));
        assert!(texts.message(&issue).contains(words));
        assert_eq!(texts.published(&issue), None);
    }

    #[test]
    fn an_element_is_named_in_words_and_as_fhir_has_it() {
        let of = |language, element| Catalogue::of(language).element(element);
        assert_eq!(of("en", "family"), "Family name (family)");
        assert_eq!(of("de", "identifier:AHVN13"), "Kennung (identifier:AHVN13)");
        assert_eq!(of("fr", "value[x]"), "Valeur (value[x])");
        assert_eq!(of("it", "udiCarrier"), "udiCarrier");
    }

    #[test]
    fn a_moment_of_a_timeline_tells_its_detail_in_words() {
        let moment = |event, name: &str, value: &str| Moment {
            at: String::new(),
            event,
            params: vec![(name.to_owned(), value.to_owned())],
            by: String::new(),
        };
        let english = Catalogue::of("C.UTF-8");
        assert_eq!(
            english.event(&moment("deferred", "why", "timeout")),
            "Not received by the authority; it is tried again: The authority did not answer in time"
        );
        assert_eq!(english.event(&moment("withdrawn", "reason", "{text}")), "Withdrawn: {text}");
        assert_eq!(Catalogue::of("xx_YY").say("state.held"), "On hold");
        assert_eq!(Catalogue::of("de_CH.UTF-8").say("state.held"), "Angehalten");
    }
}
