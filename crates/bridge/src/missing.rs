//! A simple value that is missing: the form offers a field for it, and what is typed there becomes
//! an element of the text, where FHIR lets it stand. Everything else stays as it was received, to
//! the byte.

use fhir::{Element, ElementDefinition, Format, Tree, TypeDefinition};

use crate::declaration::{json_head, xml_prefix};
use crate::placement::found;
use crate::views::MessageView;
use crate::writing::{common_path, escaped, exactly, in_json};

/// An element that could have a value, whether it is there or not.
pub(crate) struct Missing<'t> {
    pub(crate) owner: Element<'t>,
    of: ElementDefinition,
}

impl<'t> Missing<'t> {
    /// What a message misses; `None` where that is more than one simple value, or anything of
    /// several types.
    pub(crate) fn of(message: &MessageView, tree: &'t Tree) -> Option<Self> {
        if !matches!(&*message.code, "rule-missing" | "missing-element") {
            return None;
        }
        Self::named(found(message, tree)?, message.params.get("element")?)
    }

    fn named(owner: Element<'t>, name: &str) -> Option<Self> {
        let of = elements(owner)?.find(|of| of.written() == name && !of.is_choice())?;
        let kind = of.of();
        (kind.is_primitive() && kind.name() != "xhtml").then_some(Self { owner, of })
    }

    /// The value that is there by now.
    pub(crate) fn present(&self) -> Option<Element<'t>> {
        self.owner.child(self.of.written()).filter(|leaf| leaf.value().is_some())
    }

    /// FHIRPath that the value will have.
    pub(crate) fn expression(&self) -> String {
        let place = if self.of.repeats() { "[0]" } else { "" };
        format!("{}.{}{place}", self.owner.expression(), self.of.written())
    }

    /// The same without numbers.
    pub(crate) fn path(&self) -> String {
        let owner = match self.owner.resource_type() {
            Some(kind) => kind.to_owned(),
            None => common_path(self.owner),
        };
        format!("{owner}.{}", self.of.written())
    }

    fn in_json(&self, tree: &Tree, value: &str) -> Option<(usize, String)> {
        let name = self.of.written();
        let value = in_json(self.of.of().name(), value)?;
        let value = if self.of.repeats() { format!("[{value}]") } else { value };
        let (at, is_first) = match self.owner.resource_type() {
            Some(_) => (json_head(tree.source(), self.owner)?, false),
            None => (self.owner.inner_start()?, true),
        };
        let rest = std::str::from_utf8(tree.source().get(at..)?).ok()?;
        let space = space_before(rest.trim_start_matches(','));
        let gap = if space.is_empty() { "" } else { " " };
        let member = format!("\"{name}\":{gap}{value}");
        Some((at, if is_first { format!("{space}{member},") } else { format!(",{space}{member}") }))
    }

    fn in_xml(&self, tree: &Tree, value: &str) -> Option<(usize, String)> {
        let owner = self.owner.position();
        let prefix = xml_prefix(tree.source(), owner.start)?;
        let element = format!("<{prefix}{} value=\"{}\"/>", self.of.written(), escaped(value));
        let order: Vec<_> = elements(self.owner)?.map(ElementDefinition::name).collect();
        let place = |name| order.iter().position(|of| *of == name);
        let mine = place(self.of.name())?;
        let is_before =
            |child: &Element<'_>| child.element_name().and_then(place).is_some_and(|at| at < mine);
        let (before, after): (Vec<_>, Vec<_>) = self.owner.children().partition(is_before);
        // A resource is where its own element is, not the one around it: nothing is written beside
        // it.
        let plain = |of: &&Element<'_>| of.resource_type().is_none();
        let source = std::str::from_utf8(tree.source()).ok()?;
        let indent = |at: usize| {
            let above = source.get(..at).unwrap_or_default();
            above[above.trim_end().len()..].to_owned()
        };
        // An `id` is an attribute of its owner, and no element to stand beside, unless that is a
        // resource.
        let is_attribute =
            |of: &&Element<'_>| of.name() == "id" && self.owner.resource_type().is_none();
        match (before.last().filter(|of| !is_attribute(of)), after.first()) {
            (_, Some(next)) if plain(&next) => {
                let at = next.position().start;
                Some((at, format!("{element}{}", indent(at))))
            }
            (Some(last), _) if plain(&last) => {
                let place = last.position();
                Some((place.end, format!("{}{element}", indent(place.start))))
            }
            (None, None) => Some((self.owner.inner_start()?, element)),
            _ => None,
        }
    }
}

/// The text with a value at an element that it has not; `None` where there cannot be one.
pub(crate) fn with_new(tree: &Tree, expression: &str, value: &str) -> Option<String> {
    let (owner, name) = expression.rsplit_once('.')?;
    let name = name.strip_suffix("[0]").unwrap_or(name);
    let missing = Missing::named(exactly(tree, owner)?, name)?;
    if missing.owner.child(name).is_some() {
        return None;
    }
    let (at, written) = match tree.format() {
        Format::Json => missing.in_json(tree, value)?,
        Format::Xml => missing.in_xml(tree, value)?,
    };
    let mut text = String::from_utf8(tree.source().to_vec()).ok()?;
    text.is_char_boundary(at).then_some(())?;
    text.insert_str(at, &written);
    Some(text)
}

