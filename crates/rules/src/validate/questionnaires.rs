//! A Questionnaire's conditions, and a QuestionnaireResponse against its Questionnaire where that
//! is at hand: contained, or among the rules in use.

use std::collections::HashMap;

use fhir::{Element, Severity};

use super::{Issue, Run, error, push};
use crate::terminology::Membership;

/// Items in items that are followed; the reader allows 64.
const DEPTH_MAX: usize = 64;

/// Whether a question is asked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    Yes,
    No,
    /// An expression decides that is not looked at here.
    Unknown,
}

/// A response at work.
struct Answers<'r, 't> {
    run: &'r Run<'t>,
    questionnaire: Element<'t>,
    response: Element<'t>,
    /// What is missing is told, but holds nothing.
    is_in_progress: bool,
}

impl<'t> Run<'t> {
    /// Every condition asks a question that there is, and not one inside of itself.
    pub(super) fn questionnaire(of: Element<'t>, issues: &mut Vec<Issue>) {
        conditions(of, of, issues, 0);
    }

    pub(super) fn questionnaire_response(&self, of: Element<'t>, issues: &mut Vec<Issue>) {
        let Some(told) = of.text("questionnaire") else { return };
        let questionnaire = match told.strip_prefix('#') {
            Some(id) => of.all("contained").find(|of| of.text("id") == Some(id)),
            None => self.set.tree(told, 0).map(fhir::Tree::root),
        };
        let is_one = |of: &Element<'_>| of.resource_type() == Some("Questionnaire");
        let Some(questionnaire) = questionnaire.filter(is_one) else { return };
        let is_in_progress = of.text("status") == Some("in-progress");
        let answers = Answers { run: self, questionnaire, response: of, is_in_progress };
        answers.items(questionnaire, of, issues, 0);
    }
}

fn conditions<'t>(all: Element<'t>, of: Element<'t>, issues: &mut Vec<Issue>, depth: usize) {
    for item in of.all("item") {
        for condition in item.all("enableWhen") {
            let Some(link) = condition.text("question") else { continue };
            let found = item_of(all, link, 0);
            let is_own = found.is_some_and(|found| found.is_same_place(item));
            if found.is_none() || is_own || item_of(item, link, 0).is_some() {
                error(issues, condition, "rule-questionnaire-question", &[("value", link)]);
            }
        }
        if depth < DEPTH_MAX {
            conditions(all, item, issues, depth + 1);
        }
    }
}

/// The item of a link, however deep.
fn item_of<'t>(of: Element<'t>, link: &str, depth: usize) -> Option<Element<'t>> {
    of.all("item").find_map(|item| {
        if item.text("linkId") == Some(link) {
            return Some(item);
        }
        (depth < DEPTH_MAX).then(|| item_of(item, link, depth + 1))?
    })
}

