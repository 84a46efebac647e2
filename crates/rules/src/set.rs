//! The rules in use: definitions of several packages, found by canonical, compiled when first
//! needed.

use std::sync::OnceLock;

use fhir::{Format, Limits, Tree};
use rustc_hash::FxHashMap;

use crate::bytes::Bytes;
use crate::definition::{BASE, Definition, Structure};
use crate::package::{Manifest, Package, Version};
use crate::profile::Profile;
use crate::rule::Rules;
use crate::snapshot::{self, Bases, Effort};
use crate::vocabulary::{Codes, Members};

/// Definitions of one or more packages, ready to validate with.
#[derive(Debug, Default)]
pub struct RuleSet {
    pub(crate) packages: Vec<Held>,
    records: Vec<Record>,
    by_url: FxHashMap<String, Vec<u32>>,
    /// Types, the profile that each resource of one conforms to, and the package that says so.
    globals: Vec<(String, String, u16)>,
    pub(crate) rules: Rules,
}

/// A package of a set.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) manifest: Manifest,
    /// For one call only, before all others.
    is_overlay: bool,
    /// Outside of what the package in use depends on: asked last.
    is_spare: bool,
    /// Places of the packages that its canonicals are looked up in, itself first.
    reach: Vec<u16>,
}

/// A definition of a set.
#[derive(Debug)]
struct Record {
    package: u16,
    is_structure: bool,
    is_value_set: bool,
    version: String,
    content: Content,
    profile: OnceLock<Option<Box<Profile>>>,
    codes: OnceLock<Option<Codes>>,
    members: OnceLock<Option<Members>>,
    tree: OnceLock<Option<Tree>>,
}

/// Where a definition lies.
#[derive(Debug)]
pub(crate) enum Content {
    Memory(Box<Definition>),
    File(Bytes),
}

/// What is known of a definition without reading it.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Entry {
    pub(crate) kind: String,
    pub(crate) url: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) version: String,
    pub(crate) start: u64,
    pub(crate) length: u32,
}

impl RuleSet {
    /// A set of packages that were just read. The first is the one in use; the others follow.
    pub fn of(packages: Vec<Package>) -> Self {
        let mut set = Self::default();
        for package in packages {
            set.add_package(package, false);
        }
        set.link();
        set
    }

    /// Adds packages for one call: their definitions come before all others.
    #[must_use]
    pub fn with(mut self, packages: Vec<Package>) -> Self {
        for package in packages {
            self.add_package(package, true);
        }
        self.link();
        self
    }