fn elements(owner: Element<'_>) -> Option<impl Iterator<Item = ElementDefinition>> {
    let of = match owner.resource_type() {
        Some(kind) => TypeDefinition::named(kind)?,
        None => owner.type_definition()?,
    };
    Some(of.elements())
}

/// The white space that a text begins with, where it breaks the line.
fn space_before(text: &str) -> &str {
    let space = &text[..text.len() - text.trim_start().len()];
    if space.contains('\n') { space } else { "" }
}

#[cfg(test)]
mod tests {
    use fhir::Limits;

    use super::*;

    fn with(text: &str, expression: &str, value: &str) -> Option<String> {
        let format = Format::sniff(text.as_bytes())?;
        let tree = Tree::read(text.as_bytes(), format, &Limits::default()).ok()?;
        let new = with_new(&tree, expression, value)?;
        let tree = Tree::read(new.as_bytes(), format, &Limits::default()).unwrap();
        assert_eq!(tree.find(expression).unwrap().value(), Some(value), "{new}");
        assert!(tree.check().iter().all(|of| of.code != "wrong-order"), "{new}");
        Some(new)
    }

    #[test]
    fn a_value_gets_into_json() {
        let flat = r#"{"resourceType":"Patient","address":[{"country":"CH"}]}"#;
        assert_eq!(
            with(flat, "Patient.birthDate", "1970-01-01").unwrap(),
            r#"{"resourceType":"Patient","birthDate":"1970-01-01","address":[{"country":"CH"}]}"#
        );
        assert_eq!(
            with(flat, "Patient.active", "true").unwrap(),
            r#"{"resourceType":"Patient","active":true,"address":[{"country":"CH"}]}"#
        );
        assert_eq!(
            with(flat, "Patient.address[0].line[0]", "A \"1\"").unwrap(),
            r#"{"resourceType":"Patient","address":[{"line":["A \"1\""],"country":"CH"}]}"#
        );
        let broken =
            "{\n  \"resourceType\": \"Organization\",\n  \"id\": \"a\",\n  \"active\": true\n}";
        assert_eq!(
            with(broken, "Organization.name", "B").unwrap(),
            "{\n  \"resourceType\": \"Organization\",\n  \"id\": \"a\",\n  \"name\": \"B\",\n  \"active\": true\n}"
        );
        let inside = r#"{"resourceType":"Bundle","entry":[{"resource":{"resourceType":"Organization","id":"a","language":"de"}}]}"#;
        assert_eq!(
            with(inside, "Bundle.entry[0].resource.name", "B").unwrap(),
            inside.replace(r#""id":"a","#, r#""id":"a","name":"B","#)
        );
        assert_eq!(
            with(flat, "Patient.active", "yes").unwrap(),
            flat.replace("\"address\"", "\"active\":\"yes\",\"address\""),
        );
        for no in [
            "Patient.nothing",
            "Patient.name",
            "Patient.address[0].country",
            "Patient.address[1].city",
            "Patient.contact[0].gender",
            "Patient.multipleBirthBoolean",
            "Patient",
        ] {
            assert_eq!(with(flat, no, "x"), None, "{no}");
        }
    }

    #[test]
    fn a_value_gets_into_xml_where_it_may_stand() {
        let of =
            |inner: &str| format!("<f:Patient xmlns:f=\"http://hl7.org/fhir\">{inner}</f:Patient>");
        let born = "<f:birthDate value=\"1970\"/>";
        for (inner, expected) in [
            (
                "<f:gender value=\"male\"/><f:maritalStatus><f:text \
                 value=\"x\"/></f:maritalStatus>",
                format!(
                    "<f:gender value=\"male\"/>{born}<f:maritalStatus><f:text \
                     value=\"x\"/></f:maritalStatus>"
                ),
            ),
            ("<f:gender value=\"male\"/>", format!("<f:gender value=\"male\"/>{born}")),
            (
                "\n <f:gender value=\"male\"/>\n",
                format!("\n <f:gender value=\"male\"/>\n {born}\n"),
            ),
            (
                "\n <f:deceasedBoolean value=\"true\"/>\n",
                format!("\n {born}\n <f:deceasedBoolean value=\"true\"/>\n"),
            ),
        ] {
            assert_eq!(with(&of(inner), "Patient.birthDate", "1970").unwrap(), of(&expected));
        }
        let address = of("<f:address id=\"a\"><f:country value=\"CH\"/></f:address>");
        assert_eq!(
            with(&address, "Patient.address[0].city", "A & B").unwrap(),
            of("<f:address id=\"a\"><f:city value=\"A &amp; B\"/><f:country \
                 value=\"CH\"/></f:address>")
        );
    }
}
