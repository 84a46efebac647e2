//! Which room may use which: the drawing of ARCHITECTURE.md as a table, held against
//! `cargo metadata`.
//!
//! What is not listed is forbidden. Packages for developers (`testkit`, `journeys`, `bench`,
//! `xtask`) are never part of what a laboratory installs.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use xtask::process::Call;
use xtask::workspace::{DESKTOP, Workspace, list, text};

/// Our packages and those that each may use.
const USES: &[(&str, &[&str])] = &[
    ("fhir", &[]),
    ("fhirpath", &["fhir"]),
    ("report", &["fhir"]),
    ("exchange", &["fhir"]),
    ("journal", &["report", "fhir"]),
    // For `fhir::Instant`, the one type of a point in time.
    ("identity", &["fhir"]),
    ("client", &["exchange", "identity", "fhir"]),
    // Never the authority's client: nothing that is asked by it is a report on its way.
    ("fetch", &["identity"]),
    ("validator", &["fetch", "identity", "fhir"]),
    ("updates", &["fetch", "identity"]),
    ("engine", &["journal", "client", "identity", "exchange", "report", "rules", "fhir"]),
    // The practice mode embeds the authority.
    (
        "bridge",
        &[
            "engine",
            "journal",
            "client",
            "identity",
            "exchange",
            "report",
            "rules",
            "validator",
            "updates",
            "fhir",
            "authority",
        ],
    ),
    ("process", &[]),
    ("texts", &[]),
    ("cli", &["bridge", "process", "texts"]),
    (DESKTOP, &["bridge", "process", "texts"]),
    ("rules", &["fhirpath", "fhir"]),
    // Never the client's rooms: what both share is the contract.
    ("authority", &["fhir", "report", "exchange", "rules", "process", "texts"]),
    ("tables", &["report"]),
    ("xtask", &[]),
];

/// Packages that may use every other.
const USE_ALL: &[&str] = &["published", "testkit", "world", "journeys", "hostile", "bench"];

/// What tests may use beside: the test kit, the seeded world, and the real authority as the other
/// side.
const TESTS_USE: &[&str] = &["published", "testkit", "world", "authority"];

/// Rooms without IO, and packages of others that would bring it in.
const PURE: &[&str] = &["fhir", "fhirpath", "report", "exchange"];
const WITH_IO: &[&str] = &[
    "tokio",
    "reqwest",
    "hyper",
    "rusqlite",
    "axum",
    "getrandom",
    "directories",
    "walkdir",
    "tempfile",
];

/// The one file of the user interface that knows Tauri.
const DOOR: &str = "src/bridge/tauri.ts";

/// What only a server needs; the desktop app does not link it.
const OF_SERVERS: &[&str] = &["tokio-postgres", "deadpool-postgres"];

/// Packages of a server among what the desktop app is built from, when it is built alone.
fn servers_in_the_app() -> Vec<String> {
    let call = Call::cargo().args(["tree", "-p", DESKTOP, "-e", "normal", "--prefix", "none"]);
    // Whatever the caller's cargo shares among packages: asked is what the app alone has.
    let call = call.env("CARGO_RESOLVER_FEATURE_UNIFICATION", "selected");
    let Some(tree) = call.text() else {
        return vec!["cargo tree does not say what the desktop app is built from".to_owned()];
    };
    let linked = |name: &&&str| tree.lines().any(|line| line.split(' ').next() == Some(**name));
    let found = OF_SERVERS.iter().filter(linked);
    found.map(|name| format!("{DESKTOP} links {name}, which only a server needs")).collect()
}

/// Every dependency that the tables above do not allow.
fn violations(metadata: &Value) -> Vec<String> {
    let packages = list(metadata, "packages");
    let ours: Vec<&str> = packages.iter().map(|package| text(package, "name")).collect();
    let mut findings = Vec::new();
    for package in packages {
        let name = text(package, "name");
        if !USE_ALL.contains(&name) && !USES.iter().any(|(known, _)| *known == name) {
            findings.push(format!("{name} is not in the drawing"));
            continue;
        }
        for dependency in list(package, "dependencies") {
            let used = text(dependency, "name");
            let for_tests = text(dependency, "kind") == "dev";
            if let Some(finding) = violation(name, used, for_tests, ours.contains(&used)) {
                findings.push(finding);
            }
        }
    }
    findings
}

fn violation(name: &str, used: &str, for_tests: bool, own: bool) -> Option<String> {
    let kind = if for_tests { " in tests" } else { "" };
    let finding = |why: &str| Some(format!("{name} uses {used}{kind}: {why}"));
    if own {
        let drawn = USES.iter().find(|(known, _)| *known == name);
        let allowed = USE_ALL.contains(&name)
            || drawn.is_some_and(|(_, uses)| uses.contains(&used))
            || for_tests && TESTS_USE.contains(&used);
        return if allowed { None } else { finding("not drawn") };
    }
    if name != DESKTOP && is_tauri(used) {
        return finding("only the desktop shell knows Tauri");
    }
    if !for_tests && PURE.contains(&name) && WITH_IO.contains(&used) {
        return finding("this room does no IO");
    }
    None
}

