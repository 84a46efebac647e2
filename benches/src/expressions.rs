//! FHIRPath: what the rules of a package ask of a report, against reading the same report.

use std::hint::black_box;
use std::time::Instant;

use fhir::{Element, Format, Instant as Time, Limits, Tree};
use fhirpath::{Context, Expression, Item};
use serde_json::{Value, json};
use testkit::DocumentBuilder;

use crate::table::{Bound, Row, Samples};
use crate::{Result, foreign};

/// Type and invariant, in the manner of published ones: presence, choice, codes, references,
/// patterns.
const INVARIANTS: &[(&str, &str)] = &[
    ("Bundle", "type = 'document' implies entry.first().resource.is(Composition)"),
    (
        "Bundle",
        "entry.where(fullUrl.exists()).select(fullUrl & resource.meta.versionId).isDistinct()",
    ),
    ("Bundle", "entry.resource.ofType(Patient).count() <= 1"),
    ("Resource", "contained.contained.empty()"),
    ("Resource", "contained.meta.versionId.empty() and contained.meta.lastUpdated.empty()"),
    ("Observation", "dataAbsentReason.empty() or value.empty()"),
    (
        "Observation",
        "(status in ('registered' | 'cancelled')) or value.exists() or component.exists()",
    ),
    (
        "Observation",
        "component.code.where(coding.intersect(%resource.code.coding).exists()).empty()",
    ),
    ("Observation", "value.ofType(Quantity).value.empty() or value.ofType(Quantity).value >= 0"),
    ("Patient", "name.where(family.exists() or given.exists()).count() > 0 or name.empty()"),
    ("Patient", "birthDate.empty() or birthDate <= today()"),
    ("Patient", "gender.empty() or gender != 'unknown'"),
    ("Composition", "section.all(text.exists() or entry.exists() or section.exists())"),
    ("Specimen", "type.exists() implies type.coding.all(system.exists() and code.exists())"),
    ("Coding", "system.empty() or system.matches('^[a-z]+:.+$')"),
    ("Coding", "code.exists() or display.exists()"),
    ("Identifier", "value.exists() implies value.toString().length() <= 64"),
    ("Identifier", "system.exists() or type.exists() or assigner.exists()"),
    ("Reference", "reference.exists() or identifier.exists() or display.exists()"),
    (
        "Reference",
        "reference.startsWith('#').not() or reference.substring(1) in %rootResource.contained.id",
    ),
    ("HumanName", "family.extension.where(url = 'urn:a').empty() or use = 'official'"),
    ("Quantity", "code.empty() or system.exists()"),
    ("Period", "start.empty() or end.empty() or start <= end"),
    ("Extension", "extension.exists() != value.exists()"),
    ("Narrative", "`div`.exists()"),
];

/// What was measured.
pub(crate) struct Measured {
    /// Invariants, each with an element.
    count: f64,
    reading: Samples,
    ours: Samples,
    /// The same, for whoever else evaluates it.
    work: Value,
}

impl Measured {
    /// Beside reading the report.
    pub(crate) fn against_reading(&self) -> [Row; 2] {
        let each = Samples(self.ours.0.iter().map(|all| all / self.count).collect());
        let all = Row {
            what: format!("{} invariants of one report / reading it", self.count),
            ratio: self.ours.over(&self.reading).shown(2, "×"),
            baseline: self.reading.shown(0, " µs"),
            ours: self.ours.shown(0, " µs"),
            bound: None,
        };
        let each = Row {
            what: "one of these invariants".to_owned(),
            ours: each.shown(2, " µs"),
            bound: Bound::at_most(6.0, Some(1.0)),
            ..Row::default()
        };
        [all, each]
    }

    /// Beside fhirpath.js, which is set up where it is missing.
    pub(crate) fn against_fhirpath_js(&self) -> Option<Row> {
        foreign::fhirpath_js(self.count, &self.ours, &self.work)
    }
}

/// Interleaved rounds over the same report.
pub(crate) fn measure(rounds: usize) -> Result<Measured> {
    let text = DocumentBuilder::new(1).json();
    let tree = Tree::read(text.as_bytes(), Format::Json, &Limits::default())
        .map_err(|finding| finding.code)?;
    let rules = INVARIANTS
        .iter()
        .map(|(of, text)| Ok((*of, *text, Expression::parse(text)?)))
        .collect::<Result<Vec<_>>>()?;
    let mut work = Vec::new();
    collect(tree.root(), tree.root(), &rules, &mut work);
    let count = f64::from(u32::try_from(work.len())?);
    let (mut reading, mut ours) = (Samples::default(), Samples::default());
    for _ in 0..rounds {
        let began = Instant::now();
        for _ in 0..20 {
            let tree = Tree::read(text.as_bytes(), Format::Json, &Limits::default());
            black_box(tree.map_err(|finding| finding.code)?);
        }
        reading.0.push(began.elapsed().as_secs_f64() * 1e6 / 20.0);
        let began = Instant::now();
        for _ in 0..20 {
            for ((_, _, expression), resource, element) in &work {
                let item = Item::Element(*element);
                let context = Context::new(Time::from_seconds(1_800_000_000))
                    .within(*resource, tree.root())
                    .on(item.clone());
                black_box(expression.holds(&context, std::slice::from_ref(&item))?);
            }
        }
        ours.0.push(began.elapsed().as_secs_f64() * 1e6 / 20.0);
    }
    let told = work.iter().map(|((of, expression, _), resource, element)| {
        json!({
            "of": of, "expression": expression,
            "owner": resource.expression(), "element": element.expression(),
        })
    });
    let told: Vec<Value> = told.collect();
    let resource: Value = serde_json::from_str(&text)?;
    let work = json!({ "resource": resource, "rounds": rounds, "work": told });
    Ok(Measured { count, reading, ours, work })
}

/// Type, text and what was made of it.
type Rule = (&'static str, &'static str, Expression);

/// Every rule with every element that it is about.
fn collect<'t>(
    resource: Element<'t>,
    element: Element<'t>,
    rules: &'t [Rule],
    work: &mut Vec<(&'t Rule, Element<'t>, Element<'t>)>,
) {
    let resource = if element.resource_type().is_some() { element } else { resource };
    let about = rules.iter().filter(|(of, _, _)| element.is_of(of));
    work.extend(about.map(|rule| (rule, resource, element)));
    for child in element.children() {
        collect(resource, child, rules, work);
    }
}
