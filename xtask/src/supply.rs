//! `cargo xtask supply-chain`: what we build on, looked at by the programs made for it, and a list of it all.
//!
//! What cannot be asked from here (a database that is out of reach) is said as NOT checked and counted; it is
//! never taken for a pass.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::Install;
use crate::output;
use crate::prerequisites;
use crate::process::{Call, find};
use crate::workspace::{DESKTOP, Workspace, list, text};

/// Packages whose bills of materials are kept: those that a laboratory or an authority installs.
const SHIPPED: [&str; 3] = ["cli", "authority", DESKTOP];
/// Name of the files that the generator writes beside each manifest, before they are moved.
const BESIDE: &str = "labcourier-bill";

/// What came of one look.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Look {
    Sound,
    Wrong(String),
    /// The reason why it could not be asked.
    NotChecked(String),
}

/// Looks at everything; 0 where nothing was found.
pub(crate) fn chain(workspace: &Workspace, install: Install) -> Result<u8, String> {
    prerequisites::node()?;
    let deny = tool(workspace, install, "cargo-deny", "^0.20")?;
    let bills = tool(workspace, install, "cargo-cyclonedx", "^0.5")?;
    let looks = [
        ("lock file of Rust is current", locked(workspace)),
        ("lock file of npm is current", npm_locked(workspace)),
        ("licences, bans and sources (cargo-deny)", rules(workspace, &deny)),
        ("security advisories of Rust (cargo-deny)", advisories(workspace, &deny)),
        ("security advisories of npm (npm audit)", audit(workspace)),
        ("bills of materials (CycloneDX)", materials(workspace, &bills)),
    ];
    output::heading("supply chain");
    for (what, look) in &looks {
        output::line(&row(what, look));
    }
    let wrong = looks.iter().filter(|(_, look)| matches!(look, Look::Wrong(_))).count();
    let skipped = looks.iter().filter(|(_, look)| matches!(look, Look::NotChecked(_))).count();
    output::line(&format!(
        "{} sound, {wrong} wrong, {skipped} NOT checked",
        looks.len() - wrong - skipped
    ));
    Ok(u8::from(wrong > 0))
}

fn row(what: &str, look: &Look) -> String {
    match look {
        Look::Sound => format!("✓ {what}"),
        Look::Wrong(why) => format!("✗ {what}: {why}"),
        Look::NotChecked(why) => format!("- {what}: NOT checked, {why}"),
    }
}

/// A program of crates.io, on the PATH or built once into the folder of tools.
fn tool(
    workspace: &Workspace,
    install: Install,
    name: &str,
    version: &str,
) -> Result<PathBuf, String> {
    let own = workspace.tools().join("bin").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    if own.is_file() {
        return Ok(own);
    }
    if let Some(found) = find(name) {
        return Ok(found);
    }
    let words = ["install", name, "--version", version, "--locked", "--debug", "--quiet"];
    let call = Call::cargo().args(words).arg("--root").arg(workspace.tools());
    if install == Install::Nothing {
        return Err(format!("missing: {name}\nInstall with: {}", call.shown()));
    }
    let build = workspace.tools().join("build");
    call.env("CARGO_TARGET_DIR", &build).inside(&workspace.root).run()?;
    fs::remove_dir_all(&build).map_err(|error| format!("{}: {error}", build.display()))?;
    Ok(own)
}

fn look(done: Result<(), String>) -> Look {
    done.map_or_else(Look::Wrong, |()| Look::Sound)
}

fn locked(workspace: &Workspace) -> Look {
    let call = Call::cargo().args(["metadata", "--locked", "--format-version", "1", "--no-deps"]);
    match call.inside(&workspace.root).text() {
        Some(_) => Look::Sound,
        None => Look::Wrong("Cargo.lock does not fit the manifests".to_owned()),
    }
}