impl<'t> Answers<'_, 't> {
    /// The items of a response (or of an answer) against the items that are asked for there.
    fn items(&self, asked: Element<'t>, of: Element<'t>, issues: &mut Vec<Issue>, depth: usize) {
        if depth > DEPTH_MAX {
            return;
        }
        let questions: Vec<Element<'t>> = asked.all("item").collect();
        let mut given: HashMap<usize, Vec<Element<'t>>> = HashMap::new();
        let mut last = 0;
        for item in of.all("item") {
            let Some(link) = item.text("linkId") else { continue };
            let params = [("value", link)];
            let place = questions.iter().position(|of| of.text("linkId") == Some(link));
            let Some(place) = place else {
                match item_of(self.questionnaire, link, 0) {
                    Some(question) => {
                        error(issues, item, "rule-answer-place", &params);
                        self.item(question, item, issues, depth);
                    }
                    None => error(issues, item, "rule-answer-item-unknown", &params),
                }
                continue;
            };
            if place < last {
                error(issues, item, "rule-answer-order", &params);
            }
            last = place;
            if item.child("answer").is_some() || item.child("item").is_some() {
                given.entry(place).or_default().push(item);
            }
        }
        for (place, question) in questions.iter().enumerate() {
            let items = given.remove(&place).unwrap_or_default();
            self.question(*question, of, &items, issues, depth);
        }
    }

    fn question(
        &self,
        question: Element<'t>,
        owner: Element<'t>,
        items: &[Element<'t>],
        issues: &mut Vec<Issue>,
        depth: usize,
    ) {
        let asked = self.is_asked(question);
        let link = question.text("linkId").unwrap_or_default();
        let params = [("value", link)];
        if items.is_empty() {
            if asked == Asked::Yes && is_true(question, "required") {
                self.missing(owner, link, issues);
            }
            return;
        }
        for item in items.iter().filter(|_| asked == Asked::No) {
            error(issues, *item, "rule-answer-not-enabled", &params);
        }
        if let Some(second) = items.get(1).filter(|_| !is_true(question, "repeats")) {
            error(issues, *second, "rule-answer-repeats", &params);
        }
        for item in items {
            self.item(question, *item, issues, depth);
        }
    }

    fn missing(&self, of: Element<'t>, link: &str, issues: &mut Vec<Issue>) {
        let severity = if self.is_in_progress { Severity::Warning } else { Severity::Error };
        push(issues, of, "rule-answer-missing", severity, &[("value", link)]);
    }

    fn item(
        &self,
        question: Element<'t>,
        item: Element<'t>,
        issues: &mut Vec<Issue>,
        depth: usize,
    ) {
        let link = question.text("linkId").unwrap_or_default();
        let kind = question.text("type").unwrap_or_default();
        let (expected, found) = (question.text("text").unwrap_or_default(), item.text("text"));
        if let Some(found) = found.filter(|found| !found.is_empty() && *found != expected) {
            let params = [("expected", expected), ("found", found)];
            error(issues, item, "rule-answer-text", &params);
        }
        let answers: Vec<Element<'t>> = item.all("answer").collect();
        let is_owed = is_true(question, "required") && kind != "group";
        if answers.is_empty() && is_owed && self.is_asked(question) == Asked::Yes {
            self.missing(item, link, issues);
        }
        if let Some(second) = answers.get(1).filter(|_| !is_true(question, "repeats")) {
            error(issues, *second, "rule-answer-repeats", &[("value", link)]);
        }
        for answer in &answers {
            self.answer(question, *answer, kind, issues);
            if kind != "group" {
                self.items(question, *answer, issues, depth + 1);
            }
        }
        if kind == "group" {
            self.items(question, item, issues, depth + 1);
        } else if item.child("item").is_some() {
            error(issues, item, "rule-answer-group", &[("value", link)]);
        }
    }

    fn answer(
        &self,
        question: Element<'t>,
        answer: Element<'t>,
        kind: &str,
        issues: &mut Vec<Issue>,
    ) {
        let link = question.text("linkId").unwrap_or_default();
        if kind == "group" {
            return error(issues, answer, "rule-answer-group", &[("value", link)]);
        }
        let Some(value) = answer.choice("value") else { return };
        let expected: &[&str] = match kind {
            "string" | "text" => &["string"],
            "url" => &["uri"],
            "attachment" => &["Attachment"],
            "reference" => &["Reference"],
            "quantity" => &["Quantity"],
            "choice" | "open-choice" => &["Coding", "date", "time", "integer", "string"],
            "boolean" | "decimal" | "integer" | "date" | "dateTime" | "time" => &[kind],
            _ => return,
        };
        let found = value.type_name();
        if !expected.contains(&found) {
            let params = [("expected", &*expected.join(", ")), ("found", found)];
            return error(issues, value, "rule-answer-type", &params);
        }
        let is_free = kind == "open-choice" && found == "string";
        if matches!(kind, "choice" | "open-choice") && !is_free && !self.is_option(question, value)
        {
            let shown = match found {
                "Coding" => value.text("code").unwrap_or_default(),
                _ => value.value().unwrap_or_default(),
            };
            error(issues, value, "rule-answer-option", &[("value", shown)]);
        }
    }

    /// Whether an answer is one of those that may be chosen; where none are told, it is.
    fn is_option(&self, question: Element<'t>, value: Element<'t>) -> bool {
        let mut options = question.all("answerOption").filter_map(|of| of.choice("value"));
        if question.child("answerOption").is_some() {
            return options.any(|option| is_same(option, value));
        }
        let set = question.text("answerValueSet").filter(|set| !set.starts_with('#'));
        let is_coding = value.type_name() == "Coding";
        set.filter(|_| is_coding)
            .is_none_or(|set| self.run.member(value, set, 0) != Some(Membership::Out))
    }

    /// Whether the conditions of a question hold.
    fn is_asked(&self, question: Element<'t>) -> Asked {
        let mut conditions = question.all("enableWhen").peekable();
        let is_expression = question.all("extension").any(|of| {
            of.text("url").is_some_and(|url| url.ends_with("questionnaire-enableWhenExpression"))
        });
        if is_expression {
            return Asked::Unknown;
        }
        if conditions.peek().is_none() {
            return Asked::Yes;
        }
        let holds = |condition: Element<'t>| self.holds(condition);
        let is_asked = match question.text("enableBehavior") {
            Some("any") => conditions.any(holds),
            _ => conditions.all(holds),
        };
        if is_asked { Asked::Yes } else { Asked::No }
    }

    fn holds(&self, condition: Element<'t>) -> bool {
        let mut given = Vec::new();
        let link = condition.text("question").unwrap_or_default();
        answers_to(self.response, link, &mut given, 0);
        let Some(expected) = condition.choice("answer") else { return true };
        let operator = condition.text("operator").unwrap_or_default();
        if operator == "exists" {
            return given.is_empty() != (expected.value() == Some("true"));
        }
        given.iter().any(|value| {
            let order = compared(*value, expected);
            match operator {
                "=" => is_same(expected, *value),
                "!=" => !is_same(expected, *value),
                ">" => order.is_some_and(std::cmp::Ordering::is_gt),
                "<" => order.is_some_and(std::cmp::Ordering::is_lt),
                ">=" => order.is_some_and(std::cmp::Ordering::is_ge),
                "<=" => order.is_some_and(std::cmp::Ordering::is_le),
                _ => true,
            }
        })
    }
}