    /// What it is made of: the package in use first.
    pub fn packages(&self) -> impl Iterator<Item = &Manifest> {
        self.packages.iter().map(|held| &held.manifest)
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    fn add_package(&mut self, package: Package, is_overlay: bool) {
        let at = self.hold(package.manifest, is_overlay, false);
        for definition in package.definitions {
            let (kind, url) = (definition.kind(), definition.url().to_owned());
            let version = definition.version().to_owned();
            self.add(at, kind, &url, version, Content::Memory(Box::new(definition)));
        }
    }

    pub(crate) fn hold(&mut self, manifest: Manifest, is_overlay: bool, is_spare: bool) -> u16 {
        self.packages.push(Held { manifest, is_overlay, is_spare, reach: Vec::new() });
        (self.packages.len() - 1) as u16
    }

    pub(crate) fn add(
        &mut self,
        package: u16,
        kind: &str,
        url: &str,
        version: String,
        content: Content,
    ) {
        let number = self.records.len() as u32;
        self.records.push(Record {
            package,
            is_structure: kind == "structure",
            is_value_set: kind == "value-set",
            version,
            content,
            profile: OnceLock::new(),
            codes: OnceLock::new(),
            members: OnceLock::new(),
            tree: OnceLock::new(),
        });
        self.by_url.entry(url.to_owned()).or_default().push(number);
        // A package that is asked last only demands nothing.
        if kind == "guide"
            && !self.packages[usize::from(package)].is_spare
            && let Some(Definition::Guide(guide)) = self.definition(number)
        {
            let global = guide.global.into_iter();
            self.globals.extend(global.map(|(kind, profile)| (kind, profile, package)));
        }
    }

    /// The profiles that guides demand of every resource of a type.
    pub(crate) fn globals(&self, kind: &str) -> impl Iterator<Item = &Profile> {
        let of_type = self.globals.iter().filter(move |(of, ..)| of == kind);
        of_type.filter_map(|(_, profile, package)| self.profile(profile, *package))
    }

    /// Works out what each package can see, once all are there.
    pub(crate) fn link(&mut self) {
        let reaches: Vec<Vec<u16>> =
            (0..self.packages.len()).map(|at| self.reach_of(at as u16)).collect();
        for (held, reach) in self.packages.iter_mut().zip(reaches) {
            held.reach = reach;
        }
    }

    fn reach_of(&self, from: u16) -> Vec<u16> {
        let mut reach = vec![from];
        let mut at = 0;
        while let Some(package) = reach.get(at).copied() {
            at += 1;
            for (name, wanted) in &self.packages[usize::from(package)].manifest.dependencies {
                if let Some(found) = self.package(name, wanted)
                    && !reach.contains(&found)
                {
                    reach.push(found);
                }
            }
        }
        reach
    }

    /// The package of a set that a dependency means; the nearest version where none is right.
    fn package(&self, name: &str, wanted: &str) -> Option<u16> {
        let named = self.packages.iter().enumerate().filter(|(_, of)| of.manifest.name == name);
        let best = best_version(named.map(|(at, of)| (at, of.manifest.version.as_str())), wanted)?;
        Some(best as u16)
    }

    /// The record that a canonical (with or without `|version`) means, seen from a package.
    fn find(&self, canonical: &str, from: u16, wanted: impl Fn(&Record) -> bool) -> Option<u32> {
        let (candidates, version) = self.candidates(canonical)?;
        let usable = candidates.iter().copied().filter(|at| wanted(&self.records[*at as usize]));
        let mut first = usable.clone();
        // Mostly there is one.
        if let (only, None) = (first.next(), first.next()) {
            return only;
        }
        let usable: Vec<u32> = usable.collect();
        let reach = self.packages.get(usize::from(from)).map_or(&[][..], |held| &held.reach);
        let place = |at: &u32| {
            let package = self.records[*at as usize].package;
            let held = &self.packages[usize::from(package)];
            let near = reach.iter().position(|of| *of == package).unwrap_or(usize::MAX);
            (!held.is_overlay, held.is_spare, near)
        };
        if let Some(version) = version {
            let of = usable.iter().map(|at| (*at as usize, &*self.records[*at as usize].version));
            let best = best_version(of, version)?;
            let same = &self.records[best].version;
            let same = usable.iter().filter(|at| self.records[**at as usize].version == *same);
            return same.min_by_key(|at| place(at)).copied();
        }
        let newest = |at: &u32| std::cmp::Reverse(Version::of(&self.records[*at as usize].version));
        usable
            .iter()
            .min_by(|a, b| place(a).cmp(&place(b)).then(newest(a).cmp(&newest(b))))
            .copied()
    }

    /// The definitions of an address, and the version that a canonical asks for.
    fn candidates<'c>(&self, canonical: &'c str) -> Option<(&[u32], Option<&'c str>)> {
        // Without a version or a fragment it is the address itself.
        if let Some(candidates) = self.by_url.get(canonical) {
            return Some((candidates, None));
        }
        let canonical = canonical.split('#').next().unwrap_or_default();
        let (url, version) = match canonical.split_once('|') {
            Some((url, version)) => (url, Some(version)),
            None => (canonical, None),
        };
        Some((self.by_url.get(url)?, version))
    }

    fn definition(&self, number: u32) -> Option<Definition> {
        match &self.records[number as usize].content {
            Content::Memory(definition) => Some((**definition).clone()),
            Content::File(bytes) => serde_json::from_slice(&bytes.read()?).ok(),
        }
    }

    /// The profile of a canonical; `None` if nobody defines it.
    pub(crate) fn profile(&self, canonical: &str, from: u16) -> Option<&Profile> {
        let number = self.find(canonical, from, |record| record.is_structure)?;
        let record = &self.records[number as usize];
        record.profile.get_or_init(|| self.compile(number).map(Box::new)).as_deref()
    }

    /// Whether a package was added for one call: what its definitions need and nobody has is then
    /// an error, for whoever adds them wants to know what they say.
    pub(crate) fn is_overlay(&self, package: u16) -> bool {
        self.packages.get(usize::from(package)).is_some_and(|held| held.is_overlay)
    }

    /// The definition of a type of FHIR.
    pub(crate) fn type_profile(&self, name: &str) -> Option<&Profile> {
        self.profile(&format!("{BASE}{name}"), 0)
    }

    fn compile(&self, number: u32) -> Option<Profile> {
        let package = self.records[number as usize].package;
        let copies = Effort::bound();
        let structure = self.structure(number, Effort::new(&copies))?;
        if structure.snapshot.is_empty() {
            return None;
        }
        let profile = Profile::compile(structure, number, package, &self.rules);
        // A definition without a root says nothing.
        (!profile.nodes.is_empty()).then_some(profile)
    }

