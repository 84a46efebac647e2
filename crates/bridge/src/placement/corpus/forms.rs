//! The forms in which validators and the authority say where something is, each made by walking up
//! from the element.

use fhir::Element;
use serde_json::json;

const EXTENSION: &str = "http://hl7.org/fhir/StructureDefinition/operationoutcome-issue-";

/// The elements from the document down to one, without the document.
fn way(element: Element<'_>) -> Vec<Element<'_>> {
    let mut way: Vec<Element<'_>> =
        std::iter::successors(Some(element), |element| element.parent()).collect();
    way.pop();
    way.reverse();
    way
}

/// Among its brothers of the same name, from 0, and whether there may be others.
fn place(element: Element<'_>) -> (usize, bool) {
    let expression = element.expression();
    let Some(parent) = element.parent() else { return (0, false) };
    let at = parent.all(element.name()).position(|one| one.expression() == expression);
    (at.unwrap_or_default(), expression.ends_with(']'))
}

/// `valueCodeableConcept` as FHIRPath names it, and of which type it is.
fn named<'t>(element: Element<'t>) -> (String, Option<&'t str>) {
    let name = element.name();
    for choice in ["value", "effective", "collected", "onset"] {
        let kind = name.strip_prefix(choice).filter(|rest| rest.starts_with(char::is_uppercase));
        if kind.is_some() {
            return (choice.to_owned(), kind);
        }
    }
    (name.to_owned(), None)
}

/// A path, of which each step is written by one function.
fn path(element: Element<'_>, start: &str, step: impl Fn(Element<'_>) -> String) -> String {
    way(element).into_iter().fold(start.to_owned(), |path, element| path + &step(element))
}

fn indexed(element: Element<'_>) -> String {
    match place(element) {
        (at, true) => format!("[{at}]"),
        (_, false) => String::new(),
    }
}

/// As HAPI's validator says it, with the type of each resource in a comment.
fn with_comments(element: Element<'_>) -> String {
    path(element, "Bundle", |element| {
        let (name, kind) = named(element);
        let kind = kind.map(|kind| format!(".ofType({kind})")).unwrap_or_default();
        let resource = element.resource_type().map(|kind| format!("/*{kind}/id*/"));
        format!(".{name}{}{kind}{}", indexed(element), resource.unwrap_or_default())
    })
}

pub(super) fn with_types(element: Element<'_>) -> String {
    path(element, "Bundle", |element| {
        let (name, kind) = named(element);
        let kind = element.resource_type().or(kind);
        let kind = kind.map(|kind| format!(".ofType({kind})")).unwrap_or_default();
        format!(".{name}{}{kind}", indexed(element))
    })
}

/// As Firely's validator does: an index on each step, and the name of the choice alone.
fn with_every_index(element: Element<'_>) -> String {
    path(element, "Bundle", |element| format!(".{}[{}]", named(element).0, place(element).0))
}

/// As an older validator does, with the name that stands in the text.
fn xpath(element: Element<'_>) -> String {
    path(element, "/f:Bundle", |element| {
        let index = match place(element) {
            (at, true) => format!("[{}]", at + 1),
            (_, false) => String::new(),
        };
        let kind = element.resource_type().map(|kind| format!("/f:{kind}")).unwrap_or_default();
        format!("/f:{}{index}{kind}", element.name())
    })
}

/// The resource that an element is in, and its steps from there.
fn resource_and_rest(element: Element<'_>) -> Option<(Element<'_>, String)> {
    let way = way(element);
    let at = way.iter().rposition(|element| element.resource_type().is_some())?;
    let rest = way[at + 1..].iter().fold(String::new(), |rest, element| {
        format!("{rest}.{}{}", named(*element).0, indexed(*element))
    });
    Some((way[at], rest))
}

/// Only the first of its type can be meant by the type alone.
fn is_first_of_its_type(resource: Element<'_>) -> bool {
    let entry = resource.parent().unwrap();
    let all = entry.parent().unwrap().all("entry").filter_map(|entry| entry.child("resource"));
    let first = all.into_iter().find(|one| one.resource_type() == resource.resource_type());
    first.map(Element::expression) == Some(resource.expression())
}

pub(super) fn issue(text: &str, expression: Option<String>) -> serde_json::Value {
    let mut issue = json!({ "severity": "error", "code": "invalid", "diagnostics": text });
    if let Some(expression) = expression {
        issue["expression"] = json!([expression]);
    }
    issue
}

fn with_line(mut issue: serde_json::Value, element: Element<'_>) -> serde_json::Value {
    let (at, of) = (element.position(), EXTENSION);
    issue["extension"] = json!([
        { "url": format!("{of}line"), "valueInteger": at.line },
        { "url": format!("{of}col"), "valueInteger": at.column },
    ]);
    issue
}

/// As seen from the envelope.
fn inside(expression: &str, kind: &str) -> String {
    expression.replacen("Bundle", &format!("DocumentReference.contained[0]{kind}"), 1)
}

