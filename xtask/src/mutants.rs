//! `cargo xtask mutants`: one small mistake after the other in a copy of the sources; the tests must notice.
//! cargo-mutants makes the mistakes. This sums them up in a page, where a person writes beside each mistake
//! that nobody noticed why it may stay so. Takes hours; on demand.

mod rounds;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;

use crate::process::{Call, find};
use crate::workspace::Workspace;
use crate::{Install, output};
use rounds::{Rounds, Tally, counted, next_folder};

const TOOL: &str = "cargo-mutants";
/// Of the mistakes that compile, so many in a hundred must be noticed.
const CAUGHT_MIN: f64 = 85.0;
const PAGE: &str = "docs/mutants.md";
/// What stands beside a mistake that nobody has looked at yet.
const NO_REASON: &str = "**not looked at yet**";

/// A package whose mistakes are worth the time.
struct Area {
    name: &'static str,
    package: &'static str,
    /// Where mistakes are made; empty: in the whole package.
    files: &'static str,
}

const AREAS: [Area; 3] = [
    Area { name: "report", package: "report", files: "" },
    Area { name: "journal", package: "journal", files: "" },
    Area { name: "worker", package: "engine", files: "crates/engine/src/worker/**" },
];

/// How hard a mistake is looked for: which tests run (profiles in .config/nextest.toml), in how many worlds,
/// with how many cases of a property.
struct Effort {
    profile: &'static str,
    worlds: &'static str,
    cases: &'static str,
}

const QUICK: Effort = Effort { profile: "mutants-quick", worlds: "30", cases: "64" };
const THOROUGH: Effort = Effort { profile: "mutants-thorough", worlds: "120", cases: "256" };
/// Nothing that ends takes so long.
const THOROUGH_SECONDS: &str = "300";

/// Which mistakes are tried.
#[derive(Clone, Copy)]
pub(crate) enum Which {
    /// One in so many.
    OneIn(u32),
    /// What was not tried yet.
    Rest,
    /// What nobody noticed the last time: tests were added since.
    Unnoticed,
    /// None: the page is written anew.
    None,
}

/// Installs the tool where it is missing, tries the mistakes of the named areas (all without names), and
/// writes the page. The number is the exit code.
pub(crate) fn try_all(
    workspace: &Workspace,
    install: Install,
    names: &[String],
    which: Which,
) -> Result<u8, String> {
    if let Some(unknown) = names.iter().find(|name| AREAS.iter().all(|area| area.name != **name)) {
        let known: Vec<&str> = AREAS.iter().map(|area| area.name).collect();
        return Err(format!("no area {unknown}; there are: {}", known.join(" ")));
    }
    let wanted = |area: &&Area| names.is_empty() || names.iter().any(|name| name == area.name);
    tool(workspace, install)?;
    for area in AREAS.iter().filter(wanted) {
        match which {
            Which::None => continue,
            Which::OneIn(one_in) => first(workspace, area, one_in)?,
            Which::Rest => rest(workspace, area)?,
            Which::Unnoticed => {}
        }
        again(workspace, area)?;
    }
    write_page(workspace)
}

/// cargo-mutants is a program of its own, and no dependency of ours.
fn tool(workspace: &Workspace, install: Install) -> Result<(), String> {
    let tools = workspace.tools();
    if find(TOOL).is_some() || tools.join("bin").join(TOOL).is_file() {
        return Ok(());
    }
    let words = ["install", TOOL, "--version", "^27", "--locked", "--quiet"];
    let call = Call::cargo().args(words).arg("--root").arg(&tools);
    if install == Install::Nothing {
        return Err(format!("missing: {TOOL}\nInstall with: {}", call.shown()));
    }
    let build = tools.join("build");
    call.env("CARGO_TARGET_DIR", &build).inside(&workspace.root).run()?;
    fs::remove_dir_all(&build).map_err(|error| format!("{}: {error}", build.display()))
}

