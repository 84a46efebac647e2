//! FHIRPath (<http://hl7.org/fhirpath/N1/>) with FHIR's additions for R4, over the lossless tree of
//! [`fhir`]: the same for JSON and XML, nothing of a document is copied, every item knows its
//! position.
//!
//! ```
//! use fhir::{Format, Instant, Limits, Tree};
//! use fhirpath::{Context, Expression, Item};
//!
//! let text = br#"{"resourceType":"Patient","name":[{"given":["Ada"]}]}"#;
//! let patient = Tree::read(text, Format::Json, &Limits::default()).map_err(|finding| finding.code)?;
//! let rule = Expression::parse("name.exists() and name.given.first().length() < 10")
//!     .map_err(|error| error.to_string())?;
//! let context = Context::new(Instant(0)).within(patient.root(), patient.root());
//! let holds = rule.holds(&context, &[Item::Element(patient.root())]);
//! assert_eq!(holds, Ok(true));
//! # Ok::<(), String>(())
//! ```
//!
//! It does no IO and reads no clock: time is passed in, and what the document alone cannot answer
//! (`resolve`, `memberOf`, `conformsTo`) is asked of a [`Host`]. Where the standard leaves room, it
//! decides as HL7's own validator does, because the authority's verdict is that validator's.
//! `docs/fhirpath.md` lists where that matters.

mod check;
mod context;
mod decimal;
mod error;
mod evaluate;
mod expression;
mod function;
mod item;
mod lexer;
mod moment;
mod node;
mod parser;
mod quantity;
mod typename;

pub use check::TypeProblem;
pub use context::{Context, Host, Limits, UnknownProfile};
pub use decimal::Decimal;
pub use error::{EvaluationError, Limit, SyntaxError, SyntaxReason};
pub use expression::Expression;
pub use item::{Collection, Item, TypeInfo};
pub use moment::{Moment, Precision};
pub use quantity::Quantity;
