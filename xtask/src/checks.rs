//! `cargo xtask test`: the steps, in the order in which they are cheapest to fail.
//!
//! One target folder, one profile, one set of features: clippy and the documentation share what
//! they compile (check mode), the build and all tests share the rest.

use serde_json::Value;

use crate::Install;
use crate::packages::{self, Purpose};
use crate::process::{Call, find};
use crate::session;
use crate::steps::{self, Step};
use crate::workspace::{Workspace, list, text};
use crate::{output, prerequisites, supply, types, ui};

/// The test program that drives the real window; it needs a display and the built app.
const WINDOW: &str = "window";

/// Runs the steps; 0 where all passed.
pub(crate) fn run(workspace: &Workspace, install: Install, only: &[String]) -> Result<u8, String> {
    let steps = all(workspace, install);
    let mut chosen = steps::select(&steps, only)?;
    // What a chosen step needs from the machine is still installed.
    if install == Install::Missing
        && !chosen.iter().any(|step| step.name == "setup")
        && let Some(setup) = steps.first()
    {
        chosen.insert(0, setup);
    }
    let done = steps::run(&chosen);
    output::heading("summary");
    output::line(&steps::summary(&done));
    Ok(u8::from(!steps::all_passed(&done)))
}

/// Names the steps.
pub(crate) fn list_steps(workspace: &Workspace) {
    for step in all(workspace, Install::Nothing) {
        output::line(&format!("{:<12} {}", step.name, step.says));
    }
}

/// Everything that building and testing need.
pub(crate) fn setup(workspace: &Workspace, install: Install) -> Result<(), String> {
    prerequisites::node()?;
    prerequisites::toolchain()?;
    packages::ensure(&[Purpose::Core, Purpose::Desktop, Purpose::Test], install)?;
    supply::cargo_deny(workspace, install)?;
    driver(workspace, install)
}

fn all<'a>(workspace: &'a Workspace, install: Install) -> Vec<Step<'a>> {
    vec![
        step("setup", "what building and testing need", &[], move || setup(workspace, install)),
        step("format", "the code is formatted", &[], move || format(workspace)),
        step("licences", "what we build on may be used", &[], move || supply::licences(workspace)),
        step("ui", "the user interface: lint, format, tests", &[], move || interface(workspace)),
        step("ui-build", "the user interface, built", &[], move || interface_build(workspace)),
        step("clippy", "no warnings", &["ui-build"], move || clippy(workspace)),
        step("docs", "the documentation builds", &["ui-build"], move || documentation(workspace)),
        step("build", "everything, once", &["ui-build"], move || build(workspace)),
        step("test", "unit tests and journeys", &["build"], move || tests(workspace)),
        step("doctest", "examples in the documentation", &["build"], move || doc_tests(workspace)),
        step("types", "TypeScript types are current", &["build"], move || types::check(workspace)),
        step("browser", "the user interface in a browser", &["build"], move || browser(workspace)),
        step("window", "the real window", &["build"], move || window(workspace)),
    ]
}

fn step<'a>(
    name: &'static str,
    says: &'static str,
    needs: &'static [&'static str],
    act: impl Fn() -> Result<(), String> + 'a,
) -> Step<'a> {
    Step { name, says, needs, act: Box::new(act) }
}

/// tauri-driver is in no package manager. Half a minute on two cores as a debug build, and its
/// speed does not matter.
fn driver(workspace: &Workspace, install: Install) -> Result<(), String> {
    let tools = workspace.tools();
    if !cfg!(target_os = "linux")
        || find("tauri-driver").is_some()
        || tools.join("bin/tauri-driver").is_file()
    {
        return Ok(());
    }
    let words = ["install", "tauri-driver", "--version", "^2", "--locked", "--debug", "--quiet"];
    let call = Call::cargo().args(words).arg("--root").arg(&tools);
    if install == Install::Nothing {
        return Err(format!("missing: tauri-driver\nInstall with: {}", call.shown()));
    }
    // Not in the workspace: its toolchain file and settings are for our own code. A folder that is
    // removed: nothing of this build is used again.
    let build = tools.join("build");
    call.env("CARGO_TARGET_DIR", &build).inside(&workspace.root).run()?;
    std::fs::remove_dir_all(&build).map_err(|error| format!("{}: {error}", build.display()))
}

fn format(workspace: &Workspace) -> Result<(), String> {
    Call::cargo().args(["fmt", "--all", "--check"]).inside(&workspace.root).run()
}

fn interface(workspace: &Workspace) -> Result<(), String> {
    prerequisites::node()?;
    ui::install(workspace)?;
    ui::script(workspace, "lint")?;
    ui::script(workspace, "test")
}

/// The desktop app embeds it, so that nothing of the app compiles without.
fn interface_build(workspace: &Workspace) -> Result<(), String> {
    ui::install(workspace)?;
    ui::script(workspace, "build")
}

fn clippy(workspace: &Workspace) -> Result<(), String> {
    workspace.cargo(&["clippy", "--locked", "--all-targets"]).args(["--", "-D", "warnings"]).run()
}

