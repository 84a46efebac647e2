//! The suite of the authority, in one program: through real HTTPS, on each store, and where the
//! releases of the interface differ or must not, in each release.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail")]
#![allow(clippy::print_stdout, reason = "what a test counted is shown with it")]

#[macro_use]
mod setting;
mod common;

mod administration;
mod audit;
mod costly;
mod deploy;
mod exchange;
mod faults;
mod handshakes;
mod hostile;
mod interface;
mod kills;
mod load;
mod manual;
mod oddities;
mod process;
mod refusals;
mod search;
#[cfg(postgres_is_installed)]
mod several;
mod shape;
mod times;
mod validation;

#[cfg(not(postgres_is_installed))]
#[test]
#[ignore = "no PostgreSQL was there when this was compiled (Debian: postgresql; then touch \
            crates/authority/build.rs)"]
fn several_processes_on_one_postgresql() {}
