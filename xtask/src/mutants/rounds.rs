//! What became of each mistake. cargo-mutants is called several times for one area: for a part of the mistakes,
//! for the rest, again for what nobody noticed. Each call is a round with a folder of its own, and what a later
//! round says of a mistake replaces what an earlier one said.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Folder that cargo-mutants makes in the folder of a round.
const RESULTS: &str = "mutants.out";
/// Its files, and what the mistakes named there came to. A test that ran into the time limit noticed.
const FILES: [(&str, Outcome); 4] = [
    ("caught.txt", Outcome::Noticed),
    ("timeout.txt", Outcome::Noticed),
    ("missed.txt", Outcome::Unnoticed),
    ("unviable.txt", Outcome::Unviable),
];

/// What a mistake came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Noticed,
    Unnoticed,
    /// It does not compile.
    Unviable,
}

/// `crates/a/src/b.rs:12:5: replace …` without the place in the file, which moves with every edit.
pub(super) fn name(mutant: &str) -> String {
    let mut parts = mutant.splitn(4, ':');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(file), Some(_), Some(_), Some(what)) => format!("{file}:{what}"),
        _ => mutant.to_owned(),
    }
}

/// How many mistakes of each name there are, of the lines of `cargo mutants --list`.
pub(super) fn counted(list: &str) -> BTreeMap<String, usize> {
    let mut names = BTreeMap::new();
    for mutant in list.lines() {
        *names.entry(name(mutant)).or_default() += 1;
    }
    names
}

/// The rounds of an area, by name of the mistake.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    said: BTreeMap<String, Vec<Outcome>>,
}

impl Rounds {
    /// Reads the rounds of an area in their order.
    pub(super) fn read(area: &Path) -> Result<Self, String> {
        let mut rounds = Self::default();
        for number in 1..next(area) {
            let mut said: BTreeMap<String, Vec<Outcome>> = BTreeMap::new();
            for (file, outcome) in FILES {
                for mutant in lines(&area.join(number.to_string()).join(RESULTS).join(file))? {
                    said.entry(name(&mutant)).or_default().push(outcome);
                }
            }
            rounds.said.extend(said);
        }
        Ok(rounds)
    }

    /// The mistakes there are that were not all tried yet.
    pub(super) fn untried<'a>(&self, there: &'a BTreeMap<String, usize>) -> Vec<&'a str> {
        let tried = |name: &str| self.said.get(name).map_or(0, Vec::len);
        there
            .iter()
            .filter(|(name, count)| tried(name) < **count)
            .map(|(name, _)| name.as_str())
            .collect()
    }

    /// Sums up the mistakes that the sources still allow; what was rewritten does not count.
    pub(super) fn tally(&self, there: &BTreeMap<String, usize>) -> Tally {
        let mut tally = Tally { there: there.values().sum(), ..Tally::default() };
        for (name, count) in there {
            for outcome in self.said.get(name).into_iter().flatten().take(*count) {
                match outcome {
                    Outcome::Noticed => tally.noticed += 1,
                    Outcome::Unnoticed => tally.unnoticed.push(name.clone()),
                    Outcome::Unviable => tally.unviable += 1,
                }
            }
        }
        tally
    }
}

/// The folder of the next round, made.
pub(super) fn next_folder(area: &Path) -> Result<PathBuf, String> {
    let folder = area.join(next(area).to_string());
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

/// The first number that no round has.
fn next(area: &Path) -> u32 {
    (1..).find(|number| !area.join(number.to_string()).join(RESULTS).is_dir()).unwrap_or(u32::MAX)
}

/// The lines of a file that cargo-mutants wrote; none where it wrote none.
fn lines(file: &Path) -> Result<Vec<String>, String> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(format!("{}: {error}", file.display())),
    }
}

/// What became of the mistakes of one area.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Tally {
    /// How many there are.
    pub there: usize,
    pub noticed: usize,
    /// By name, in order; a name stands as often as its mistakes.
    pub unnoticed: Vec<String>,
    pub unviable: usize,
}

impl Tally {
    pub(super) fn tried(&self) -> usize {
        self.noticed + self.unnoticed.len() + self.unviable
    }

    /// In a hundred of those that compile.
    pub(super) fn percent(&self) -> f64 {
        let all = self.noticed + self.unnoticed.len();
        let count = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        if all == 0 { 0.0 } else { 100.0 * count(self.noticed) / count(all) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_round_replaces_what_an_earlier_one_said() {
        let area = std::env::temp_dir().join(format!("mutants-{}", std::process::id()));
        let round = |files: &[(&str, &str)]| {
            let folder = next_folder(&area).unwrap().join(RESULTS);
            fs::create_dir_all(&folder).unwrap();
            for (file, text) in files {
                fs::write(folder.join(file), text).unwrap();
            }
        };
        let there =
            counted("f:1:1: a\nf:2:2: b\nf:3:3: c\nf:4:4: c\nf:5:5: d\nf:6:6: e\nf:7:7: g\n");
        let tally = || Rounds::read(&area).unwrap().tally(&there);
        assert_eq!((tally().there, tally().tried(), tally().percent()), (7, 0, 0.0));

        let missed = "f:1:1: a\nf:2:2: b\nf:4:4: c\nf:9:9: rewritten\n";
        round(&[
            ("caught.txt", "f:5:5: d\n"),
            ("timeout.txt", "f:6:6: e\n"),
            ("missed.txt", missed),
        ]);
        assert_eq!(
            (tally().noticed, tally().unnoticed),
            (2, ["f: a", "f: b", "f: c"].map(String::from).to_vec())
        );
        assert_eq!(Rounds::read(&area).unwrap().untried(&there), ["f: c", "f: g"]);

        // The rest; one of the two mistakes of a name was known already.
        round(&[
            ("caught.txt", "f:3:3: c\n"),
            ("missed.txt", "f:4:4: c\n"),
            ("unviable.txt", "f:7:7: g\n"),
        ]);
        assert!(Rounds::read(&area).unwrap().untried(&there).is_empty());
        // What nobody noticed, once a test was added; the lines have moved.
        round(&[
            ("caught.txt", "f:11:1: a\nf:13:3: c\nf:14:4: c\n"),
            ("missed.txt", "f:12:2: b\n"),
        ]);
        let expected =
            Tally { there: 7, noticed: 5, unnoticed: vec!["f: b".to_owned()], unviable: 1 };
        assert_eq!(tally(), expected);
        assert!((tally().percent() - 83.3).abs() < 0.1);
        fs::remove_dir_all(&area).unwrap();
    }
}
