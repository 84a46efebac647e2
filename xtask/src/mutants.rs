//! `cargo xtask mutants`: one small mistake after the other in a copy of the sources; the tests must notice.
//! cargo-mutants makes the mistakes. This sums them up in a page, where a person writes beside each mistake
//! that nobody noticed why it may stay so. Takes hours; on demand.

use std::collections::{BTreeMap, BTreeSet};
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
/// File beside the results that says what part of the mistakes was tried; none: all.
const PART: &str = "part.txt";
/// Folder of cargo-mutants with what became of each mistake.
const RESULTS: &str = "mutants.out";
/// Folder for what was tried again.
const AGAIN: &str = "again";

/// Which mistakes are tried.
#[derive(Clone, Copy)]
pub(crate) enum Which {
    /// One in so many.
    OneIn(u32),
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
    for area in AREAS.iter().filter(wanted) {
        match which {
            Which::None => continue,
            Which::OneIn(one_in) => {
                tool(workspace, install)?;
                first(workspace, area, one_in)?;
            }
            Which::Unnoticed => tool(workspace, install)?,
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

/// Tries one in so many mistakes with the package's own quick tests.
fn first(workspace: &Workspace, area: &Area, one_in: u32) -> Result<(), String> {
    let out = results(workspace, area);
    let failed = |error: std::io::Error| format!("{}: {error}", out.display());
    if out.is_dir() {
        fs::remove_dir_all(&out).map_err(failed)?;
    }
    fs::create_dir_all(&out).map_err(failed)?;
    let part = if one_in > 1 { format!("one in {one_in}") } else { String::new() };
    fs::write(out.join(PART), part).map_err(failed)?;
    let shard = format!("--shard=0/{one_in}");
    mutate(workspace, area, &QUICK, &out, &["--sharding", "round-robin", &shard])
}

/// Tries what nobody has noticed with all tests of the package. A mistake is known by its name, so that lines may
/// have moved since.
fn again(workspace: &Workspace, area: &Area) -> Result<(), String> {
    let out = results(workspace, area);
    let missed = Tally::read(&out)?.missed;
    if missed.is_empty() {
        return Ok(());
    }
    let out = out.join(AGAIN);
    fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    let wanted: Vec<String> = missed.iter().map(|mutant| pattern(mutant)).collect();
    let mut more: Vec<&str> = wanted.iter().flat_map(|name| ["--re", name]).collect();
    more.extend(["--timeout", THOROUGH_SECONDS]);
    mutate(workspace, area, &THOROUGH, &out, &more)
}

/// What matches a mistake wherever it stands in its file.
fn pattern(mutant: &str) -> String {
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
    let name = name(mutant);
    let (file, what) = name.split_once(':').unwrap_or((&name, ""));
    format!("^{}:\\d+:\\d+:{}$", literal(file), literal(what))
}

fn mutate(
    workspace: &Workspace,
    area: &Area,
    effort: &Effort,
    out: &Path,
    more: &[&str],
) -> Result<(), String> {
    let mut path = vec![workspace.tools().join("bin")];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let path = std::env::join_paths(path).map_err(|error| error.to_string())?;
    let mut call = Call::cargo().args(["mutants", "--no-shuffle", "--jobs=2"]);
    call = call.args(["--package", area.package]);
    if !area.files.is_empty() {
        call = call.args(["--file", area.files]);
    }
    let call = call.arg("--output").arg(out).args(more).env("PATH", path);
    let call = call.env("NEXTEST_PROFILE", effort.profile);
    let call = call.env("LABCOURIER_WORLDS", effort.worlds).env("PROPTEST_CASES", effort.cases);
    // 2: some were missed, 3: some ran into the time limit; the page tells both.
    match call.inside(&workspace.root).code()? {
        0 | 2 | 3 => Ok(()),
        code => Err(format!("cargo mutants ended with exit code {code}")),
    }
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
    /// Reads what cargo-mutants left behind: in the first round, and when what was missed was tried again. What is
    /// not there any more then, because its code was rewritten, does not count.
    fn read(out: &Path) -> Result<Self, String> {
        let part = fs::read_to_string(out.join(PART)).unwrap_or_default().trim().to_owned();
        let mut tally = Self {
            part,
            caught: [lines(out, "caught.txt")?, lines(out, "timeout.txt")?].concat().len(),
            missed: lines(out, "missed.txt")?,
            unviable: lines(out, "unviable.txt")?.len(),
        };
        let again = out.join(AGAIN);
        if again.join(RESULTS).is_dir() {
            let named = |lines: Vec<String>| lines.iter().map(|mutant| name(mutant)).collect();
            let missed = lines(&again, "missed.txt")?;
            let unnoticed: BTreeSet<String> = named(missed.clone());
            let noticed: BTreeSet<String> =
                named([lines(&again, "caught.txt")?, lines(&again, "timeout.txt")?].concat());
            let now_noticed = |mutant: &&String| {
                let name = name(mutant);
                noticed.contains(&name) && !unnoticed.contains(&name)
            };
            tally.caught += tally.missed.iter().filter(now_noticed).count();
            tally.missed = missed;
        }
        Ok(tally)
    }

    /// In a hundred of those that compile.
    fn percent(&self) -> f64 {
        let all = self.caught + self.missed.len();
        let count = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        if all == 0 { 0.0 } else { 100.0 * count(self.caught) / count(all) }
    }
}

/// The lines of a file that cargo-mutants wrote; none where it wrote none.
fn lines(out: &Path, name: &str) -> Result<Vec<String>, String> {
    let file = out.join(RESULTS).join(name);
    match fs::read_to_string(&file) {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(format!("{}: {error}", file.display())),
    }
}

/// Writes the page from the results at hand; reasons already there stay.
fn write_page(workspace: &Workspace) -> Result<u8, String> {
    let page = workspace.root.join(PAGE);
    let reasons = reasons(&fs::read_to_string(&page).unwrap_or_default());
    let mut tallies = Vec::new();
    for area in &AREAS {
        let out = results(workspace, area);
        let tally = match out.join(RESULTS).is_dir() {
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
        let write = |folder: &str, files: &[(&str, &str)]| {
            let folder = out.join(folder).join(RESULTS);
            fs::create_dir_all(&folder).unwrap();
            for (file, text) in files {
                fs::write(folder.join(file), text).unwrap();
            }
        };
        let read = || Tally::read(&out).unwrap();
        assert_eq!(read().percent(), 0.0);
        let missed = "f.rs:1:1: a\nf.rs:2:2: b\nf.rs:3:3: c\n";
        write("", &[("caught.txt", "d\ne\n"), ("timeout.txt", "f\n"), ("missed.txt", missed)]);
        write("", &[("unviable.txt", "g\n")]);
        assert_eq!((read().caught, read().missed.len(), read().unviable), (3, 3, 1));
        // One is noticed now, one is not, and the third was rewritten.
        write(AGAIN, &[("caught.txt", "f.rs:7:7: a\n"), ("missed.txt", "f.rs:8:8: b\n")]);
        let tally = read();
        assert_eq!((tally.caught, tally.missed), (4, vec!["f.rs:8:8: b".to_owned()]));
        fs::remove_dir_all(&out).unwrap();
    }

    #[test]
    fn a_mistake_is_found_again_where_lines_have_moved() {
        let expected = r"^b\.rs:\d+:\d+: replace c with \(\)$";
        assert_eq!(pattern("b.rs:12:5: replace c with ()"), expected);
        assert_eq!(pattern("b.rs:7:44: replace c with ()"), expected);
    }
}
