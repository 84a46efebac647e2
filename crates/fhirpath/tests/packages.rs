//! The invariants of the published packages on the published documents, where both lie beside the
//! repository: every expression parses, every one can be evaluated, and what FHIR itself demands
//! holds.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use fhir::{Element, Format, Instant, Limits, Tree};
use fhirpath::{Context, EvaluationError, Expression, Host, Item, UnknownProfile};
use serde_json::Value;

/// Invariants of FHIR R4 that published documents fail as they are written: HL7's validator
/// rewrites the first and takes the second for advice.
const KNOWN_TO_FAIL: &[&str] = &["ref-1", "dom-6"];

fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared")
}

/// The files of a `.tgz`: blocks of 512 bytes, a header and then the content.
fn files(archive: &Path) -> Vec<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let packed = std::fs::File::open(archive).unwrap();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
    let mut files = Vec::new();
    let mut at = 0;
    while bytes.get(at).is_some_and(|first| *first != 0) {
        let header = &bytes[at..at + 512];
        let text = |range: std::ops::Range<usize>| {
            String::from_utf8_lossy(&header[range]).trim_matches(['\0', ' ']).to_owned()
        };
        let size = usize::from_str_radix(&text(124..136), 8).unwrap();
        files.push((text(0..100), bytes[at + 512..at + 512 + size].to_vec()));
        at += 512 + size.div_ceil(512) * 512;
    }
    files
}

struct Rule {
    key: String,
    expression: Expression,
    /// The way from an element of the type that it is about.
    path: Option<Expression>,
    /// Of FHIR R4 itself, no profile.
    is_base: bool,
}

struct Packages {
    rules: BTreeMap<String, Vec<Rule>>,
    maps: BTreeMap<String, Tree>,
    expressions: BTreeSet<String>,
}

fn packages() -> Packages {
    let mut packages =
        Packages { rules: BTreeMap::new(), maps: BTreeMap::new(), expressions: BTreeSet::new() };
    let mut seen = BTreeSet::new();
    let mut archives: Vec<_> = std::fs::read_dir(shared().join("packages"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "tgz"))
        .collect();
    archives.sort();
    for archive in archives {
        let is_core = archive.to_string_lossy().contains("hl7.fhir.r4.core");
        for (name, content) in files(&archive) {
            let name = name.rsplit('/').next().unwrap();
            if name.starts_with("ConceptMap-") && !is_core {
                let map = Tree::read(&content, Format::Json, &Limits::default()).unwrap();
                packages.maps.insert(map.root().text("url").unwrap().to_owned(), map);
            } else if name.starts_with("StructureDefinition-") {
                let definition: Value = serde_json::from_slice(&content).unwrap();
                rules(&definition, is_core, &mut seen, &mut packages);
            }
        }
    }
    packages
}

fn rules(
    definition: &Value,
    is_core: bool,
    seen: &mut BTreeSet<(String, String)>,
    packages: &mut Packages,
) {
    let is_base = is_core && definition["derivation"] != "constraint";
    let elements = definition["snapshot"]["element"].as_array();
    for element in elements.into_iter().flatten() {
        let path = element["path"].as_str().unwrap();
        for constraint in element["constraint"].as_array().into_iter().flatten() {
            let Some(text) = constraint["expression"].as_str() else { continue };
            packages.expressions.insert(text.to_owned());
            if !seen.insert((path.to_owned(), text.to_owned())) {
                continue;
            }
            let (of, path) = path.split_once('.').unwrap_or((path, ""));
            let path = path.replace("[x]", "");
            packages.rules.entry(of.to_owned()).or_default().push(Rule {
                key: constraint["key"].as_str().unwrap().to_owned(),
                expression: Expression::parse(text)
                    .unwrap_or_else(|error| panic!("{text}: {error}")),
                path: (!path.is_empty()).then(|| Expression::parse(&path).unwrap()),
                is_base,
            });
        }
    }
}

/// Resolves inside the bundle and to concept maps.
struct Bundle<'t> {
    root: Element<'t>,
    maps: &'t BTreeMap<String, Tree>,
}

impl<'t> Host<'t> for Bundle<'t> {
    fn resolve(&self, reference: &str, _: Option<Element<'t>>) -> Option<Item<'t>> {
        let entry = |entry: &Element<'t>| {
            entry.text("fullUrl").is_some_and(|url| url == reference || url.ends_with(reference))
        };
        let resource = self.root.all("entry").find(entry).and_then(|of| of.child("resource"));
        let map = || self.maps.get(reference).map(Tree::root);
        resource.or_else(map).map(Item::Element)
    }
    fn member_of(&self, _: &Item<'t>, _: &str) -> Option<bool> {
        Some(true)
    }
    fn conforms_to(&self, _: &Item<'t>, _: &str) -> Result<bool, UnknownProfile> {
        Ok(true)
    }
}

fn documents() -> Vec<PathBuf> {
    let mut documents = Vec::new();
    for folder in ["documents/json", "documents/xml"] {
        let entries = std::fs::read_dir(shared().join("corpus").join(folder)).unwrap();
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        documents.extend(paths.into_iter().step_by(15));
    }
    documents
}

/// Evaluates every rule wherever it applies inside of one resource.
fn apply<'t>(
    packages: &'t Packages,
    resource: Element<'t>,
    context: &Context<'_, 't>,
    failures: &mut BTreeMap<String, String>,
    count: &mut usize,
) {
    let mut open = vec![resource];
    while let Some(element) = open.pop() {
        open.extend(element.children().filter(|child| child.resource_type().is_none()));
        let of = Item::Element(element).type_info().name;
        for rule in packages.rules.get(of).into_iter().flatten() {
            let here = [Item::Element(element)];
            let places = match &rule.path {
                None => here.into_iter().collect(),
                Some(path) => path.evaluate(context, &here).unwrap(),
            };
            for place in places {
                *count += 1;
                let context = context.clone().on(place.clone());
                match rule.expression.holds(&context, std::slice::from_ref(&place)) {
                    Err(EvaluationError::NotSupported(what)) => {
                        panic!("{}: {what}: {}", rule.key, rule.expression.text())
                    }
                    Err(error) => {
                        failures.insert(rule.key.clone(), error.to_string());
                    }
                    Ok(false) if rule.is_base => {
                        failures.insert(rule.key.clone(), format!("{place:?}"));
                    }
                    Ok(_) => {}
                }
            }
        }
    }
}

#[test]
#[cfg_attr(not(official_suite), ignore = "the packages do not lie beside the repository")]
fn published_invariants_on_published_documents() {
    let packages = packages();
    assert_eq!(packages.expressions.len(), 293);
    let mut failures = BTreeMap::new();
    let mut count = 0;
    for path in documents() {
        let is_xml = path.extension().is_some_and(|extension| extension == "xml");
        let format = if is_xml { Format::Xml } else { Format::Json };
        let tree = Tree::read(&std::fs::read(&path).unwrap(), format, &Limits::default()).unwrap();
        let host = Bundle { root: tree.root(), maps: &packages.maps };
        let mut resources = vec![tree.root()];
        resources.extend(tree.root().all("entry").filter_map(|entry| entry.child("resource")));
        for resource in resources {
            let context = Context::new(Instant(0)).asking(&host).within(resource, resource);
            apply(&packages, resource, &context, &mut failures, &mut count);
        }
    }
    println!("{count} evaluations");
    for (key, why) in &failures {
        println!("{key}: {why}");
    }
    failures.retain(|key, _| !KNOWN_TO_FAIL.contains(&&**key));
    assert!(failures.is_empty(), "{failures:?}");
}