/// `npm ci` refuses a lock file that does not fit `package.json`; nothing is installed.
fn npm_locked(workspace: &Workspace) -> Look {
    let words = ["ci", "--dry-run", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
    look(Call::npm().args(words).inside(&workspace.ui()).run())
}

fn rules(workspace: &Workspace, deny: &Path) -> Look {
    let words = ["--all-features", "--locked", "check", "licenses", "bans", "sources"];
    look(Call::new(deny).args(words).inside(&workspace.root).run())
}

fn advisories(workspace: &Workspace, deny: &Path) -> Look {
    let fetched = Call::new(deny).args(["fetch", "db"]).inside(&workspace.root).run();
    if fetched.is_err() {
        return Look::NotChecked("the RustSec database cannot be reached".to_owned());
    }
    let words = ["--all-features", "--locked", "check", "advisories"];
    look(Call::new(deny).args(words).inside(&workspace.root).run())
}

/// `npm audit` ends with 1 both for a finding and for a registry that does not answer; its words differ.
fn audit(workspace: &Workspace) -> Look {
    let call = Call::npm().args(["audit", "--json"]).inside(&workspace.ui());
    output::line(&format!("$ {}", call.shown()));
    let said = match call.command().stderr(std::process::Stdio::null()).output() {
        Ok(said) => said,
        Err(error) => return Look::Wrong(call.not_started(&error)),
    };
    audited(&serde_json::from_slice(&said.stdout).unwrap_or_default())
}

fn audited(report: &Value) -> Look {
    let total = report
        .get("metadata")
        .and_then(|metadata| metadata.get("vulnerabilities")?.get("total")?.as_u64());
    match total {
        Some(0) => Look::Sound,
        Some(count) => Look::Wrong(format!("{count} known vulnerabilities")),
        None => {
            let status = report.get("statusCode").and_then(Value::as_u64);
            let status = status.map_or_else(String::new, |status| format!(" (HTTP {status})"));
            Look::NotChecked(format!("the registry does not answer audits{status}"))
        }
    }
}

/// One file for each program and one for the user interface, in `target/sbom`.
fn materials(workspace: &Workspace, generator: &Path) -> Look {
    look(write_materials(workspace, generator))
}

fn write_materials(workspace: &Workspace, generator: &Path) -> Result<(), String> {
    let folder = workspace.target.join("sbom");
    let at = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(&folder).map_err(|error| at(&folder, error))?;
    let made = Call::new(generator)
        .args(["cyclonedx", "--format", "json", "--spec-version", "1.5", "--quiet"])
        .args(["--no-build-deps", "--override-filename", BESIDE])
        .inside(&workspace.root)
        .run();
    // It writes beside every manifest; what is not moved is removed, also after a failure.
    let mut moved = 0;
    for package in list(&workspace.metadata, "packages") {
        let manifest = Path::new(text(package, "manifest_path"));
        let written = manifest.with_file_name(format!("{BESIDE}.json"));
        if !written.is_file() {
            continue;
        }
        let name = text(package, "name");
        if SHIPPED.contains(&name) {
            let target = folder.join(format!("{name}.cdx.json"));
            fs::copy(&written, &target).map_err(|error| at(&target, error))?;
            moved += 1;
            output::line(&format!("{}: {}", workspace.shown(&target), components(&target)?));
        }
        fs::remove_file(&written).map_err(|error| at(&written, error))?;
    }
    made?;
    if moved != SHIPPED.len() {
        return Err(format!("{moved} of {} bills were written", SHIPPED.len()));
    }
    let call = Call::npm().args(["sbom", "--sbom-format", "cyclonedx", "--omit", "dev"]);
    let bill = call.inside(&workspace.ui()).text().ok_or("`npm sbom` failed")?;
    let target = folder.join("ui.cdx.json");
    fs::write(&target, bill).map_err(|error| at(&target, error))?;
    output::line(&format!("{}: {}", workspace.shown(&target), components(&target)?));
    Ok(())
}

/// How many components a bill names; one that names none is no bill.
fn components(file: &Path) -> Result<String, String> {
    let bytes = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let bill: Value = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    match (text(&bill, "bomFormat"), list(&bill, "components").len()) {
        ("CycloneDX", count @ 1..) => Ok(format!("{count} components")),
        _ => Err(format!("{} is no bill of materials", file.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_audit_is_a_pass_only_where_it_was_answered() {
        let report = |total: u64| json!({ "metadata": { "vulnerabilities": { "total": total } } });
        assert_eq!(audited(&report(0)), Look::Sound);
        assert_eq!(audited(&report(2)), Look::Wrong("2 known vulnerabilities".to_owned()));
        let refused = audited(&json!({ "message": "405", "statusCode": 405 }));
        let why = "the registry does not answer audits (HTTP 405)".to_owned();
        assert_eq!(refused, Look::NotChecked(why));
        assert!(matches!(audited(&Value::Null), Look::NotChecked(_)));
    }

    #[test]
    fn what_was_not_checked_says_so() {
        assert_eq!(row("a", &Look::Sound), "✓ a");
        let skipped = Look::NotChecked("no network".to_owned());
        assert_eq!(row("a", &skipped), "- a: NOT checked, no network");
    }

    #[test]
    fn a_bill_without_components_is_none() {
        let file = std::env::temp_dir().join(format!("xtask-bill-{}.json", std::process::id()));
        let write = |value: Value| fs::write(&file, value.to_string()).unwrap();
        write(json!({ "bomFormat": "CycloneDX", "components": [{}, {}] }));
        assert_eq!(components(&file).unwrap(), "2 components");
        write(json!({ "bomFormat": "CycloneDX", "components": [] }));
        assert!(components(&file).is_err());
        write(json!({ "components": [{}] }));
        assert!(components(&file).is_err());
        fs::remove_file(&file).unwrap();
    }
}
