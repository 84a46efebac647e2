//! How the source is kept: how long a file, a function and a line are, what a comment says, what no
//! condition looks at, and which parts of a package import each other in a circle. What stands
//! otherwise today is listed in `tidy/exceptions.txt`, for each file; that list only shrinks.

#[path = "tidy/circles.rs"]
mod circles;
#[path = "tidy/interface.rs"]
mod interface;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders with source of ours.
const FOLDERS: &[&str] = &["benches", "crates", "fuzz", "src-tauri", "tables", "tests", "xtask"];
/// Lines of a function, with its first and last.
const FUNCTION_MAX: usize = 70;
/// Lines of a file.
const FILE_MAX: usize = 450;
/// Characters of a line, in comments and texts too: rustfmt leaves those alone.
const LINE_MAX: usize = 100;
/// Papers that a reader of this repository does not have.
const PAPERS: &[&str] = &[
    "wire fact",
    "service specification",
    "(specification",
    "; specification",
    "(reliability",
    "(experience",
    "(performance",
    "(stack",
    "house.md",
    "style.md",
];

/// What is counted in each file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rule {
    /// Lines beyond what a file may have.
    LongFile,
    /// Functions beyond what a function may have.
    LongFunction,
    /// Lines beyond what a line may have.
    LongLine,
    /// Documentation of one word.
    OneWord,
    /// References to papers that are not here.
    Paper,
    /// Codes that are looked at by how they begin or end: a new one would fall in unseen.
    CodeByPart,
}

impl Rule {
    const ALL: [Self; 6] = [
        Self::LongFile,
        Self::LongFunction,
        Self::LongLine,
        Self::OneWord,
        Self::Paper,
        Self::CodeByPart,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::LongFile => "long-file",
            Self::LongFunction => "long-function",
            Self::LongLine => "long-line",
            Self::OneWord => "one-word",
            Self::Paper => "paper",
            Self::CodeByPart => "code-by-part",
        }
    }

    fn count(self, text: &str) -> usize {
        let lines: Vec<&str> = text.lines().collect();
        match self {
            Self::LongFile => lines.len().saturating_sub(FILE_MAX),
            Self::LongFunction => {
                functions(&lines).into_iter().filter(|length| *length > FUNCTION_MAX).count()
            }
            Self::LongLine => lines.iter().filter(|it| it.chars().count() > LINE_MAX).count(),
            Self::OneWord => one_word_docs(&lines),
            Self::Paper => {
                let is_comment = |line: &&&str| line.trim_start().starts_with("//");
                let comments: Vec<&str> = lines.iter().filter(is_comment).copied().collect();
                PAPERS.iter().map(|paper| comments.join("\n").matches(paper).count()).sum()
            }
            Self::CodeByPart => lines.iter().filter(|line| looks_at_part_of_a_code(line)).count(),
        }
    }
}

/// Lengths of all functions. rustfmt puts the end of one below its beginning.
fn functions(lines: &[&str]) -> Vec<usize> {
    let mut lengths = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let indent = &line[..line.len() - code.len()];
        let begins = !code.starts_with("//") && (code.starts_with("fn ") || code.contains(" fn "));
        if !begins || code.contains('"') || code.ends_with(';') || code.ends_with('}') {
            continue;
        }
        let last = |line: &&str| line.strip_prefix(indent) == Some("}");
        // A declaration without a body ends before anything else begins at its indentation.
        let rest = &lines[at + 1..];
        let declared = |line: &&str| {
            line.strip_prefix(indent).is_some_and(|it| it.ends_with(';') && !it.starts_with(' '))
        };
        let end = rest.iter().position(last);
        if let Some(end) = end.filter(|end| !rest[..*end].iter().any(declared)) {
            lengths.push(end + 2);
        }
    }
    lengths
}

fn is_doc(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("///") || line.starts_with("//!")
}

fn one_word_docs(lines: &[&str]) -> usize {
    let is_doc_at =
        |at: Option<usize>| at.and_then(|at| lines.get(at)).is_some_and(|line| is_doc(line));
    let alone = |at: usize| !is_doc_at(at.checked_sub(1)) && !is_doc_at(Some(at + 1));
    let words = |line: &str| line.trim_start()[3..].split_whitespace().count();
    lines
        .iter()
        .enumerate()
        .filter(|(at, line)| is_doc(line) && alone(*at) && words(line) == 1)
        .count()
}

