//! What FHIR R4 says of its types, for whoever reads trees by rule: which elements a type has, of
//! which types they are, and which type another one specialises.

use crate::Element;
use crate::table::{Field, Kind, NONE, table};
use crate::tree::Walk;

/// The name of an element in FHIR R4, without the type of a choice (`value` for `valueQuantity`). A
/// number, so that a compiled path compares names at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ElementName(pub(crate) u16);

/// A type of FHIR R4: a primitive, a datatype, a resource, or the nested type of an element.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TypeDefinition(pub(crate) u16);

/// An element that a type has, under one of its names (a choice has one for each of its types).
#[derive(Clone, Copy)]
pub struct ElementDefinition {
    field: &'static Field,
}

impl ElementName {
    /// The name, if any type of FHIR R4 has such an element. `deceasedDateTime` is none.
    pub fn of(text: &str) -> Option<Self> {
        table().stem(text).map(Self)
    }
    /// As written in FHIR.
    pub fn text(self) -> &'static str {
        table().stems.get(usize::from(self.0)).copied().unwrap_or_default()
    }
}

impl std::fmt::Debug for TypeDefinition {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_tuple("TypeDefinition").field(&self.name()).finish()
    }
}

impl TypeDefinition {
    /// A type by its name (`Patient`, `HumanName`, `code`, `DomainResource`), or a nested type by
    /// its path (`Patient.contact`).
    pub fn named(name: &str) -> Option<Self> {
        table().by_name(name).map(Self)
    }
    /// FHIR's name of the type; `BackboneElement` or `Element` for a nested one.
    pub fn name(self) -> &'static str {
        table().types.get(usize::from(self.0)).map_or("", |of| of.name)
    }
    /// Whether values of it have a lexical value of their own.
    pub fn is_primitive(self) -> bool {
        matches!(self.kind(), Some(Kind::Primitive(_) | Kind::Xhtml))
    }
    /// Whether it is a resource, `Resource` and `DomainResource` included.
    pub fn is_resource(self) -> bool {
        matches!(self.kind(), Some(Kind::Resource | Kind::AnyResource))
    }
    /// Whether it is `Resource` or `DomainResource`: any resource may stand there.
    pub fn is_abstract_resource(self) -> bool {
        matches!(self.kind(), Some(Kind::AnyResource))
    }
    /// Its elements in order; a choice once for each of its types.
    pub fn elements(self) -> impl Iterator<Item = ElementDefinition> {
        let known = usize::from(self.0) < table().types.len();
        let fields = if known { table().fields_of(self.0) } else { &[] };
        fields.iter().map(|field| ElementDefinition { field })
    }
    /// Whether this is the type of that name or specialises it (`code` is a `string`, `Age` is a
    /// `Quantity`, `Patient` is a `DomainResource`).
    pub fn is(self, name: &str) -> bool {
        is_a(self.name(), self.kind(), name)
    }

    fn kind(self) -> Option<Kind> {
        table().types.get(usize::from(self.0)).map(|of| of.kind)
    }
}

impl ElementDefinition {
    /// Name without the type of a choice.
    pub fn name(self) -> ElementName {
        ElementName(self.field.stem_id)
    }
    /// Name as written, `valueQuantity`.
    pub fn written(self) -> &'static str {
        self.field.name
    }
    /// Its type.
    pub fn of(self) -> TypeDefinition {
        TypeDefinition(self.field.of)
    }
    /// Whether it may repeat.
    pub fn repeats(self) -> bool {
        self.field.is_array
    }
    /// Whether it is one of the types of a choice.
    pub fn is_choice(self) -> bool {
        self.field.is_choice
    }
}

