//! `tables fhir [PACKAGE.tgz [OUTPUT.zst]]`: makes the element table of `crates/fhir` from the
//! published definitions.
//!
//! Reads `hl7.fhir.r4.core` (a FHIR package, `.tgz`) and writes the lines that
//! `crates/fhir/src/table.rs` explains, compressed. The same package always gives the same bytes; a
//! test in `crates/fhir` says so.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde_json::Value;

/// Where the package lies by default, from the workspace root.
pub(crate) const PACKAGE: &str = "../shared/packages/hl7.fhir.r4.core-4.0.1.tgz";
/// Where the table is committed.
pub(crate) const OUTPUT: &str = "crates/fhir/table/r4.bin.zst";

/// Level of compression; the table is written once and read for ever.
const ZSTD_LEVEL: i32 = 19;
/// A code list longer than this is a terminology, not a set of codes to carry along.
const CODES_MAX: usize = 1_000;

/// Writes the table. Arguments: the package and the output, both optional.
pub(crate) fn generate(args: &[String]) -> Result<(), String> {
    let package = args.first().map_or(PACKAGE, String::as_str);
    let output = args.get(1).map_or(OUTPUT, String::as_str);
    let bytes = build(Path::new(package))?;
    if let Some(folder) = Path::new(output).parent() {
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    std::fs::write(output, bytes).map_err(|error| format!("{output}: {error}"))
}

/// The compressed table of a package.
pub(crate) fn build(package: &Path) -> Result<Vec<u8>, String> {
    let text = Definitions::read(package)?.table();
    zstd::encode_all(text.as_bytes(), ZSTD_LEVEL).map_err(|error| format!("zstd: {error}"))
}

/// What the package defines, by name or canonical URL.
#[derive(Default)]
struct Definitions {
    types: BTreeMap<String, Value>,
    value_sets: HashMap<String, Value>,
    code_systems: HashMap<String, Value>,
}

impl Definitions {
    fn read(package: &Path) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", package.display());
        let mut archive =
            tar::Archive::new(flate2::read::GzDecoder::new(File::open(package).map_err(failed)?));
        let mut definitions = Self::default();
        for entry in archive.entries().map_err(failed)? {
            let mut entry = entry.map_err(failed)?;
            let name = entry.path().map_err(failed)?.to_string_lossy().into_owned();
            let Some(file) = name.strip_prefix("package/") else { continue };
            let wanted = ["StructureDefinition-", "ValueSet-", "CodeSystem-"];
            if !file.ends_with(".json") || !wanted.iter().any(|prefix| file.starts_with(prefix)) {
                continue;
            }
            let mut text = String::new();
            entry.read_to_string(&mut text).map_err(failed)?;
            let resource =
                serde_json::from_str(&text).map_err(|error| format!("{name}: {error}"))?;
            definitions.add(resource);
        }
        Ok(definitions)
    }

    fn add(&mut self, resource: Value) {
        let url = text(&resource, "url").to_owned();
        match text(&resource, "resourceType") {
            "StructureDefinition" => {
                let profile = text(&resource, "derivation") == "constraint";
                if !profile && text(&resource, "kind") != "logical" {
                    self.types.insert(text(&resource, "type").to_owned(), resource);
                }
            }
            "ValueSet" => drop(self.value_sets.insert(url, resource)),
            "CodeSystem" => drop(self.code_systems.insert(url, resource)),
            _ => {}
        }
    }

    /// The table as lines.
    fn table(&self) -> String {
        let mut lists = BTreeMap::new();
        let mut body = String::new();
        let bindings = self.required_bindings();
        for (index, (url, codes)) in bindings.iter().enumerate() {
            lists.insert(url.as_str(), index);
            let _ = writeln!(body, "V {}", codes.iter().cloned().collect::<Vec<_>>().join(" "));
        }
        for (name, definition) in &self.types {
            write_type(&mut body, name, definition, &lists);
        }
        format!("fhir-table 1 4.0.1\n{body}")
    }

    /// Code lists of required bindings of `code` elements, where the package itself can expand
    /// them.
    fn required_bindings(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut lists = BTreeMap::new();
        for element in self.types.values().flat_map(elements) {
            let Some(url) = required_binding(element) else { continue };
            if lists.contains_key(url) {
                continue;
            }
            let mut codes = BTreeSet::new();
            let expanded = self.expand(url, &mut codes, 0).is_some();
            let plain = codes.iter().all(|code| !code.contains(char::is_whitespace));
            if expanded && plain && !codes.is_empty() && codes.len() <= CODES_MAX {
                lists.insert(url.to_owned(), codes);
            }
        }
        lists
    }

    /// Adds the codes of a value set; `None` if they cannot all be known from the package.
    fn expand(&self, url: &str, codes: &mut BTreeSet<String>, depth: u8) -> Option<()> {
        let compose = self.value_sets.get(url)?.get("compose")?;
        if depth > 8 || compose.get("exclude").is_some() {
            return None;
        }
        for include in array(compose, "include") {
            if include.get("filter").is_some() {
                return None;
            }
            for imported in array(include, "valueSet") {
                self.expand(without_version(imported.as_str()?), codes, depth + 1)?;
            }
            if include.get("system").is_none() {
                continue;
            }
            if include.get("concept").is_some() {
                add_codes(include, codes);
                continue;
            }
            let system = self.code_systems.get(text(include, "system"))?;
            if text(system, "content") != "complete" {
                return None;
            }
            add_codes(system, codes);
        }
        Some(())
    }
}

