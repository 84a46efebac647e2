//! Profile validation from FHIR packages, with the verdict of the authority's validator.
//!
//! A [`Package`] is read from what a publisher hands out; a [`Store`] keeps packages in the folder
//! of a profile; a [`RuleSet`] is the definitions in use, found by canonical and compiled when
//! first needed; [`RuleSet::validate`] gives what they find in a resource, as codes with
//! parameters, each with its place.
//!
//! Two policies: [`Mode::Authority`] decides as the authority's validator does, also where that is
//! not what FHIR says; [`Mode::Strict`] says what FHIR says. `docs/rules.md` lists where they
//! differ.

mod bytes;
pub mod codes;
mod definition;
mod facts;
mod html;
mod in_use;
mod matcher;
mod package;
mod privacy;
mod profile;
mod rule;
mod set;
mod slicing;
mod snapshot;
mod store;
mod suggestion;
mod terminology;
mod validate;
mod vocabulary;

pub use codes::is_private;
pub use facts::privacy::name_forms;
pub use in_use::InUse;
pub use package::{Fault, Manifest, Package, PackageLimits, Unusable, Version};
pub use privacy::{Privacy, TooMuch, privacy};
pub use set::RuleSet;
pub use store::{Imported, Store, StoreFault, missing};
pub use suggestion::{Cure, Suggestion, suggestion};
pub use terminology::{ListedCode, Membership, Mode};
pub use validate::Asked;
