//! A Questionnaire's conditions, and a QuestionnaireResponse against its Questionnaire where that
//! is at hand: contained, or among the rules in use.

use std::cmp::Ordering;
use std::collections::HashMap;

use fhir::{Element, Severity};
use fhirpath::{Context, Expression, Item};

use super::answers::{compared, is_expected, is_same, limits};
use super::{Issue, Run, error, push};
use crate::terminology::Membership;

/// Items in items that are followed; the reader allows 64.
const DEPTH_MAX: usize = 64;

/// Extensions whose expression says whether a question is asked: of FHIR's structured data capture,
/// and the Finnish one that HL7's validator knows too.
const ENABLE_WHEN: [&str; 2] = [
    "http://hl7.org/fhir/uv/sdc/StructureDefinition/sdc-questionnaire-enableWhenExpression",
    "http://phr.kanta.fi/StructureDefinition/fiphr-ext-questionnaire-enablewhen",
];

/// An answer that may not stand beside others.
const EXCLUSIVE: &str = "http://hl7.org/fhir/StructureDefinition/questionnaire-optionExclusive";

/// Whether a question is asked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    Yes,
    No,
    /// An expression decides that cannot be evaluated here.
    Unknown,
}

/// An item of a response with its question, inside of others.
#[derive(Clone, Copy)]
struct Inside<'i, 't> {
    question: Element<'t>,
    item: Element<'t>,
    around: Option<&'i Inside<'i, 't>>,
}

