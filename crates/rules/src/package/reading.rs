//! One file of a package: its JSON under bounds, and what validation needs of it.

use serde_json::Value;

use super::{Fault, Unusable, form};
use crate::definition::Definition;

/// Objects and lists in one file. Each takes some hundred bytes of memory, whatever it holds; the
/// largest published definitions have some thousand.
const OBJECTS_MAX: usize = 500_000;
/// Values in one file, each of which takes some tens of bytes.
const VALUES_MAX: usize = 4_000_000;

/// What is done about a definition that cannot be used.
pub(super) enum Flaws {
    /// The whole package is refused: without it the others would say less than their publisher
    /// means.
    Refused,
    /// It is told, and the others are used.
    Told(Vec<Fault>),
}

impl Flaws {
    pub(super) fn tell(&mut self, fault: Fault) -> Result<(), Fault> {
        match self {
            Self::Refused => Err(fault),
            Self::Told(all) => {
                all.push(fault);
                Ok(())
            }
        }
    }

    pub(super) fn told(self) -> Vec<Fault> {
        match self {
            Self::Refused => Vec::new(),
            Self::Told(all) => all,
        }
    }
}

/// The JSON of a file, whose size in memory is counted before it is read.
pub(super) fn json(content: &[u8]) -> Result<Value, Unusable> {
    let (objects, values) = counted(content);
    for (found, limit) in [(objects, OBJECTS_MAX), (values, VALUES_MAX)] {
        if found > limit {
            return Err(Unusable::TooMany { limit });
        }
    }
    serde_json::from_slice(without_mark(content)).map_err(|_| Unusable::NotJson)
}

/// Objects and lists, and values, as their signs outside of texts tell.
fn counted(content: &[u8]) -> (usize, usize) {
    let (mut objects, mut values) = (0, 0);
    let (mut is_text, mut is_escaped) = (false, false);
    for byte in content {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b'{' | b'[' if !is_text => objects += 1,
            b',' if !is_text => values += 1,
            _ => {}
        }
    }
    (objects, values)
}

/// What validation needs of a resource of a package, and the value sets that it contains; nothing
/// where it is no conformance resource.
///
/// `place` names it where it has no address of its own.
pub(super) fn definitions(
    resource: &Value,
    place: &str,
    flaws: &mut Flaws,
) -> Result<Vec<Definition>, Fault> {
    let Some(own) = definition(resource, place, flaws)? else { return Ok(Vec::new()) };
    let mut all = vec![own];
    for set in contained_value_sets(resource) {
        all.extend(definition(&set, place, flaws)?);
    }
    Ok(all)
}

/// The value sets that a definition contains, each with the address that its owner has for it.
fn contained_value_sets(owner: &Value) -> impl Iterator<Item = Value> {
    let text = |of: &Value, name: &str| of.get(name).and_then(Value::as_str).map(str::to_owned);
    let contained = owner.get("contained").and_then(Value::as_array).into_iter().flatten();
    contained.filter_map(move |of| {
        let is_value_set = text(of, "resourceType").as_deref() == Some("ValueSet");
        let address = format!("{}#{}", text(owner, "url")?, text(of, "id")?);
        let mut set = of.clone();
        let members = set.as_object_mut().filter(|_| is_value_set)?;
        members.insert("url".to_owned(), Value::String(address));
        match owner.get("version") {
            Some(version) => members.insert("version".to_owned(), version.clone()),
            None => members.remove("version"),
        };
        Some(set)
    })
}

/// What validation needs of one resource.
fn definition(
    resource: &Value,
    place: &str,
    flaws: &mut Flaws,
) -> Result<Option<Definition>, Fault> {
    let text = |name: &str| resource.get(name).and_then(Value::as_str).unwrap_or_default();
    let is_structure = text("resourceType") == "StructureDefinition";
    let (address, version) = (text("url"), text("version"));
    let name = match (address, version) {
        ("", _) => place.to_owned(),
        (_, "") => address.to_owned(),
        _ => format!("{address}|{version}"),
    };
    let mut tell = |why| flaws.tell(Fault::Definition { name: name.clone(), why });
    // FHIR demands an address of each structure, and nothing could refer to one without.
    if is_structure && address.is_empty() {
        tell(Unusable::NoAddress)?;
        return Ok(None);
    }
    if form::is_empty(resource) {
        tell(Unusable::Empty)?;
        return Ok(None);
    }
    // Where the package is used all the same, the part that is wrong counts for nothing.
    if let Some(part) = form::first_misshapen(resource).filter(|_| !address.is_empty()) {
        tell(Unusable::Misshapen { part })?;
    }
    Ok(Definition::of(resource))
}

/// JSON without the byte order mark that some programs put before it.
pub(super) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_in_texts_are_not_counted() {
        assert_eq!(counted(br#"{"a":[1,2],"b":"{[,\\\",{"}"#), (2, 2));
    }
}
