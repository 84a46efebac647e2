//! Where in the reading view a message belongs.
//!
//! In this order: the expression (an authority's `location` has become one when the outcome was
//! read), line and column, a path in the words, a value in the words that stands at one place
//! alone, the known element of its code, the nearest existing ancestor, else the header: nowhere.

#[cfg(test)]
mod corpus;
mod pointed;
mod words;

use fhir::{Element, Tree};

use crate::views::{MessageView, SectionView};

/// Puts a message into its section and field, and gives it a line where it has none.
pub(crate) fn place(
    message: &mut MessageView,
    tree: &Tree,
    document: Element<'_>,
    sections: &[SectionView],
) {
    let Some(found) = element_of(message, tree, document) else { return };
    let expression = found.expression();
    if message.line.is_none() {
        let position = found.position();
        (message.line, message.column) = (Some(position.line), Some(position.column));
    }
    let Some(index) = section_of(&expression, sections) else { return };
    message.section = u32::try_from(index).ok();
    message.field = field_of(&expression, &sections[index]);
}

/// The element that a message is about.
pub(crate) fn found<'t>(message: &MessageView, tree: &'t Tree) -> Option<Element<'t>> {
    let document = exchange::document_of(tree).unwrap_or_else(|| tree.root());
    element_of(message, tree, document)
}

/// The innermost section whose resource holds the element.
fn section_of(expression: &str, sections: &[SectionView]) -> Option<usize> {
    let holding = sections.iter().enumerate().filter(|(_, s)| holds(&s.expression, expression));
    holding.max_by_key(|(_, section)| section.expression.len()).map(|(index, _)| index)
}

/// The field of the element itself, else the innermost one around it, else the first one inside it.
fn field_of(expression: &str, section: &SectionView) -> Option<String> {
    let fields = || section.fields.iter();
    let around = fields()
        .filter(|field| holds(&field.expression, expression))
        .max_by_key(|field| field.expression.len());
    let inside = || {
        // The resource itself is no field's parent: its message stands at the head of the section.
        let is_resource = expression == section.expression;
        fields().find(|field| !is_resource && holds(expression, &field.expression))
    };
    around.or_else(inside).map(|field| field.key.clone())
}

/// Whether one expression is the other's ancestor, or the same.
pub(crate) fn holds(ancestor: &str, expression: &str) -> bool {
    expression
        .strip_prefix(ancestor)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

fn element_of<'t>(
    message: &MessageView,
    tree: &'t Tree,
    document: Element<'t>,
) -> Option<Element<'t>> {
    let by_line = || tree.at(message.line?, message.column.unwrap_or(1)).filter(|e| !is_root(*e));
    let text = message.text.as_deref().unwrap_or_default();
    let by_path = || words::paths(text).find_map(|path| by_expression(path, tree, document));
    let rule = rule_of(message);
    let by_value = || {
        // Of a code that stands at several places, the one that the rule is about.
        let near =
            |element: Element<'t>| rule.is_some_and(|rule| is_about(rule, element, document));
        words::with_value(document, &words::values(text), near)
    };
    let by_rule = || {
        let (rule, of, path) = rule?;
        let orderer = ORDERERS.iter().find(|(known, _)| known == rule);
        let ordering = orderer.and_then(|(_, which)| orderer_of(document, which)?.at_path(path));
        let all = || resources(document, of);
        ordering
            .or_else(|| all().find_map(|resource| resource.at_path(path)))
            .or_else(|| all().next())
    };
    by_expression(message.expression.as_deref().unwrap_or_default(), tree, document)
        .or_else(by_line)
        .or_else(by_path)
        .or_else(by_value)
        .or_else(by_rule)
}

/// A rule, the resource and the element that it is about.
type Rule = (&'static str, &'static str, &'static str);

fn rule_of(message: &MessageView) -> Option<&'static Rule> {
    let rule = message.rule.as_deref()?;
    RULES.iter().find(|(known, ..)| *known == rule)
}

