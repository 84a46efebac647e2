//! The real program against a real authority on loopback.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails; it has no better way")]

mod access;
mod audit;
mod contract;
mod endpoints;
mod faults;
mod handed;
mod intake;
mod known;
#[cfg(unix)]
mod many;
mod opinion;
mod packages;
mod place;
mod practice;
mod restored;
mod rules;
#[cfg(unix)]
mod service;
#[cfg(unix)]
mod watch;
