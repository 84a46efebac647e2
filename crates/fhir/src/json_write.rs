//! The JSON writer.
//!
//! In FHIR's JSON the value of a primitive element `x` stands under the name `x`; its id and its
//! extensions stand in an object under the name `_x`. Here that object is called the face of the
//! element. An element may have a value, a face, or both.

use crate::arena::Flags;
use crate::lexical::{Primitive, is_json_number};
use crate::table::Kind;
use crate::{Element, Tree};

impl Tree {
    /// Writes JSON (compact).
    pub fn to_json(&self) -> String {
        write(self)
    }
}

pub(crate) fn write(tree: &Tree) -> String {
    let mut out = String::with_capacity(tree.source().len() + 64);
    object(tree.root(), &mut out);
    out
}

/// What an element is in JSON.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Object,
    /// A value, a face, or both.
    Primitive,
    /// An array inside an array, or where one item was expected. It is written as it was read.
    Raw,
}

fn shape(element: Element<'_>) -> Shape {
    let node = element.read();
    if node.flags.has(Flags::RAW) {
        return Shape::Raw;
    }
    if node.flags.has(Flags::RESOURCE) || node.flags.has(Flags::OBJECT) {
        return Shape::Object;
    }
    let is_primitive = matches!(element.kind(), Some(Kind::Primitive(_) | Kind::Xhtml));
    // What FHIR does not define as a primitive is written like one, too, where it was read as a
    // value, as `null` or with a face. It is enough that one of the two flags is set.
    let like_primitive = Flags::FACE.and(Flags::NULL);
    if is_primitive || node.value.is_some() || node.flags.has(like_primitive) {
        Shape::Primitive
    } else {
        Shape::Object
    }
}

fn object(of: Element<'_>, out: &mut String) {
    out.push('{');
    if let Some(kind) = of.resource_type() {
        out.push_str("\"resourceType\":");
        string(kind, out);
        out.push(',');
    }
    // The first element of a name stands for all of that name: `member` writes the others with it.
    for child in of.children().filter(|child| child.read().index == 0) {
        member(child, out);
    }
    if out.ends_with(',') {
        out.pop();
    }
    out.push('}');
}

/// All elements of one name; ends with a comma.
fn member(first: Element<'_>, out: &mut String) {
    let group = || std::iter::successors(Some(first), |element| element.next_same());
    let is_array = first.next_same().is_some()
        || first.read().flags.has(Flags::IN_ARRAY)
        || first.field().is_some_and(|field| field.is_array);
    let has_face = |element: &Element<'_>| {
        shape(*element) == Shape::Primitive && element.children().next().is_some()
    };
    let any_face = group().any(|element| has_face(&element));
    let only_faces = any_face
        && group().all(|element| shape(element) == Shape::Primitive && element.value().is_none());
    if !only_faces {
        key("", first.name(), out);
        list(group(), is_array, out, plain);
    }
    if any_face {
        key("_", first.name(), out);
        list(group(), is_array, out, |element, out| {
            if has_face(&element) { object(element, out) } else { out.push_str("null") }
        });
    }
}

fn list<'t>(
    group: impl Iterator<Item = Element<'t>>,
    is_array: bool,
    out: &mut String,
    write: impl Fn(Element<'t>, &mut String),
) {
    if is_array {
        out.push('[');
    }
    for (at, element) in group.enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(element, out);
    }
    out.push_str(if is_array { "]," } else { "," });
}

fn plain(element: Element<'_>, out: &mut String) {
    match (shape(element), element.value()) {
        (Shape::Object, _) => object(element, out),
        (_, None) => out.push_str("null"),
        (Shape::Raw, Some(value)) => out.push_str(value),
        (Shape::Primitive, Some(value)) => {
            if is_bare(element, value) {
                out.push_str(value);
            } else {
                string(value, out);
            }
        }
    }
}

/// Whether the value is written without quotation marks, as numbers and truth values are. What was
/// read from JSON is written as it stood there; for what was read from XML the type decides.
fn is_bare(element: Element<'_>, value: &str) -> bool {
    let flags = element.read().flags;
    if flags.has(Flags::STRING) {
        return false;
    }
    if flags.has(Flags::NUMBER.and(Flags::BOOL)) {
        return true;
    }
    match element.kind() {
        Some(Kind::Primitive(Primitive::Boolean)) => matches!(value, "true" | "false"),
        Some(Kind::Primitive(of)) => of.is_number() && is_json_number(value),
        _ => false,
    }
}

fn key(prefix: &str, name: &str, out: &mut String) {
    out.push('"');
    out.push_str(prefix);
    escape(name, out);
    out.push_str("\":");
}

fn string(value: &str, out: &mut String) {
    out.push('"');
    escape(value, out);
    out.push('"');
}

fn escape(value: &str, out: &mut String) {
    let mut from = 0;
    for (at, byte) in value.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(&value[from..at]);
        from = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            _ => {
                let digit = |digit: u8| char::from_digit(u32::from(digit), 16).unwrap_or('0');
                out.push_str("\\u00");
                out.extend([digit(byte >> 4), digit(byte & 15)]);
            }
        }
    }
    out.push_str(&value[from..]);
}
