//! The check of an expression against the types of FHIR R4, before any document is there: names
//! that no element has, functions of text on what is no text, and the like. It finds what is
//! certainly wrong; what depends on the document passes.

use fhir::{ElementName, TypeDefinition};

use crate::Expression;
use crate::function::Function;
use crate::item::Item;
use crate::node::{Call, Member, Node, NodeId, Operator};
use crate::typename::TypeName;

/// What is certainly wrong with an expression on elements of a type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TypeProblem {
    /// None of the types that may stand here has an element of this name.
    #[error("{of} has no element {name}")]
    UnknownElement {
        /// Name in the expression.
        name: Box<str>,
        /// Type that was looked at.
        of: Box<str>,
    },
    /// A function or operator can take nothing that may stand here.
    #[error("{operation} cannot take {found}")]
    WrongType {
        /// Function or operator.
        operation: &'static str,
        /// Type that stands there.
        found: Box<str>,
    },
    /// A function that depends on order, on items that have none.
    #[error("{0} depends on an order that the items do not have")]
    NoOrder(&'static str),
}

/// Types that may stand somewhere.
#[derive(Debug, Clone, PartialEq)]
struct Shape {
    /// `None` where that cannot be told.
    kinds: Option<Vec<Kind>>,
    ordered: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Fhir(TypeDefinition),
    System(&'static str),
}

type Checked = Result<Shape, TypeProblem>;

impl Expression {
    /// Checks the expression for elements of a type.
    ///
    /// # Errors
    /// What is certainly wrong with it.
    pub fn check(&self, on: TypeDefinition) -> Result<(), TypeProblem> {
        self.checked(&[on], false)
    }
    /// Checks the expression for elements of several types: what one of them has is known.
    ///
    /// # Errors
    /// What is certainly wrong with it.
    pub fn check_on_any(&self, on: &[TypeDefinition]) -> Result<(), TypeProblem> {
        self.checked(on, false)
    }
    /// As [`Self::check`]; functions that depend on order must not stand on items that have none.
    ///
    /// # Errors
    /// What is certainly wrong with it.
    pub fn check_with_order(&self, on: TypeDefinition) -> Result<(), TypeProblem> {
        self.checked(&[on], true)
    }

    fn checked(&self, on: &[TypeDefinition], with_order: bool) -> Result<(), TypeProblem> {
        let focus = Shape::of(on.iter().copied().map(Kind::Fhir).collect());
        let check = Check { nodes: self.nodes(), with_order };
        check.node(self.root(), &focus, &focus).map(|_| ())
    }
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Fhir(of) => of.name(),
            Self::System(name) => name,
        }
    }
    /// The type of FHIRPath that its values have.
    fn system(self) -> &'static str {
        let Self::Fhir(of) = self else { return self.name() };
        match of.name() {
            "boolean" => "Boolean",
            "integer" | "positiveInt" | "unsignedInt" => "Integer",
            "decimal" => "Decimal",
            "date" => "Date",
            "dateTime" | "instant" => "DateTime",
            "time" => "Time",
            _ if of.is("Quantity") => "Quantity",
            _ if of.is_primitive() => "String",
            _ => "",
        }
    }
}

impl Shape {
    const ANYTHING: Self = Self { kinds: None, ordered: true };

    fn of(kinds: Vec<Kind>) -> Self {
        Self { kinds: Some(kinds), ordered: true }
    }
    fn system(name: &'static str) -> Self {
        Self::of(vec![Kind::System(name)])
    }
    /// The type that stands here, if all that may stand here fails the test.
    fn refused(&self, fits: impl Fn(Kind) -> bool) -> Option<Box<str>> {
        let kinds = self.kinds.as_ref().filter(|kinds| !kinds.is_empty())?;
        if kinds.iter().any(|kind| fits(*kind)) {
            return None;
        }
        kinds.first().map(|kind| kind.name().into())
    }
    fn joined(mut self, other: Self) -> Self {
        self.kinds = self.kinds.zip(other.kinds).map(|(mut mine, theirs)| {
            mine.extend(theirs);
            mine
        });
        self.ordered &= other.ordered;
        self
    }
}

struct Check<'e> {
    nodes: &'e [Node],
    with_order: bool,
}

