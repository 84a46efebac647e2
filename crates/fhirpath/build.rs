//! Tells the tests whether the official test suite lies beside the repository. It is no part of it:
//! where it is missing, those tests are reported as ignored.

use std::path::Path;

const SUITE: &str = "../../../shared/fhirpath-tests/tests.json";

fn main() {
    println!("cargo::rustc-check-cfg=cfg(official_suite)");
    println!("cargo::rerun-if-changed=build.rs");
    // A file that is named here and is not there has Cargo build everything anew, every time.
    // Whoever puts the suite beside the repository later touches this file once.
    if Path::new(SUITE).is_file() {
        println!("cargo::rerun-if-changed={SUITE}");
        println!("cargo::rustc-cfg=official_suite");
    }
}
