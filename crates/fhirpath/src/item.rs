//! What an expression works on: elements of a document, and values that have left it.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use fhir::Element;
use smallvec::SmallVec;

use crate::{Decimal, Moment, Quantity};

/// One item of a collection.
#[derive(Clone)]
pub enum Item<'t> {
    /// An element of a document: a complex one, or a primitive with its extensions.
    Element(Element<'t>),
    /// A value of type `System.Boolean`.
    Boolean(bool),
    /// A value of type `System.Integer`.
    Integer(i32),
    /// A value of type `System.Long`.
    Long(i64),
    /// A value of type `System.Decimal`.
    Decimal(Decimal),
    /// A value of type `System.String`.
    String(Cow<'t, str>),
    /// A value of type `System.Date`.
    Date(Moment),
    /// A value of type `System.DateTime`.
    DateTime(Moment),
    /// A value of type `System.Time`.
    Time(Moment),
    /// A value of type `System.Quantity`.
    Quantity(Box<Quantity<'t>>),
    /// What `type()` gives.
    Type(TypeInfo<'t>),
}

/// The type of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeInfo<'t> {
    /// `System` or `FHIR`.
    pub namespace: &'static str,
    /// Name in it.
    pub name: &'t str,
}

/// An ordered list of items.
#[derive(Clone, Default)]
pub struct Collection<'t>(pub(crate) SmallVec<[Item<'t>; 1]>);

/// Says which type, not which value: the content is about patients.
impl fmt::Debug for Item<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Element(element) => fmt::Debug::fmt(element, out),
            _ => out.debug_tuple("Item").field(&self.type_info().name).finish(),
        }
    }
}

impl fmt::Debug for Collection<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_list().entries(self.iter()).finish()
    }
}

impl<'t> Item<'t> {
    /// Its type. An element of an unknown name has an empty one.
    pub fn type_info(&self) -> TypeInfo<'t> {
        let name = match self {
            Self::Element(element) => {
                let name = match element.type_name() {
                    "" => element.resource_type().unwrap_or_default(),
                    name => name,
                };
                return TypeInfo { namespace: "FHIR", name };
            }
            Self::Boolean(_) => "Boolean",
            Self::Integer(_) => "Integer",
            Self::Long(_) => "Long",
            Self::Decimal(_) => "Decimal",
            Self::String(_) => "String",
            Self::Date(_) => "Date",
            Self::DateTime(_) => "DateTime",
            Self::Time(_) => "Time",
            Self::Quantity(_) => "Quantity",
            Self::Type(_) => "TypeInfo",
        };
        TypeInfo { namespace: "System", name }
    }
    /// The element, unless it is a value.
    pub fn element(&self) -> Option<Element<'t>> {
        match self {
            Self::Element(element) => Some(*element),
            _ => None,
        }
    }
    /// Its value as text, as written: of a primitive element, or of a value. `None` for what has
    /// children only, and for a primitive without a value.
    pub fn text(&self) -> Option<Cow<'t, str>> {
        Some(match self {
            Self::Element(element) => Cow::Borrowed(element.value()?),
            Self::Boolean(value) => Cow::Borrowed(if *value { "true" } else { "false" }),
            Self::Integer(value) => Cow::Owned(value.to_string()),
            Self::Long(value) => Cow::Owned(value.to_string()),
            Self::Decimal(value) => Cow::Owned(value.to_string()),
            Self::String(value) => value.clone(),
            Self::Date(value) | Self::DateTime(value) => Cow::Owned(value.to_text(false)),
            Self::Time(value) => Cow::Owned(value.to_text(true)),
            Self::Quantity(value) => Cow::Owned(value.to_string()),
            Self::Type(_) => return None,
        })
    }
    /// The value of a primitive element in the form that FHIRPath calculates with; anything else as
    /// it is. An element whose text is not of its type's form counts as a string.
    pub(crate) fn to_system(&self) -> Self {
        match self {
            Self::Element(element) => system_value(*element).unwrap_or_else(|| self.clone()),
            _ => self.clone(),
        }
    }
    /// `Some` for a boolean, of the document or not.
    pub(crate) fn as_boolean(&self) -> Option<bool> {
        match self {
            Self::Boolean(value) => Some(*value),
            Self::Element(element) if element.type_name() == "boolean" => match element.value() {
                Some("true") => Some(true),
                Some("false") => Some(false),
                _ => None,
            },
            _ => None,
        }
    }
    pub(crate) fn string(text: impl Into<Cow<'t, str>>) -> Self {
        Self::String(text.into())
    }
}

/// The value of a primitive; a quantity counts as one too.
fn system_value<'t>(element: Element<'t>) -> Option<Item<'t>> {
    let kind = element.type_name();
    let Some(text) = element.value() else {
        let is_quantity = element.is_of("Quantity");
        let quantity = if is_quantity { Quantity::of_element(element) } else { None };
        return quantity.map(|quantity| Item::Quantity(Box::new(quantity)));
    };
    let value = match kind {
        "boolean" => match text {
            "true" => Some(Item::Boolean(true)),
            "false" => Some(Item::Boolean(false)),
            _ => None,
        },
        "integer" | "positiveInt" | "unsignedInt" => text.parse().ok().map(Item::Integer),
        "decimal" => Decimal::parse(text).map(Item::Decimal),
        "date" => Moment::date(text).map(Item::Date),
        "dateTime" | "instant" => Moment::date_time(text).map(Item::DateTime),
        "time" => Moment::time(text).map(Item::Time),
        _ => None,
    };
    Some(value.unwrap_or(Item::String(Cow::Borrowed(text))))
}

impl<'t> Collection<'t> {
    /// Without items.
    pub fn new() -> Self {
        Self::default()
    }
    /// Of one item.
    pub fn one(item: Item<'t>) -> Self {
        let mut items = SmallVec::new();
        items.push(item);
        Self(items)
    }
    pub(crate) fn push(&mut self, item: Item<'t>) {
        self.0.push(item);
    }
    pub(crate) fn of_boolean(value: Option<bool>) -> Self {
        value.map_or_else(Self::new, |value| Self::one(Item::Boolean(value)))
    }
}

impl<'t> Deref for Collection<'t> {
    type Target = [Item<'t>];
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'t> FromIterator<Item<'t>> for Collection<'t> {
    fn from_iter<I: IntoIterator<Item = Item<'t>>>(items: I) -> Self {
        Self(items.into_iter().collect())
    }
}

impl<'t> IntoIterator for Collection<'t> {
    type Item = Item<'t>;
    type IntoIter = smallvec::IntoIter<[Item<'t>; 1]>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'t> From<Option<Item<'t>>> for Collection<'t> {
    fn from(item: Option<Item<'t>>) -> Self {
        item.map_or_else(Self::new, Self::one)
    }
}
