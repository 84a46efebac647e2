//! The name of a type in an expression: `Quantity`, `System.String`, `FHIR.code`.

use fhir::TypeDefinition;

use crate::Item;

/// A type as an expression names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TypeName {
    pub(crate) namespace: Option<Namespace>,
    pub(crate) name: Box<str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Namespace {
    System,
    Fhir,
    /// No other is known; nothing is of such a type.
    Other,
}

const SYSTEM: [&str; 11] = [
    "Boolean", "String", "Integer", "Long", "Decimal", "Date", "DateTime", "Time", "Quantity",
    "Any", "TypeInfo",
];

impl TypeName {
    pub(crate) fn new(namespace: Option<&str>, name: &str) -> Self {
        let namespace = namespace.map(|namespace| match namespace {
            "System" => Namespace::System,
            "FHIR" => Namespace::Fhir,
            _ => Namespace::Other,
        });
        Self { namespace, name: name.into() }
    }
    /// Whether there is such a type.
    pub(crate) fn is_known(&self) -> bool {
        let system = || SYSTEM.contains(&&*self.name);
        let fhir = || self.definition().is_some();
        match self.namespace {
            None => system() || fhir(),
            Some(Namespace::System) => system(),
            Some(Namespace::Fhir) => fhir(),
            Some(Namespace::Other) => false,
        }
    }
    /// The type of FHIR R4, if it is one.
    pub(crate) fn definition(&self) -> Option<TypeDefinition> {
        TypeDefinition::named(&self.name).filter(|_| !self.name.contains('.'))
    }
    /// Whether an item is of this type or of one that specialises it.
    pub(crate) fn holds(&self, item: &Item<'_>) -> bool {
        match item {
            Item::Element(element) => {
                !matches!(self.namespace, Some(Namespace::System | Namespace::Other))
                    && element.is_of(&self.name)
            }
            _ => self.holds_value(item),
        }
    }
    /// As [`Self::holds`], but a `code` is not taken for a `string`: so `as` and `ofType` do in
    /// HL7's validator, for no data type specialises a primitive there.
    pub(crate) fn selects(&self, item: &Item<'_>) -> bool {
        let Item::Element(element) = item else { return self.holds_value(item) };
        let is_primitive = element.type_definition().is_some_and(TypeDefinition::is_primitive);
        self.holds(item) && (!is_primitive || element.type_name() == &*self.name)
    }

    fn holds_value(&self, item: &Item<'_>) -> bool {
        !matches!(self.namespace, Some(Namespace::Fhir | Namespace::Other))
            && (item.type_info().name == &*self.name || &*self.name == "Any")
    }
}