fn looks_at_part_of_a_code(line: &str) -> bool {
    let looks = ["code.starts_with(\"", "code.ends_with(\"", "code().starts_with(\""];
    !line.trim_start().starts_with("//") && looks.iter().any(|it| line.contains(it))
}

/// What is open to all and named nowhere else: rustc does not see it, because another package could
/// use it.
const UNUSED: &str = "unused-pub";

/// Parts of a package that import each other in a circle; counted at its root file.
const CIRCLE: &str = "circle";

/// For each file, how many names of its are open to all and used by nobody.
fn unused(sources: &BTreeMap<String, String>) -> BTreeMap<&str, usize> {
    let mut named: HashMap<&str, usize> = HashMap::new();
    for text in sources.values() {
        for word in code_of(text).flat_map(|line| line.split(|it| !is_of_a_word(it))) {
            *named.entry(word).or_default() += 1;
        }
    }
    let is_unused = |line: &&str| opened(line).is_some_and(|name| named.get(name) == Some(&1));
    let rooms = sources.iter().filter(|(path, _)| path.contains("/src/"));
    rooms.map(|(path, text)| (path.as_str(), code_of(text).filter(is_unused).count())).collect()
}

fn is_of_a_word(it: char) -> bool {
    it == '_' || it.is_ascii_alphanumeric()
}

/// Lines of code without comments, and without what only passes a name on.
fn code_of(text: &str) -> impl Iterator<Item = &str> {
    let mut passes_on = false;
    text.lines().map(str::trim_start).filter(move |line| {
        let begins = ["use ", "pub use ", "pub(crate) use ", "pub(super) use "];
        passes_on |= begins.iter().any(|it| line.starts_with(it));
        let is_code = !passes_on && !line.starts_with("//");
        passes_on &= !line.ends_with(';');
        is_code
    })
}