fn is_true(of: Element<'_>, name: &str) -> bool {
    of.text(name) == Some("true")
}

/// The same code, or the same value.
fn is_same(expected: Element<'_>, found: Element<'_>) -> bool {
    if expected.type_name() != found.type_name() {
        return false;
    }
    match expected.type_name() {
        "Coding" => ["system", "code"].iter().all(|part| expected.text(part) == found.text(part)),
        "Quantity" => compared(found, expected).is_some_and(std::cmp::Ordering::is_eq),
        _ => expected.value() == found.value(),
    }
}

/// Numbers by their value, dates and times as they are written.
fn compared(found: Element<'_>, expected: Element<'_>) -> Option<std::cmp::Ordering> {
    let value = |of: Element<'_>| match of.type_name() {
        "Quantity" => of.text("value").map(str::to_owned),
        _ => of.value().map(str::to_owned),
    };
    let (found, expected) = (value(found)?, value(expected)?);
    match (found.parse::<f64>(), expected.parse::<f64>()) {
        (Ok(found), Ok(expected)) => found.partial_cmp(&expected),
        _ => Some(found.cmp(&expected)),
    }
}

/// Every answer to a question, wherever it was asked.
fn answers_to<'t>(of: Element<'t>, link: &str, given: &mut Vec<Element<'t>>, depth: usize) {
    if depth > DEPTH_MAX * 2 {
        return;
    }
    for item in of.all("item") {
        let answers = item.all("answer");
        if item.text("linkId") == Some(link) {
            given.extend(answers.filter_map(|of| of.choice("value")));
        }
        item.all("answer").for_each(|answer| answers_to(answer, link, given, depth + 1));
        answers_to(item, link, given, depth + 1);
    }
}
