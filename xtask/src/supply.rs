//! What we build on: its licences and sources on every test run, advisories and bills of materials
//! on demand.
//!
//! What cannot be asked from here (a database that is out of reach) is said as NOT checked; it is
//! never taken for a pass.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::process::{Call, find};
use crate::workspace::{DESKTOP, Workspace, list, text};
use crate::{Install, output, prerequisites};

/// Packages whose bills of materials are kept: those that a laboratory or an authority installs.
const SHIPPED: [&str; 3] = ["cli", "authority", DESKTOP];
/// Name of the files that the generator writes beside each manifest, before they are moved.
const BESIDE: &str = "labcourier-bill";

/// The program that reads `deny.toml`, on the PATH or built once into cargo's own folder of
/// programs, where every checkout finds it.
pub(crate) fn cargo_deny(workspace: &Workspace, install: Install) -> Result<PathBuf, String> {
    tool(workspace, install, "cargo-deny", "^0.20")
}

/// Licences, bans and sources of every package of the lock file, as `deny.toml` wants them.
pub(crate) fn licences(workspace: &Workspace) -> Result<(), String> {
    let deny = cargo_deny(workspace, Install::Nothing)?;
    let words = ["--all-features", "--locked", "check", "licenses", "bans", "sources"];
    Call::new(deny).args(words).inside(&workspace.root).run()
}

/// Looks at security advisories and writes the bills of materials; 0 where nothing was found.
pub(crate) fn chain(workspace: &Workspace, install: Install) -> Result<u8, String> {
    prerequisites::node()?;
    let deny = cargo_deny(workspace, install)?;
    let generator = tool(workspace, install, "cargo-cyclonedx", "^0.5")?;
    licences(workspace)?;
    let fetched = Call::new(&deny).args(["fetch", "db"]).inside(&workspace.root).run();
    let mut found = 0;
    if fetched.is_ok() {
        let words = ["--all-features", "--locked", "check", "advisories"];
        found += Call::new(&deny).args(words).inside(&workspace.root).code()?;
    } else {
        output::problem("advisories of Rust: NOT checked, the database cannot be reached");
    }
    let audit = Call::npm().args(["audit", "--json"]).inside(&workspace.ui());
    let said = audit.command().output().map_err(|error| audit.not_started(&error))?;
    match vulnerabilities(&serde_json::from_slice(&said.stdout).unwrap_or_default()) {
        Some(count) => {
            output::line(&format!("advisories of npm: {count} known vulnerabilities"));
            found = found.saturating_add(u8::from(count > 0));
        }
        None => output::problem("advisories of npm: NOT checked, the registry does not answer"),
    }
    materials(workspace, &generator)?;
    Ok(u8::from(found > 0))
}

fn tool(
    workspace: &Workspace,
    install: Install,
    name: &str,
    version: &str,
) -> Result<PathBuf, String> {
    if let Some(found) = find(name) {
        return Ok(found);
    }
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")));
    let program = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let own = home.unwrap_or_default().join("bin").join(program);
    if own.is_file() {
        return Ok(own);
    }
    let words = ["install", name, "--version", version, "--locked", "--debug", "--quiet"];
    let call = Call::cargo().args(words);
    if install == Install::Nothing {
        return Err(format!("missing: {name}\nInstall with: {}", call.shown()));
    }
    let build = workspace.tools().join("build");
    call.env("CARGO_TARGET_DIR", &build).inside(&workspace.root).run()?;
    fs::remove_dir_all(&build).map_err(|error| format!("{}: {error}", build.display()))?;
    Ok(own)
}

/// How many vulnerabilities `npm audit` knows; `None` where the registry did not answer.
fn vulnerabilities(report: &Value) -> Option<u64> {
    report.get("metadata")?.get("vulnerabilities")?.get("total")?.as_u64()
}

/// One file for each program and one for the user interface, in `target/sbom`.
fn materials(workspace: &Workspace, generator: &Path) -> Result<(), String> {
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
    fn an_audit_counts_only_where_it_was_answered() {
        let report = |total: u64| json!({ "metadata": { "vulnerabilities": { "total": total } } });
        assert_eq!(vulnerabilities(&report(0)), Some(0));
        assert_eq!(vulnerabilities(&report(2)), Some(2));
        assert_eq!(vulnerabilities(&json!({ "message": "405", "statusCode": 405 })), None);
    }

    #[test]
    fn a_bill_without_components_is_none() {
        let file = std::env::temp_dir().join(format!("xtask-bill-{}.json", std::process::id()));
        let write = |value: Value| fs::write(&file, value.to_string()).unwrap();
        write(json!({ "bomFormat": "CycloneDX", "components": [{}, {}] }));
        assert_eq!(components(&file).unwrap(), "2 components");
        write(json!({ "bomFormat": "CycloneDX", "components": [] }));
        assert!(components(&file).is_err());
        fs::remove_file(&file).unwrap();
    }
}
