//! Builds what Tauri needs. Commands are granted by name: one that is not listed here, and in
//! `capabilities/main.json`, does not exist for the window.

/// Every command of the window.
const COMMANDS: &[&str] = include!("src/granted.rs");

fn main() {
    println!("cargo:rerun-if-changed=src-tauri/src/granted.rs");
    let attributes = tauri_build::Attributes::new()
        .capabilities_path_pattern("./src-tauri/capabilities/**/*")
        .app_manifest(tauri_build::AppManifest::new().commands(COMMANDS));
    if let Err(error) = tauri_build::try_build(attributes) {
        println!("cargo:warning=tauri-build: {error:#}");
        std::process::exit(1);
    }
}
