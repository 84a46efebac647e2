//! Builds what Tauri needs. Commands are granted by name, in the permission set that the capability
//! `main.json` gives to the one window: a command that is not in the table of the bridge does not
//! exist for the window.

use std::path::Path;

include!("../crates/bridge/src/calls/names.rs");

/// Where Tauri reads the permissions of the app, and writes one for each command itself.
const PERMISSIONS: &str = "./permissions";

fn main() {
    println!("cargo:rerun-if-changed=crates/bridge/src/calls/names.rs");
    println!("cargo:rerun-if-changed=crates/bridge/src/calls/table.rs");
    if let Err(error) = write_set() {
        fail(&format!("{PERMISSIONS}: {error}"));
    }
    let attributes = tauri_build::Attributes::new()
        .capabilities_path_pattern("./src-tauri/capabilities/**/*")
        .app_manifest(tauri_build::AppManifest::new().commands(COMMANDS));
    if let Err(error) = tauri_build::try_build(attributes) {
        fail(&format!("tauri-build: {error:#}"));
    }
}

/// Writes the permission set `commands`, which names every command of the table.
fn write_set() -> std::io::Result<()> {
    let names: Vec<String> =
        COMMANDS.iter().map(|name| format!("allow-{}", name.replace('_', "-"))).collect();
    let set = format!(
        "# Written by src-tauri/build.rs from the table of the commands.\n[[set]]\n\
         identifier = \"commands\"\ndescription = \"Every command of the window.\"\n\
         permissions = {names:?}\n"
    );
    let file = Path::new(PERMISSIONS).join("commands.toml");
    // A file that is written anew although nothing has changed would be a reason to build anew.
    if std::fs::read_to_string(&file).is_ok_and(|old| old == set) {
        return Ok(());
    }
    std::fs::create_dir_all(PERMISSIONS)?;
    std::fs::write(file, set)
}

fn fail(reason: &str) -> ! {
    println!("cargo:warning={reason}");
    std::process::exit(1);
}
