//! From tokens to the compiled tree, by precedence.

use std::sync::OnceLock;

use fhir::ElementName;

use crate::Decimal;
use crate::error::{SyntaxError, SyntaxReason};
use crate::function::Function;
use crate::item::Item;
use crate::lexer::{self, Kind, Token};
use crate::moment::CalendarUnit;
use crate::node::{Call, Member, Node, NodeId, Operator, Variable};
use crate::quantity::{Quantity, UCUM, Unit};
use crate::typename::TypeName;

mod fixed;

/// Longest expression, in bytes: the longest published ones have about 3 KiB.
const BYTES_MAX: usize = 64 << 10;
/// Deepest nesting of brackets and operators. Evaluation recurses as deep as the tree, and must do
/// with a stack of 2 MiB even unoptimised.
const DEPTH_MAX: u32 = 100;

type Parsed = Result<NodeId, SyntaxError>;

/// Compiles an expression: its nodes, and which of them is the whole.
pub(crate) fn parse(text: &str) -> Result<(Vec<Node>, NodeId), SyntaxError> {
    if text.len() > BYTES_MAX {
        return Err(SyntaxError { position: BYTES_MAX, reason: SyntaxReason::TooComplex });
    }
    let tokens = lexer::tokens(text)?;
    let mut parser = Parser { tokens, at: 0, nodes: Vec::new(), depths: Vec::new(), depth: 0 };
    let root = parser.expression(0)?;
    match parser.peek() {
        Kind::End => Ok((parser.nodes, root)),
        _ => parser.unexpected(),
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    nodes: Vec<Node>,
    /// Height of each node's tree.
    depths: Vec<u32>,
    depth: u32,
}

/// What stands between two operands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Infix {
    Binary(Operator),
    And,
    Or,
    Union,
    Is,
    As,
}

/// Precedence of the prefix signs: above that of products, below that of paths.
const PREFIX: u8 = 12;