impl<'t> Element<'t> {
    /// Its name in the table, without the type of a choice; `None` for an element that FHIR does
    /// not know, and for a root.
    pub fn element_name(self) -> Option<ElementName> {
        self.field().map(|field| ElementName(field.stem_id))
    }
    /// Its name without the type of a choice: `value` for `valueQuantity`, as written if unknown.
    pub fn stem(self) -> &'t str {
        self.field().map_or_else(|| self.name(), |field| field.stem)
    }
    /// Children of this name, a choice of any type included.
    pub fn children_named(self, name: ElementName) -> impl Iterator<Item = Element<'t>> + 't {
        let tree = self.tree;
        let mut walk = Walk::from(self.read().first);
        let fits = move |at: u32| tree.element(at).element_name() == Some(name);
        std::iter::from_fn(move || {
            let found = walk.next(&tree.arena.nodes, || tree.runs(), fits);
            found.map(|at| tree.element(at))
        })
    }
    /// Its type; `None` if FHIR does not know it.
    pub fn type_definition(self) -> Option<TypeDefinition> {
        let of = self.read().of;
        (of != NONE).then_some(TypeDefinition(of))
    }
    /// Whether this is the type of that name or specialises it.
    pub fn is_of(self, name: &str) -> bool {
        match self.known_type() {
            Some(of) => is_a(of.name, Some(of.kind), name),
            None => self.resource_type() == Some(name),
        }
    }
    /// Number of the element in its document, in document order: a key for what is remembered of
    /// it.
    pub fn number(self) -> u32 {
        self.node
    }
    /// The document that it is part of.
    pub fn tree(self) -> &'t crate::Tree {
        self.tree
    }
    /// Whether both are the same place of the same document.
    pub fn is_same_place(self, other: Element<'_>) -> bool {
        self.node == other.node && std::ptr::eq(self.tree, other.tree)
    }
}

fn is_a(name: &'static str, kind: Option<Kind>, asked: &str) -> bool {
    let mut at = name;
    let mut kind = kind;
    loop {
        if at == asked {
            return true;
        }
        match base(at, kind) {
            Some(next) => at = next,
            None => return false,
        }
        kind = None;
    }
}

/// The type that this one specialises, from the `baseDefinition` of each type of FHIR R4.
fn base(name: &str, kind: Option<Kind>) -> Option<&'static str> {
    Some(match name {
        "code" | "id" | "markdown" => "string",
        "url" | "canonical" | "uuid" | "oid" => "uri",
        "unsignedInt" | "positiveInt" => "integer",
        "Age" | "Count" | "Distance" | "Duration" | "MoneyQuantity" | "SimpleQuantity" => {
            "Quantity"
        }
        "Timing" | "Dosage" | "ElementDefinition" => "BackboneElement",
        "Element" | "Resource" => return None,
        "Bundle" | "Binary" | "Parameters" | "DomainResource" => "Resource",
        _ if matches!(kind, Some(Kind::Resource)) => "DomainResource",
        _ => "Element",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, Limits, Tree};

    #[test]
    fn a_choice_has_one_name_and_several_types() {
        let value = ElementName::of("value").unwrap();
        assert_eq!(value.text(), "value");
        assert_eq!(ElementName::of("deceasedDateTime"), None);
        let observation = TypeDefinition::named("Observation").unwrap();
        let types: Vec<_> = observation.elements().filter(|of| of.name() == value).collect();
        assert_eq!(types.len(), 11);
        assert!(types.iter().all(|of| of.is_choice() && !of.repeats()));
        assert!(types.iter().any(|of| of.written() == "valueQuantity"));
    }

    #[test]
    fn types_specialise_types() {
        for (name, base, is) in [
            ("code", "string", true),
            ("code", "id", false),
            ("uuid", "uri", true),
            ("Age", "Quantity", true),
            ("Patient", "DomainResource", true),
            ("Patient", "Resource", true),
            ("Bundle", "DomainResource", false),
            ("Bundle", "Resource", true),
            ("Timing", "Element", true),
            ("Patient.contact", "BackboneElement", true),
            ("HumanName", "Resource", false),
        ] {
            let of = TypeDefinition::named(name).unwrap();
            assert_eq!(of.is(base), is, "{name} is {base}");
        }
    }

    #[test]
    fn an_element_is_found_by_name_in_either_encoding() {
        let json = br#"{"resourceType":"Observation","valueQuantity":{"value":1.50}}"#;
        let xml = br#"<Observation xmlns="http://hl7.org/fhir"><valueQuantity><value value="1.50"/></valueQuantity></Observation>"#;
        let value = ElementName::of("value").unwrap();
        for (text, format) in [(&json[..], Format::Json), (&xml[..], Format::Xml)] {
            let tree = Tree::read(text, format, &Limits::default()).unwrap();
            let quantity = tree.root().children_named(value).next().unwrap();
            assert_eq!((quantity.stem(), quantity.name()), ("value", "valueQuantity"));
            assert!(quantity.is_of("Quantity") && !quantity.is_of("Age"));
            assert!(quantity.is_same_place(tree.root().child("valueQuantity").unwrap()));
            let number = quantity.children_named(value).next().unwrap();
            assert_eq!(number.value(), Some("1.50"));
            assert!(number.type_definition().unwrap().is_primitive());
        }
    }
}
