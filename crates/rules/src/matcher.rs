//! How a slice recognises its elements, as data.

use serde_json::Value;

use crate::definition::{Binding, Typed};

/// One condition of a slice.
#[derive(Debug)]
pub(crate) struct Matcher {
    pub(crate) steps: Vec<Step>,
    pub(crate) test: Test,
}

/// One step of the path of a discriminator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Child(String),
    Extension(String),
    OfType(String),
    Resolve,
}

/// What must be true of what stands there.
#[derive(Debug)]
pub(crate) enum Test {
    /// One of these: several types or profiles each gave one.
    Any(Vec<Test>),
    Fixed(Typed),
    Pattern(Value),
    /// In the value set, seen from this package.
    Bound(Binding, u16),
    Exists,
    Missing,
    /// The slice may not occur. HL7's validator then finds no element for it; FHIR forbids those
    /// that pass the test.
    Forbidden(Option<Box<Test>>),
    Type(Vec<String>),
    /// Conforms to one of the profiles, seen from this package.
    Profile(Vec<String>, u16),
    /// The element stands at one of these places.
    Position(std::ops::Range<usize>),
    /// HL7's validator has no way to ask it: whatever stands there is in doubt.
    NotAsked,
}