/// A response at work.
struct Answers<'r, 't> {
    run: &'r Run<'t>,
    questionnaire: Element<'t>,
    response: Element<'t>,
    /// Of one that is not, what is missing is told, but holds nothing.
    is_complete: bool,
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
        let is_complete = matches!(of.text("status"), Some("completed" | "amended"));
        let answers = Answers { run: self, questionnaire, response: of, is_complete };
        answers.items(questionnaire, of, None, issues);
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

type Around<'i, 't> = Option<&'i Inside<'i, 't>>;

impl<'t> Answers<'_, 't> {
    /// The items of a response (or of an answer) against the items that are asked for there.
    fn items(
        &self,
        asked: Element<'t>,
        of: Element<'t>,
        around: Around<'_, 't>,
        issues: &mut Vec<Issue>,
    ) {
        if depth_of(around) > DEPTH_MAX {
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
                        self.item(question, item, around, issues);
                    }
                    None => error(issues, item, "rule-answer-item-unknown", &params),
                }
                continue;
            };
            if place < last {
                error(issues, item, "rule-answer-order", &params);
            }
            last = place;
            given.entry(place).or_default().push(item);
        }
        for (place, question) in questions.iter().enumerate() {
            let items = given.remove(&place).unwrap_or_default();
            self.question(*question, of, &items, around, issues);
        }
    }

    fn question(
        &self,
        question: Element<'t>,
        owner: Element<'t>,
        items: &[Element<'t>],
        around: Around<'_, 't>,
        issues: &mut Vec<Issue>,
    ) {
        let asked = self.is_asked(question, around);
        let link = question.text("linkId").unwrap_or_default();
        let params = [("value", link)];
        if items.is_empty() {
            if asked == Asked::Yes && is_true(question, "required") {
                self.missing(owner, link, issues);
            }
            return;
        }
        // An item with nothing in it may stand there for a question that is not asked.
        let is_given =
            |of: &&Element<'t>| of.child("answer").is_some() || of.child("item").is_some();
        for item in items.iter().filter(is_given).filter(|_| asked == Asked::No) {
            error(issues, *item, "rule-answer-not-enabled", &params);
        }
        if let Some(second) = items.get(1).filter(|_| !is_true(question, "repeats")) {
            error(issues, *second, "rule-answer-repeats", &params);
        }
        for item in items {
            self.item(question, *item, around, issues);
        }
    }

    fn missing(&self, of: Element<'t>, link: &str, issues: &mut Vec<Issue>) {
        let severity = if self.is_complete { Severity::Error } else { Severity::Warning };
        push(issues, of, "rule-answer-missing", severity, &[("value", link)]);
    }

    fn item(
        &self,
        question: Element<'t>,
        item: Element<'t>,
        around: Around<'_, 't>,
        issues: &mut Vec<Issue>,
    ) {
        let link = question.text("linkId").unwrap_or_default();
        let kind = question.text("type").unwrap_or_default();
        let (expected, found) = (question.text("text").unwrap_or_default(), item.text("text"));
        if let Some(found) = found.filter(|found| !found.is_empty() && *found != expected) {
            let params = [("expected", expected), ("found", found)];
            error(issues, item, "rule-answer-text", &params);
        }
        let answers: Vec<Element<'t>> = item.all("answer").collect();
        let is_owed = is_true(question, "required") && item.child("answer").is_none();
        let is_empty = kind != "group" || item.child("item").is_none();
        if is_owed && is_empty && self.is_asked(question, around) == Asked::Yes {
            self.missing(item, link, issues);
        }
        if let Some(second) = answers.get(1).filter(|_| !is_true(question, "repeats")) {
            error(issues, *second, "rule-answer-repeats", &[("value", link)]);
        }
        let here = Inside { question, item, around };
        for answer in &answers {
            self.answer(question, *answer, kind, issues);
            if kind != "group" {
                self.items(question, *answer, Some(&here), issues);
            }
        }
        alone(question, &answers, issues);
        if kind == "group" {
            self.items(question, item, Some(&here), issues);
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
        if matches!(kind, "group" | "display") {
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
        limits(question, kind, value, issues);
        let is_free = match kind {
            "choice" => false,
            "open-choice" => found == "string",
            "string" | "integer" | "decimal" | "date" | "dateTime" | "time" => {
                question.child("answerOption").is_none()
            }
            _ => true,
        };
        if !is_free && !self.is_option(question, value) {
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
            // A moment may be one of the dates, and a decimal one of the integers.
            let is_plain = matches!(value.type_name(), "decimal" | "dateTime");
            let is_equal = |of: Element<'t>| of.value().is_some() && of.value() == value.value();
            return options.any(|of| is_same(of, value) || (is_plain && is_equal(of)));
        }
        let Some(told) = question.text("answerValueSet") else { return true };
        // `#id` is contained in the Questionnaire.
        let url = self.questionnaire.text("url").unwrap_or_default();
        let set = if told.starts_with('#') { format!("{url}{told}") } else { told.to_owned() };
        let is_coding = value.type_name() == "Coding";
        !is_coding || self.run.member(value, &set, 0) != Some(Membership::Out)
    }

    /// Whether the conditions of a question hold.
    fn is_asked(&self, question: Element<'t>, around: Around<'_, 't>) -> Asked {
        if let Some(told) = ENABLE_WHEN.iter().find_map(|url| question.extension(url)) {
            return self.is_asked_by(told);
        }
        let conditions: Vec<Element<'t>> = question.all("enableWhen").collect();
        let holds = |condition: &Element<'t>| self.holds(question, *condition, around);
        let is_asked = match (&conditions[..], question.text("enableBehavior")) {
            ([], _) => true,
            ([only], _) => holds(only),
            (all, Some("any")) => all.iter().any(holds),
            (all, Some("all")) => all.iter().all(holds),
            // Nobody says which of them must hold.
            _ => true,
        };
        if is_asked { Asked::Yes } else { Asked::No }
    }

    /// Whether an expression over the response says that a question is asked.
    fn is_asked_by(&self, told: Element<'t>) -> Asked {
        let Some(value) = told.choice("value") else { return Asked::Unknown };
        let is_path = value.text("language").is_none_or(|of| of == "text/fhirpath");
        let text = value.value().or_else(|| value.text("expression").filter(|_| is_path));
        let Some(expression) = text.and_then(|text| Expression::parse(text).ok()) else {
            return Asked::Unknown;
        };
        let response = self.response;
        let context = Context::new(self.run.now).within(response, response);
        match expression.holds(&context, &[Item::Element(response)]) {
            Ok(true) => Asked::Yes,
            Ok(false) => Asked::No,
            Err(_) => Asked::Unknown,
        }
    }

    fn holds(&self, question: Element<'t>, condition: Element<'t>, around: Around<'_, 't>) -> bool {
        let link = condition.text("question").unwrap_or_default();
        let given = self.answers_to(link, question, around);
        let Some(expected) = condition.choice("answer") else { return true };
        let operator = condition.text("operator").unwrap_or_default();
        if operator == "exists" {
            return given.is_empty() != (expected.value() == Some("true"));
        }
        given.iter().any(|value| {
            let order = compared(*value, expected);
            match operator {
                "=" => is_expected(expected, *value),
                "!=" => !is_expected(expected, *value),
                ">" => order.is_some_and(Ordering::is_gt),
                "<" => order.is_some_and(Ordering::is_lt),
                ">=" => order.is_some_and(Ordering::is_ge),
                "<=" => order.is_some_and(Ordering::is_le),
                _ => true,
            }
        })
    }

    /// The answers to another question that count for this one: in a group that repeats, those of
    /// the same repetition.
    fn answers_to(
        &self,
        link: &str,
        question: Element<'t>,
        around: Around<'_, 't>,
    ) -> Vec<Element<'t>> {
        let mut given = Vec::new();
        let Some(group) = common_group(question, link) else {
            answers_below(self.response, link, &mut given, 0);
            return given;
        };
        let mut at = around;
        while let Some(here) = at {
            if here.question.is_same_place(group) {
                answers_below(here.item, link, &mut given, 0);
                own_answers(here.item, link, &mut given);
                break;
            }
            at = here.around;
        }
        given
    }
}

fn depth_of(around: Around<'_, '_>) -> usize {
    std::iter::successors(around, |of| of.around).count()
}

/// The nearest item around a question that also has another one in it.
fn common_group<'t>(question: Element<'t>, link: &str) -> Option<Element<'t>> {
    let mut at = question;
    loop {
        if at.name() != "item" {
            return None;
        }
        if at.text("linkId") == Some(link) || item_of(at, link, 0).is_some() {
            return Some(at);
        }
        at = at.parent()?;
    }
}

