//! The whole suite once more, on a PostgreSQL that it starts itself, and what only several processes can show.

#![cfg_attr(postgres_is_installed, allow(clippy::unwrap_used, reason = "a test may fail"))]
#![allow(clippy::duplicate_mod, reason = "each file of the suite brings its own `common`")]

#[cfg(postgres_is_installed)]
#[path = "administration.rs"]
mod administration;
#[cfg(postgres_is_installed)]
#[path = "exchange.rs"]
mod exchange;
#[cfg(postgres_is_installed)]
#[path = "faults.rs"]
mod faults;
#[cfg(postgres_is_installed)]
#[path = "handshakes.rs"]
mod handshakes;
#[cfg(postgres_is_installed)]
#[path = "hostile.rs"]
mod hostile;
#[cfg(postgres_is_installed)]
#[path = "interface.rs"]
mod interface;
#[cfg(postgres_is_installed)]
#[path = "kills.rs"]
mod kills;
#[cfg(postgres_is_installed)]
#[path = "oddities.rs"]
mod oddities;
#[cfg(postgres_is_installed)]
#[path = "process.rs"]
mod process;
#[cfg(postgres_is_installed)]
#[path = "search.rs"]
mod search;
#[cfg(postgres_is_installed)]
#[path = "postgres/several.rs"]
mod several;

#[cfg(postgres_is_installed)]
#[test]
fn no_file_of_the_suite_is_left_out() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let here = include_str!("postgres.rs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let file = entry.path();
        if !file.is_file() || name == "postgres.rs" {
            continue;
        }
        // A file that opens no service has no store.
        let opens = std::fs::read_to_string(&file).unwrap().contains("mod common;");
        assert_eq!(here.contains(&format!("#[path = \"{name}\"]")), opens, "{name}");
    }
}

#[cfg(not(postgres_is_installed))]
#[test]
#[ignore = "no PostgreSQL was there when this was compiled (Debian: postgresql; then touch crates/authority/build.rs)"]
fn the_suite_on_postgresql() {}