/// The name that a line opens to all.
fn opened(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub ")?;
    let rest = rest.strip_prefix("const fn ").or(rest.strip_prefix("async fn ")).or_else(|| {
        ["fn ", "const ", "static ", "struct ", "enum ", "trait ", "type "]
            .iter()
            .find_map(|it| rest.strip_prefix(it))
    })?;
    rest.split(|it| !is_of_a_word(it)).next()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Every file of source with its path in the repository.
fn sources() -> BTreeMap<String, String> {
    let root = root();
    let mut found = BTreeMap::new();
    for folder in FOLDERS {
        interface::collect(&root.join(folder), &mut |path, text| {
            let path = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
            found.insert(path, text.to_owned());
        });
    }
    found
}

/// The list as it would stand today: a line for each file and rule that it breaks.
fn broken(sources: &BTreeMap<String, String>) -> BTreeMap<(String, String), usize> {
    let mut all = BTreeMap::new();
    for (path, text) in sources {
        for rule in Rule::ALL {
            let count = rule.count(text);
            if count > 0 {
                all.insert((path.clone(), rule.name().to_owned()), count);
            }
        }
    }
    for (path, count) in unused(sources).into_iter().filter(|(_, count)| *count > 0) {
        all.insert((path.to_owned(), UNUSED.to_owned()), count);
    }
    for (root, count) in circles::circles(sources).into_iter().filter(|(_, count)| *count > 0) {
        all.insert((root.to_owned(), CIRCLE.to_owned()), count);
    }
    all
}

fn listed(list: &str) -> BTreeMap<(String, String), usize> {
    let lines = list.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines
        .map(|line| {
            let [path, rule, count] = line.split(' ').collect::<Vec<_>>()[..] else {
                panic!("no path, rule and count: {line}")
            };
            ((path.to_owned(), rule.to_owned()), count.parse().unwrap())
        })
        .collect()
}

/// What is to be changed in the list or, where there is more than it allows, in the source.
fn differences(
    listed: &BTreeMap<(String, String), usize>,
    broken: &BTreeMap<(String, String), usize>,
) -> Vec<String> {
    let more = broken.iter().filter_map(|(at, count)| {
        let allowed = listed.get(at).copied().unwrap_or(0);
        (*count > allowed).then(|| format!("{} {}: {count}, allowed are {allowed}", at.0, at.1))
    });
    let fewer = listed.iter().filter_map(|(at, allowed)| {
        let count = broken.get(at).copied().unwrap_or(0);
        (count < *allowed)
            .then(|| format!("{} {}: only {count} left, say so in the list", at.0, at.1))
    });
    more.chain(fewer).collect()
}

#[test]
fn the_source_is_kept_as_it_is_said_and_exceptions_only_shrink() {
    let list = fs::read_to_string(root().join("tests/journeys/tidy/exceptions.txt")).unwrap();
    let sources = sources();
    assert!(sources.len() > 500, "{}", sources.len());
    let differences = differences(&listed(&list), &broken(&sources));
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn the_table_of_the_interface_names_tests_and_places_that_there_are() {
    assert_eq!(interface::flaws(&root()), Vec::<String>::new());
}

#[test]
fn each_rule_sees_what_breaks_it() {
    let long = format!("fn long() {{\n{}}}\n", "    step();\n".repeat(69));
    let fits = format!("fn fits() {{\n{}}}\n", "    step();\n".repeat(68));
    let declared = format!("    fn declared();\n    fn given(\n        &self,\n    );\n{fits}");
    let cases = [
        (Rule::LongFile, "x\n".repeat(452), 2),
        (Rule::LongFile, "x\n".repeat(450), 0),
        (Rule::LongFunction, long.clone(), 1),
        (Rule::LongFunction, format!("pub(crate) async {long}"), 1),
        (Rule::LongFunction, fits, 0),
        (Rule::LongFunction, declared, 0),
        (Rule::LongLine, format!("// {}\n", "é".repeat(97)), 0),
        (Rule::LongLine, format!("// {}\n", "é".repeat(98)), 1),
        (Rule::OneWord, "/// When.\nat: u8,\n/// When it was.\n".to_owned(), 1),
        (Rule::OneWord, "/// Two\n/// lines.\n".to_owned(), 0),
        (Rule::Paper, "// As it stands there (wire facts, Profiles).\n".to_owned(), 1),
        (Rule::Paper, "let text = \"wire facts\";\n".to_owned(), 0),
        (Rule::CodeByPart, "if code.starts_with(\"journal-\") {\n".to_owned(), 1),
        (Rule::CodeByPart, "if code == \"journal-damaged\" {\n".to_owned(), 0),
    ];
    for (rule, text, count) in cases {
        assert_eq!(rule.count(&text), count, "{rule:?} in {text:.60}");
    }
}

#[test]
fn a_name_that_is_open_and_used_by_nobody_is_seen() {
    let text = |text: &str| text.to_owned();
    let sources = BTreeMap::from([
        (text("a/src/lib.rs"), text("pub use one::{\n    gone, used,\n};\n// gone\n")),
        (text("a/src/one.rs"), text("pub fn gone() {}\n    pub const fn used() {}\n")),
        (text("b/tests/it.rs"), text("pub fn helper() {}\nfn it() { used(); }\n")),
    ]);
    let unused: Vec<_> = unused(&sources).into_iter().filter(|(_, count)| *count > 0).collect();
    assert_eq!(unused, [("a/src/one.rs", 1)]);
}

#[test]
fn parts_that_import_each_other_are_seen_and_those_that_do_not_are_not() {
    let text = |text: &str| text.to_owned();
    let mut sources = BTreeMap::from([
        (text("a/src/lib.rs"), text("mod one;\nmod two;\nmod three;\npub use one::{Gone, One};\n")),
        (text("a/src/one.rs"), text("use crate::{three::{self, two}, two::Two};\n")),
        (text("a/src/two/inner.rs"), text("#[cfg(test)]\nmod tests {\n    use crate::One;\n}\n")),
        (text("a/src/three.rs"), text("use std::fmt;\n")),
    ]);
    assert_eq!(circles::circles(&sources), BTreeMap::from([("a/src/lib.rs", 0)]));
    sources.insert(text("a/src/three.rs"), text("pub(crate) fn it(_: crate::two::Two) {}\n"));
    assert_eq!(circles::circles(&sources)["a/src/lib.rs"], 0, "no way back");
    sources.insert(text("a/src/two.rs"), text("use crate::{One, Other};\n"));
    assert_eq!(circles::circles(&sources)["a/src/lib.rs"], 3, "by a name that the root passes on");
}

#[test]
fn a_list_that_allows_too_much_or_too_little_is_told() {
    let at = |count: usize| BTreeMap::from([(("a.rs".to_owned(), "paper".to_owned()), count)]);
    assert!(differences(&at(2), &at(2)).is_empty());
    assert_eq!(differences(&at(1), &at(2)), ["a.rs paper: 2, allowed are 1"]);
    assert_eq!(differences(&at(2), &at(1)), ["a.rs paper: only 1 left, say so in the list"]);
    assert_eq!(differences(&BTreeMap::new(), &at(1)), ["a.rs paper: 1, allowed are 0"]);
}
