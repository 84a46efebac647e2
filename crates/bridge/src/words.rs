//! FHIR values in words, by their type. The raw value or code stands beside.

use fhir::Element;
use report::{Links, Target};

use crate::coded::id_of;
use crate::views::CodedView;

/// A value for reading.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Words {
    /// In words.
    pub(crate) value: String,
    /// Code, system or unit behind it.
    pub(crate) detail: Option<String>,
    /// What of the value is a code's, in its order.
    pub(crate) coded: Vec<CodedView>,
}

fhir::shows_only!(Words {});

/// Longest value shown, in characters.
const VALUE_MAX: usize = 2_000;

impl Words {
    fn new(value: impl Into<String>, detail: Option<&str>) -> Option<Self> {
        let cut = |text: &str| text.chars().take(VALUE_MAX).collect::<String>();
        let value = value.into();
        let value = value.trim();
        let coded = Vec::new();
        (!value.is_empty()).then(|| Self { value: cut(value), detail: detail.map(cut), coded })
    }

    /// All of the value is what a code is called.
    fn of_code(self, element: Element<'_>) -> Self {
        // Another coding of the concept may mean more or less than the one whose words these are.
        let coding = if element.type_name() == "Coding" { Some(element) } else { chosen(element) };
        let id = coding.and_then(|it| id_of(it.text("system")?, it.text("code")?));
        let said = coding.and_then(|it| it.text("display")).or_else(|| element.text("text"));
        let (own, is_ours) = (self.value.clone(), said.is_none());
        let coded = id.map(|id| CodedView { own, is_ours, id });
        Self { coded: coded.into_iter().collect(), ..self }
    }

    /// The code that the value is.
    pub(crate) fn as_coded(&self) -> Option<CodedView> {
        self.coded.first().filter(|coded| coded.own == self.value).cloned()
    }
}

/// An element in words; `None` where it says nothing. `resource` is the entry's resource that holds
/// it.
pub(crate) fn words<'t>(
    element: Element<'t>,
    resource: Element<'t>,
    links: &Links<'t>,
) -> Option<Words> {
    if let Some(value) = element.value() {
        return Words::new(value, None);
    }
    let all = |name: &'static str| element.children().filter(move |child| child.name() == name);
    let values = |name| all(name).filter_map(Element::value).collect::<Vec<_>>();
    match element.type_name() {
        "HumanName" => human_name(element),
        "Address" => {
            let place = [element.text("postalCode"), element.text("city")];
            let place = place.into_iter().flatten().collect::<Vec<_>>().join(" ");
            let mut lines = values("line");
            lines.extend([place.as_str()].into_iter().filter(|place| !place.is_empty()));
            lines.extend([element.text("state"), element.text("country")].into_iter().flatten());
            if lines.is_empty() {
                lines.extend(element.text("text"));
            }
            Words::new(lines.join(", "), element.text("use"))
        }
        "Identifier" => Words::new(element.text("value")?, element.text("system")),
        "ContactPoint" => Words::new(element.text("value")?, element.text("system")),
        "CodeableConcept" => concept(element).map(|words| words.of_code(element)),
        "Coding" => {
            let code = element.text("code");
            let named = element.text("display").or_else(|| organism(element)).or(code)?;
            Words::new(named, code).map(|words| words.of_code(element))
        }
        "Quantity" | "Age" | "Count" | "Distance" | "Duration" | "Money" => {
            Words::new(quantity(element)?, element.text("code"))
        }
        "Ratio" => {
            let part = |name| element.child(name).and_then(quantity).unwrap_or_default();
            Words::new(format!("{} : {}", part("numerator"), part("denominator")), None)
        }
        "Range" => Words::new(between(element, "low", "high", quantity)?, None),
        "Period" => {
            let date = |at: Element<'_>| at.value().map(str::to_owned);
            Words::new(between(element, "start", "end", date)?, None)
        }
        "Annotation" => Words::new(element.text("text")?, None),
        "Reference" => reference(element, resource, links),
        // A part of a resource, e.g. a component: its code and its value.
        _ => {
            let code = element.child("code").and_then(|code| words(code, resource, links));
            let value = element.choice("value").and_then(|value| words(value, resource, links));
            match (code, value) {
                (Some(code), Some(value)) => {
                    let both = format!("{}: {}", code.value, value.value);
                    let coded = [code.coded, value.coded].concat();
                    Words::new(both, code.detail.as_deref()).map(|words| Words { coded, ..words })
                }
                (one, other) => one.or(other),
            }
        }
    }
}

fn human_name(name: Element<'_>) -> Option<Words> {
    let given = name.children().filter(|child| child.name() == "given");
    let given = given.filter_map(Element::value).collect::<Vec<_>>().join(" ");
    let full = match (name.text("family"), given.as_str()) {
        (Some(family), "") => family.to_owned(),
        (Some(family), given) => format!("{family}, {given}"),
        (None, given) => given.to_owned(),
    };
    // A masked name has a code in an extension instead.
    let code = || {
        name.children()
            .filter(|child| child.name() == "extension")
            .find_map(|extension| extension.text("valueString"))
    };
    let full =
        if full.is_empty() { code().or_else(|| name.text("text"))?.to_owned() } else { full };
    Words::new(full, name.text("use"))
}

/// The coding of a concept that is shown: the first with words, else the first.
fn chosen(concept: Element<'_>) -> Option<Element<'_>> {
    let with_display = concept.all("coding").find(|coding| coding.text("display").is_some());
    with_display.or_else(|| concept.all("coding").next())
}

fn concept(concept: Element<'_>) -> Option<Words> {
    let coding = chosen(concept);
    let code = coding.and_then(|coding| coding.text("code"));
    let display = coding.and_then(|coding| coding.text("display"));
    let named = || coding.and_then(organism);
    Words::new(display.or_else(|| concept.text("text")).or_else(named).or(code)?, code)
}

/// The organism that a code without words stands for.
fn organism(coding: Element<'_>) -> Option<&'static str> {
    report::diseases::organism_of(coding.text("code")?)
}

fn quantity(quantity: Element<'_>) -> Option<String> {
    let value = quantity.text("value")?;
    let comparator = quantity.text("comparator").unwrap_or_default();
    // `1` is the unit of a bare number.
    let unit = quantity.text("unit").or_else(|| quantity.text("code")).filter(|unit| *unit != "1");
    Some(match unit {
        Some(unit) => format!("{comparator}{value} {unit}"),
        None => format!("{comparator}{value}"),
    })
}

fn between(
    element: Element<'_>,
    from: &str,
    to: &str,
    part: impl Fn(Element<'_>) -> Option<String>,
) -> Option<String> {
    let (from, to) = (element.child(from).and_then(&part), element.child(to).and_then(&part));
    if from.is_none() && to.is_none() {
        return None;
    }
    Some(format!("{} – {}", from.unwrap_or_default(), to.unwrap_or_default()))
}

/// The name of what is referred to, else the display, else the address as it stands.
fn reference<'t>(element: Element<'t>, resource: Element<'t>, links: &Links<'t>) -> Option<Words> {
    let address = element.text("reference");
    let target = address.map(|address| links.resolve(resource, address));
    let name = target.and_then(Target::resource).and_then(|target| {
        let name = target.child("name")?;
        match name.type_name() {
            "HumanName" => human_name(name).map(|words| words.value),
            _ => name.value().map(str::to_owned),
        }
    });
    let display = || element.text("display").map(str::to_owned);
    Words::new(name.or_else(display).or_else(|| address.map(str::to_owned))?, address)
}
