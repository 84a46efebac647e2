//! How a report stands on a terminal: number, state, file; below it what was found, each with its
//! place.

use bridge::Opinion;
use bridge::headless::{Family, Fate, IssueRecord, Looked, Record, Standing};
use bridge::{Group, IssueSource, Severity, StateCode};

use crate::catalogue::Catalogue;
use crate::output::{Line, Look, Output};

/// Width of the column with the number.
const NUMBER: usize = 6;
/// Width of the column with the state; the longest English one has 28 letters.
const STATE: usize = 30;
/// Messages shown below one report; the rest is counted.
const MESSAGES_MAX: usize = 20;

/// One report with its messages.
pub(crate) fn report(output: &Output, texts: &Catalogue, record: &Record) {
    if output.json {
        return output.object(&with_texts(output, texts, record));
    }
    output.line(&head(output, texts, record));
    messages(output, texts, &record.issues);
}

/// Which command shows a file: what is advised about known content is what this command can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    Check,
    Send,
    Watch,
}

/// A file after checking or sending. `number`: which of the files it is, counted from 1. It stands
/// for the name where names are not shown and the file is no report, which has no digest.
pub(crate) fn looked(
    output: &Output,
    texts: &Catalogue,
    number: usize,
    looked: &Looked,
    asked: Asked,
) {
    let is_nameless = !output.names.results && looked.record.digest.is_none();
    if output.json {
        let mut record = with_texts(output, texts, &looked.record);
        if is_nameless {
            record.file = number.to_string();
        }
        return output.object(&record);
    }
    let file = if is_nameless {
        texts.text("say.file-number", &[("number", &number.to_string())])
    } else {
        output.name(&looked.file, looked.record.digest.as_deref())
    };
    let word = |key: &str, look| {
        Line::new().column("", NUMBER, Look::Plain).column(&texts.say(key), STATE, look)
    };
    match looked.fate {
        Fate::Taken(_) => return report(output, texts, &looked.record),
        Fate::Ready => output.line(&word("say.ready", Look::Good).add(&*file)),
        Fate::WouldBeHeld => output.line(&word("say.would-hold", Look::Bad).add(&*file)),
        Fate::Refused => output.line(&word("say.refused", Look::Bad).add(&*file)),
        Fate::Failed => output.line(&word("say.not-taken-in", Look::Bad).add(&*file)),
        Fate::Known(id) => {
            output.line(&word("say.known", Look::Careful).add(&*file));
            if let Some(known) = &looked.standing {
                let (id, state) = (id.to_string(), texts.word(Family::State, known.state.code()));
                let params = [("id", &*id), ("state", &state)];
                let text = texts.text(known_key(known, asked), &params);
                output.line(&indented().look(text, Look::Faint));
            }
            return messages(output, texts, &told_again(&looked.record));
        }
    }
    messages(output, texts, &looked.record.issues);
    if let Some(opinion) = &looked.record.validator {
        second_opinion(output, texts, opinion);
    }
}

/// What a validator of the laboratory's choosing says, where that is something else.
fn second_opinion(output: &Output, texts: &Catalogue, opinion: &Opinion) {
    let address = &*opinion.address;
    if let Some(fault) = opinion.fault {
        let reason = texts.say(&format!("opinion.{fault}"));
        let params = [("address", address), ("reason", &*reason)];
        let text = texts.text("say.validator-silent", &params);
        return output.line(&indented().look(text, Look::Careful));
    }
    if opinion.agrees() {
        let text = texts.text("say.validator-agrees", &[("address", address)]);
        return output.line(&indented().look(text, Look::Good));
    }
    for (key, issues) in [
        ("say.validator-only-there", &opinion.only_there),
        ("say.validator-only-here", &opinion.only_here),
    ] {
        if !issues.is_empty() {
            let text = texts.text(key, &[("address", address)]);
            output.line(&indented().look(text, Look::Careful));
            messages(output, texts, issues);
        }
    }
}

/// What is said of known content. Sending it again is proposed only where that makes no second
/// report of one that is on its way or that the authority has by a person's word, beside what has
/// replaced it, or where a correction is wanted.
fn known_key(known: &Standing, asked: Asked) -> &'static str {
    match (known.state, asked) {
        _ if known.open => "say.known-open",
        (StateCode::SaidReceived | StateCode::Superseded, _) | (_, Asked::Watch) => {
            "say.known-plain"
        }
        (state, _) if state.group() == Group::NeedsAttention => "say.known-plain",
        (_, Asked::Check) => "say.known-check",
        (_, Asked::Send) => "say.known-as",
    }
}

