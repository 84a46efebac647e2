//! What the form of a value says, wherever it stands: addresses that must be absolute, codes of
//! code systems that are here, sizes, narrative.

use fhir::Element;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest, Sha1};

use super::bounds::decoded;
use super::bundle::is_absolute;
use super::narrative::{self, Links};
use super::{Issue, Run, error, warning};
use crate::vocabulary::Codes;

/// Code systems whose address is often written with something before or behind it.
const WELL_KNOWN: &[&str] = &[
    "http://snomed.info/sct",
    "http://loinc.org",
    "http://unitsofmeasure.org",
    "http://www.nlm.nih.gov/research/umls/rxnorm",
];

/// Resources that are known by an address of their own.
const CANONICAL: &[&str] = &[
    "ActivityDefinition",
    "CapabilityStatement",
    "ChargeItemDefinition",
    "CodeSystem",
    "CompartmentDefinition",
    "ConceptMap",
    "EffectEvidenceSynthesis",
    "EventDefinition",
    "Evidence",
    "EvidenceVariable",
    "ExampleScenario",
    "GraphDefinition",
    "ImplementationGuide",
    "Library",
    "Measure",
    "MessageDefinition",
    "OperationDefinition",
    "PlanDefinition",
    "Questionnaire",
    "ResearchDefinition",
    "ResearchElementDefinition",
    "RiskEvidenceSynthesis",
    "SearchParameter",
    "StructureDefinition",
    "StructureMap",
    "TerminologyCapabilities",
    "TestScript",
    "ValueSet",
];

impl<'t> Run<'t> {
    /// An element and all below it.
    pub(super) fn lexical(&self, of: Element<'t>, issues: &mut Vec<Issue>) {
        match of.type_name() {
            "Coding" | "Quantity" => self.coding(of, issues),
            "Identifier" => identifier(of, issues),
            "uri" | "url" | "oid" | "uuid" | "canonical" => self.address(of, issues),
            "Attachment" => attachment(of, issues),
            "xhtml" => self.narrative(of, issues),
            _ => {}
        }
        for child in of.children() {
            self.lexical(child, issues);
        }
    }

    fn narrative(&self, of: Element<'t>, issues: &mut Vec<Issue>) {
        narrative::check(of, issues);
        let mut links = Links::default();
        narrative::links(of, &mut links);
        for id in links.fragments {
            self.fragment(of, id, issues);
        }
    }

    fn address(&self, of: Element<'t>, issues: &mut Vec<Issue>) {
        has_address_form(of, issues);
        let id = of.value().and_then(|value| value.strip_prefix('#'));
        let is_name = of.name() == "url" && of.parent().is_some_and(|of| of.is_of("Extension"));
        if let Some(id) = id.filter(|id| !id.is_empty() && !is_name) {
            self.fragment(of, id, issues);
        }
    }

    fn coding(&self, of: Element<'t>, issues: &mut Vec<Issue>) {
        system(of, &[], issues);
        let (Some(system), Some(code)) = (of.text("system"), of.text("code")) else { return };
        if self.set.members(system, 0).is_some() && self.set.codes(system, 0).is_none() {
            return error(issues, of, "rule-system-is-value-set", &[("value", system)]);
        }
        if let Some(plain) = self.meant(system) {
            let params = [("value", system), ("expected", &*plain)];
            return error(issues, of, "rule-code-system-wrong", &params);
        }
        if self.is_unknown_of_hl7(system) {
            // HL7's validator asks its terminology server, and goes on where that knows no more.
            return warning(issues, of, "rule-code-system-unknown", &[("value", system)]);
        }
        if self.set.codes(system, 0).is_some_and(Codes::is_supplement) {
            return error(issues, of, "rule-system-is-supplement", &[("value", system)]);
        }
        let canonical = of.text("version").map(|version| format!("{system}|{version}"));
        let canonical = canonical.as_deref().unwrap_or(system);
        if self.set.has_code(canonical, 0, code) == Some(false) {
            let params = [("value", code), ("system", system)];
            error(issues, of, "rule-code-unknown", &params);
        }
    }
}

impl Run<'_> {
    /// The code system that is meant where one is not written as it is: with `https`, or with more
    /// behind.
    fn meant(&self, system: &str) -> Option<String> {
        let known = WELL_KNOWN.iter().find(|plain| {
            // An edition of SNOMED CT is a version, not a system; HL7's validator refuses it too.
            system.strip_prefix(**plain).is_some_and(|more| !more.is_empty())
                || system.strip_prefix("https") == plain.strip_prefix("http")
        });
        let plain = || {
            let plain = format!("http{}", system.strip_prefix("https")?);
            self.set.codes(&plain, 0).map(|_| plain)
        };
        match known {
            Some(known) => Some((*known).to_owned()),
            None if self.set.codes(system, 0).is_some() => None,
            None => plain(),
        }
    }

    /// Whether a code system is said to be one of FHIR, and FHIR has none of that name.
    fn is_unknown_of_hl7(&self, system: &str) -> bool {
        let addresses = [
            "http://hl7.org/fhir",
            "https://hl7.org/fhir",
            "http://www.hl7.org/fhir",
            "https://www.hl7.org/fhir",
            "http://build.fhir.org",
            "https://build.fhir.org",
        ];
        let others = ["http://hl7.org/fhir/sid/", "http://hl7.org/fhir/test"];
        // Without the types of FHIR its code systems are not here either.
        addresses.iter().any(|of| system.starts_with(of))
            && !others.iter().any(|of| system.starts_with(of))
            && self.set.type_profile("Resource").is_some()
            && self.set.codes(system, 0).is_none()
    }
}

