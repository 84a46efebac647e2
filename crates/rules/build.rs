//! Says at compile time whether the packages of the authority lie beside the workspace: tests that need
//! them are counted as ignored where they do not.

use std::path::Path;

fn main() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/packages");
    println!("cargo::rustc-check-cfg=cfg(with_packages)");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", shared.display());
    if shared.is_dir() {
        println!("cargo::rustc-cfg=with_packages");
    }
}
