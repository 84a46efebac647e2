//! Where things lie, and what `cargo metadata` says of the packages.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::process::Call;

/// The package of the desktop app.
pub const DESKTOP: &str = "labcourier-desktop";
/// One set of features for every build of the whole workspace: a second set would compile most of
/// it again. This one embeds the built user interface, as the shipped app does.
pub const FEATURES: &str = "labcourier-desktop/custom-protocol";

/// The checkout.
pub struct Workspace {
    /// The folder of the root `Cargo.toml`.
    pub root: PathBuf,
    /// Where cargo builds.
    pub target: PathBuf,
    /// `cargo metadata --no-deps`.
    pub metadata: Value,
}

impl Workspace {
    /// The workspace that the current folder belongs to.
    pub fn open() -> Result<Self, String> {
        let metadata = metadata(&["--no-deps"])?;
        let path = |key: &str| metadata.get(key).and_then(Value::as_str).map(PathBuf::from);
        let (Some(root), Some(target)) = (path("workspace_root"), path("target_directory")) else {
            return Err("cargo metadata names no workspace".to_owned());
        };
        Ok(Self { root, target, metadata })
    }

    /// A cargo command over the whole workspace, with its one set of features.
    pub fn cargo(&self, command: &[&str]) -> Call {
        Call::cargo().args(command).args(["--workspace", "--features", FEATURES]).inside(&self.root)
    }

    /// A program built by the development profile.
    pub fn program(&self, name: &str) -> PathBuf {
        self.target.join("debug").join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }

    /// Programs for tests that no package manager has.
    pub fn tools(&self) -> PathBuf {
        self.target.join("tools")
    }

    /// The call, told where tests write their figures (`testkit::FIGURES`).
    pub fn with_figures(&self, call: Call) -> Call {
        call.env("LABCOURIER_FIGURES", self.target.join("reliability"))
    }

    /// The user interface.
    pub fn ui(&self) -> PathBuf {
        self.root.join("ui")
    }

    /// A path as people read it.
    pub fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }
}

/// What cargo knows of the packages.
pub fn metadata(args: &[&str]) -> Result<Value, String> {
    let call = Call::cargo().args(["metadata", "--format-version", "1"]).args(args);
    let text = call.text().ok_or_else(|| format!("`{}` failed", call.shown()))?;
    serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))
}

/// The list under a key, empty where there is none.
pub fn list<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    of.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The text under a key, empty where there is none.
pub fn text<'a>(of: &'a Value, key: &str) -> &'a str {
    of.get(key).and_then(Value::as_str).unwrap_or_default()
}