/// Messages of a known report: the authority's, and ours while they keep it from being sent.
fn told_again(record: &Record) -> Vec<IssueRecord> {
    let held = record.state == Some(StateCode::Held);
    let mut issues = record.issues.clone();
    issues
        .retain(|issue| held || (record.state.is_some() && issue.source == IssueSource::Authority));
    issues
}

/// Number, state, file.
fn head(output: &Output, texts: &Catalogue, record: &Record) -> Line {
    let state = record.state.map_or("", StateCode::code);
    let number = record.id.map(|id| format!("{id:>4}  ")).unwrap_or_default();
    Line::new()
        .column(&number, NUMBER, Look::Faint)
        .column(&texts.word(Family::State, state), STATE, record.state.map_or(Look::Plain, look_of))
        .add(output.name(&record.file, record.digest.as_deref()))
        .look(destination(texts, record), Look::Faint)
}

/// Where it goes: endpoint and environment, so that nobody takes a test for the real thing.
fn destination(texts: &Catalogue, record: &Record) -> String {
    let (Some(endpoint), Some(environment)) = (&record.endpoint, record.environment) else {
        return String::new();
    };
    format!("  ·  {endpoint} ({})", texts.say(&format!("environment.{}", environment.code())))
}

/// How a state looks; never by colour alone, the word stands there.
pub(crate) fn look_of(state: StateCode) -> Look {
    match (state, state.group()) {
        (StateCode::Unknown, _) => Look::Careful,
        (_, Group::Completed) => Look::Good,
        (_, Group::NeedsAttention) => Look::Bad,
        (_, Group::Closed) => Look::Faint,
        (_, Group::InProgress) => Look::Plain,
    }
}

fn indented() -> Line {
    Line::new().column("", NUMBER, Look::Plain)
}

/// What was found, errors first, each with its place.
pub(crate) fn messages(output: &Output, texts: &Catalogue, issues: &[IssueRecord]) {
    let mut sorted: Vec<_> = issues.iter().collect();
    sorted.sort_by_key(|issue| issue.severity);
    for issue in sorted.iter().take(MESSAGES_MAX) {
        let look = match issue.severity {
            Severity::Error => Look::Bad,
            Severity::Warning => Look::Careful,
            Severity::Information => Look::Faint,
        };
        let severity = texts.say(&format!("say.{}", issue.severity.code()));
        let mut line = indented().column(&severity, 9, look);
        if let Some(rule) = &issue.rule {
            line = line.look(rule, Look::Bold).add("  ");
        }
        if issue.source == IssueSource::Authority {
            line = line.look(texts.say("say.authority-says"), Look::Faint).add(" ");
        }
        output.line(&line.add(said(output, texts, issue)));
        if let Some(place) = place(texts, issue) {
            output.line(&indented().column("", 9, Look::Plain).look(place, Look::Faint));
        }
        if let Some(words) = texts.published(issue) {
            output.line(&indented().column("", 9, Look::Plain).look(words, Look::Faint));
        }
    }
    let more = sorted.len().saturating_sub(MESSAGES_MAX);
    if more > 0 {
        output.line(&indented().look(format!("… {more}"), Look::Faint));
    }
}

/// Where: the element, and line and column in the file.
fn place(texts: &Catalogue, issue: &IssueRecord) -> Option<String> {
    let line = issue.line.map(|line| {
        let (line, column) = (line.to_string(), issue.column.unwrap_or(1).to_string());
        texts.text("say.at-line", &[("line", &line), ("column", &column)])
    });
    let parts: Vec<String> = issue.expression.clone().into_iter().chain(line).collect();
    (!parts.is_empty()).then(|| parts.join("  ·  "))
}

/// What is said of an issue; of another file without its name, where names are not shown.
fn said(output: &Output, texts: &Catalogue, issue: &IssueRecord) -> String {
    if output.names.results || !issue.params.contains_key("file") {
        return texts.message(issue);
    }
    let mut issue = issue.clone();
    issue.params.insert("file".to_owned(), texts.say("say.some-file"));
    texts.message(&issue)
}

/// The record with our own words where the authority has none, as it may be shown: where names are
/// not, its file has none.
pub(crate) fn with_texts(output: &Output, texts: &Catalogue, record: &Record) -> Record {
    let mut record = record.clone();
    if !output.names.results {
        record.file.clear();
    }
    let opinion = record.validator.iter_mut().flat_map(|opinion| &mut opinion.only_here);
    for issue in record.issues.iter_mut().chain(opinion) {
        if issue.text.is_none() {
            issue.text = Some(said(output, texts, issue));
        }
    }
    record
}