fn is_about((_, of, path): &Rule, element: Element<'_>, document: Element<'_>) -> bool {
    let expression = element.expression();
    let mut places = resources(document, of).filter_map(|resource| resource.at_path(path));
    places.any(|place| holds(&place.expression(), &expression))
}

/// Rules about whoever ordered the test, and what of the role it is.
const ORDERERS: &[(&str, &str)] = &[("FOPH-018", "organization"), ("FOPH-019", "practitioner")];

/// The organization or the practitioner of the role that ordered the test.
fn orderer_of<'t>(document: Element<'t>, which: &str) -> Option<Element<'t>> {
    let referred = |of: Element<'t>, path: &str| {
        let reference = of.text(path)?;
        let mut entries = document.all("entry");
        let entry = entries.find(|entry| {
            let before = entry.text("fullUrl").and_then(|full| full.strip_suffix(reference));
            before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
        });
        entry?.child("resource")
    };
    resources(document, "ServiceRequest").find_map(|order| {
        referred(referred(order, "requester.reference")?, &format!("{which}.reference"))
    })
}

/// What the authority's rules (`FOPH-…`) and the validators' constraints are about: rule, resource,
/// element. Generic ones (000, 001, 002) are about nothing in particular.
const RULES: &[(&str, &str, &str)] = &[
    ("FOPH-004", "Organization", "identifier"),
    ("FOPH-005", "Patient", "name"),
    ("FOPH-006", "Patient", "address"),
    ("FOPH-007", "Specimen", "type"),
    ("FOPH-008", "Observation", "valueCodeableConcept"),
    ("FOPH-009", "Observation", "code"),
    ("FOPH-010", "Observation", "code"),
    ("FOPH-011", "Specimen", "type"),
    ("FOPH-012", "Observation", "code"),
    ("FOPH-013", "Observation", "code"),
    ("FOPH-014", "Patient", "address.state"),
    ("FOPH-016", "Patient", "address.country"),
    ("FOPH-017", "Patient", "address"),
    ("FOPH-018", "Organization", "address"),
    ("FOPH-019", "Practitioner", "address"),
    ("FOPH-020", "Observation", "effectiveDateTime"),
    ("FOPH-021", "Bundle", "identifier"),
    ("FOPH-022", "DiagnosticReport", "basedOn"),
    ("bdl-9", "Bundle", "identifier"),
    ("bdl-10", "Bundle", "timestamp"),
    ("ch-elm-observation-profile-loinc", "Observation", "code"),
    ("gln-modulus-10", "Organization", "identifier"),
    ("gln-startswith76", "Organization", "identifier"),
    ("ber-length", "Organization", "identifier"),
    ("ber-modulus-11", "Organization", "identifier"),
    ("uidb-length", "Organization", "identifier"),
    ("uidb-modulus-11", "Organization", "identifier"),
];

fn is_root(element: Element<'_>) -> bool {
    element.parent().is_none()
}

/// The resources of a type in the document, or the document itself.
fn resources<'t>(document: Element<'t>, of: &str) -> impl Iterator<Item = Element<'t>> {
    let itself = Some(document).filter(|document| document.resource_type() == Some(of));
    let entries = document.children().filter(|child| child.name() == "entry");
    let inside = entries.filter_map(|entry| entry.child("resource"));
    itself.into_iter().chain(inside.filter(move |resource| resource.resource_type() == Some(of)))
}

/// The element that an expression means, else its nearest ancestor that exists; `None` where only
/// the root is left and the expression meant something else.
fn by_expression<'t>(
    expression: &str,
    tree: &'t Tree,
    document: Element<'t>,
) -> Option<Element<'t>> {
    let plain = match pointed::pointed(expression, document) {
        Some(pointed) => plain(&pointed),
        None => plain(expression),
    };
    if plain.is_empty() {
        return None;
    }
    let (head, rest) = plain.split_once('.').unwrap_or((&plain, ""));
    let head_type = head.split('[').next().unwrap_or_default();
    let here = document.expression();
    let root_type = tree.root().resource_type().unwrap_or_default();
    let wanted = if root_type == "Bundle" && head_type == "DocumentReference" {
        // We hold the bare document, the authority speaks of the envelope.
        let (contained, rest) = rest.split_once('.').unwrap_or((rest, ""));
        if !contained.starts_with("contained") {
            return None;
        }
        joined(&here, rest)
    } else if head_type == root_type {
        plain.clone()
    } else if head_type == "Bundle" {
        joined(&here, rest)
    } else if head_type.starts_with(|c: char| c.is_ascii_uppercase()) {
        joined(&resources(document, head_type).next()?.expression(), rest)
    } else {
        // Without a type: from the document on.
        joined(&here, &plain)
    };
    let found = tree.find(&pointed::without_slices(&wanted, tree))?;
    let meant_root = wanted == root_type;
    (meant_root || !is_root(found)).then_some(found)
}

