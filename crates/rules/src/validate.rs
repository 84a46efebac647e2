//! A document against the rules in use: every resource against its type and the profiles that it
//! names, every element against what is said of it.
//!
//! One run remembers what it found of each (element, profile), so that a resource that many
//! references point to is looked at once for each profile, and circular definitions end: what is
//! still being looked at counts as fine meanwhile.

mod answers;
mod bounds;
mod bundle;
mod cause;
mod children;
mod coded;
mod consequence;
mod definitions;
mod differentials;
mod documents;
mod element;
mod extensions;
mod host;
mod identity;
mod invariants;
mod lexical;
mod matching;
mod meant;
mod measures;
mod narrative;
mod privacy;
mod properties;
mod questionnaires;
mod references;
mod resource;
mod terms;

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use fhir::{Element, Finding, Instant, Severity, Tree, TypeDefinition};
use rustc_hash::FxHashMap;

use crate::html;
use crate::profile::Profile;
use crate::set::RuleSet;
use crate::terminology::Mode;

pub(crate) use bundle::Entries;

/// Findings that are kept; a hostile document shall not fill the memory with them.
const FINDINGS_MAX: usize = 10_000;
/// The base check's word for findings that are not told.
const TOO_MANY: &str = "too-many-findings";
/// Definitions in definitions that are followed, and references: a report needs less than 20, and
/// each takes some kilobytes of the stack of a thread.
const DEPTH_MAX: u32 = 100;

/// What is asked of a validation.
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    /// Canonicals of profiles that the resource must conform to, beside those that it names itself.
    pub profiles: &'a [String],
    /// Whose policy decides.
    pub mode: Mode,
    /// For rules that compare with the present.
    pub now: Instant,
}

/// Something found.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Issue {
    /// Number of the element.
    pub(crate) at: u32,
    pub(crate) code: &'static str,
    severity: Severity,
    params: Vec<(&'static str, String)>,
    about: Option<About>,
    /// What a named rule asks, which its key and its words may not tell.
    asked: Option<Arc<str>>,
    /// Key of the rule that is broken by it.
    breaks: Option<Arc<str>>,
}

/// What an issue is about beyond its words, for what follows from another mistake.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum About {
    /// Resources of these types: the rule names them, or the slice holds one of them.
    Types(Vec<&'static str>),
    /// A slice that the element with this number is in for want of these parts.
    Without(u32, Vec<String>),
}

/// An element of any tree: rules also look into definitions (ConceptMaps), whose elements have the
/// same numbers. The document at hand is tree 0.
type Place = (usize, u32);

/// What is remembered of an element and a profile.
enum Memo {
    /// It is being looked at: fine, as far as others are concerned.
    Running,
    Done(Rc<Vec<Issue>>),
}

/// What an invariant gave for an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    Yes,
    No,
    NotEvaluated,
}

/// One validation.
pub(crate) struct Run<'t> {
    set: &'t RuleSet,
    tree: &'t Tree,
    mode: Mode,
    now: Instant,
    /// By element and profile.
    memo: RefCell<FxHashMap<(Place, u32), Memo>>,
    /// By element and rule.
    held: RefCell<FxHashMap<(Place, u32), Held>>,
    /// What did not conform in the expression that is being evaluated.
    unmet: RefCell<Vec<(Place, &'t Profile)>>,
    /// What an element had to conform to by a rule that does not hold, by element and rule.
    wanted: RefCell<FxHashMap<(Place, u32), &'t Profile>>,
    bundles: RefCell<HashMap<u32, Rc<Entries<'t>>>>,
    anchors: RefCell<HashMap<u32, Rc<HashSet<&'t str>>>>,
    /// Contained resources by the resource around them and their id.
    contained: RefCell<HashMap<Place, Rc<HashMap<&'t str, Element<'t>>>>>,
    /// The types of FHIR, by name.
    types: RefCell<FxHashMap<&'t str, Option<&'t Profile>>>,
    /// How many elements around this one are being looked at.
    depth: Cell<u32>,
    /// Steps of all expressions: what the work grows with.
    steps: Cell<u64>,
}

type Params<'p> = &'p [(&'static str, &'p str)];

impl RuleSet {
    /// Everything that these rules find in a resource, in document order. The base check of `fhir`
    /// is part of it; what both would say of one cause is said once.
    pub fn validate(&self, tree: &Tree, asked: &Asked<'_>) -> Vec<Finding> {
        let run = Run::new(self, tree, asked.mode, asked.now);
        let mut issues = Vec::new();
        let root = tree.root();
        run.lexical(root, &mut issues);
        issues.extend(run.resource(root).iter().cloned());
        for canonical in asked.profiles {
            match self.profile(canonical, 0) {
                Some(profile) => run.against(meant_by(root, profile), profile, &mut issues),
                None => error(&mut issues, root, run.absent(canonical), &[("profile", canonical)]),
            }
        }
        run.telling_texts(&mut issues);
        run.finish(issues)
    }
}

