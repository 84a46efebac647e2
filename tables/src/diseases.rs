//! `cargo xtask tables diseases`: makes the table of leading codes of `crates/report` from the
//! published terminology.
//!
//! Reads the value sets of a package of the authority (`.tgz`) and writes for each code the
//! disease, how it is tested and in what. The displays are read, not copied: what is written are
//! facts in words of ours. Of organisms the scientific name is written too, which is the same in
//! every language: a report may bring the code alone.
//!
//! Usage: `tables diseases [PACKAGE.tgz]`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde_json::Value;

/// Where the package lies by default, from the workspace root.
const PACKAGE: &str = "../shared/packages/ch.fhir.ig.ch-elm-1.14.0-cibuild.tgz";
const OUTPUT: &str = "crates/report/src/diseases/codes.tsv";
const ORGANISMS_OUTPUT: &str = "crates/report/src/diseases/organisms.tsv";
/// The value set of all codes that a result may have.
const RESULTS: &str = "ValueSet-ch-elm-results-laboratory-observation-complete.json";
/// Those of organisms that a result may name; their number makes a list of serovars no part of the
/// table.
const ORGANISMS: &str = "ValueSet-ch-elm-results-";
const CODES_MAX: usize = 100;

/// Writes the table.
pub(crate) fn generate(args: &[String]) -> Result<(), String> {
    let package = args.first().map_or(PACKAGE, String::as_str);
    let (mut table, mut organisms) = (BTreeMap::new(), BTreeMap::new());
    for (code, display) in codes(Path::new(package))? {
        if let Some(name) = display.strip_suffix(" (organism)") {
            organisms.insert(code.clone(), name.to_owned());
        }
        let Some(tested) = report::diseases::of_published(&display) else {
            eprintln!("no disease: {code} {display}");
            continue;
        };
        let (disease, test, specimen) = (tested.disease.key, tested.test, tested.specimen);
        table.insert(code, format!("{disease}\t{test}\t{specimen}"));
    }
    write(OUTPUT, "Leading codes: disease, how it is tested, in what.", &table)?;
    write(ORGANISMS_OUTPUT, "Organisms by their code: the scientific name.", &organisms)
}

fn write(output: &str, about: &str, table: &BTreeMap<String, String>) -> Result<(), String> {
    let mut text = format!("# {about} Made by `cargo xtask tables diseases`.\n");
    for (code, facts) in table {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{code}\t{facts}");
    }
    std::fs::write(output, text).map_err(|error| format!("{output}: {error}"))?;
    eprintln!("{output}: {} codes", table.len());
    Ok(())
}

/// Codes and displays of the value sets; what the results have stands before what the organisms
/// have.
fn codes(package: &Path) -> Result<Vec<(String, String)>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", package.display());
    let file = File::open(package).map_err(failed)?;
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
    let (mut results, mut organisms) = (Vec::new(), Vec::new());
    for entry in archive.entries().map_err(failed)? {
        let mut entry = entry.map_err(failed)?;
        let name = entry.path().map_err(failed)?.to_string_lossy().into_owned();
        let Some(file) = name.strip_prefix("package/") else { continue };
        let of_organisms = file.starts_with(ORGANISMS) && file.contains("-org");
        if file != RESULTS && !of_organisms {
            continue;
        }
        let mut text = String::new();
        entry.read_to_string(&mut text).map_err(failed)?;
        let set: Value = serde_json::from_str(&text).map_err(|error| format!("{name}: {error}"))?;
        let found = codes_of(&set);
        if file == RESULTS {
            results = found;
        } else if found.len() <= CODES_MAX {
            organisms.extend(found);
        }
    }
    organisms.extend(results);
    Ok(organisms)
}

fn codes_of(set: &Value) -> Vec<(String, String)> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let included = list(&set["compose"]["include"]);
    let concepts = included.iter().flat_map(|include| list(&include["concept"]));
    concepts
        .filter_map(|concept| {
            let text = |name: &str| concept[name].as_str().map(str::to_owned);
            Some((text("code")?, text("display")?))
        })
        .collect()
}
