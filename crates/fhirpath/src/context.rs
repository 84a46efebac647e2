//! What an expression is evaluated in: resources, variables, time, and who answers what the
//! document alone cannot.

use std::cell::Cell;

use fhir::{Element, Instant};

use crate::{Collection, Item};

/// Answers what the document alone cannot.
pub trait Host<'t> {
    /// The resource that a reference or a canonical names. `from` is the element that holds it, if
    /// the text came from the document. References to contained resources (`#…`) are not asked for.
    fn resolve(&self, reference: &str, from: Option<Element<'t>>) -> Option<Item<'t>>;
    /// Whether a code, `Coding` or `CodeableConcept` is in a value set; `None` where that cannot be
    /// known.
    fn member_of(&self, item: &Item<'t>, value_set: &str) -> Option<bool>;
    /// Whether an item conforms to a profile.
    ///
    /// # Errors
    /// No profile has this canonical.
    fn conforms_to(&self, item: &Item<'t>, profile: &str) -> Result<bool, UnknownProfile>;
    /// What `trace()` wants to show. Content of the document: not for a log.
    fn trace(&self, _name: &str, _items: &[Item<'t>]) {}
}

/// No profile has this canonical.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownProfile;

/// Bounds of one evaluation; the expression may come from anybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Steps in all: an item looked at by a function is one.
    pub steps_max: u32,
    /// Items of one collection.
    pub items_max: usize,
    /// Bytes of one text that is made.
    pub text_max: usize,
}

impl Default for Limits {
    /// 5 million steps (about a second), 500,000 items (as many as a document may have elements),
    /// 1 MiB of text.
    fn default() -> Self {
        Self { steps_max: 5_000_000, items_max: 500_000, text_max: 1 << 20 }
    }
}

/// What an expression is evaluated in.
#[derive(Clone)]
pub struct Context<'c, 't> {
    pub(crate) resource: Option<Element<'t>>,
    pub(crate) root_resource: Option<Element<'t>>,
    pub(crate) context: Option<Item<'t>>,
    pub(crate) host: Option<&'c dyn Host<'t>>,
    pub(crate) now: Instant,
    pub(crate) variables: Vec<(Box<str>, Collection<'t>)>,
    pub(crate) limits: Limits,
    pub(crate) steps: Option<&'c Cell<u64>>,
}

impl<'c, 't> Context<'c, 't> {
    /// With this time for `now()` and `today()`, in UTC.
    pub fn new(now: Instant) -> Self {
        Self {
            resource: None,
            root_resource: None,
            context: None,
            host: None,
            now,
            variables: Vec::new(),
            limits: Limits::default(),
            steps: None,
        }
    }
    /// Sets `%resource`, the resource that holds the focus, and `%rootResource`, the same unless
    /// that is a contained one. `%context` becomes `%resource` unless it is set.
    #[must_use]
    pub fn within(mut self, resource: Element<'t>, root_resource: Element<'t>) -> Self {
        self.resource = Some(resource);
        self.root_resource = Some(root_resource);
        self
    }
    /// Sets `%context`: the element that the invariant stands on.
    #[must_use]
    pub fn on(mut self, element: Item<'t>) -> Self {
        self.context = Some(element);
        self
    }
    /// Sets who answers `resolve`, `memberOf` and `conformsTo`; without one they are an error.
    #[must_use]
    pub fn asking(mut self, host: &'c dyn Host<'t>) -> Self {
        self.host = Some(host);
        self
    }
    /// Sets `%name`.
    #[must_use]
    pub fn with(mut self, name: &str, value: Collection<'t>) -> Self {
        self.variables.retain(|(known, _)| **known != *name);
        self.variables.push((name.into(), value));
        self
    }
    /// Sets where the steps of each evaluation are added up.
    #[must_use]
    pub fn counting(mut self, steps: &'c Cell<u64>) -> Self {
        self.steps = Some(steps);
        self
    }
    /// Sets the bounds.
    #[must_use]
    pub fn limited(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}
