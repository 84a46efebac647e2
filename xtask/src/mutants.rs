//! `cargo xtask mutants`: one small mistake after the other in a copy of the sources; the tests must notice.
//! cargo-mutants makes the mistakes. This sums them up in a page, where a person writes beside each mistake
//! that nobody noticed why it may stay so. Takes hours; on demand.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::process::{Call, find};
use crate::workspace::Workspace;
use crate::{Install, output};

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
    /// Packages whose tests may notice a mistake that the package's own did not.
    helped_by: &'static [&'static str],
}

const AREAS: [Area; 3] = [
    Area { name: "report", package: "report", files: "", helped_by: &["journal", "engine"] },
    Area { name: "journal", package: "journal", files: "", helped_by: &["engine"] },
    Area {
        name: "worker",
        package: "engine",
        files: "crates/engine/src/worker/**",
        helped_by: &[],
    },
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
/// File beside the results that says what part of the mistakes was tried; none: all.
const PART: &str = "part.txt";

/// Installs the tool where it is missing, tries the mistakes of the named areas (all without names), and
/// writes the page. Of `one_in` mistakes one is tried; 0 only writes the page anew. The number is the exit
/// code.
pub(crate) fn try_all(
    workspace: &Workspace,
    install: Install,
    names: &[String],
    one_in: u32,
) -> Result<u8, String> {
    if let Some(unknown) = names.iter().find(|name| AREAS.iter().all(|area| area.name != **name)) {
        let known: Vec<&str> = AREAS.iter().map(|area| area.name).collect();
        return Err(format!("no area {unknown}; there are: {}", known.join(" ")));
    }
    if one_in == 0 {
        return write_page(workspace);
    }
    tool(workspace, install)?;
    let wanted = |area: &&Area| names.is_empty() || names.iter().any(|name| name == area.name);
    for area in AREAS.iter().filter(wanted) {
        mutate(workspace, area, one_in)?;
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

/// First with the package's own quick tests; then what they missed with all of them and those of its users.
fn mutate(workspace: &Workspace, area: &Area, one_in: u32) -> Result<(), String> {
    let out = results(workspace, area);
    let failed = |error: std::io::Error| format!("{}: {error}", out.display());
    fs::create_dir_all(&out).map_err(failed)?;
    let part = if one_in > 1 { format!("one in {one_in}") } else { String::new() };
    fs::write(out.join(PART), part).map_err(failed)?;
    let shard = format!("--shard=0/{one_in}");
    let call = |effort: &Effort, more: &[&str]| {
        let mut path = vec![workspace.tools().join("bin")];
        path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        let path = std::env::join_paths(path).map_err(|error| error.to_string())?;
        let words = ["mutants", "--no-shuffle", "--jobs=2", "--sharding", "round-robin", &shard];
        let mut call = Call::cargo().args(words).args(["--package", area.package]);
        if !area.files.is_empty() {
            call = call.args(["--file", area.files]);
        }
        let call = call.arg("--output").arg(&out).args(more).env("PATH", path);
        let call = call.env("NEXTEST_PROFILE", effort.profile);
        let call = call.env("LABCOURIER_WORLDS", effort.worlds).env("PROPTEST_CASES", effort.cases);
        // 2: some were missed, 3: some ran into the time limit; the page tells both.
        match call.inside(&workspace.root).code()? {
            0 | 2 | 3 => Ok(()),
            code => Err(format!("cargo mutants ended with exit code {code}")),
        }
    };
    call(&QUICK, &[])?;
    if Tally::read(&out)?.missed.is_empty() {
        return Ok(());
    }
    let mut again = vec!["--iterate"];
    again.extend([area.package].iter().chain(area.helped_by).flat_map(|of| ["--test-package", of]));
    call(&THOROUGH, &again)
}

fn results(workspace: &Workspace, area: &Area) -> PathBuf {
    workspace.target.join("mutants").join(area.name)
}

/// What became of the mistakes of one area.
#[derive(Debug, Default, PartialEq)]
struct Tally {
    /// What part of the mistakes was tried; empty: all.
    part: String,
    caught: usize,
    missed: Vec<String>,
    unviable: usize,
}

impl Tally {
    /// Reads what cargo-mutants leaves behind, also of the rounds before the last: a round that continues
    /// another leaves out what was caught.
    fn read(out: &Path) -> Result<Self, String> {
        let lines = |name: &str| -> Result<Vec<String>, String> {
            let file = out.join("mutants.out").join(name);
            match fs::read_to_string(&file) {
                Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
                Err(error) => Err(format!("{}: {error}", file.display())),
            }
        };
        let mut caught = lines("caught.txt")?;
        caught.extend(lines("timeout.txt")?);
        let mut unviable = lines("unviable.txt")?;
        // `--iterate` keeps what earlier rounds caught or could not build.
        let earlier = lines("previously_caught.txt")?;
        caught.extend(earlier.into_iter().filter(|line| !unviable.contains(line)));
        caught.sort_unstable();
        caught.dedup();
        unviable.dedup();
        caught.retain(|line| !unviable.contains(line));
        Ok(Self {
            part: fs::read_to_string(out.join(PART)).unwrap_or_default().trim().to_owned(),
            caught: caught.len(),
            missed: lines("missed.txt")?,
            unviable: unviable.len(),
        })
    }

    /// In a hundred of those that compile.
    fn percent(&self) -> f64 {
        let all = self.caught + self.missed.len();
        let count = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        if all == 0 { 0.0 } else { 100.0 * count(self.caught) / count(all) }
    }
}

/// Writes the page from the results at hand; reasons already there stay.
fn write_page(workspace: &Workspace) -> Result<u8, String> {
    let page = workspace.root.join(PAGE);
    let reasons = reasons(&fs::read_to_string(&page).unwrap_or_default());
    let mut tallies = Vec::new();
    for area in &AREAS {
        let out = results(workspace, area);
        let tally = match out.join("mutants.out").is_dir() {
            true => Tally::read(&out)?,
            false => Tally { part: "none yet".to_owned(), ..Tally::default() },
        };
        tallies.push((area.name, tally));
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

/// `crates/a/src/b.rs:12:5: replace …` without the place in the file, which moves with every edit.
fn name(mutant: &str) -> String {
    let mut parts = mutant.splitn(4, ':');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(file), Some(_), Some(_), Some(what)) => format!("{file}:{what}"),
        _ => mutant.to_owned(),
    }
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
        "| area | tried | noticed | unnoticed | do not compile | noticed in a hundred |",
        "|---|---|--:|--:|--:|--:|",
    ]
    .map(str::to_owned)
    .to_vec();
    for (area, tally) in tallies {
        lines.push(format!(
            "| {area} | {} | {} | {} | {} | {:.1} |",
            if tally.part.is_empty() { "all" } else { &tally.part },
            tally.caught,
            tally.missed.len(),
            tally.unviable,
            tally.percent()
        ));
    }
    for (area, tally) in tallies {
        lines.extend([String::new(), format!("## {area}"), String::new()]);
        let mut missed: Vec<String> = tally.missed.iter().map(|mutant| name(mutant)).collect();
        missed.sort_unstable();
        missed.dedup();
        if missed.is_empty() {
            lines.push("None.".to_owned());
        }
        lines.extend(missed.into_iter().map(|mutant| {
            let reason = reasons.get(&mutant).map_or(NO_REASON, String::as_str);
            format!("- `{mutant}`: {reason}")
        }));
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_survive_when_lines_move() {
        let mutant = "crates/a/src/b.rs:12:5: replace < with <= in c::d";
        assert_eq!(name(mutant), "crates/a/src/b.rs: replace < with <= in c::d");
        let tally = Tally {
            part: "one in 3".to_owned(),
            caught: 9,
            missed: vec![mutant.to_owned(), "crates/a/src/b.rs:1:1: replace e with ()".to_owned()],
            unviable: 2,
        };
        assert!((tally.percent() - 81.8).abs() < 0.1);
        let first = rendered(&[("a", tally)], &BTreeMap::new());
        assert_eq!(first.matches(NO_REASON).count(), 2);
        assert!(first.contains("| a | one in 3 | 9 | 2 | 2 | 81.8 |"), "{first}");
        let edited = first.replacen(NO_REASON, "both sides are equal there", 1);
        let kept = reasons(&edited);
        assert_eq!(kept.len(), 1);
        let moved = mutant.replace(":12:", ":99:");
        let tally = Tally { caught: 9, missed: vec![moved], unviable: 2, ..Tally::default() };
        let second = rendered(&[("a", tally)], &kept);
        assert_eq!(second.contains(NO_REASON), !kept.contains_key(&name(mutant)));
    }

    #[test]
    fn results_are_read_as_the_tool_leaves_them() {
        let out = std::env::temp_dir().join(format!("mutants-{}", std::process::id()));
        let folder = out.join("mutants.out");
        fs::create_dir_all(&folder).unwrap();
        assert_eq!(Tally::read(&out).unwrap().percent(), 0.0);
        for (file, text) in [
            ("caught.txt", "a\nb\n"),
            ("timeout.txt", "c\n"),
            ("missed.txt", "d\n"),
            ("unviable.txt", "e\n"),
            ("previously_caught.txt", "e\nf\na\n"),
        ] {
            fs::write(folder.join(file), text).unwrap();
        }
        let tally = Tally::read(&out).unwrap();
        assert_eq!((tally.caught, tally.unviable), (4, 1));
        assert_eq!((tally.missed, tally.part), (vec!["d".to_owned()], String::new()));
        fs::remove_dir_all(&out).unwrap();
    }
}