fn documentation(workspace: &Workspace) -> Result<(), String> {
    let call = workspace.cargo(&["doc", "--locked", "--no-deps"]);
    call.env("RUSTDOCFLAGS", "-D warnings").run()
}

fn build(workspace: &Workspace) -> Result<(), String> {
    workspace.cargo(&["build", "--locked", "--all-targets"]).run()
}

/// Everything but the window, in a session with a keychain of its own. nextest where it is
/// installed; `cargo test` runs the same tests.
fn tests(workspace: &Workspace) -> Result<(), String> {
    let written = types::written(workspace);
    if written.exists() {
        std::fs::remove_dir_all(&written).map_err(|error| error.to_string())?;
    }
    let call = if has_nextest() {
        // The test of the window is left out by its own `test = false`.
        let slots = slots().to_string();
        workspace.cargo(&["nextest", "run", "--locked", "--no-fail-fast", "--test-threads", &slots])
    } else {
        let call = workspace.cargo(&["test", "--locked", "--no-fail-fast", "--lib", "--bins"]);
        call.args(test_targets(workspace).iter().flat_map(|name| ["--test", name]))
    };
    let call = call.env(types::FOLDER_VARIABLE, &written);
    let call = workspace.with_figures(call);
    session::with_keychain(call, &workspace.target.join("home/test"))?.run_tests()
}

/// Tests at once: more than half of their time they wait, for an answer on loopback or for a
/// process, so that one for each processor leaves half of it idle.
fn slots() -> usize {
    2 * std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

fn doc_tests(workspace: &Workspace) -> Result<(), String> {
    workspace.cargo(&["test", "--locked", "--quiet", "--doc"]).run()
}

fn browser(workspace: &Workspace) -> Result<(), String> {
    if packages::browser().is_none() {
        return Err("no Chromium was found".to_owned());
    }
    ui::script(workspace, "test:browser")
}

fn window(workspace: &Workspace) -> Result<(), String> {
    if !cfg!(target_os = "linux") {
        return Err("the journeys of the real window run on Linux only".to_owned());
    }
    if !has_window(workspace) {
        return Err(format!("no package has a test named {WINDOW}"));
    }
    // One after the other: a web view each is as much as a small machine can draw.
    let call = if has_nextest() {
        let call = workspace.cargo(&["nextest", "run", "--locked", "--no-fail-fast"]);
        call.args(["--test", WINDOW, "--test-threads", "1"])
    } else {
        let call = workspace.cargo(&["test", "--locked", "--no-fail-fast", "--test", WINDOW]);
        call.args(["--", "--test-threads", "1"])
    };
    let mut path = vec![workspace.tools().join("bin")];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let path = std::env::join_paths(path).map_err(|error| error.to_string())?;
    let call = workspace.with_figures(call);
    let call = session::with_keychain(call, &workspace.target.join("home/window"))?;
    call.env("PATH", path).run_tests()
}

fn has_nextest() -> bool {
    find("cargo-nextest").is_some()
}

/// Names of all integration tests but the window's.
fn test_targets(workspace: &Workspace) -> Vec<String> {
    let mut names = all_test_targets(workspace);
    names.retain(|name| name != WINDOW);
    names
}

fn has_window(workspace: &Workspace) -> bool {
    all_test_targets(workspace).iter().any(|name| name == WINDOW)
}

fn all_test_targets(workspace: &Workspace) -> Vec<String> {
    let packages = list(&workspace.metadata, "packages");
    let targets = packages.iter().flat_map(|package| list(package, "targets"));
    let is_test = |target: &&Value| list(target, "kind").iter().any(|kind| kind == "test");
    let mut names: Vec<String> =
        targets.filter(is_test).map(|target| text(target, "name").to_owned()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde_json::json;

    use super::*;

    fn workspace() -> Workspace {
        let targets = |names: &[(&str, &str)]| -> Vec<_> {
            names.iter().map(|(name, kind)| json!({ "name": name, "kind": [kind] })).collect()
        };
        let metadata = json!({ "packages": [
            { "targets": targets(&[("window", "test"), ("faults", "test"), ("journeys", "lib")]) },
            { "targets": targets(&[("cli", "test"), ("faults", "test"), ("labcourier", "bin")]) },
        ]});
        Workspace { root: PathBuf::from("r"), target: PathBuf::from("t"), metadata }
    }

    #[test]
    fn the_window_is_the_only_test_left_to_its_own_step() {
        assert_eq!(test_targets(&workspace()), ["cli", "faults"]);
        assert!(has_window(&workspace()));
    }

    #[test]
    fn every_need_names_an_earlier_step() {
        let workspace = workspace();
        let steps = all(&workspace, Install::Nothing);
        assert_eq!(steps.first().map(|step| step.name), Some("setup"));
        for (index, step) in steps.iter().enumerate() {
            for need in step.needs {
                assert!(steps[..index].iter().any(|earlier| earlier.name == *need), "{need}");
            }
        }
    }
}
