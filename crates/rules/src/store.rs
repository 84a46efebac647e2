//! Imported packages on disk: one file each, with the definitions cut down to what validation needs
//! and an index in front, so that a set is there in milliseconds and reads a definition when it is
//! needed.
//!
//! ```text
//! labcourier-rules 2\n
//! {"manifest":…,"entries":[{"kind","url","version","start","length"},…]}\n
//! definitions, one JSON object after the other
//! ```
//!
//! What is put to use is held apart, as it was then (`used`): what is imported or removed
//! afterwards changes nothing of it.

mod used;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
pub(crate) use used::InUseMark;

use crate::bytes::Bytes;
use crate::definition::Definition;
use crate::package::{Manifest, Package};
use crate::set::{Content, Entry, RuleSet, best_version};

/// First line of every file; another number is another form.
const MAGIC: &str = "labcourier-rules 2";
/// Bytes of an index that is read: the largest published package needs less than 2 MiB.
const INDEX_MAX: u64 = 64 << 20;
const SUFFIX: &str = "rules";

/// The folder of a profile where imported packages are kept.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

/// An imported package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    /// What it is.
    pub manifest: Manifest,
    /// Number of its definitions.
    pub definitions: usize,
    /// When it was imported, as the caller told.
    pub at: String,
    /// What its definitions build on in a version that no imported package has: address and
    /// version, and the version that stands in for it.
    #[serde(skip)]
    pub inexact: Vec<(String, String, String)>,
}

/// What goes wrong with the folder.
#[derive(Debug, thiserror::Error)]
pub enum StoreFault {
    /// The file system says no.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder concerned.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A file that is none of ours, or broken.
    #[error("{path} is damaged")]
    Damaged {
        /// The file concerned.
        path: PathBuf,
    },
    /// No such package was imported.
    #[error("{label} is not imported")]
    NotImported {
        /// Name and version of the package, `NAME@VERSION`.
        label: String,
    },
}

#[derive(Serialize, Deserialize)]
struct Index {
    imported: Imported,
    entries: Vec<Entry>,
    /// What its definitions build on in a certain version: address and version.
    #[serde(default)]
    builds_on: Vec<(String, String)>,
}

impl Store {
    /// In this folder, which is made when the first package is imported.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Keeps a package. One of the same name and version is replaced as a whole or not at all.
    pub fn import(&self, package: &Package, at: String) -> Result<Imported, StoreFault> {
        let path = self.path(&package.manifest);
        let io = |source| StoreFault::Io { path: path.clone(), source };
        std::fs::create_dir_all(&self.folder).map_err(io)?;
        let mut bodies = Vec::new();
        let mut entries = Vec::with_capacity(package.definitions.len());
        for definition in &package.definitions {
            let start = bodies.len() as u64;
            serde_json::to_writer(&mut bodies, definition).map_err(|error| io(error.into()))?;
            entries.push(Entry {
                kind: definition.kind().to_owned(),
                url: definition.url().to_owned(),
                version: definition.version().to_owned(),
                start,
                length: (bodies.len() as u64 - start) as u32,
            });
            bodies.push(b'\n');
        }
        let definitions = package.definitions.len();
        let manifest = package.manifest.clone();
        let imported = Imported { manifest, definitions, at, inexact: Vec::new() };
        let builds_on = builds_on(&package.definitions);
        let index = Index { imported: imported.clone(), entries, builds_on };
        let index = serde_json::to_string(&index).map_err(|error| io(error.into()))?;
        let part = path.with_extension(format!("{}.part", std::process::id()));
        let written = File::create(&part).and_then(|mut file| {
            writeln!(file, "{MAGIC}\n{index}")?;
            file.write_all(&bodies)?;
            file.sync_all()
        });
        written.and_then(|()| std::fs::rename(&part, &path)).map_err(|error| {
            // What is half written is of no use to anybody.
            let _ = std::fs::remove_file(&part);
            io(error)
        })?;
        Ok(imported)
    }

