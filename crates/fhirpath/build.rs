//! Tells the tests whether the official test suite lies beside the repository. It is no part of it:
//! where it is missing, those tests are reported as ignored.

use std::path::Path;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(official_suite)");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../../../shared/fhirpath-tests/tests.json");
    if Path::new("../../../shared/fhirpath-tests/tests.json").is_file() {
        println!("cargo::rustc-cfg=official_suite");
    }
}
