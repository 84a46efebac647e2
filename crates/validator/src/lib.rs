//! A validator of the laboratory's choosing, asked for a second opinion: one resource to its
//! `$validate`, an OperationOutcome back
//! (<https://hl7.org/fhir/R4/resource-operation-validate.html>).
//!
//! This is no way for reports. The client certificate is never on these connections, nothing that
//! is asked here counts as sent, and nobody is asked but the address that a person has chosen: no
//! redirect is followed, and no proxy is used. What is asked is a report with its patient, so that
//! the address is one of `https`, or this computer.

mod ask;
mod setting;

pub use ask::{Fault, Limits, ask, ask_within};
pub use setting::{NotUsable, SettingFault, Validator};
