//! Builds what Tauri needs. Commands are granted by name: one that is not in the table of the
//! bridge, and in `capabilities/main.json`, does not exist for the window.

include!("../crates/bridge/src/calls/names.rs");

fn main() {
    println!("cargo:rerun-if-changed=crates/bridge/src/calls/names.rs");
    println!("cargo:rerun-if-changed=crates/bridge/src/calls/table.rs");
    let attributes = tauri_build::Attributes::new()
        .capabilities_path_pattern("./src-tauri/capabilities/**/*")
        .app_manifest(tauri_build::AppManifest::new().commands(COMMANDS));
    if let Err(error) = tauri_build::try_build(attributes) {
        println!("cargo:warning=tauri-build: {error:#}");
        std::process::exit(1);
    }
}
