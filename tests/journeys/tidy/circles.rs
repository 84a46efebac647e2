//! Which parts of a package import each other in a circle. A part is what stands right below `src`:
//! a file, or a folder with the file of its name. Read are paths that begin with `crate::`; what
//! the root passes on is found where it comes from.

use std::collections::{BTreeMap, BTreeSet};

type Imports<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// For the root file of each package, how many of its parts stand in a circle.
pub(super) fn circles(sources: &BTreeMap<String, String>) -> BTreeMap<&str, usize> {
    let roots = sources.keys().filter(|path| path.ends_with("/src/lib.rs"));
    roots.map(|root| (root.as_str(), in_circles(&imports(sources, root)))).collect()
}

/// What each part imports of the others.
fn imports<'a>(sources: &'a BTreeMap<String, String>, root: &str) -> Imports<'a> {
    let folder = root.strip_suffix("lib.rs").unwrap_or_default();
    let of_package = || sources.iter().filter_map(|(path, text)| Some((part(path, folder)?, text)));
    let parts: BTreeSet<&str> = of_package().map(|(part, _)| part).collect();
    let passed_on = sources.get(root).map(|text| passed_on(text, &parts)).unwrap_or_default();
    let mut imports = Imports::new();
    for (part, text) in of_package() {
        let code = code_without_tests(text);
        let names = code.split("crate::").skip(1).flat_map(first_names);
        let others = names.filter_map(|name| {
            let known = parts.get(name).or_else(|| passed_on.get(name));
            known.copied().filter(|other| *other != part)
        });
        imports.entry(part).or_default().extend(others);
    }
    imports
}

/// The part that a file belongs to; none for the root and for files of tests alone.
fn part<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(folder)?;
    let is_test = rest.split('/').any(|it| it == "tests" || it.ends_with("tests.rs"));
    let name = rest.split('/').next().map(|name| name.strip_suffix(".rs").unwrap_or(name));
    name.filter(|name| !is_test && !["lib", "main"].contains(name))
}

/// Names that the root passes on, and the part that each comes from.
fn passed_on<'a>(root: &'a str, parts: &BTreeSet<&'a str>) -> BTreeMap<&'a str, &'a str> {
    let mut all = BTreeMap::new();
    for used in root.split("use ").skip(1).filter_map(|rest| rest.split_once(';')) {
        if let Some((part, names)) = used.0.split_once("::")
            && let Some(part) = parts.get(part)
        {
            all.extend(names.split(|it| !super::is_of_a_word(it)).map(|name| (name, *part)));
        }
    }
    all
}

/// What stands first in a path behind `crate::`: one name, or those of a list.
fn first_names(path: &str) -> Vec<&str> {
    let Some(list) = path.strip_prefix('{') else {
        return path.split(|it| !super::is_of_a_word(it)).take(1).collect();
    };
    let (mut names, mut depth, mut is_first) = (Vec::new(), 1, true);
    for word in list.split_inclusive(|it| !super::is_of_a_word(it)) {
        let name = word.trim_end_matches(|it| !super::is_of_a_word(it));
        if is_first && depth == 1 && !name.is_empty() {
            names.push(name);
            is_first = false;
        }
        match word.chars().last() {
            Some('{') => depth += 1,
            Some('}') => depth -= 1,
            Some(',') => is_first = depth == 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    names
}

/// The code up to its tests, which may import whatever they like.
fn code_without_tests(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    code.lines().filter(is_code).collect::<Vec<_>>().join("\n")
}

/// How many parts lead back to themselves.
fn in_circles(imports: &Imports<'_>) -> usize {
    let leads_back = |start: &&&str| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![**start]);
        while let Some(part) = next.pop() {
            next.extend(imports.get(part).into_iter().flatten().filter(|it| seen.insert(**it)));
        }
        seen.contains(**start)
    };
    imports.keys().filter(leads_back).count()
}