    /// Every imported package, by name and version.
    pub fn list(&self) -> Result<Vec<Imported>, StoreFault> {
        let mut read = Vec::new();
        for path in self.files()? {
            read.push(read_index(&path)?.0);
        }
        let mut all = with_inexact(read);
        all.sort_by(|a, b| {
            let version = |of: &Imported| crate::package::Version::of(&of.manifest.version);
            a.manifest.name.cmp(&b.manifest.name).then(version(a).cmp(&version(b)))
        });
        Ok(all)
    }

    /// Forgets a package. The one in use is then in use no more; what the one in use depends on
    /// stays in use.
    pub fn remove(&self, label: &str) -> Result<(), StoreFault> {
        let found = self.found(label)?;
        let path = self.path(&found.manifest);
        if self.in_use()?.is_some_and(|used| used == label) {
            self.make_unused()?;
        }
        std::fs::remove_file(&path).map_err(|source| StoreFault::Io { path: path.clone(), source })
    }

    /// The rules of a package, with all that it depends on; what else was imported is asked last,
    /// for what no package in use defines. `None` gives everything that was imported.
    pub fn load(&self, label: Option<&str>) -> Result<RuleSet, StoreFault> {
        let mut all = Vec::new();
        for path in self.files()? {
            let (index, from) = read_index(&path)?;
            all.push((path, index, from));
        }
        let (order, spare) = match label {
            Some(label) => {
                let first = all.iter().position(|(_, of, _)| of.imported.manifest.label() == label);
                let first =
                    first.ok_or_else(|| StoreFault::NotImported { label: label.to_owned() })?;
                let manifests: Vec<&Manifest> =
                    all.iter().map(|(_, of, _)| &of.imported.manifest).collect();
                closure(&manifests, first)
            }
            None => ((0..all.len()).collect(), Vec::new()),
        };
        let mut set = RuleSet::default();
        let mut all: Vec<_> = all.into_iter().map(Some).collect();
        let count = order.len();
        for (place, at) in order.into_iter().chain(spare).enumerate() {
            let Some((path, index, from)) = all[at].take() else { continue };
            let file = File::open(&path)
                .map_err(|source| StoreFault::Io { path: path.clone(), source })?;
            let file = Arc::new(Mutex::new(file));
            let package = set.hold(index.imported.manifest, false, place >= count);
            for entry in index.entries {
                let (start, length) = (from + entry.start, entry.length);
                let content = Content::File(Bytes { file: Arc::clone(&file), start, length });
                set.add(package, &entry.kind, &entry.url, entry.version, content);
            }
        }
        set.link();
        Ok(set)
    }

    fn found(&self, label: &str) -> Result<Imported, StoreFault> {
        let all = self.list()?;
        let found = all.into_iter().find(|imported| imported.manifest.label() == label);
        found.ok_or_else(|| StoreFault::NotImported { label: label.to_owned() })
    }

    fn path(&self, manifest: &Manifest) -> PathBuf {
        let digest = sha2_hex(&manifest.label());
        // A name can be as long as a file name may be, or be a URL.
        let plain = |c: char| if c.is_ascii_alphanumeric() || ".-_@".contains(c) { c } else { '_' };
        let name: String = manifest.label().chars().map(plain).take(80).collect();
        self.folder.join(format!("{name}-{}.{SUFFIX}", &digest[..8]))
    }

    fn files(&self) -> Result<Vec<PathBuf>, StoreFault> {
        let io = |source| StoreFault::Io { path: self.folder.clone(), source };
        let entries = match std::fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(io(error)),
        };
        let mut files = Vec::new();
        for entry in entries {
            let path = entry.map_err(io)?.path();
            if path.extension().is_some_and(|end| end == SUFFIX) {
                files.push(path);
            }
        }
        files.sort();
        Ok(files)
    }
}

