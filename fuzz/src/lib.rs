//! What must hold for any bytes, however hostile. Each target takes bytes and ends in a panic where
//! a property does not hold; `cargo xtask fuzz` drives them by coverage, and the tests of this
//! package on every run over the stored inputs (`corpus/TARGET/…`) and seeded changes of them.
//!
//! An input that once failed is stored there, under a name that says why.

pub mod corpus;
pub mod mutation;
pub mod targets;

pub use targets::{TARGETS, Target};
