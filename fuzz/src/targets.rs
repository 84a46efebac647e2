//! The targets.

mod answers;
mod calls;
mod documents;
mod expressions;
mod identities;
mod moments;
mod packages;
mod settings;

/// A property of bytes.
#[derive(Clone, Copy)]
pub struct Target {
    /// Name, and folder of its stored inputs.
    pub name: &'static str,
    /// Ends in a panic where the property does not hold.
    pub run: fn(&[u8]),
    /// Words that its inputs are made of.
    pub words: &'static [&'static str],
    /// Longest time for one input, seconds, in a build that is not optimised.
    pub seconds_max: f64,
    /// Whether its figures belong to `pkcs12` rather than to `hostile-text`.
    pub is_identity: bool,
}

const fn target(name: &'static str, run: fn(&[u8]), words: &'static [&'static str]) -> Target {
    Target { name, run, words, seconds_max: 1.0, is_identity: false }
}

/// A package may make as many copies of elements as its bound allows.
const fn slow(name: &'static str, run: fn(&[u8]), words: &'static [&'static str]) -> Target {
    Target { name, run, words, seconds_max: 4.0, is_identity: false }
}

/// An import may take all the derivations that its bounds allow: 4,000,000 to see what is inside,
/// and the same again to open it.
const fn identity(name: &'static str, run: fn(&[u8]), words: &'static [&'static str]) -> Target {
    Target { name, run, words, seconds_max: 8.0, is_identity: true }
}

/// Every target.
pub const TARGETS: &[Target] = &[
    target("fhir-json", documents::json, documents::JSON_WORDS),
    target("fhir-xml", documents::xml, documents::XML_WORDS),
    target("answers", answers::answer, answers::WORDS),
    target("links", answers::link, answers::LINK_WORDS),
    target("queries", answers::query, answers::QUERY_WORDS),
    target("moments", moments::moment, moments::WORDS),
    target("fhirpath", expressions::expression, expressions::WORDS),
    slow("packages", packages::package, packages::WORDS),
    target("calls", calls::call, calls::WORDS),
    target("settings", settings::settings, settings::WORDS),
    identity("pkcs12", identities::pkcs12, identities::DER_WORDS),
    identity("pem", identities::pem, identities::PEM_WORDS),
];