/// What definitions build on in a certain version, each once.
fn builds_on(definitions: &[Definition]) -> Vec<(String, String)> {
    let canonicals = definitions.iter().flat_map(Definition::builds_on);
    let versioned = canonicals.filter_map(|canonical| {
        let (url, version) = canonical.split('#').next()?.split_once('|')?;
        Some((url.to_owned(), version.to_owned()))
    });
    versioned.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The packages of these indexes, each with what it builds on in a version that none of them has.
fn with_inexact(read: Vec<Index>) -> Vec<Imported> {
    let wanted: HashSet<&str> =
        read.iter().flat_map(|of| &of.builds_on).map(|(url, _)| &**url).collect();
    let mut versions: HashMap<&str, Vec<&str>> = HashMap::new();
    for entry in read.iter().flat_map(|of| &of.entries) {
        if wanted.contains(&*entry.url) {
            versions.entry(&entry.url).or_default().push(&entry.version);
        }
    }
    let inexact = |of: &Index| -> Vec<(String, String, String)> {
        let not_exact = of.builds_on.iter().filter_map(|(url, version)| {
            let known = versions.get(&**url)?;
            let others = known.iter().map(|of| (*of, *of));
            let instead = best_version(others, version).filter(|of| of != version)?;
            Some((url.clone(), version.clone(), instead.to_owned()))
        });
        not_exact.collect()
    };
    let found: Vec<_> = read.iter().map(inexact).collect();
    let packages = read.into_iter().map(|of| of.imported).zip(found);
    packages.map(|(of, inexact)| Imported { inexact, ..of }).collect()
}

/// What is missing of a package's dependencies among these: name and wanted version, and the
/// version that stands in for it. Definitions that are built on in another version than is there
/// are named by their addresses.
pub fn missing(
    manifest: &Manifest,
    imported: &[Imported],
) -> Vec<(String, String, Option<String>)> {
    let mut missing = Vec::new();
    for (name, wanted) in &manifest.dependencies {
        let versions = imported.iter().filter(|of| of.manifest.name == *name);
        let best =
            best_version(versions.map(|of| (&*of.manifest.version, &*of.manifest.version)), wanted);
        if !best.is_some_and(|version| crate::package::Version::is_in(version, wanted)) {
            missing.push((name.clone(), wanted.clone(), best.map(str::to_owned)));
        }
    }
    let own = imported.iter().filter(|of| of.manifest == *manifest).flat_map(|of| &of.inexact);
    missing.extend(
        own.map(|(url, version, instead)| (url.clone(), version.clone(), Some(instead.clone()))),
    );
    missing
}

/// Places of a package and all that it depends on, then of the others.
fn closure(manifests: &[&Manifest], first: usize) -> (Vec<usize>, Vec<usize>) {
    let mut order = vec![first];
    let mut at = 0;
    while let Some(package) = order.get(at).copied() {
        at += 1;
        for (name, wanted) in &manifests[package].dependencies {
            let named = manifests.iter().enumerate().filter(|(_, of)| of.name == *name);
            let best = best_version(named.map(|(at, of)| (at, of.version.as_str())), wanted);
            if let Some(best) = best.filter(|best| !order.contains(best)) {
                order.push(best);
            }
        }
    }
    let spare = (0..manifests.len()).filter(|at| !order.contains(at)).collect();
    (order, spare)
}

/// The index of a file, and where its definitions begin.
fn read_index(path: &Path) -> Result<(Index, u64), StoreFault> {
    let io = |source| StoreFault::Io { path: path.to_owned(), source };
    let damaged = || StoreFault::Damaged { path: path.to_owned() };
    let mut file = BufReader::new(File::open(path).map_err(io)?).take(INDEX_MAX);
    let (mut magic, mut index) = (Vec::new(), Vec::new());
    let read = file.read_until(b'\n', &mut magic).map_err(io)?;
    let more = file.read_until(b'\n', &mut index).map_err(io)?;
    if magic.trim_ascii_end() != MAGIC.as_bytes() {
        return Err(damaged());
    }
    let index = serde_json::from_slice(&index).map_err(|_| damaged())?;
    Ok((index, (read + more) as u64))
}

fn sha2_hex(text: &str) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