fn is_tauri(package: &str) -> bool {
    package == "wry" || package == "tao" || package == "tauri" || package.starts_with("tauri-")
}

/// Files of the user interface that import Tauri, beyond the one that may.
fn doors_to_tauri(ui: &Path) -> Vec<String> {
    let mut importing = Vec::new();
    let mut folders = vec![ui.join("src")];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if fs::read_to_string(&path).is_ok_and(|source| imports_tauri(&source)) {
                importing.push(path);
            }
        }
    }
    let door = ui.join(DOOR);
    let beside = importing.iter().filter(|path| **path != door);
    beside.map(|path| format!("{} imports Tauri: only {DOOR} may", path.display())).collect()
}

fn imports_tauri(source: &str) -> bool {
    source.contains("\"@tauri-apps/") || source.contains("'@tauri-apps/")
}

#[test]
fn the_packages_and_the_one_door_to_tauri_are_as_they_are_drawn() {
    let workspace = Workspace::open().unwrap();
    let packages = list(&workspace.metadata, "packages");
    assert!(packages.len() > 20, "{}", packages.len());
    let mut findings = violations(&workspace.metadata);
    findings.extend(doors_to_tauri(&workspace.ui()));
    findings.extend(servers_in_the_app());
    assert!(findings.is_empty(), "what ARCHITECTURE.md does not draw:\n{}", findings.join("\n"));
}

fn of(name: &str, dependency: &str, kind: Value) -> Vec<String> {
    let dependencies = json!([{ "name": dependency, "kind": kind }]);
    let used = json!({ "name": "fhir", "dependencies": [] });
    let others = ["report", "journal", "authority", "testkit", "bridge"]
        .map(|name| json!({ "name": name, "dependencies": [] }));
    let mut packages = vec![used, json!({ "name": name, "dependencies": dependencies })];
    packages.extend(others);
    violations(&json!({ "packages": packages }))
}

#[test]
fn a_drawn_edge_passes() {
    assert!(of("client", "fhir", Value::Null).is_empty());
    assert!(of("cli", "bridge", Value::Null).is_empty());
    assert!(of("bridge", "authority", Value::Null).is_empty());
    assert!(of("engine", "authority", json!("dev")).is_empty());
    assert!(of("journeys", "journal", Value::Null).is_empty());
}

#[test]
fn a_forbidden_edge_is_found() {
    assert_eq!(of("fhir", "report", Value::Null), ["fhir uses report: not drawn"]);
    assert_eq!(of("authority", "journal", Value::Null), ["authority uses journal: not drawn"]);
    assert_eq!(of("cli", "journal", json!("dev")), ["cli uses journal in tests: not drawn"]);
    assert_eq!(of("engine", "testkit", Value::Null), ["engine uses testkit: not drawn"]);
    assert_eq!(of("engine", "authority", json!("build")), ["engine uses authority: not drawn"]);
}

#[test]
fn a_package_without_a_place_is_found() {
    assert_eq!(of("helpers", "fhir", Value::Null), ["helpers is not in the drawing"]);
}

#[test]
fn io_in_a_pure_room_and_tauri_outside_the_shell_are_found() {
    assert_eq!(of("exchange", "tokio", Value::Null), ["exchange uses tokio: this room does no IO"]);
    assert!(of("exchange", "tempfile", json!("dev")).is_empty());
    assert_eq!(
        of("cli", "tauri-plugin-log", Value::Null),
        ["cli uses tauri-plugin-log: only the desktop shell knows Tauri"]
    );
    assert!(of(DESKTOP, "tauri", Value::Null).is_empty());
}

#[test]
fn imports_of_tauri_are_seen_and_words_about_it_are_not() {
    assert!(imports_tauri("import { invoke } from \"@tauri-apps/api/core\""));
    assert!(imports_tauri("await import('@tauri-apps/api/event')"));
    assert!(!imports_tauri("// nothing here imports @tauri-apps"));
}

#[test]
fn a_second_door_to_tauri_is_found() {
    let ui = std::env::temp_dir().join(format!("structure-door-{}", std::process::id()));
    let screen = ui.join("src/screens/send.tsx");
    for file in [&ui.join(DOOR), &screen] {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "import { invoke } from \"@tauri-apps/api/core\";").unwrap();
    }
    let found = doors_to_tauri(&ui);
    assert_eq!(found, [format!("{} imports Tauri: only {DOOR} may", screen.display())]);
    fs::write(&screen, "import { invoke } from \"../bridge/tauri\";").unwrap();
    assert!(doors_to_tauri(&ui).is_empty());
    fs::remove_dir_all(&ui).unwrap();
}