fn add_codes(of: &Value, codes: &mut BTreeSet<String>) {
    for concept in array(of, "concept") {
        codes.insert(text(concept, "code").to_owned());
        add_codes(concept, codes);
    }
}

/// Writes a type and, after it, its nested (backbone) elements, each as a type of its own.
fn write_type(body: &mut String, name: &str, definition: &Value, lists: &BTreeMap<&str, usize>) {
    let elements: Vec<&Value> = elements(definition).collect();
    let parents: BTreeSet<&str> =
        elements.iter().filter_map(|element| parent(text(element, "path"))).collect();
    for owner in &elements {
        let path = text(owner, "path");
        let root = path == name;
        if !root && !parents.contains(path) {
            continue;
        }
        let kind = if root { kind_of(definition) } else { "c" };
        let shown = if root { name } else { first_type(owner) };
        let _ = writeln!(body, "T {kind} {path} {shown}");
        let own = elements.iter().filter(|element| parent(text(element, "path")) == Some(path));
        for element in own {
            if ["p", "x"].contains(&kind) && is_lexical(element, kind) {
                continue;
            }
            write_element(body, element, root && kind == "r", &parents, lists);
        }
    }
}

fn write_element(
    body: &mut String,
    element: &Value,
    of_resource: bool,
    parents: &BTreeSet<&str>,
    lists: &BTreeMap<&str, usize>,
) {
    let path = text(element, "path");
    let name = path.rsplit('.').next().unwrap_or(path);
    let (name, choice) = name.strip_suffix("[x]").map_or((name, ""), |name| (name, "c"));
    let base_max = element.get("base").map_or("", |base| text(base, "max"));
    let many = if text(element, "max") != "1" || base_max == "*" { "m" } else { "" };
    let is_attribute = array(element, "representation").iter().any(|form| form == "xmlAttr");
    let attribute = if is_attribute { "a" } else { "" };
    let types: Vec<String> =
        if let Some(reference) = element.get("contentReference").and_then(Value::as_str) {
            vec![format!("@{}", reference.trim_start_matches('#'))]
        } else if parents.contains(path) {
            vec![format!("@{path}")]
        } else if of_resource && name == "id" {
            // 4.0.1 says `string` here by an erratum; the rules of `id` hold for the id of a
            // resource.
            vec!["id".to_owned()]
        } else {
            array(element, "type").iter().map(type_code).collect()
        };
    let codes = required_binding(element).and_then(|url| lists.get(url));
    let codes = codes.map_or_else(|| "-".to_owned(), ToString::to_string);
    let min = element.get("min").and_then(Value::as_u64).unwrap_or(0);
    let _ = writeln!(body, "E {name} {min} -{choice}{many}{attribute} {codes} {}", types.join(" "));
}

/// The value of a primitive is not an element here; `xhtml` is taken as a whole.
fn is_lexical(element: &Value, kind: &str) -> bool {
    kind == "x" || text(element, "path").ends_with(".value")
}

fn kind_of(definition: &Value) -> &'static str {
    let is_abstract = definition.get("abstract") == Some(&Value::Bool(true));
    match (text(definition, "kind"), text(definition, "type")) {
        (_, "xhtml") => "x",
        ("primitive-type", _) => "p",
        ("resource", _) if is_abstract => "a",
        ("resource", _) => "r",
        _ => "c",
    }
}

fn type_code(of: &Value) -> String {
    let fhir_type = array(of, "extension").iter().find_map(|extension| extension.get("valueUrl"));
    fhir_type.and_then(Value::as_str).unwrap_or_else(|| text(of, "code")).to_owned()
}

fn first_type(element: &Value) -> &str {
    array(element, "type").first().map_or("", |of| text(of, "code"))
}

fn required_binding(element: &Value) -> Option<&str> {
    let binding = element.get("binding")?;
    let is_code = array(element, "type").iter().any(|of| text(of, "code") == "code");
    if text(binding, "strength") != "required" || !is_code {
        return None;
    }
    Some(without_version(binding.get("valueSet")?.as_str()?))
}

fn without_version(canonical: &str) -> &str {
    canonical.split('|').next().unwrap_or(canonical)
}

fn elements(definition: &Value) -> impl Iterator<Item = &Value> {
    definition.get("snapshot").map_or(&[][..], |snapshot| array(snapshot, "element")).iter()
}

fn parent(path: &str) -> Option<&str> {
    path.rsplit_once('.').map(|(parent, _)| parent)
}

fn text<'a>(of: &'a Value, key: &str) -> &'a str {
    of.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn array<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    of.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_table_is_what_the_package_gives() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let package = root.join(PACKAGE);
        if !package.is_file() {
            println!("SKIPPED: no package at {}", package.display());
            return;
        }
        let committed = std::fs::read(root.join(OUTPUT)).unwrap();
        assert!(committed == build(&package).unwrap(), "run `cargo xtask tables fhir`");
    }
}