/// The system of a code or an identifier is a complete address.
fn system(of: Element<'_>, more: &[&str], issues: &mut Vec<Issue>) {
    let Some(child) = of.child("system") else { return };
    let is_fine = |value: &str| {
        let known = ["http:", "https:", "urn:"];
        value.is_empty() || known.iter().chain(more).any(|scheme| value.starts_with(scheme))
    };
    if let Some(value) = child.value().filter(|value| !is_fine(value)) {
        let element = format!("{}.system", of.type_name());
        let params = [("element", &*element), ("value", value)];
        error(issues, child, "rule-system-not-absolute", &params);
    }
}

fn identifier(of: Element<'_>, issues: &mut Vec<Issue>) {
    system(of, &["ldap:"], issues);
    let (Some(told), Some(value)) = (of.text("system"), of.child("value")) else { return };
    let text = value.value().unwrap_or_default();
    let is_id = text.is_empty() || text.starts_with("urn:uuid:") || is_uuid(text);
    if told == "https://tools.ietf.org/html/rfc4122" && !is_id {
        error(issues, value, "rule-address-form", &[("value", text)]);
    }
    if told == "urn:ietf:rfc:3986" && !text.is_empty() && !is_absolute(text) {
        let params = [("element", "Identifier.value"), ("value", text)];
        error(issues, value, "rule-system-not-absolute", &params);
    }
}

/// The address by which a definition is known: `CodeSystem.url`.
fn is_canonical_url(of: Element<'_>) -> bool {
    of.name() == "url"
        && of.type_name() == "uri"
        && of.parent().is_some_and(|owner| {
            owner.resource_type().is_some_and(|kind| CANONICAL.contains(&kind))
        })
}

fn has_address_form(of: Element<'_>, issues: &mut Vec<Issue>) {
    let Some(value) = of.value() else { return };
    // Only a canonical may name a version.
    let id_of = |id: &'_ str| match of.type_name() {
        "canonical" => id.rsplit_once('|').map_or(id.len(), |(id, _)| id.len()),
        _ => id.len(),
    };
    let is_wrong = value.starts_with("oid:")
        || value.starts_with("uuid:")
        || value.strip_prefix("urn:uuid:").is_some_and(|id| !is_uuid(&id[..id_of(id)]))
        || value.strip_prefix("urn:oid:").is_some_and(|id| !is_oid(id));
    // What is wrong with the types `oid` and `uuid` the base check says.
    if is_wrong && matches!(of.type_name(), "uri" | "url" | "canonical") {
        error(issues, of, "rule-address-form", &[("value", value)]);
    }
    let may_be_relative = value.starts_with('#') || value.is_empty();
    let is_canonical = of.type_name() == "canonical" && !may_be_relative;
    if (is_canonical || is_canonical_url(of)) && !is_absolute(value) {
        let params = [("element", of.name()), ("value", value)];
        error(issues, of, "rule-system-not-absolute", &params);
    }
}

/// After `urn:uuid:`, with or without a fragment.
fn is_uuid(id: &str) -> bool {
    let id = id.split('#').next().unwrap_or_default();
    id.len() == 36
        && id.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// After `urn:oid:`; an OID has no fragment.
fn is_oid(id: &str) -> bool {
    // A number is written in one way: without zeros before it.
    let arc = |arc: &str| {
        let digits = !arc.is_empty() && arc.bytes().all(|byte| byte.is_ascii_digit());
        digits && (arc == "0" || !arc.starts_with('0'))
    };
    // Short roots belong to no one, save those of `1.3`.
    let is_long = id.starts_with("1.3") || id.rfind('.').is_some_and(|last| last >= 4);
    let first = id.split('.').next().unwrap_or_default();
    is_long && matches!(first, "0" | "1" | "2") && id.split('.').all(arc)
}

/// Size and hash that are told against those of the content that is there.
fn attachment(of: Element<'_>, issues: &mut Vec<Issue>) {
    let Some(data) = of.text("data") else { return };
    let size = decoded(data);
    if let Some(told) = of.text("size").filter(|told| told.parse() != Ok(size)) {
        let size = size.to_string();
        error(issues, of, "rule-attachment-size", &[("expected", &*size), ("found", told)]);
    }
    let Some(told) = of.text("hash") else { return };
    let plain: String = data.split_ascii_whitespace().collect();
    // What is wrong with the form of the content the base check says.
    let Ok(content) = STANDARD.decode(plain) else { return };
    let hash = STANDARD.encode(Sha1::digest(content));
    if told != hash {
        error(issues, of, "rule-attachment-hash", &[("expected", &*hash), ("found", told)]);
    }
}
