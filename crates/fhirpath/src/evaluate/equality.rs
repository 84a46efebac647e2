//! What is the same, what is alike, and what comes before what.

use std::cmp::Ordering;

use fhir::Element;

use super::logic::Truth;
use super::{Run, wrong_type};
use crate::error::EvaluationError;
use crate::item::Item;
use crate::node::Operator;
use crate::{Decimal, quantity};

impl<'t> Run<'_, 't> {
    /// A comparison of two collections.
    pub(crate) fn compare(
        &mut self,
        operator: Operator,
        left: &[Item<'t>],
        right: &[Item<'t>],
    ) -> Truth {
        use Operator as O;
        match operator {
            O::Equal => self.equal(left, right),
            O::NotEqual => self.not_equal(left, right),
            O::Equivalent => Ok(Some(self.equivalent(left, right)?)),
            O::NotEquivalent => Ok(Some(!self.equivalent(left, right)?)),
            O::In => self.all_among(left, right),
            O::Contains if left.is_empty() => Ok(if right.is_empty() { None } else { Some(false) }),
            O::Contains => self.all_among(right, left),
            _ => {
                // Several items have no order: HL7's validator gives nothing then.
                let ([left], [right]) = (left, right) else { return Ok(None) };
                let order = order(operator.text(), left, right)?;
                Ok(order.map(|order| match operator {
                    O::Less => order.is_lt(),
                    O::LessOrEqual => order.is_le(),
                    O::Greater => order.is_gt(),
                    _ => order.is_ge(),
                }))
            }
        }
    }

    fn equal(&mut self, left: &[Item<'t>], right: &[Item<'t>]) -> Truth {
        if left.is_empty() || right.is_empty() {
            return Ok(None);
        }
        if left.len() != right.len() {
            return Ok(Some(false));
        }
        let mut all = Some(true);
        for (left, right) in left.iter().zip(right) {
            match self.same(left, right)? {
                Some(true) => {}
                Some(false) => return Ok(Some(false)),
                None => all = None,
            }
        }
        Ok(all)
    }

    fn not_equal(&mut self, left: &[Item<'t>], right: &[Item<'t>]) -> Truth {
        Ok(self.equal(left, right)?.map(|equal| !equal))
    }

    /// Each item is alike to one of the others, and as many there are.
    fn equivalent(
        &mut self,
        left: &[Item<'t>],
        right: &[Item<'t>],
    ) -> Result<bool, EvaluationError> {
        if left.len() != right.len() {
            return Ok(false);
        }
        let mut taken = vec![false; right.len()];
        for item in left {
            let mut found = false;
            for (number, other) in right.iter().enumerate() {
                if !taken[number] && self.alike(item, other)? {
                    taken[number] = true;
                    found = true;
                    break;
                }
            }
            if !found {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether every one of the items is among the others.
    fn all_among(&mut self, items: &[Item<'t>], among: &[Item<'t>]) -> Truth {
        if items.is_empty() {
            return Ok(None);
        }
        for item in items {
            if !self.is_among(item, among)? {
                return Ok(Some(false));
            }
        }
        Ok(Some(true))
    }

    pub(crate) fn is_among(
        &mut self,
        item: &Item<'t>,
        among: &[Item<'t>],
    ) -> Result<bool, EvaluationError> {
        for other in among {
            if self.same(item, other)? == Some(true) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// `=` of two items; `None` where it depends on what is not given.
    pub(crate) fn same(&mut self, left: &Item<'t>, right: &Item<'t>) -> Truth {
        self.step(1)?;
        if let (Item::Element(left), Item::Element(right)) = (left, right) {
            if left.is_same_place(*right) {
                return Ok(Some(true));
            }
            if left.value().is_none() || right.value().is_none() {
                let quantities = left.is_of("Quantity") && right.is_of("Quantity");
                if !quantities {
                    return self.deep(*left, *right, 0).map(Some);
                }
            }
        }
        let (left, right) = (left.to_system(), right.to_system());
        Ok(match (&left, &right) {
            (Item::Boolean(left), Item::Boolean(right)) => Some(left == right),
            (Item::String(left), Item::String(right)) => Some(left == right),
            (
                Item::Date(left) | Item::DateTime(left),
                Item::Date(right) | Item::DateTime(right),
            )
            | (Item::Time(left), Item::Time(right)) => {
                left.compare(*right).map(|order| order == Ordering::Equal)
            }
            (Item::Quantity(left), Item::Quantity(right)) => left.is_equal(right),
            (Item::Type(left), Item::Type(right)) => Some(left == right),
            (Item::Element(left), Item::Element(right)) => Some(self.deep(*left, *right, 0)?),
            // HL7's validator compares the texts where one side is a string.
            (Item::String(_), _) | (_, Item::String(_)) => Some(left.text() == right.text()),
            _ => number(&left).zip(number(&right)).map_or(Some(false), |(l, r)| Some(l == r)),
        })
    }

    /// `~` of two items.
    fn alike(&mut self, left: &Item<'t>, right: &Item<'t>) -> Result<bool, EvaluationError> {
        self.step(1)?;
        let (left, right) = (left.to_system(), right.to_system());
        Ok(match (&left, &right) {
            (Item::String(left), Item::String(right)) => folded(left) == folded(right),
            (
                Item::Date(left) | Item::DateTime(left),
                Item::Date(right) | Item::DateTime(right),
            )
            | (Item::Time(left), Item::Time(right)) => left.is_equivalent(*right),
            (Item::Quantity(left), Item::Quantity(right)) => left.is_equivalent(right),
            (Item::Element(left), Item::Element(right)) => self.deep_alike(*left, *right, 0)?,
            _ => match number(&left).zip(number(&right)) {
                Some((left, right)) => quantity::equivalent(left, right),
                None => self.same(&left, &right)? == Some(true),
            },
        })
    }

    /// Whether two elements hold the same: types, values and children, in order.
    fn deep(
        &mut self,
        left: Element<'t>,
        right: Element<'t>,
        depth: u32,
    ) -> Result<bool, EvaluationError> {
        self.step(1)?;
        if left.is_same_place(right) {
            return Ok(true);
        }
        if left.type_name() != right.type_name() || left.resource_type() != right.resource_type() {
            return Ok(false);
        }
        match (left.value(), right.value()) {
            (None, None) => {}
            (Some(mine), Some(theirs)) => {
                if mine != theirs {
                    let (mine, theirs) = (Item::Element(left), Item::Element(right));
                    let (mine, theirs) = (number(&mine.to_system()), number(&theirs.to_system()));
                    if mine.is_none() || mine != theirs {
                        return Ok(false);
                    }
                }
            }
            _ => return Ok(false),
        }
        if !left.children().map(Element::name).eq(right.children().map(Element::name)) {
            return self.deep_unordered(left, right, depth);
        }
        for (child, other) in left.children().zip(right.children()) {
            if !self.deep(child, other, depth + 1)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// JSON may put its names in any order: the children of each name are compared.
    fn deep_unordered(
        &mut self,
        left: Element<'t>,
        right: Element<'t>,
        depth: u32,
    ) -> Result<bool, EvaluationError> {
        if left.children().count() != right.children().count() {
            return Ok(false);
        }
        for child in left.children() {
            let same_name = |other: &Element<'_>| other.name() == child.name();
            let before = left.children().filter(same_name);
            let number = before.take_while(|other| !other.is_same_place(child)).count();
            self.step(number + 1)?;
            match right.children().filter(same_name).nth(number) {
                Some(other) if self.deep(child, other, depth + 1)? => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    fn deep_alike(
        &mut self,
        left: Element<'t>,
        right: Element<'t>,
        depth: u32,
    ) -> Result<bool, EvaluationError> {
        if left.children().count() != right.children().count() {
            return Ok(false);
        }
        for child in left.children() {
            let mut found = false;
            for other in right.children().filter(|other| other.name() == child.name()) {
                let (mine, theirs) = (Item::Element(child), Item::Element(other));
                if depth < 64 && self.alike(&mine, &theirs)? {
                    found = true;
                    break;
                }
            }
            if !found {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The order of two items; `None` where it depends on what is not given.
///
/// # Errors
/// They are of types that have no order with each other.
pub(crate) fn order(
    operation: &'static str,
    left: &Item<'_>,
    right: &Item<'_>,
) -> Result<Option<Ordering>, EvaluationError> {
    let (left, right) = (left.to_system(), right.to_system());
    Ok(match (&left, &right) {
        (Item::String(left), Item::String(right)) => Some(left.cmp(right)),
        (Item::Date(left) | Item::DateTime(left), Item::Date(right) | Item::DateTime(right))
        | (Item::Time(left), Item::Time(right)) => left.compare(*right),
        (Item::Quantity(left), Item::Quantity(right)) => left.compare(right),
        // Complex elements and primitives without a value: nothing to compare.
        (Item::Element(_), _) | (_, Item::Element(_)) => None,
        _ => match number(&left).zip(number(&right)) {
            Some((left, right)) => Some(left.cmp(&right)),
            None => return Err(wrong_type(operation, &right)),
        },
    })
}

/// The number that a value of FHIRPath is.
pub(crate) fn number(item: &Item<'_>) -> Option<Decimal> {
    match item {
        Item::Integer(value) => Some(Decimal::from(i64::from(*value))),
        Item::Long(value) => Some(Decimal::from(*value)),
        Item::Decimal(value) => Some(*value),
        _ => None,
    }
}

/// Without regard to case and white space.
fn folded(text: &str) -> String {
    let lower = text.trim().to_lowercase();
    lower.split_whitespace().collect::<Vec<_>>().join(" ")
}