impl<'e> Check<'e> {
    fn node(&self, id: NodeId, focus: &Shape, this: &Shape) -> Checked {
        match &self.nodes[id as usize] {
            Node::Empty => Ok(Shape::of(Vec::new())),
            Node::Constant(item) => Ok(constant(item)),
            Node::This => Ok(this.clone()),
            Node::Index => Ok(Shape::system("Integer")),
            Node::Total | Node::Variable(_) => Ok(Shape::ANYTHING),
            Node::Member(member) => self.member(member, focus),
            Node::Chain(steps) => {
                let mut shape = focus.clone();
                for step in steps {
                    shape = self.node(*step, &shape, this)?;
                }
                Ok(shape)
            }
            Node::Call(call) => self.call(call, focus, this),
            Node::Indexer(index) => {
                self.node(*index, this, this)?;
                self.in_order("[]", focus)?;
                Ok(focus.clone())
            }
            Node::Negated(operand) | Node::Positive(operand) => self.node(*operand, focus, this),
            Node::And(operands) | Node::Or(operands) => {
                for operand in operands {
                    self.node(*operand, focus, this)?;
                }
                Ok(Shape::system("Boolean"))
            }
            Node::Union(operands) => {
                let mut shape = Shape::of(Vec::new());
                for operand in operands {
                    shape = shape.joined(self.node(*operand, focus, this)?);
                }
                Ok(shape)
            }
            Node::Binary(operator, left, right) => {
                let left = self.node(*left, focus, this)?;
                let right = self.node(*right, focus, this)?;
                calculated(*operator, &left, &right)
            }
            Node::Is(operand, _) => {
                self.node(*operand, focus, this)?;
                Ok(Shape::system("Boolean"))
            }
            Node::As(operand, of) => {
                self.node(*operand, focus, this)?;
                Ok(named(of))
            }
        }
    }

    fn member(&self, member: &Member, focus: &Shape) -> Checked {
        let Some(kinds) = &focus.kinds else { return Ok(Shape::ANYTHING) };
        let mut found = Vec::new();
        for kind in kinds {
            match kind {
                Kind::Fhir(of) if member.may_be_type && of.is(&member.text) => found.push(*kind),
                // Any resource may stand there, with whatever elements.
                Kind::Fhir(of) if of.is_abstract_resource() => return Ok(Shape::ANYTHING),
                Kind::Fhir(of) => {
                    found.extend(member.name.into_iter().flat_map(|name| below(*of, name)))
                }
                Kind::System("Quantity" | "TypeInfo") => return Ok(Shape::ANYTHING),
                Kind::System(_) => {}
            }
        }
        match kinds.first() {
            Some(of) if found.is_empty() => {
                let of = of.name().into();
                Err(TypeProblem::UnknownElement { name: member.text.clone(), of })
            }
            _ => Ok(Shape { kinds: Some(found), ordered: focus.ordered }),
        }
    }

    fn in_order(&self, operation: &'static str, focus: &Shape) -> Result<(), TypeProblem> {
        let fails = self.with_order && !focus.ordered;
        if fails { Err(TypeProblem::NoOrder(operation)) } else { Ok(()) }
    }