/// Reports by the word that they count under, in the order of the first of each.
#[derive(Default)]
pub(crate) struct Counted(Vec<(String, usize)>);

impl Counted {
    /// One more; `word` is a key of the catalogue.
    pub(crate) fn add(&mut self, word: String) {
        match self.0.iter_mut().find(|(known, _)| *known == word) {
            Some((_, number)) => *number += 1,
            None => self.0.push((word, 1)),
        }
    }

    /// "6 reports: 5 completed, 1 failed."
    pub(crate) fn summary(&self, texts: &Catalogue) -> Option<String> {
        let part = |(word, number): &(String, usize)| {
            let number = number.to_string();
            if word == "say.would-hold" {
                return texts.text("say.part-would-hold", &[("count", &number)]);
            }
            let state = uncapitalised(&texts.say(word));
            texts.text("say.part", &[("count", &number), ("state", &state)])
        };
        let parts = self.0.iter().map(part).collect::<Vec<_>>().join(", ");
        let count: usize = self.0.iter().map(|(_, number)| number).sum();
        match count {
            0 => None,
            1 => Some(texts.text("say.summary-one", &[("parts", &parts)])),
            _ => {
                let params = [("count", &*count.to_string()), ("parts", &parts)];
                Some(texts.text("say.summary-many", &params))
            }
        }
    }
}

/// The same of reports that are all there.
pub(crate) fn summary(texts: &Catalogue, words: impl Iterator<Item = String>) -> Option<String> {
    let mut counted = Counted::default();
    words.for_each(|word| counted.add(word));
    counted.summary(texts)
}

/// As it stands within a sentence; German nouns inside keep their capitals.
fn uncapitalised(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or_else(String::new, |first| first.to_lowercase().chain(rest).collect())
}

/// Key of the word that a file counts under.
pub(crate) fn word_of(looked: &Looked) -> String {
    match looked.fate {
        Fate::Ready => "say.ready".to_owned(),
        Fate::WouldBeHeld => "say.would-hold".to_owned(),
        Fate::Refused => "say.refused".to_owned(),
        Fate::Failed => "say.not-taken-in".to_owned(),
        Fate::Known(_) => "say.known".to_owned(),
        Fate::Taken(_) => state_word(&looked.record),
    }
}

/// Key of the word for a report's state.
pub(crate) fn state_word(record: &Record) -> String {
    format!("{}.{}", Family::State.code(), record.state.map_or("", StateCode::code))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(language: &str, words: &[&str]) -> String {
        let words = words.iter().map(|word| (*word).to_owned());
        summary(&Catalogue::of(language), words).unwrap()
    }

    #[test]
    fn a_summary_reads_as_a_sentence_in_each_language() {
        let (held, progress) = ("say.would-hold", "state.in-progress");
        assert_eq!(sum("de", &[progress, progress]), "2 Meldungen: 2 in Bearbeitung.");
        assert_eq!(
            sum("de", &[held, held, "say.ready"]),
            "3 Meldungen: 2 würden angehalten, 1 bereit."
        );
        assert_eq!(sum("de", &[held]), "1 Meldung: 1 würde angehalten.");
        assert_eq!(
            sum("en", &[held, progress]),
            "2 reports: 1 would be held, 1 in progress at the authority."
        );
    }

    #[test]
    fn sending_again_is_advised_only_where_that_is_wanted_and_possible() {
        let known = |state, open| Standing { state, open };
        let advised = |known: &Standing, asked| {
            ["en", "de"].map(|language| {
                Catalogue::of(language).say(known_key(known, asked)).contains("--again")
            })
        };
        let completed = known(StateCode::Completed, false);
        assert_eq!(advised(&completed, Asked::Send), [true; 2]);
        assert_eq!(advised(&completed, Asked::Check), [true; 2]);
        assert_eq!(advised(&completed, Asked::Watch), [false; 2]);
        for state in StateCode::ALL.into_iter().filter(|state| state.is_open()) {
            for asked in [Asked::Check, Asked::Send, Asked::Watch] {
                assert_eq!(advised(&known(state, true), asked), [false; 2]);
            }
        }
        use StateCode::{Failed, Held, Rejected, SaidReceived};
        for state in [Held, Rejected, Failed, SaidReceived] {
            assert_eq!(advised(&known(state, false), Asked::Send), [false; 2]);
        }
    }
}