fn joined(base: &str, rest: &str) -> String {
    if rest.is_empty() { base.to_owned() } else { format!("{base}.{rest}") }
}

/// Longest expression looked at, in bytes.
const EXPRESSION_MAX: usize = 2_000;

/// Without what validators add (`/*Observation/x*/`, `.ofType(Quantity)`, `.as(…)`, `.where(…)`),
/// and an XPath (`/f:Bundle/f:entry[2]/f:resource/f:Observation`) as the FHIRPath of the same
/// element.
fn plain(expression: &str) -> String {
    let expression = expression.trim();
    if expression.len() > EXPRESSION_MAX {
        return String::new();
    }
    if expression.starts_with('/') {
        return from_xpath(expression);
    }
    let mut out = String::with_capacity(expression.len());
    let mut rest = expression;
    while let Some(letter) = rest.chars().next() {
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.find("*/").map_or("", |end| &comment[end + 2..]);
            continue;
        }
        let call = [".ofType(", ".as(", ".where("].iter().find_map(|call| rest.strip_prefix(call));
        if let Some(inside) = call {
            rest = after_bracket(inside);
            continue;
        }
        out.push(letter);
        rest = &rest[letter.len_utf8()..];
    }
    out
}

/// What follows the bracket that closes an open one.
fn after_bracket(text: &str) -> &str {
    let mut depth = 1;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[at + 1..];
        }
    }
    ""
}

/// XPath counts from 1, and has the resource's type as a step of its own.
fn from_xpath(path: &str) -> String {
    let mut steps: Vec<String> = Vec::new();
    for step in path.split('/').filter(|step| !step.is_empty()) {
        let step = step.split_once(':').map_or(step, |(_, local)| local).trim_start_matches('@');
        let (name, index) = match step.split_once('[') {
            Some((name, index)) => (name, index.trim_end_matches(']').parse::<usize>().ok()),
            None => (step, None),
        };
        let is_type = name.starts_with(|c: char| c.is_ascii_uppercase());
        if is_type && !steps.is_empty() {
            continue;
        }
        steps.push(match index {
            Some(index) => format!("{name}[{}]", index.saturating_sub(1)),
            None => name.to_owned(),
        });
    }
    // The root's own index says nothing.
    if let Some(root) = steps.first_mut() {
        root.truncate(root.find('[').unwrap_or(root.len()));
    }
    steps.join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_made_plain() {
        let same = "Bundle.entry[3].resource.value";
        assert_eq!(plain("Bundle.entry[3].resource/*Observation/x*/.value.ofType(Quantity)"), same);
        assert_eq!(plain("Bundle.entry[3].resource.ofType(Observation).value"), same);
        assert_eq!(plain("Bundle.entry[3].resource.where(code.exists()).value"), same);
        assert_eq!(plain("/f:Bundle/f:entry[4]/f:resource/f:Observation/f:value"), same);
        assert_eq!(plain("/Bundle[1]/entry[4]/resource/Observation/value"), same);
        assert_eq!(plain("a.where((("), "a");
        assert_eq!(plain("a/*b"), "a");
        assert_eq!(plain(&"x".repeat(3_000)), "");
        for odd in
            ["", "/", "//[", "/é:é[é]/@é", "é/*é", "é.ofType(é", "Bundle.é[", ".", "..", "[0]"]
        {
            let _ = plain(odd);
        }
    }
}