impl Parser {
    fn peek(&self) -> &Kind {
        self.tokens.get(self.at).map_or(&Kind::End, |token| &token.kind)
    }
    fn position(&self) -> usize {
        self.tokens.get(self.at).map_or(0, |token| token.at)
    }
    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Kind::Sign(found) if *found == sign)
    }
    fn accept(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        self.at += usize::from(found);
        found
    }
    fn expect(&mut self, sign: &str) -> Result<(), SyntaxError> {
        if self.accept(sign) { Ok(()) } else { self.unexpected() }
    }
    fn fail<T>(&self, reason: SyntaxReason) -> Result<T, SyntaxError> {
        Err(SyntaxError { position: self.position(), reason })
    }
    fn unexpected<T>(&self) -> Result<T, SyntaxError> {
        let found = match self.peek() {
            Kind::End => return self.fail(SyntaxReason::UnexpectedEnd),
            Kind::Word(word) | Kind::Quoted(word) => word.clone(),
            Kind::Sign(sign) => (*sign).into(),
            Kind::Text(_) => "text".into(),
            Kind::Variable(name) => format!("%{name}").into(),
            Kind::Dollar(name) => format!("${name}").into(),
            _ => "number or date".into(),
        };
        self.fail(SyntaxReason::Unexpected(found))
    }
    fn add(&mut self, node: Node) -> Parsed {
        let below = self.children(&node).iter().map(|child| self.depths[*child as usize]).max();
        let depth = below.unwrap_or(0) + 1;
        if depth > DEPTH_MAX {
            return self.fail(SyntaxReason::TooComplex);
        }
        self.nodes.push(node);
        self.depths.push(depth);
        Ok(self.nodes.len() as NodeId - 1)
    }
    fn children<'n>(&self, node: &'n Node) -> std::borrow::Cow<'n, [NodeId]> {
        match node {
            Node::Chain(nodes) | Node::And(nodes) | Node::Or(nodes) | Node::Union(nodes) => {
                (&nodes[..]).into()
            }
            Node::Call(call) => (&call.arguments[..]).into(),
            Node::Indexer(child) | Node::Negated(child) | Node::Positive(child) => {
                vec![*child].into()
            }
            Node::Is(child, _) | Node::As(child, _) => vec![*child].into(),
            Node::Binary(_, left, right) => vec![*left, *right].into(),
            _ => Vec::new().into(),
        }
    }

    /// Operands and operators that bind at least so strongly.
    fn expression(&mut self, least: u8) -> Parsed {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return self.fail(SyntaxReason::TooComplex);
        }
        let mut left = self.prefixed()?;
        while let Some((infix, precedence)) = self.infix().filter(|(_, found)| *found >= least) {
            self.at += 1;
            left = match infix {
                Infix::Is => {
                    let of = self.type_name()?;
                    self.add(Node::Is(left, of))?
                }
                Infix::As => {
                    let of = self.type_name()?;
                    self.add(Node::As(left, of))?
                }
                _ => {
                    let right = self.expression(precedence + 1)?;
                    self.joined(infix, left, right)?
                }
            };
        }
        self.depth -= 1;
        Ok(left)
    }

    /// A chain of one of `and`, `or` and `|` becomes one node, so that a long one is not a deep
    /// one.
    fn joined(&mut self, infix: Infix, left: NodeId, right: NodeId) -> Parsed {
        let operands = match (&mut self.nodes[left as usize], infix) {
            (Node::And(operands), Infix::And)
            | (Node::Or(operands), Infix::Or)
            | (Node::Union(operands), Infix::Union) => {
                let mut all = std::mem::take(operands).into_vec();
                all.push(right);
                all
            }
            _ => vec![left, right],
        };
        self.add(match infix {
            Infix::And => Node::And(operands.into()),
            Infix::Or => Node::Or(operands.into()),
            Infix::Union => Node::Union(operands.into()),
            Infix::Binary(operator) => Node::Binary(operator, left, right),
            Infix::Is | Infix::As => return self.unexpected(),
        })
    }

    /// The operator at hand with its precedence.
    fn infix(&self) -> Option<(Infix, u8)> {
        use Operator as O;
        let binary = |operator, precedence| Some((Infix::Binary(operator), precedence));
        match self.peek() {
            Kind::Word(word) => match &**word {
                "implies" => binary(O::Implies, 1),
                "or" => Some((Infix::Or, 2)),
                "xor" => binary(O::Xor, 2),
                "and" => Some((Infix::And, 3)),
                "in" => binary(O::In, 4),
                "contains" => binary(O::Contains, 4),
                "is" => Some((Infix::Is, 8)),
                "as" => Some((Infix::As, 8)),
                "div" => binary(O::Div, 10),
                "mod" => binary(O::Mod, 10),
                _ => None,
            },
            Kind::Sign(sign) => match *sign {
                "=" => binary(O::Equal, 5),
                "!=" => binary(O::NotEqual, 5),
                "~" => binary(O::Equivalent, 5),
                "!~" => binary(O::NotEquivalent, 5),
                "<" => binary(O::Less, 6),
                "<=" => binary(O::LessOrEqual, 6),
                ">" => binary(O::Greater, 6),
                ">=" => binary(O::GreaterOrEqual, 6),
                "|" => Some((Infix::Union, 7)),
                "+" => binary(O::Plus, 9),
                "-" => binary(O::Minus, 9),
                "&" => binary(O::Concatenate, 9),
                "*" => binary(O::Times, 10),
                "/" => binary(O::Divide, 10),
                _ => None,
            },
            _ => None,
        }
    }

    fn prefixed(&mut self) -> Parsed {
        if self.accept("-") {
            let operand = self.expression(PREFIX)?;
            return self.add(Node::Negated(operand));
        }
        if self.accept("+") {
            let operand = self.expression(PREFIX)?;
            return self.add(Node::Positive(operand));
        }
        self.path()
    }

    /// An operand with what is asked of it.
    fn path(&mut self) -> Parsed {
        let first = self.operand()?;
        let mut steps = vec![first];
        loop {
            if self.accept(".") {
                let step = self.invocation(false)?;
                steps.push(step);
            } else if self.accept("[") {
                let index = self.expression(0)?;
                self.expect("]")?;
                let step = self.add(Node::Indexer(index))?;
                steps.push(step);
            } else if let [only] = steps[..] {
                return Ok(only);
            } else {
                return self.add(Node::Chain(steps.into()));
            }
        }
    }

    fn operand(&mut self) -> Parsed {
        if self.accept("(") {
            let inner = self.expression(0)?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.accept("{") {
            self.expect("}")?;
            return self.add(Node::Empty);
        }
        let node = match self.peek().clone() {
            Kind::Text(text) => Node::Constant(Item::string(text.into_string())),
            Kind::Integer(value) => {
                return self.number(Item::Integer(value), Decimal::from(i64::from(value)));
            }
            Kind::Long(value) => Node::Constant(Item::Long(value)),
            Kind::Decimal(value) => return self.number(Item::Decimal(value), value),
            Kind::Date(value) => Node::Constant(Item::Date(value)),
            Kind::DateTime(value) => Node::Constant(Item::DateTime(value)),
            Kind::Time(value) => Node::Constant(Item::Time(value)),
            Kind::Variable(name) => Node::Variable(variable(&name)),
            Kind::Dollar(name) => match &*name {
                "this" => Node::This,
                "index" => Node::Index,
                "total" => Node::Total,
                _ => return self.unexpected(),
            },
            Kind::Word(word) if matches!(&*word, "true" | "false") => {
                Node::Constant(Item::Boolean(&*word == "true"))
            }
            Kind::Word(_) | Kind::Quoted(_) => return self.invocation(true),
            _ => return self.unexpected(),
        };
        self.at += 1;
        self.add(node)
    }

    /// A number, or a quantity if a unit follows.
    fn number(&mut self, plain: Item<'static>, value: Decimal) -> Parsed {
        self.at += 1;
        let unit = match self.peek() {
            Kind::Text(code) => Some(Unit::Ucum(code.to_string().into())),
            Kind::Word(word) => CalendarUnit::of_keyword(word)
                .map(|unit| Unit::Calendar(unit, word.to_string().into())),
            _ => None,
        };
        let Some(unit) = unit else { return self.add(Node::Constant(plain)) };
        self.at += 1;
        self.add(Node::Constant(Item::Quantity(Box::new(Quantity { value, unit }))))
    }

    /// A name, or a function with its arguments.
    fn invocation(&mut self, begins: bool) -> Parsed {
        let at = self.position();
        let (text, is_quoted) = match self.peek().clone() {
            Kind::Word(word) => (word, false),
            Kind::Quoted(word) => (word, true),
            Kind::Dollar(name) if &*name == "this" => {
                self.at += 1;
                return self.add(Node::This);
            }
            _ => return self.unexpected(),
        };
        self.at += 1;
        if is_quoted || !self.is_sign("(") {
            let may_be_type =
                begins && text.starts_with(|letter: char| letter.is_ascii_uppercase());
            let name = ElementName::of(&text);
            return self.add(Node::Member(Member { text, name, may_be_type }));
        }
        let Some((function, least, most)) = Function::named(&text) else {
            let reason = SyntaxReason::UnknownFunction(text);
            return Err(SyntaxError { position: at, reason });
        };
        self.at += 1;
        let (arguments, of_type) = self.arguments(function)?;
        let count = arguments.len() + usize::from(of_type.is_some());
        if count < usize::from(least) || count > usize::from(most) {
            let reason = SyntaxReason::WrongArguments(function.name());
            return Err(SyntaxError { position: at, reason });
        }
        let fixed = fixed::comparison(&self.nodes, function, &arguments);
        let (arguments, pattern) = (arguments.into(), OnceLock::new());
        self.add(Node::Call(Call { function, arguments, of_type, fixed, pattern }))
    }

    fn arguments(
        &mut self,
        function: Function,
    ) -> Result<(Vec<NodeId>, Option<TypeName>), SyntaxError> {
        let mut arguments = Vec::new();
        if function.takes_type() {
            let of_type = self.type_name()?;
            self.expect(")")?;
            return Ok((arguments, Some(of_type)));
        }
        if self.accept(")") {
            return Ok((arguments, None));
        }
        loop {
            let argument = self.expression(0)?;
            arguments.push(argument);
            // The order in which `sort` shall put its keys may be said in words.
            if function == Function::Sort
                && matches!(self.peek(), Kind::Word(word) if matches!(&**word, "asc" | "desc"))
            {
                if matches!(self.peek(), Kind::Word(word) if &**word == "desc") {
                    let negated = self.add(Node::Negated(argument))?;
                    arguments.pop();
                    arguments.push(negated);
                }
                self.at += 1;
            }
            if !self.accept(",") {
                self.expect(")")?;
                return Ok((arguments, None));
            }
        }
    }

    fn type_name(&mut self) -> Result<TypeName, SyntaxError> {
        let first = self.identifier()?;
        if self.accept(".") {
            let second = self.identifier()?;
            return Ok(TypeName::new(Some(&first), &second));
        }
        Ok(TypeName::new(None, &first))
    }
    fn identifier(&mut self) -> Result<Box<str>, SyntaxError> {
        match self.peek().clone() {
            Kind::Word(word) | Kind::Quoted(word) => {
                self.at += 1;
                Ok(word)
            }
            _ => self.unexpected(),
        }
    }
}

fn variable(name: &str) -> Variable {
    let known = |text: &str| Variable::Known(text.into());
    match name {
        "context" => Variable::Context,
        "resource" => Variable::Resource,
        "rootResource" => Variable::RootResource,
        "sct" => known("http://snomed.info/sct"),
        "loinc" => known("http://loinc.org"),
        "ucum" => known(UCUM),
        "us-zip" => known("[0-9]{5}(-[0-9]{4}){0,1}"),
        _ => {
            let prefixed = |prefix: &str, base: &str| {
                name.strip_prefix(prefix)
                    .map(|rest| known(&format!("http://hl7.org/fhir/{base}{rest}")))
            };
            prefixed("vs-", "ValueSet/")
                .or_else(|| prefixed("cs-", ""))
                .or_else(|| prefixed("ext-", "StructureDefinition/"))
                .unwrap_or_else(|| Variable::Named(name.into()))
        }
    }
}
