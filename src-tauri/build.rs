//! Builds what Tauri needs. Commands are granted by name: one that is not listed here, and in
//! `capabilities/main.json`, does not exist for the window.

/// Every command of the window.
const COMMANDS: &[&str] = &[
    "status",
    "list",
    "detail",
    "inspect_files",
    "send_files",
    "send_text",
    "hold_back",
    "release",
    "withdraw",
    "resubmit",
    "correct_with_file",
    "correct_with_text",
    "choose_files",
    "choose_folder",
    "practice_samples",
    "certificate_inspect",
    "certificate_import",
    "endpoints",
    "add_endpoint",
    "use_endpoint",
    "test_endpoint",
    "set_paused",
    "set_watched_folder",
    "preferences",
    "set_preferences",
    "statistics",
];

fn main() {
    let attributes = tauri_build::Attributes::new()
        .capabilities_path_pattern("./src-tauri/capabilities/**/*")
        .app_manifest(tauri_build::AppManifest::new().commands(COMMANDS));
    if let Err(error) = tauri_build::try_build(attributes) {
        println!("cargo:warning=tauri-build: {error:#}");
        std::process::exit(1);
    }
}
