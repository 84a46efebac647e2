//! FHIR R4 (4.0.1) as data: one tree for JSON and XML, read and written losslessly over one element
//! table, with the position of every element in its source, and the base check against that table.
//!
//! ```
//! use fhir::{Format, Limits, Tree};
//!
//! let text = br#"{"resourceType":"Patient","gender":"M","name":[{"given":["Ada"]}]}"#;
//! let tree = Tree::read(text, Format::Json, &Limits::default()).map_err(|finding| finding.code)?;
//! assert_eq!(tree.root().text("name.given"), Some("Ada"));
//! let findings = tree.check();
//! assert_eq!(findings[0].code, "code-not-allowed");
//! assert_eq!(findings[0].expression, "Patient.gender");
//! assert!(tree.to_xml().starts_with("<Patient xmlns=\"http://hl7.org/fhir\">"));
//! # Ok::<(), String>(())
//! ```
//!
//! It is deliberately not a model of the standard (no struct per resource), knows no report and no
//! authority, does no IO and reads no clock.

mod arena;
mod canonical;
mod check;
pub mod codes;
mod conceal;
mod difference;
mod encoding;
mod finding;
mod instant;
mod json;
mod json_write;
mod language;
mod lexical;
mod limits;
mod lines;
mod namespaces;
mod outcome;
mod schema;
mod table;
mod tree;
mod xml;
mod xml_text;
mod xml_write;

pub use canonical::uuid_in_small;
pub use difference::Difference;
pub use finding::{Finding, Position, Severity};
pub use instant::{Instant, Period};
pub use language::is_language_region;
pub use limits::Limits;
pub use outcome::{Issue, issues_of};
pub use schema::{ElementDefinition, ElementName, TypeDefinition};
pub use tree::{Element, Format, Tree};