    fn call(&self, call: &Call, focus: &Shape, this: &Shape) -> Checked {
        use Function as F;
        let per_item = matches!(
            call.function,
            F::All
                | F::Exists
                | F::Select
                | F::Where
                | F::Sort
                | F::Iif
                | F::Trace
                | F::DefineVariable
        );
        let mut arguments = Vec::new();
        // What these evaluate on depends on what they have given before.
        if !matches!(call.function, F::Repeat | F::Aggregate) {
            for argument in &call.arguments {
                let on = if per_item { focus } else { this };
                arguments.push(self.node(*argument, on, on)?);
            }
        }
        let operation = call.function.name();
        let refuse = |shape: &Shape, fits: fn(Kind) -> bool| match shape.refused(fits) {
            Some(found) => Err(TypeProblem::WrongType { operation, found }),
            None => Ok(()),
        };
        match call.function {
            F::First | F::Last | F::Tail | F::Skip | F::Take => {
                self.in_order(operation, focus)?;
                Ok(focus.clone())
            }
            F::Where
            | F::Trace
            | F::DefineVariable
            | F::Distinct
            | F::Single
            | F::Exclude
            | F::Intersect
            | F::Sort
            | F::CheckModifiers => Ok(focus.clone()),
            F::Combine | F::Union => {
                let other = arguments.pop().unwrap_or(Shape::ANYTHING);
                Ok(focus.clone().joined(other))
            }
            F::Select => Ok(arguments.pop().unwrap_or(Shape::ANYTHING)),
            F::OfType | F::As => Ok(call.of_type.as_ref().map_or(Shape::ANYTHING, named)),
            F::Children | F::Descendants => Ok(Shape { kinds: None, ordered: false }),
            F::Extension => Ok(Shape::of(
                TypeDefinition::named("Extension").map(Kind::Fhir).into_iter().collect(),
            )),
            F::Iif => {
                if let Some(criterion) = arguments.first() {
                    refuse(criterion, |kind| kind.system() == "Boolean")?;
                }
                let rest = arguments.into_iter().skip(1);
                Ok(rest.reduce(Shape::joined).unwrap_or(Shape::ANYTHING))
            }
            F::StartsWith | F::EndsWith | F::Contains | F::Matches | F::MatchesFull => {
                refuse(focus, |kind| kind.system() == "String")?;
                Ok(Shape::system("Boolean"))
            }
            F::IndexOf | F::LastIndexOf | F::Length => {
                refuse(focus, |kind| kind.system() == "String")?;
                Ok(Shape::system("Integer"))
            }
            F::Lower
            | F::Upper
            | F::Substring
            | F::Replace
            | F::ReplaceMatches
            | F::Trim
            | F::Split
            | F::ToChars => {
                refuse(focus, |kind| kind.system() == "String")?;
                Ok(Shape::system("String"))
            }
            F::Count | F::ToInteger => Ok(Shape::system("Integer")),
            F::ToString | F::Join => Ok(Shape::system("String")),
            F::All
            | F::AllTrue
            | F::AllFalse
            | F::AnyTrue
            | F::AnyFalse
            | F::Empty
            | F::Exists
            | F::Not
            | F::IsDistinct
            | F::SubsetOf
            | F::SupersetOf
            | F::HasValue
            | F::Is
            | F::ConformsTo
            | F::MemberOf => Ok(Shape::system("Boolean")),
            _ => Ok(Shape::ANYTHING),
        }
    }
}

/// The types of an element of this name. What every element may have, primitives have too.
fn below(of: TypeDefinition, name: ElementName) -> Vec<Kind> {
    let types = |of: TypeDefinition| -> Vec<Kind> {
        of.elements()
            .filter(|element| element.name() == name)
            .map(|element| Kind::Fhir(element.of()))
            .collect()
    };
    let own = types(of);
    if !own.is_empty() || of.is_resource() {
        return own;
    }
    TypeDefinition::named("Element").map(types).unwrap_or_default()
}

fn constant(item: &Item<'static>) -> Shape {
    Shape::system(item.type_info().name)
}

/// What a type's name in an expression stands for.
fn named(of: &TypeName) -> Shape {
    match of.definition() {
        Some(definition) => Shape::of(vec![Kind::Fhir(definition)]),
        None => Shape::ANYTHING,
    }
}

fn calculated(operator: Operator, left: &Shape, right: &Shape) -> Checked {
    use Operator as O;
    match operator {
        O::Plus | O::Minus => {
            let is_moment = |kind: Kind| matches!(kind.system(), "Date" | "DateTime" | "Time");
            let on_moment = left.refused(|kind| !is_moment(kind)).is_some();
            match right.refused(|kind| kind.system() == "Quantity") {
                Some(found) if on_moment => {
                    Err(TypeProblem::WrongType { operation: operator.text(), found })
                }
                _ if on_moment => Ok(left.clone()),
                _ => Ok(Shape::ANYTHING),
            }
        }
        O::Concatenate => Ok(Shape::system("String")),
        O::Times | O::Divide | O::Div | O::Mod => Ok(Shape::ANYTHING),
        _ => Ok(Shape::system("Boolean")),
    }
}
