//! The stored inputs of a target.

use std::path::{Path, PathBuf};

/// The folder of a target's inputs.
pub fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target)
}

/// Name and bytes of every stored input of a target, by name.
///
/// # Panics
/// Where the folder or a file of it cannot be read.
pub fn inputs(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = folder(target);
    let listed = std::fs::read_dir(&folder);
    let listed = listed.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut inputs: Vec<(String, Vec<u8>)> = listed
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (name, std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
        })
        .collect();
    inputs.sort();
    inputs
}
