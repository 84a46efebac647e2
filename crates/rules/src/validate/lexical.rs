//! What the form of a value says, wherever it stands: addresses that must be absolute, codes of code
//! systems that are here, sizes, narrative.

use fhir::Element;

use super::bundle::is_absolute;
use super::{Issue, Run, error, narrative};

impl<'t> Run<'t> {
    /// An element and all below it.
    pub(super) fn lexical(&self, of: Element<'t>, issues: &mut Vec<Issue>) {
        match of.type_name() {
            "Coding" => self.coding(of, issues),
            "Identifier" => absolute(of, "system", issues),
            "uri" | "url" | "oid" | "uuid" | "canonical" => address(of, issues),
            "Attachment" => attachment(of, issues),
            "xhtml" => narrative::check(of, issues),
            _ => {}
        }
        for child in of.children() {
            self.lexical(child, issues);
        }
    }

    fn coding(&self, of: Element<'t>, issues: &mut Vec<Issue>) {
        absolute(of, "system", issues);
        let (Some(system), Some(code)) = (of.text("system"), of.text("code")) else { return };
        if self.set.members(system, 0).is_some() && self.set.codes(system, 0).is_none() {
            return error(issues, of, "rule-system-is-value-set", &[("value", system)]);
        }
        let canonical = of.text("version").map(|version| format!("{system}|{version}"));
        let canonical = canonical.as_deref().unwrap_or(system);
        if self.set.has_code(canonical, 0, code) == Some(false) {
            let params = [("value", code), ("system", system)];
            error(issues, of, "rule-code-unknown", &params);
        }
    }
}

fn absolute(of: Element<'_>, name: &str, issues: &mut Vec<Issue>) {
    let Some(child) = of.child(name) else { return };
    if let Some(value) = child.value().filter(|value| !value.is_empty() && !is_absolute(value)) {
        let element = format!("{}.{name}", of.type_name());
        let params = [("element", &*element), ("value", value)];
        error(issues, child, "rule-system-not-absolute", &params);
    }
}

fn address(of: Element<'_>, issues: &mut Vec<Issue>) {
    let Some(value) = of.value() else { return };
    let is_wrong = value.starts_with("oid:")
        || value.starts_with("uuid:")
        || value.strip_prefix("urn:uuid:").is_some_and(|id| !is_uuid(id))
        || value.strip_prefix("urn:oid:").is_some_and(|id| !is_oid(id));
    // What is wrong with the types `oid` and `uuid` the base check says.
    if is_wrong && matches!(of.type_name(), "uri" | "url" | "canonical") {
        error(issues, of, "rule-address-form", &[("value", value)]);
    }
    let may_be_relative = value.starts_with('#') || value.is_empty();
    if of.type_name() == "canonical" && !may_be_relative && !is_absolute(value) {
        let params = [("element", "canonical"), ("value", value)];
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

fn is_oid(id: &str) -> bool {
    let id = id.split('#').next().unwrap_or_default();
    let arc = |arc: &str| !arc.is_empty() && arc.bytes().all(|byte| byte.is_ascii_digit());
    id.starts_with(['0', '1', '2']) && id.split('.').all(arc)
}

/// The size that is told against the size that is there.
fn attachment(of: Element<'_>, issues: &mut Vec<Issue>) {
    let (Some(data), Some(told)) = (of.text("data"), of.text("size")) else { return };
    let letters = data.bytes().filter(|byte| !byte.is_ascii_whitespace());
    let (mut count, mut padding) = (0_usize, 0_usize);
    for byte in letters {
        count += 1;
        padding += usize::from(byte == b'=');
    }
    let size = (count / 4 * 3).saturating_sub(padding);
    if told.parse() != Ok(size) {
        let size = size.to_string();
        error(issues, of, "rule-attachment-size", &[("expected", &*size), ("found", told)]);
    }
}