impl<'t> Run<'t> {
    /// A validation that has looked at nothing yet.
    pub(crate) fn new(set: &'t RuleSet, tree: &'t Tree, mode: Mode, now: Instant) -> Self {
        Self {
            set,
            tree,
            mode,
            now,
            memo: RefCell::default(),
            held: RefCell::default(),
            unmet: RefCell::default(),
            wanted: RefCell::default(),
            bundles: RefCell::default(),
            anchors: RefCell::default(),
            contained: RefCell::default(),
            types: RefCell::default(),
            depth: Cell::new(0),
            steps: Cell::new(0),
        }
    }

    /// What an element shows against a profile, looked at once.
    fn conform(&self, of: Element<'t>, profile: &'t Profile) -> Rc<Vec<Issue>> {
        let key = (self.place(of), profile.number);
        self.remembered(key, |issues| {
            self.element(of, profile, 0, issues);
            for imposed in profile.imposed.iter().filter(|_| of.resource_type().is_some()) {
                match self.set.profile(imposed, profile.package) {
                    Some(imposed) => self.against(of, imposed, issues),
                    None => warning(issues, of, self.absent(imposed), &[("profile", imposed)]),
                }
            }
        })
    }

    fn place(&self, of: Element<'t>) -> Place {
        let of_document = std::ptr::eq(of.tree(), self.tree);
        (if of_document { 0 } else { std::ptr::from_ref(of.tree()).addr() }, of.number())
    }

    /// Looks at something once; what is being looked at already counts as fine.
    fn remembered(&self, key: (Place, u32), look: impl FnOnce(&mut Vec<Issue>)) -> Rc<Vec<Issue>> {
        match self.memo.borrow().get(&key) {
            Some(Memo::Done(issues)) => return Rc::clone(issues),
            Some(Memo::Running) => return Rc::default(),
            None => {}
        }
        if self.depth.get() > DEPTH_MAX {
            return Rc::default();
        }
        self.memo.borrow_mut().insert(key, Memo::Running);
        self.depth.set(self.depth.get() + 1);
        let mut issues = Vec::new();
        look(&mut issues);
        self.depth.set(self.depth.get() - 1);
        tidy(&mut issues);
        let issues = Rc::new(issues);
        self.memo.borrow_mut().insert(key, Memo::Done(Rc::clone(&issues)));
        issues
    }

    /// Why a profile cannot be asked: nobody has it, or what it builds on is missing or builds on
    /// it.
    fn absent(&self, canonical: &str) -> &'static str {
        if self.set.names_profile(canonical) {
            "rule-profile-unusable"
        } else {
            "rule-profile-unknown"
        }
    }

    /// The definition of a type, looked up once.
    fn type_profile(&self, name: &'t str) -> Option<&'t Profile> {
        if let Some(known) = self.types.borrow().get(name) {
            return *known;
        }
        let found = self.set.type_profile(name);
        self.types.borrow_mut().insert(name, found);
        found
    }

    fn finish(&self, mut issues: Vec<Issue>) -> Vec<Finding> {
        tidy(&mut issues);
        // Several results of one patient ask for the same.
        let mut private = HashSet::new();
        issues.retain(|of| !of.is_private() || private.insert((of.at, of.code)));
        let issues = cause::once(issues);
        let elements = self.elements(&issues);
        let covered = self.knows_types(self.tree.root());
        let is_said = |of: &Finding| (covered && is_covered(of)) || self.is_entity_of_html(of);
        let mut findings: Vec<Finding> =
            self.tree.check().into_iter().filter(|of| !is_said(of)).collect();
        let empty = numbers_of_empty(&findings, &elements);
        let issues = consequence::without(issues, &elements, &empty);
        let elements = self.elements(&issues);
        findings.extend(issues.into_iter().filter_map(|issue| {
            let of = elements.get(&issue.at)?;
            let named = |(name, value): (&str, String)| (name.to_owned(), value);
            let rule =
                issue.breaks.filter(|_| issue.params.iter().all(|(name, _)| *name != "rule"));
            let rule = rule.map(|key| ("rule".to_owned(), key.to_string()));
            Some(Finding {
                code: issue.code.to_owned(),
                severity: issue.severity,
                expression: of.expression(),
                position: Some(of.position()),
                params: issue.params.into_iter().map(named).chain(rule).collect(),
            })
        }));
        cut(&mut findings, |of| of.severity);
        // What one of the looks before has cut is of this number.
        let is_cut = findings.len() >= FINDINGS_MAX;
        findings.sort_by_key(|of| (of.position.map(|place| place.start), of.severity));
        if is_cut && !findings.iter().any(|of| of.code == TOO_MANY) {
            findings.push(Finding {
                code: TOO_MANY.to_owned(),
                severity: Severity::Warning,
                expression: String::new(),
                position: None,
                params: vec![("limit".to_owned(), FINDINGS_MAX.to_string())],
            });
        }
        findings
    }

    /// Whether the definitions say of each resource in it what the base check says too. Into a
    /// resource of a type that there is not, that does not look.
    fn knows_types(&self, of: Element<'t>) -> bool {
        let known = of.resource_type().filter(|name| is_resource_type(name));
        let is_known = known.is_none_or(|name| self.type_profile(name).is_some());
        is_known && of.children().all(|child| self.knows_types(child))
    }

    /// A named character of HTML in the narrative of a JSON document: FHIR allows it, and only XML
    /// could not say it.
    fn is_entity_of_html(&self, finding: &Finding) -> bool {
        let is_entity = ("reason", "entity-refused");
        let told = finding.params.iter().any(|(name, value)| (&**name, &**value) == is_entity);
        let place = finding.position.filter(|_| told && finding.code == "narrative-not-xhtml");
        let source = place.and_then(|place| self.tree.source().get(place.start..place.end));
        let text = source.and_then(|source| std::str::from_utf8(source).ok());
        text.is_some_and(html::knows_entities)
    }

    /// The elements that issues are about, by number.
    pub(crate) fn elements(&self, issues: &[Issue]) -> HashMap<u32, Element<'t>> {
        let wanted: HashSet<u32> = issues.iter().map(|issue| issue.at).collect();
        let mut found = HashMap::with_capacity(wanted.len());
        if !wanted.is_empty() {
            collect(self.tree.root(), &wanted, &mut found);
        }
        found
    }
}

