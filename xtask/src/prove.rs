//! The test of the tests: deliberate faults, one at a time, in a copy of the sources. Each must make at least
//! one test fail; one that passes unnoticed is a hole in the net. On demand, never part of `test`.

mod mistakes;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use self::mistakes::{MISTAKES, Mistake};
use crate::output;
use crate::workspace::Workspace;

/// Makes each mistake once, or those whose description has one of the words; 0 where every one was noticed.
pub(crate) fn prove(workspace: &Workspace, words: &[String]) -> Result<u8, String> {
    let wanted = |mistake: &&Mistake| {
        words.is_empty() || words.iter().any(|word| mistake.what.contains(word.as_str()))
    };
    let mistakes: Vec<&Mistake> = MISTAKES.iter().filter(wanted).collect();
    let tree = workspace.target.join("prove/tree");
    let build = workspace.target.join("prove/build");
    copy(&workspace.root, &tree)?;
    // All edits are looked for before anything is built.
    for (file, from, _) in mistakes.iter().flat_map(|mistake| mistake.edits) {
        let text =
            fs::read_to_string(tree.join(file)).map_err(|error| format!("{file}: {error}"))?;
        if !text.contains(from) {
            return Err(format!("{file}: does not hold: {from}"));
        }
    }
    let mut suites: Vec<&[&str]> = Vec::new();
    for mistake in &mistakes {
        if !suites.contains(&mistake.tests) {
            suites.push(mistake.tests);
        }
    }
    for tests in suites {
        if let Some(failed) = run_tests(&tree, &build, tests)? {
            return Err(format!("without a mistake {failed} fails already"));
        }
    }
    let mut unnoticed = 0;
    for mistake in &mistakes {
        let started = Instant::now();
        let mut before = Vec::new();
        for (file, from, to) in mistake.edits {
            let file = tree.join(file);
            before.push((file.clone(), fs::read(&file).map_err(|error| error.to_string())?));
            edit(&file, from, to)?;
        }
        let noticed = run_tests(&tree, &build, mistake.tests)?;
        // Several edits of one file: the first copy is the whole one.
        for (file, text) in before.into_iter().rev() {
            fs::write(file, text).map_err(|error| error.to_string())?;
        }
        unnoticed += usize::from(noticed.is_none());
        let by = noticed.as_deref().unwrap_or("NOBODY");
        let seconds = started.elapsed().as_secs();
        output::line(&format!("{seconds:>4} s  {}: noticed by {by}", mistake.what));
    }
    let noticed = mistakes.len() - unnoticed;
    output::line(&format!("{noticed} of {} mistakes were noticed", mistakes.len()));
    Ok(u8::from(unnoticed > 0))
}

/// The sources as they are now, without what is built.
fn copy(root: &Path, tree: &Path) -> Result<(), String> {
    if tree.exists() {
        fs::remove_dir_all(tree).map_err(|error| format!("{}: {error}", tree.display()))?;
    }
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("git: {error}"))?;
    for name in listed.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let name = String::from_utf8_lossy(name);
        let (from, to) = (root.join(&*name), tree.join(&*name));
        let copied =
            to.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::copy(&from, &to));
        match copied {
            Ok(_) => {}
            // Removed and not yet said so.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("{}: {error}", from.display())),
        }
    }
    Ok(())
}

fn edit(file: &Path, from: &str, to: &str) -> Result<(), String> {
    let shown = file.display();
    let text = fs::read_to_string(file).map_err(|error| format!("{shown}: {error}"))?;
    if text.matches(from).count() != 1 {
        return Err(format!("{shown}: does not hold exactly once: {from}"));
    }
    fs::write(file, text.replacen(from, to, 1)).map_err(|error| format!("{shown}: {error}"))
}

/// The first test that fails, if one does. A mistake that does not compile proves nothing and is an error.
fn run_tests(tree: &Path, build: &Path, tests: &[&str]) -> Result<Option<String>, String> {
    let mut command = Command::new("cargo");
    // The first failure is enough.
    command.args(["test", "--quiet"]).args(tests);
    command.env("CARGO_TARGET_DIR", build).current_dir(tree);
    let output = command.output().map_err(|error| format!("cargo: {error}"))?;
    if output.status.success() {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let mut listed = text.lines().skip_while(|line| *line != "failures:").skip(1).map(str::trim);
    let named = |line: &&str| !line.is_empty() && !line.starts_with("----");
    let name = text
        .lines()
        .find_map(|line| line.strip_prefix("---- ")?.strip_suffix(" stdout ----"))
        .or_else(|| listed.find(named));
    let name = name.ok_or_else(|| {
        let errors = String::from_utf8_lossy(&output.stderr);
        format!(
            "no test failed, and yet: {}",
            errors.lines().take(12).collect::<Vec<_>>().join("\n")
        )
    })?;
    Ok(Some(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The list follows the code: found here at once, not an hour into the next run.
    #[test]
    fn every_mistake_has_its_place() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        for mistake in MISTAKES {
            for (file, from, to) in mistake.edits {
                let text = fs::read_to_string(root.join(file)).unwrap();
                assert_eq!(text.matches(from).count(), 1, "{}: {file}: {from}", mistake.what);
                assert_ne!(from, to, "{}", mistake.what);
            }
        }
    }
}
