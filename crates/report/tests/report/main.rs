//! Tests of the domain: the life cycle as a law, each rule with the smallest text that breaks it,
//! and the published documents where they are at hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr, reason = "tests")]

mod corpus;
mod hostile;
mod kind;
mod life_cycle;
mod near_the_root;
mod rules;
mod steps;
mod summary;
mod text;
mod whose;