/// Tries one in so many mistakes with the package's own quick tests. What was known of them is forgotten.
fn first(workspace: &Workspace, area: &Area, one_in: u32) -> Result<(), String> {
    let results = results(workspace, area);
    if results.is_dir() {
        fs::remove_dir_all(&results).map_err(|error| format!("{}: {error}", results.display()))?;
    }
    let shard = format!("--shard=0/{one_in}");
    mutate(workspace, area, &QUICK, &["--sharding", "round-robin", &shard])
}

/// Tries what was not tried yet with the quick tests: what is new, was left out, or was cut short.
fn rest(workspace: &Workspace, area: &Area) -> Result<(), String> {
    let there = there(workspace, area)?;
    let rounds = Rounds::read(&results(workspace, area))?;
    match rounds.untried(&there).as_slice() {
        [] => Ok(()),
        untried => mutate(workspace, area, &QUICK, &named(untried)),
    }
}

/// Tries what nobody has noticed with all tests of the package.
fn again(workspace: &Workspace, area: &Area) -> Result<(), String> {
    let there = there(workspace, area)?;
    let tally = Rounds::read(&results(workspace, area))?.tally(&there);
    let unnoticed: Vec<&str> = tally.unnoticed.iter().map(String::as_str).collect();
    if unnoticed.is_empty() {
        return Ok(());
    }
    let mut more = named(&unnoticed);
    more.extend(["--timeout", THOROUGH_SECONDS].map(str::to_owned));
    mutate(workspace, area, &THOROUGH, &more)
}

/// What lets cargo-mutants try the mistakes of these names only.
fn named(names: &[&str]) -> Vec<String> {
    names.iter().flat_map(|name| ["--re".to_owned(), pattern(name)]).collect()
}

/// The mistakes that the sources of an area allow: how many of each name.
fn there(workspace: &Workspace, area: &Area) -> Result<BTreeMap<String, usize>, String> {
    let list = call(workspace, area)?.arg("--list").text();
    Ok(counted(&list.ok_or("cargo mutants --list failed")?))
}

/// What matches a mistake wherever it stands in its file.
fn pattern(name: &str) -> String {
    let literal = |text: &str| {
        let mut escaped = String::new();
        for c in text.chars() {
            if r"\.+*?()|[]{}^$".contains(c) {
                escaped.push('\\');
            }
            escaped.push(c);
        }
        escaped
    };
    let (file, what) = name.split_once(':').unwrap_or((name, ""));
    format!("^{}:\\d+:\\d+:{}$", literal(file), literal(what))
}

/// cargo-mutants for the sources of an area.
fn call(workspace: &Workspace, area: &Area) -> Result<Call, String> {
    let mut path = vec![workspace.tools().join("bin")];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let path = std::env::join_paths(path).map_err(|error| error.to_string())?;
    let mut call = Call::cargo().args(["mutants", "--package", area.package]);
    if !area.files.is_empty() {
        call = call.args(["--file", area.files]);
    }
    Ok(call.env("PATH", path).inside(&workspace.root))
}

/// One round.
fn mutate(
    workspace: &Workspace,
    area: &Area,
    effort: &Effort,
    more: &[impl AsRef<OsStr>],
) -> Result<(), String> {
    let call = call(workspace, area)?.args(["--no-shuffle", "--jobs=2"]).args(more);
    let call = call.arg("--output").arg(next_folder(&results(workspace, area))?);
    let call = call.env("NEXTEST_PROFILE", effort.profile);
    let call = call.env("LABCOURIER_WORLDS", effort.worlds).env("PROPTEST_CASES", effort.cases);
    // 2: some were missed, 3: some ran into the time limit; the page tells both.
    match call.code()? {
        0 | 2 | 3 => Ok(()),
        code => Err(format!("cargo mutants ended with exit code {code}")),
    }
}

fn results(workspace: &Workspace, area: &Area) -> PathBuf {
    workspace.target.join("mutants").join(area.name)
}

