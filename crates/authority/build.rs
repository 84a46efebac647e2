//! Tells the program when it was built (the date of its capability statement), and the tests where
//! a PostgreSQL is that they may start. Without one the suite on it is shown as ignored.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Folder of `postgres` and `initdb`, where they are in an unusual place.
const CHOSEN: &str = "LABCOURIER_POSTGRES";
/// Where Debian has one folder for each version; it keeps them off the PATH.
const DEBIAN: &str = "/usr/lib/postgresql";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src");
    println!("cargo:rerun-if-changed=Cargo.toml");
    println!("cargo:rerun-if-env-changed=SOURCE_DATE_EPOCH");
    println!("cargo:rustc-env=AUTHORITY_BUILT={}", built());
    postgres();
}

/// Seconds since 1970; a reproducible build says which.
fn built() -> u64 {
    let said = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|seconds| seconds.parse().ok());
    #[allow(clippy::disallowed_methods, reason = "the clock of the build")]
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    said.unwrap_or_else(now)
}

fn postgres() {
    println!("cargo:rerun-if-env-changed={CHOSEN}");
    println!("cargo:rustc-check-cfg=cfg(postgres_is_installed)");
    if Path::new(DEBIAN).exists() {
        println!("cargo:rerun-if-changed={DEBIAN}");
    }
    if let Some(folder) = folder() {
        println!("cargo:rustc-cfg=postgres_is_installed");
        println!("cargo:rustc-env={CHOSEN}={}", folder.display());
    }
}

fn folder() -> Option<PathBuf> {
    let chosen = std::env::var_os(CHOSEN).map(PathBuf::from);
    let versions = std::fs::read_dir(DEBIAN).into_iter().flatten().flatten();
    let mut debian: Vec<PathBuf> = versions.map(|entry| entry.path().join("bin")).collect();
    debian.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let complete =
        |folder: &PathBuf| ["initdb", "postgres"].iter().all(|name| folder.join(name).exists());
    chosen.into_iter().chain(debian.into_iter().rev()).chain(path).find(complete)
}