/// What a profile is asked of: of a Bundle its first resource, where the profile is one of that
/// type.
fn meant_by<'t>(root: Element<'t>, profile: &Profile) -> Element<'t> {
    if root.resource_type() != Some("Bundle") || root.is_of(&profile.type_name) {
        return root;
    }
    let first = root.all("entry").next().and_then(|entry| entry.child("resource"));
    first.filter(|of| of.is_of(&profile.type_name)).unwrap_or(root)
}

fn collect<'t>(of: Element<'t>, wanted: &HashSet<u32>, found: &mut HashMap<u32, Element<'t>>) {
    if wanted.contains(&of.number()) {
        found.insert(of.number(), of);
    }
    for child in of.children() {
        collect(child, wanted, found);
    }
}

/// The elements among these of which the base check says that they are empty.
fn numbers_of_empty(findings: &[Finding], elements: &HashMap<u32, Element<'_>>) -> HashSet<u32> {
    let is_empty = |of: &&Finding| of.code == "empty-element" && of.severity == Severity::Error;
    let places: HashSet<&str> =
        findings.iter().filter(is_empty).map(|of| of.expression.as_str()).collect();
    if places.is_empty() {
        return HashSet::new();
    }
    let told = elements.iter().filter(|(_, of)| places.contains(&*of.expression()));
    told.map(|(number, _)| *number).collect()
}

/// Base findings that the definitions say too, with more: said once.
fn is_covered(finding: &Finding) -> bool {
    matches!(&*finding.code, "missing-element" | "too-many" | "code-not-allowed")
}

/// Each issue once.
fn tidy(issues: &mut Vec<Issue>) {
    if issues.len() > 1 {
        let mut seen = HashSet::with_capacity(issues.len());
        issues.retain(|issue| seen.insert(issue.clone()));
        cut(issues, |of| of.severity);
    }
}

/// Keeps at most so many, errors before all else: what holds a report is told however many notes
/// stand before it.
fn cut<T>(all: &mut Vec<T>, severity: impl Fn(&T) -> Severity) {
    if all.len() > FINDINGS_MAX {
        all.sort_by_key(severity);
        all.truncate(FINDINGS_MAX);
    }
}

/// Whether FHIR has resources of this type.
fn is_resource_type(name: &str) -> bool {
    !name.contains('.') && TypeDefinition::named(name).is_some_and(TypeDefinition::is_resource)
}

fn has_errors(issues: &[Issue]) -> bool {
    issues.iter().any(|issue| issue.severity == Severity::Error)
}

fn push(
    issues: &mut Vec<Issue>,
    at: Element<'_>,
    code: &'static str,
    severity: Severity,
    params: Params<'_>,
) {
    let params = params.iter().map(|(name, value)| (*name, shortened(value))).collect();
    let at = at.number();
    issues.push(Issue { at, code, severity, params, about: None, asked: None, breaks: None });
}

fn error(issues: &mut Vec<Issue>, at: Element<'_>, code: &'static str, params: Params<'_>) {
    push(issues, at, code, Severity::Error, params);
}

fn warning(issues: &mut Vec<Issue>, at: Element<'_>, code: &'static str, params: Params<'_>) {
    push(issues, at, code, Severity::Warning, params);
}

/// At most 300 characters: enough for the text of a rule, no more of a document than needed.
fn shortened(value: &str) -> String {
    match value.char_indices().nth(300) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}