/// Every form that says where an element is.
pub(super) fn forms(element: Element<'_>) -> Vec<(&'static str, serde_json::Value)> {
    let at = element.position();
    let plain = element.expression();
    let mut forms = vec![
        ("plain expression", issue("is wrong", Some(plain.clone()))),
        ("types in comments", issue("is wrong", Some(with_comments(element)))),
        ("ofType", issue("is wrong", Some(with_types(element)))),
        ("an index on each step", issue("is wrong", Some(with_every_index(element)))),
        ("XPath", issue("is wrong", Some(xpath(element)))),
        ("line and column", with_line(issue("is wrong", None), element)),
        (
            "line and column in a location",
            json!({ "severity": "error", "code": "invalid", "details": { "text": "is wrong" },
                "location": [format!("Line[{}] Col[{}]", at.line, at.column)] }),
        ),
        (
            "path and line in locations",
            json!({ "severity": "error", "code": "invalid", "details": { "text": "is wrong" },
                "location": [with_types(element), format!("Line {}, Col {}", at.line, at.column)]
            }),
        ),
        ("of the envelope", issue("is wrong", Some(inside(&plain, "")))),
        (
            "of the envelope, with types",
            issue("is wrong", Some(inside(&with_types(element), ".ofType(Bundle)"))),
        ),
        (
            "a path in the words",
            issue(&format!("{}: the value is not allowed here", with_types(element)), None),
        ),
        (
            "a path in the words, in brackets",
            issue(&format!("Profile check failed (at {plain})."), None),
        ),
    ];
    let Some((resource, rest)) = resource_and_rest(element) else { return forms };
    let kind = resource.resource_type().unwrap();
    if let Some(full) = resource.parent().and_then(|entry| entry.text("fullUrl")) {
        let where_ = format!("Bundle.entry.where(fullUrl='{full}').resource{rest}");
        forms.push(("an entry by its address", issue("is wrong", Some(where_))));
    }
    let of_type = format!("Bundle.entry.resource.ofType({kind}){rest}");
    if is_first_of_its_type(resource) {
        forms.push(("of the resource", issue("is wrong", Some(format!("{kind}{rest}")))));
        forms.push(("of all of a type", issue("is wrong", Some(of_type))));
        let words = format!("Please check {kind}{rest}, it is not as agreed.");
        forms.push(("an element in the words", issue(&words, None)));
    }
    if let Some(id) = resource.text("id") {
        let expression = format!("{kind}/{id}{rest}");
        forms.push(("a resource by its id", issue("is wrong", Some(expression))));
    }
    forms
}

/// Forms that name a slice of a repeating element, as profiles call it.
pub(super) fn slices(element: Element<'_>) -> Vec<(&'static str, serde_json::Value)> {
    let repeats = |one: Element<'_>| one.expression().ends_with(']') && one.name() != "entry";
    if !way(element).into_iter().any(repeats) {
        return Vec::new();
    }
    let sliced = |mark: fn(&str) -> String| {
        path(element, "Bundle", |one| {
            let (name, _) = named(one);
            let is_alone = one.parent().unwrap().all(one.name()).count() == 1;
            match place(one) {
                (_, true) if one.name() != "entry" && is_alone => {
                    format!(".{name}{}", mark("slice"))
                }
                (at, true) => format!(".{name}[{at}]"),
                _ => format!(".{name}"),
            }
        })
    };
    vec![
        ("slices by name", issue("is wrong", Some(sliced(|name| format!(":{name}"))))),
        ("slices in brackets", issue("is wrong", Some(sliced(|name| format!("[{name}]"))))),
    ]
}

/// Forms that do not say where, and name a value that stands at one place alone.
pub(super) fn values(
    element: Element<'_>,
    root: Element<'_>,
) -> Vec<(&'static str, serde_json::Value)> {
    let Some(value) = element.value() else { return Vec::new() };
    if value.len() < 3 || elements(root).filter(|one| one.value() == Some(value)).count() != 1 {
        return Vec::new();
    }
    let system = element.parent().and_then(|parent| parent.text("system")).unwrap_or("");
    let mut forms = vec![
        (
            "a value in quotation marks",
            issue(&format!("The value provided ('{value}') is not in the value set"), None),
        ),
        (
            "a value in double quotation marks",
            issue(&format!("The identification \"{value}\" is not known to us."), None),
        ),
    ];
    if element.name() == "code" && !system.is_empty() {
        let (one, other) = (format!("{value} ({system})"), format!("{system}#{value}"));
        forms.push(("a code and its system", issue(&format!("The code {one} expires."), None)));
        forms.push(("system and code", issue(&format!("Unknown code {other} for this."), None)));
    }
    forms
}

fn elements(of: Element<'_>) -> Box<dyn Iterator<Item = Element<'_>> + '_> {
    Box::new(std::iter::once(of).chain(of.children().flat_map(elements)))
}