/// Writes the page from the results at hand; reasons already there stay.
fn write_page(workspace: &Workspace) -> Result<u8, String> {
    let page = workspace.root.join(PAGE);
    let reasons = reasons(&fs::read_to_string(&page).unwrap_or_default());
    let mut tallies = Vec::new();
    for area in &AREAS {
        let rounds = Rounds::read(&results(workspace, area))?;
        tallies.push((area.name, rounds.tally(&there(workspace, area)?)));
    }
    let text = rendered(&tallies, &reasons);
    fs::write(&page, &text).map_err(|error| format!("{}: {error}", page.display()))?;
    output::line(&text);
    let few = tallies.iter().any(|(_, tally)| tally.percent() < CAUGHT_MIN);
    let open = text.matches(NO_REASON).count();
    if open > 0 {
        output::problem(&format!("{PAGE}: {open} survivors want a test or a reason"));
    }
    Ok(u8::from(few || open > 0))
}

/// The reasons of a page, by mutant.
fn reasons(page: &str) -> BTreeMap<String, String> {
    let entry = |line: &str| {
        let (mutant, reason) = line.strip_prefix("- `")?.split_once("`: ")?;
        (reason != NO_REASON).then(|| (mutant.to_owned(), reason.to_owned()))
    };
    page.lines().filter_map(entry).collect()
}

fn rendered(tallies: &[(&str, Tally)], reasons: &BTreeMap<String, String>) -> String {
    let mut lines: Vec<String> = [
        "# Mistakes that no test notices",
        "",
        "`cargo xtask mutants` makes one small mistake after the other and runs the tests. It writes this page;",
        "people write the reason after each mistake that may stay unnoticed, and nothing else.",
        "",
        "| area | mistakes | tried | noticed | unnoticed | do not compile | noticed in a hundred |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    .map(str::to_owned)
    .to_vec();
    for (area, tally) in tallies {
        lines.push(format!(
            "| {area} | {} | {} | {} | {} | {} | {:.1} |",
            tally.there,
            if tally.tried() == tally.there { "all".to_owned() } else { tally.tried().to_string() },
            tally.noticed,
            tally.unnoticed.len(),
            tally.unviable,
            tally.percent()
        ));
    }
    for (area, tally) in tallies {
        lines.extend([String::new(), format!("## {area}"), String::new()]);
        let mut unnoticed = tally.unnoticed.clone();
        unnoticed.dedup();
        if unnoticed.is_empty() {
            lines.push("None.".to_owned());
        }
        lines.extend(unnoticed.into_iter().map(|mutant| {
            let reason = reasons.get(&mutant).map_or(NO_REASON, String::as_str);
            format!("- `{mutant}`: {reason}")
        }));
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use rounds::name;

    #[test]
    fn reasons_survive() {
        let tally = |unnoticed: &[&str]| Tally {
            there: 20,
            noticed: 9,
            unnoticed: unnoticed.iter().map(|&name| name.to_owned()).collect(),
            unviable: 2,
        };
        let (one, other) = ("b.rs: replace < with <= in c::d", "b.rs: replace e with ()");
        let first = rendered(&[("a", tally(&[one, one, other]))], &BTreeMap::new());
        assert_eq!(first.matches(NO_REASON).count(), 2);
        assert!(first.contains("| a | 20 | 14 | 9 | 3 | 2 | 75.0 |"), "{first}");
        let edited = first.replacen(NO_REASON, "both sides are equal there", 1);
        let kept = reasons(&edited);
        assert_eq!(kept.len(), 1);
        let second = rendered(&[("a", tally(&[one]))], &kept);
        assert!(second.contains("both sides are equal there"), "{second}");
        assert!(!second.contains(NO_REASON), "{second}");
    }

    #[test]
    fn a_mistake_is_found_again_where_lines_have_moved() {
        let name = name("b.rs:12:5: replace c with ()");
        assert_eq!(pattern(&name), r"^b\.rs:\d+:\d+: replace c with \(\)$");
    }
}
