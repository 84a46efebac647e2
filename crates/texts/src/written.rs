//! Reads the files of texts and writes them as a table in Rust, for build scripts: those of this
//! crate, and those of programs that have texts of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::message::arguments;

/// Folders of the languages, in the order of the table. The first is the language in which a text
/// is written first.
const LANGUAGES: [&str; 4] = ["en", "de", "fr", "it"];

/// What the build script of a crate calls: it writes the texts below `folder` to `texts.rs` in the
/// folder for what is built, and ends the build where they are not complete.
#[allow(clippy::print_stdout, reason = "a build script speaks to cargo")]
pub fn write(folder: &str) {
    println!("cargo::rerun-if-changed={folder}");
    let target = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default().join("texts.rs");
    let written = table(Path::new(folder))
        .and_then(|table| fs::write(&target, table).map_err(|error| vec![error.to_string()]));
    for flaw in written.err().into_iter().flatten() {
        println!("cargo::error={folder}: {flaw}");
    }
}

/// The texts of all languages, sorted by id, as an expression in Rust; or everything that is wrong
/// with them.
fn table(folder: &Path) -> Result<String, Vec<String>> {
    let mut flaws = Vec::new();
    let languages = LANGUAGES.map(|language| {
        texts(&folder.join(language)).unwrap_or_else(|flaw| {
            flaws.push(flaw);
            BTreeMap::new()
        })
    });
    if flaws.is_empty() {
        flaws = differences(&languages);
    }
    if !flaws.is_empty() {
        return Err(flaws);
    }
    let mut table = String::from("&[\n");
    for id in languages[0].keys() {
        let of_all = languages.each_ref().map(|texts| &texts[id]);
        table.push_str(&format!("    ({id:?}, {of_all:?}),\n"));
    }
    table.push(']');
    Ok(table)
}

/// All texts of a language: each file of its folder is a JSON object of ids and texts.
fn texts(folder: &Path) -> Result<BTreeMap<String, String>, String> {
    let shown = |error: &dyn std::fmt::Display| format!("{}: {error}", folder.display());
    let mut texts = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(|error| shown(&error))? {
        let path = entry.map_err(|error| shown(&error))?.path();
        let of_file = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let json = fs::read_to_string(&path).map_err(|error| of_file(&error))?;
        let file: BTreeMap<String, String> =
            serde_json::from_str(&json).map_err(|error| of_file(&error))?;
        for (id, text) in file {
            // Where an id stands twice in one file, the JSON reader keeps the second text and says
            // nothing. That is why the file is also searched as text: each id must begin exactly
            // one line, after two spaces.
            let twice = json.matches(&format!("\n  \"{id}\":")).count() != 1;
            if twice || texts.insert(id.clone(), text).is_some() {
                return Err(of_file(&format!("{id} does not stand alone on one line")));
            }
        }
    }
    Ok(texts)
}

/// Where the languages do not say the same things, and texts that cannot be read.
fn differences(languages: &[BTreeMap<String, String>; 4]) -> Vec<String> {
    let mut flaws = Vec::new();
    let ids: BTreeSet<&String> = languages.iter().flat_map(BTreeMap::keys).collect();
    for id in ids {
        let mut first = None;
        for (language, texts) in LANGUAGES.iter().zip(languages) {
            let Some(text) = texts.get(id).filter(|text| !text.trim().is_empty()) else {
                flaws.push(format!("{language} has no text for {id}"));
                continue;
            };
            match arguments(text) {
                None => flaws.push(format!("{language}: {id} cannot be read")),
                Some(found) if *first.get_or_insert_with(|| found.clone()) != found => {
                    flaws.push(format!("{language}: {id} asks for other parameters: {found:?}"));
                }
                Some(_) => {}
            }
        }
    }
    flaws
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_language_lacks_or_asks_for_alone_is_a_flaw() {
        let of = |entries: &[(&str, &str)]| -> BTreeMap<String, String> {
            entries.iter().map(|(id, text)| ((*id).to_owned(), (*text).to_owned())).collect()
        };
        let full = of(&[("problem.dns", "{host}"), ("state.held", "On hold")]);
        assert!(differences(&[(); 4].map(|()| full.clone())).is_empty());
        let lacks = of(&[("problem.dns", "{host}"), ("state.held", " ")]);
        let asks = of(&[("problem.dns", "{name}"), ("state.held", "{")]);
        let flaws = [
            "it: problem.dns asks for other parameters: {\"name\"}",
            "fr has no text for state.held",
            "it: state.held cannot be read",
        ];
        assert_eq!(differences(&[full.clone(), full, lacks, asks]), flaws);
    }
}