    /// A structure with its snapshot, which is made where only a differential was published.
    fn structure(&self, number: u32, effort: Effort<'_>) -> Option<Structure> {
        let Some(Definition::Structure(structure)) = self.definition(number) else { return None };
        if !structure.snapshot.is_empty() || effort.is_spent() {
            return Some(structure);
        }
        let package = self.records[number as usize].package;
        Some(snapshot::generate(self, structure, package, effort))
    }

    /// The codes of a code system.
    pub(crate) fn codes(&self, canonical: &str, from: u16) -> Option<&Codes> {
        let number = self.find(canonical, from, |record| !record.is_structure)?;
        let record = &self.records[number as usize];
        let read = || match self.definition(number)? {
            Definition::CodeSystem(system) => Some(Codes::of(system)),
            _ => None,
        };
        record.codes.get_or_init(read).as_ref()
    }

    /// The members of a value set.
    pub(crate) fn members(&self, canonical: &str, from: u16) -> Option<(&Members, u16)> {
        let number = self.find(canonical, from, |record| !record.is_structure)?;
        let record = &self.records[number as usize];
        let read = || match self.definition(number)? {
            Definition::ValueSet(set) => Some(Members::of(set)),
            _ => None,
        };
        Some((record.members.get_or_init(read).as_ref()?, record.package))
    }

    /// A definition as a tree: a ConceptMap that rules look into.
    pub(crate) fn tree(&self, canonical: &str, from: u16) -> Option<&Tree> {
        let number = self.find(canonical, from, |record| !record.is_structure)?;
        let record = &self.records[number as usize];
        let read = || match self.definition(number)? {
            Definition::Source(source) => {
                let limits = Limits { bytes_max: 64 << 20, ..Limits::default() };
                Tree::read(source.json.as_bytes(), Format::Json, &limits).ok()
            }
            _ => None,
        };
        record.tree.get_or_init(read).as_ref()
    }

    /// Where the content of an element of a profile is described, if elsewhere: in this definition,
    /// or in the one that it names before `#`.
    pub(crate) fn content_of<'s>(
        &'s self,
        profile: &'s Profile,
        at: u32,
    ) -> Option<(&'s Profile, u32)> {
        let content = profile.node(at).content.as_deref()?;
        let (of, path) = match content.split_once('#') {
            Some((url, path)) if url != profile.url => {
                (self.profile(url, profile.package).unwrap_or(profile), path)
            }
            Some((_, path)) => (profile, path),
            None => (profile, content),
        };
        of.content(path).map(|at| (of, at))
    }

    /// Every canonical of a profile, for those who compile all.
    pub fn profile_urls(&self) -> impl Iterator<Item = &str> {
        let is_structure = |at: &u32| self.records[*at as usize].is_structure;
        self.by_url.iter().filter(move |(_, at)| at.iter().any(is_structure)).map(|(url, _)| &**url)
    }

    /// Every canonical of a value set that the package in use defines itself.
    pub fn value_set_urls(&self) -> impl Iterator<Item = &str> {
        let is_own = |at: &u32| {
            let record = &self.records[*at as usize];
            record.package == 0 && record.is_value_set
        };
        self.by_url.iter().filter(move |(_, at)| at.iter().any(is_own)).map(|(url, _)| &**url)
    }

    /// The profiles of these rules that a resource is held against when it is exchanged with the
    /// authority, beside those that it names itself: laboratory and authority ask for the same.
    pub fn entry_profiles(&self, kind: &str) -> Vec<String> {
        let known = |url: &&str| self.knows_profile(url);
        crate::facts::entries_of(kind).filter(known).map(str::to_owned).collect()
    }

    /// Whether there is a definition of this canonical, also where it cannot be used.
    pub(crate) fn names_profile(&self, canonical: &str) -> bool {
        self.find(canonical, 0, |record| record.is_structure).is_some()
    }

    /// Whether somebody defines a profile of this canonical.
    pub fn knows_profile(&self, canonical: &str) -> bool {
        self.profile(canonical, 0).is_some()
    }
}

impl Bases for RuleSet {
    fn structure_of(&self, url: &str, from: u16, effort: Effort<'_>) -> Option<Structure> {
        let number = self.find(url, from, |record| record.is_structure)?;
        self.structure(number, effort)
    }
}

/// Of several versions the one that is wanted: the same, the newest in range, else the nearest.
pub(crate) fn best_version<'v, K: Copy>(
    of: impl Iterator<Item = (K, &'v str)>,
    wanted: &str,
) -> Option<K> {
    let target = Version::of(&wanted.replace(".x", ""));
    let rank = |version: &str| {
        let read = Version::of(version);
        let exact = version == wanted;
        (exact, Version::is_in(version, wanted), read.nearness(&target), read)
    };
    of.max_by(|(_, a), (_, b)| rank(a).cmp(&rank(b))).map(|(key, _)| key)
}
