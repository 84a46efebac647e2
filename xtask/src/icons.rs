//! The icons of all systems and sizes, drawn from the one source `icons/icon.svg`.
//!
//! They are committed: nobody who builds needs to draw them. After a change of the source,
//! `cargo xtask icons`.

use std::fs;
use std::path::Path;

use crate::process::Call;
use crate::workspace::Workspace;
use crate::{dist, output, ui};

/// What the systems ask for, as the Tauri CLI names it.
const FILES: &[&str] = &[
    "32x32.png",
    "64x64.png",
    "128x128.png",
    "128x128@2x.png",
    "icon.png",
    "icon.icns",
    "icon.ico",
];

/// The icon in the tray: the same drawing with a mark in its corner, which differs by shape and not
/// by colour alone.
const TRAY: &[(&str, &str)] = &[
    ("fine", ""),
    (
        "attention",
        r##"<circle cx="368" cy="368" r="136" fill="#b3261e" stroke="#fff" stroke-width="20"/><path d="M368 290v96m0 54v2" fill="none" stroke="#fff" stroke-width="44" stroke-linecap="round"/>"##,
    ),
    (
        "paused",
        r##"<circle cx="368" cy="368" r="136" fill="#4a5560" stroke="#fff" stroke-width="20"/><path d="M328 310v116m80-116v116" fill="none" stroke="#fff" stroke-width="44" stroke-linecap="round"/>"##,
    ),
    (
        "unreachable",
        r##"<circle cx="368" cy="368" r="136" fill="#8a5a00" stroke="#fff" stroke-width="20"/><path d="M314 314l108 108m0-108L314 422" fill="none" stroke="#fff" stroke-width="44" stroke-linecap="round"/>"##,
    ),
];

/// Pixels of the icon in the tray; desktops make it smaller where they need to.
const TRAY_SIZE: &str = "32";

/// Draws all of them.
pub(crate) fn draw(workspace: &Workspace) -> Result<(), String> {
    ui::install(workspace)?;
    let icons = workspace.root.join("icons");
    let drawn = workspace.target.join("icons");
    let failed = |error: std::io::Error| format!("{}: {error}", drawn.display());
    fs::create_dir_all(&drawn).map_err(failed)?;
    let source = icons.join("icon.svg");
    tauri_icon(workspace, &source, &drawn, &[])?;
    for name in FILES {
        fs::copy(drawn.join(name), icons.join(name)).map_err(failed)?;
    }
    let drawing = fs::read_to_string(&source).map_err(failed)?;
    for (name, mark) in TRAY {
        let marked = drawn.join(format!("{name}.svg"));
        fs::write(&marked, with_mark(&drawing, mark)).map_err(failed)?;
        tauri_icon(workspace, &marked, &drawn, &["--png", TRAY_SIZE])?;
        let sized = drawn.join(format!("{TRAY_SIZE}x{TRAY_SIZE}.png"));
        fs::copy(sized, icons.join(format!("tray-{name}.png"))).map_err(failed)?;
    }
    fs::remove_dir_all(&drawn).map_err(failed)?;
    output::line(&format!("{} icons are in icons/", FILES.len() + TRAY.len()));
    Ok(())
}

fn tauri_icon(
    workspace: &Workspace,
    source: &Path,
    folder: &Path,
    more: &[&str],
) -> Result<(), String> {
    let call = Call::new(dist::tauri(workspace)?).arg("icon").arg(source).arg("--output");
    call.arg(folder).args(more).inside(&workspace.root).run()
}

/// The drawing with a mark over it.
fn with_mark(drawing: &str, mark: &str) -> String {
    match drawing.rsplit_once("</svg>") {
        Some((before, after)) => format!("{before}{mark}</svg>{after}"),
        None => drawing.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_icon_that_is_drawn_lies_there() {
        let workspace = Workspace::open().unwrap();
        let icons = workspace.root.join("icons");
        let marked = TRAY.iter().map(|(name, _)| format!("tray-{name}.png"));
        for name in FILES.iter().map(|name| (*name).to_owned()).chain(marked) {
            assert!(icons.join(&name).is_file(), "{name}: cargo xtask icons");
        }
        assert_eq!(with_mark("<svg><a/></svg>\n", "<b/>"), "<svg><a/><b/></svg>\n");
    }
}