/// An option that excludes all others is the only answer.
fn alone<'t>(question: Element<'t>, answers: &[Element<'t>], issues: &mut Vec<Issue>) {
    let link = question.text("linkId").unwrap_or_default();
    let is_exclusive = |of: &Element<'t>| {
        let told = of.extension(EXCLUSIVE).and_then(|told| told.choice("value"));
        told.is_some_and(|told| told.value() == Some("true"))
    };
    let exclusive: Vec<Element<'t>> = question
        .all("answerOption")
        .filter(is_exclusive)
        .filter_map(|of| of.choice("value"))
        .collect();
    for value in answers.iter().filter_map(|of| of.choice("value")) {
        if answers.len() > 1 && exclusive.iter().any(|option| is_same(*option, value)) {
            error(issues, value, "rule-answer-repeats", &[("value", link)]);
        }
    }
}

fn is_true(of: Element<'_>, name: &str) -> bool {
    of.text(name) == Some("true")
}

/// Every answer to a question below an item, wherever it was asked.
fn answers_below<'t>(of: Element<'t>, link: &str, given: &mut Vec<Element<'t>>, depth: usize) {
    if depth > DEPTH_MAX * 2 {
        return;
    }
    for item in of.all("item") {
        own_answers(item, link, given);
        item.all("answer").for_each(|answer| answers_below(answer, link, given, depth + 1));
        answers_below(item, link, given, depth + 1);
    }
}

fn own_answers<'t>(item: Element<'t>, link: &str, given: &mut Vec<Element<'t>>) {
    if item.text("linkId") == Some(link) {
        given.extend(item.all("answer").filter_map(|of| of.choice("value")));
    }
}
