//! The table of statements in `docs/interface.md`: every test and every place that it names exists,
//! and no row is without an answer.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders with tests.
const ROOMS: &[&str] = &["crates", "tests", "fuzz", "xtask", "src-tauri"];
/// How a row says that no test shows its statement; the reason follows.
const NOT_SHOWN: &str = "not shown: ";

/// What is wrong with the table.
pub(crate) fn flaws(root: &Path) -> Vec<String> {
    let page = root.join("docs/interface.md");
    let Ok(text) = fs::read_to_string(&page) else {
        return vec![format!("{} cannot be read", page.display())];
    };
    let (mut tests, mut rooms) = (BTreeSet::new(), Rooms::new());
    ROOMS
        .iter()
        .for_each(|room| collect(&root.join(room), &mut |_, text| tests.extend(tests_of(text))));
    for entry in fs::read_dir(root.join("crates")).into_iter().flatten().flatten() {
        let mut words = BTreeSet::new();
        collect(&entry.path().join("src"), &mut |path, text| {
            words.extend(path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned));
            let is_word = |byte: char| byte == '_' || byte.is_ascii_alphanumeric();
            words.extend(text.split(|byte| !is_word(byte)).map(str::to_owned));
        });
        rooms.insert(entry.file_name().to_string_lossy().into_owned(), words);
    }
    flaws_of(&text, &tests, &rooms)
}

/// Words of the source of each crate.
type Rooms = BTreeMap<String, BTreeSet<String>>;

/// Whether a place like `exchange::Endpoint::base` is there: a crate whose source has each of these
/// words.
fn is_there(place: &str, rooms: &Rooms) -> bool {
    let mut words = place.split("::");
    let room = words.next().and_then(|room| rooms.get(room));
    room.is_some_and(|known| words.all(|word| known.contains(word)))
}

fn flaws_of(text: &str, tests: &BTreeSet<String>, rooms: &Rooms) -> Vec<String> {
    let mut flaws = Vec::new();
    let mut seen = BTreeSet::new();
    for cells in text.lines().filter_map(row) {
        let number = cells.first().cloned().unwrap_or_default();
        if !seen.insert(number.clone()) {
            flaws.push(format!("docs/interface.md: {number} stands twice"));
        }
        let [_, statement, place, shown] = cells.as_slice() else {
            flaws.push(format!("docs/interface.md: {number} has {} cells, not 4", cells.len()));
            continue;
        };
        if statement.is_empty() || place.is_empty() {
            flaws.push(format!("docs/interface.md: {number} has no statement or no place"));
        }
        for place in place.split('`').skip(1).step_by(2) {
            // A command is none.
            if place.contains("::") && !is_there(place, rooms) {
                flaws.push(format!("docs/interface.md: {number} names {place}, which is nowhere"));
            }
        }
        let named: Vec<&str> = shown.split('`').skip(1).step_by(2).collect();
        if named.is_empty() && shown.strip_prefix(NOT_SHOWN).is_none_or(str::is_empty) {
            flaws.push(format!("docs/interface.md: {number} names no test and gives no reason"));
        }
        for test in named.into_iter().filter(|_| !shown.starts_with(NOT_SHOWN)) {
            if !tests.contains(test) {
                flaws.push(format!("docs/interface.md: {number} names {test}, which is no test"));
            }
        }
    }
    if seen.is_empty() {
        flaws.push("docs/interface.md has no table of statements".to_owned());
    }
    flaws
}

/// The cells of a row whose first is a number like `S12` or `W3`.
fn row(line: &str) -> Option<Vec<String>> {
    let inner = line.strip_prefix("| ")?.strip_suffix(" |")?.replace("\\|", "\u{0}");
    let cells: Vec<String> =
        inner.split(" | ").map(|cell| cell.trim().replace('\u{0}', "|")).collect();
    let number = cells.first()?.strip_prefix(['S', 'W'])?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(cells)
}

/// Hands over every source file below a folder.
pub(crate) fn collect(folder: &Path, take: &mut impl FnMut(&Path, &str)) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() && !matches!(name, "target" | "node_modules" | "corpus") {
            collect(&path, take);
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && let Ok(text) = fs::read_to_string(&path)
        {
            take(&path, &text);
        }
    }
}

/// Functions marked as tests, and those whose name is handed to a macro that makes tests of them:
/// it then stands alone on a line, or in a list of names.
fn tests_of(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_word =
        |word: &&str| word.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
    let listed: BTreeSet<&str> = lines
        .iter()
        .filter_map(|line| {
            let bracketed = line.strip_suffix("];").and_then(|line| line.split_once("!["));
            let within = || line.split_once("!(").and_then(|(_, rest)| rest.split_once('['));
            let bracketed = bracketed.or_else(within);
            let words: Vec<&str> = match bracketed {
                Some((_, rest)) => {
                    let names = rest.split_once(']').map_or(rest, |(names, _)| names);
                    names.split_whitespace().collect()
                }
                None => line.trim_end_matches(',').split(", ").collect(),
            };
            words.iter().all(is_word).then_some(words)
        })
        .flatten()
        .collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some((_, rest)) = line.split_once("fn ") else { continue };
        let Some((name, _)) = rest.split_once('(') else { continue };
        let above = lines[at.saturating_sub(6)..at].iter().rev();
        let marked = above
            .take_while(|line| line.starts_with("#[") || line.starts_with("//"))
            .any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"));
        if marked || listed.contains(name) {
            found.push(name.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "
        /// What it says.
        #[test]
        fn one() {}
        #[tokio::test(flavor = \"multi_thread\")]
        async fn two() {}
        fn helper() {}
        async fn three() {}
        on_every_store! {
            three,
            four, five
        }
        async fn five() {}
        in_setting!(Sqlite, (), [seven]);
        async fn seven() {}
        on_every_store![eight];
        async fn eight() {}
        #[published::needs(\"corpus\")]
        #[test]
        fn six() {}";

    #[test]
    fn tests_are_told_from_helpers() {
        assert_eq!(tests_of(SOURCE), ["one", "two", "three", "five", "seven", "eight", "six"]);
    }

    #[test]
    fn a_row_that_names_no_test_is_a_flaw() {
        let tests = tests_of(SOURCE).into_iter().collect();
        let words = ["b", "c"].map(str::to_owned).into_iter().collect();
        let rooms = Rooms::from([("a".to_owned(), words)]);
        let flaws = |row: &str| flaws_of(row, &tests, &rooms).len();
        assert_eq!(flaws("| S1 | said | `a::b::c`, `a`; `send` says so | `one` |"), 0);
        assert_eq!(flaws("| S1 | said | `a::d` | `one` |"), 1);
        assert_eq!(flaws("| S1 | said | `d::b` | `one` |"), 1);
        assert_eq!(flaws("| S1 | said | `a` | `one`, `two` |"), 0);
        assert_eq!(flaws("| W1 | a \\| b | `a` | not shown: read in the code |"), 0);
        assert_eq!(flaws("| S1 | said | `a` | `one`, `helper` |"), 1);
        assert_eq!(flaws("| S1 | said | `a` | `gone` |"), 1);
        assert_eq!(flaws("| S1 | said | `a` | somewhere |"), 1);
        assert_eq!(flaws("| S1 | said | `a` | not shown:  |"), 1);
        assert_eq!(flaws("| S1 | said | `a` |"), 1);
        assert_eq!(flaws("| S1 | said | `a` | `one` |\n| S1 | said | `a` | `one` |"), 1);
        assert_eq!(flaws("| | statement | where | shown by |"), 1, "no table at all");
    }
}
