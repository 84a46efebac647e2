//! `cargo xtask mistakes`: makes each mistake of `tests/mistakes` in a copy of the last commit, and
//! demands that the tests that the patch names notice it. On demand; `test` only asks whether each
//! mistake can still be made.

use std::fs;
use std::path::{Path, PathBuf};

use xtask::output;
use xtask::process::Call;
use xtask::workspace::Workspace;

/// Where the patches lie, below the root of the repository.
const FOLDER: &str = "tests/mistakes";
/// The line of a patch that names the tests, as arguments of `cargo nextest run`.
const NOTICED_BY: &str = "Noticed by: ";
/// Exit code of `cargo nextest run` where a test has failed, and nothing else.
const A_TEST_FAILED: u8 = 100;

/// A deliberate mistake.
#[derive(Debug, PartialEq, Eq)]
struct Mistake {
    patch: PathBuf,
    /// What is done wrong, in a sentence.
    what: String,
    /// The tests that must notice it.
    tests: Vec<String>,
}

impl Mistake {
    fn read(patch: PathBuf) -> Result<Self, String> {
        let text = fs::read_to_string(&patch).map_err(|error| named(&patch, &error))?;
        let mut lines = text.lines();
        let what = lines.next().filter(|line| line.ends_with('.')).unwrap_or_default().to_owned();
        let tests = lines.next().and_then(|line| line.strip_prefix(NOTICED_BY));
        match tests {
            Some(tests) if !what.is_empty() => {
                let tests = tests.split_whitespace().map(str::to_owned).collect();
                Ok(Self { patch, what, tests })
            }
            _ => Err(named(&patch, &"begins with a sentence, then with `Noticed by: -p …`")),
        }
    }

    /// `git apply` with these arguments, in this folder.
    fn apply(&self, args: &[&str], folder: &Path) -> Call {
        Call::new("git").arg("apply").args(args).arg(&self.patch).inside(folder)
    }
}

fn named(path: &Path, error: &dyn std::fmt::Display) -> String {
    format!("{}: {error}", path.display())
}

/// All mistakes, by name.
fn all(root: &Path) -> Result<Vec<Mistake>, String> {
    let folder = root.join(FOLDER);
    let entries = fs::read_dir(&folder).map_err(|error| named(&folder, &error))?;
    let paths: Result<Vec<_>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut paths = paths.map_err(|error| named(&folder, &error))?;
    paths.sort();
    paths.into_iter().map(Mistake::read).collect()
}

fn main() -> std::process::ExitCode {
    xtask::program(run)
}

/// Makes one mistake after the other, or those whose name is given; 0 where each was noticed.
fn run(workspace: &Workspace, args: &[String]) -> Result<u8, String> {
    let copy = workspace.target.join("mistakes");
    let _ = Call::new("git").args(["worktree", "prune"]).inside(&workspace.root).text();
    if copy.join("tree").exists() {
        fs::remove_dir_all(copy.join("tree")).map_err(|error| named(&copy, &error))?;
        Call::new("git").args(["worktree", "prune"]).inside(&workspace.root).run()?;
    }
    let (tree, target) = (copy.join("tree"), copy.join("target"));
    let add = Call::new("git").args(["worktree", "add", "--detach", "--force"]);
    add.arg(&tree).arg("HEAD").inside(&workspace.root).run()?;
    let asked = |mistake: &Mistake| {
        let name = mistake.patch.file_stem().unwrap_or_default().to_string_lossy();
        args.is_empty() || args.iter().any(|arg| *arg == name)
    };
    let mut unnoticed = Vec::new();
    let mut tried = 0;
    for mistake in all(&workspace.root)?.iter().filter(|mistake| asked(mistake)) {
        output::heading(&mistake.what);
        mistake.apply(&[], &tree).run()?;
        let test = Call::cargo().args(["nextest", "run"]).args(&mistake.tests);
        let code = test.env("CARGO_TARGET_DIR", &target).inside(&tree).code()?;
        mistake.apply(&["--reverse"], &tree).run()?;
        tried += 1;
        if code != A_TEST_FAILED {
            unnoticed.push(format!("{} (exit code {code})", mistake.what));
        }
    }
    let noticed = tried - unnoticed.len();
    output::line(&format!("{noticed} of {tried} mistakes were noticed"));
    unnoticed.iter().for_each(|what| output::problem(&format!("not noticed: {what}")));
    Ok(u8::from(!unnoticed.is_empty() || tried == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_can_still_be_made() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mistakes = all(root).unwrap();
        assert!(mistakes.len() >= 12, "{}", mistakes.len());
        for mistake in &mistakes {
            let output = mistake.apply(&["--check"], root).command().output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}: {said}", mistake.patch.display());
        }
    }

    #[test]
    fn a_patch_says_what_is_wrong_and_who_notices() {
        let folder = tempfile::tempdir().unwrap();
        let patch = folder.path().join("a.patch");
        fs::write(&patch, "It is done twice.\nNoticed by: -p engine --lib\n\ndiff").unwrap();
        let read = Mistake::read(patch.clone()).unwrap();
        assert_eq!((read.what.as_str(), read.tests.len()), ("It is done twice.", 3));
        fs::write(&patch, "diff --git a b\n").unwrap();
        assert!(Mistake::read(patch).is_err());
    }
}
