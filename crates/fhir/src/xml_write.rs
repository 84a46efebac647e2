//! The XML writer.

use crate::arena::Flags;
use crate::namespaces::{FHIR, XHTML};
use crate::table::Kind;
use crate::{Element, Format, Tree, xml, xml_text};

impl Tree {
    /// Writes XML (compact, with declaration-less root in the FHIR namespace). What JSON may hold
    /// and XML cannot (control characters, keys that are no names) is written as U+FFFD or
    /// `_xHHHH_`; the base check reports both.
    pub fn to_xml(&self) -> String {
        write(self)
    }
}

pub(crate) fn write(tree: &Tree) -> String {
    let mut out = String::with_capacity(tree.source().len() * 2);
    let root = tree.root();
    resource(root, root.resource_type().unwrap_or_default(), true, &mut out);
    out
}

fn resource(of: Element<'_>, kind: &str, is_root: bool, out: &mut String) {
    out.push('<');
    name(kind, out);
    if is_root {
        out.push_str(" xmlns=\"");
        out.push_str(FHIR);
        out.push('"');
    }
    content(of, out);
    end(kind, of, out);
}

fn element(of: Element<'_>, out: &mut String) {
    if of.kind() == Some(Kind::Xhtml) && of.value().is_some() {
        return narrative(of, out);
    }
    out.push('<');
    name(of.name(), out);
    if let Some(kind) = of.resource_type() {
        out.push('>');
        resource(of, kind, false, out);
        out.push_str("</");
        name(of.name(), out);
        out.push('>');
        return;
    }
    content(of, out);
    end(of.name(), of, out);
}

/// Attributes, the end of the start tag, and children. Without children the tag stays open for
/// `/>`.
fn content(of: Element<'_>, out: &mut String) {
    for child in of.children().filter(|child| is_attribute(*child)) {
        attribute(child.name(), child.value().unwrap_or_default(), out);
    }
    if let Some(value) = of.value() {
        attribute("value", value, out);
    }
    if of.children().all(is_attribute) {
        return;
    }
    out.push('>');
    if of.tree.format() == Format::Xml {
        of.children().filter(|child| !is_attribute(*child)).for_each(|child| element(child, out));
        return;
    }
    // JSON has no order; the order of XML is the table's.
    let order = |child: &Element<'_>| child.field().map_or(u16::MAX, |field| field.order);
    let mut children: Vec<_> = of.children().filter(|child| !is_attribute(*child)).collect();
    if !children.is_sorted_by_key(order) {
        children.sort_by_key(order);
    }
    children.into_iter().for_each(|child| element(child, out));
}

fn end(kind: &str, of: Element<'_>, out: &mut String) {
    if of.children().all(is_attribute) {
        out.push_str("/>");
        return;
    }
    out.push_str("</");
    name(kind, out);
    out.push('>');
}

fn is_attribute(element: Element<'_>) -> bool {
    let field = element.field().is_some_and(|field| field.is_attribute);
    let may_be = field || element.read().flags.has(Flags::ATTRIBUTE);
    // An attribute has a value, if an empty one; an element without is none, nor is a second one of
    // a name: it is written as an element, so that nothing is lost.
    let is_first = element.read().index == 0;
    may_be && is_first && element.value().is_some() && element.children().next().is_none()
}

fn attribute(key: &str, value: &str, out: &mut String) {
    out.push(' ');
    name(key, out);
    out.push_str("=\"");
    xml_text::escape(value, out);
    out.push('"');
}

/// The text itself, if it is XHTML; else it is said as text inside of one, so that the document
/// stays readable (the base check reports it).
fn narrative(of: Element<'_>, out: &mut String) {
    let text = of.value().unwrap_or_default();
    if of.tree.format() == Format::Xml || xml::narrative(text).is_ok() {
        out.push_str(text);
        return;
    }
    out.push_str("<div xmlns=\"");
    out.push_str(XHTML);
    out.push_str("\">");
    xml_text::escape(text, out);
    out.push_str("</div>");
}

/// A name; what XML does not allow in one is written `_xHHHH_` (ISO 9075-14).
fn name(name: &str, out: &mut String) {
    if xml_text::is_name(name) && !name.contains(':') {
        out.push_str(name);
        return;
    }
    for letter in name.chars() {
        let first = out.ends_with(['<', '/', ' ']);
        let probe = [if first { '_' } else { 'a' }, letter];
        let fits = if first {
            xml_text::is_name(letter.encode_utf8(&mut [0; 4]))
        } else {
            letter != ':' && xml_text::is_name(&probe.iter().collect::<String>())
        };
        if fits {
            out.push(letter);
        } else {
            out.push_str(&format!("_x{:04X}_", u32::from(letter)));
        }
    }
    if name.is_empty() {
        out.push('_');
    }
}
