//! A FHIR package as it is handed over: an npm archive, or one definition as JSON.

mod archive;
mod coherence;
mod elements;
mod form;
mod reading;
mod version;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::definition::Definition;
use reading::Flaws;

pub use archive::PackageLimits;
pub use version::Version;

/// The definitions of the rules of practice, by topic.
const PRACTICE: [&str; 4] = [
    include_str!("../practice/document.json"),
    include_str!("../practice/lessons.json"),
    include_str!("../practice/slices.json"),
    include_str!("../practice/terms.json"),
];

/// What a package says, read.
#[derive(Debug, Clone)]
pub struct Package {
    /// What it is.
    pub manifest: Manifest,
    /// Its definitions, in the order of their files.
    pub(crate) definitions: Vec<Definition>,
}

/// What a package is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Name, e.g. `hl7.fhir.r4.core`.
    pub name: String,
    /// Version, e.g. `4.0.1`.
    pub version: String,
    /// Packages that it builds on, name and version or range.
    #[serde(default)]
    pub dependencies: Vec<(String, String)>,
    /// SHA-256 of the file that was handed over, hex.
    pub digest: String,
}

/// Why a file is not taken as a package.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Neither an archive nor JSON.
    #[error("neither a gzip archive nor JSON")]
    NotAPackage,
    /// Broken before its end.
    #[error("the archive is damaged")]
    Damaged,
    /// Larger than what is read.
    #[error("more than {limit} bytes")]
    TooLarge {
        /// The bound.
        limit: u64,
    },
    /// More files than are read.
    #[error("more than {limit} files")]
    TooManyFiles {
        /// The bound.
        limit: usize,
    },
    /// A file that would lie outside of the package.
    #[error("a path leaves the package")]
    PathOutside,
    /// No `package.json`.
    #[error("no package.json")]
    NoManifest,
    /// A `package.json` without a usable name or version, or with another list of dependencies than
    /// npm has.
    #[error("package.json has no usable {member}")]
    BadManifest {
        /// `name`, `version` or `dependencies`.
        member: &'static str,
    },
    /// For another release of FHIR.
    #[error("for FHIR {versions}")]
    OtherFhir {
        /// The releases that it names.
        versions: String,
    },
    /// Nothing that validation could use.
    #[error("no definitions")]
    NoDefinitions,
    /// One of its definitions cannot be used. Without it the others would say less than their
    /// publisher means.
    #[error("{name}: {why}")]
    Definition {
        /// The file, or the canonical of the definition.
        name: String,
        /// What is wrong with it.
        why: Unusable,
    },
}

/// What is wrong with one definition of a package.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// Not JSON, or nested deeper than is read.
    #[error("not readable as JSON")]
    NotJson,
    /// More objects and values in one file than are read.
    #[error("more than {limit} objects and values")]
    TooMany {
        /// The bound.
        limit: usize,
    },
    /// A StructureDefinition that nobody could refer to.
    #[error("a StructureDefinition without url")]
    NoAddress,
    /// A StructureDefinition that says nothing of any element.
    #[error("neither a snapshot nor a differential")]
    Empty,
    /// A part that validation reads has another form than FHIR gives it.
    #[error("{part} has another form than FHIR gives it")]
    Misshapen {
        /// The place of the part, e.g. `snapshot.element[3].min`.
        part: String,
    },
    /// Another one of the package has the same canonical and version, and says something else.
    #[error("defined twice, and not alike")]
    Twice,
    /// What it builds on builds on it.
    #[error("it builds on itself")]
    Circular,
}

impl Fault {
    /// Stable code in kebab-case.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotAPackage => "not-a-package",
            Self::Damaged => "damaged",
            Self::TooLarge { .. } => "too-large",
            Self::TooManyFiles { .. } => "too-many-files",
            Self::PathOutside => "path-outside",
            Self::NoManifest => "no-manifest",
            Self::BadManifest { .. } => "bad-manifest",
            Self::OtherFhir { .. } => "other-fhir",
            Self::NoDefinitions => "no-definitions",
            Self::Definition { why: Unusable::NotJson, .. } => "definition-not-json",
            Self::Definition { why: Unusable::TooMany { .. }, .. } => "definition-too-many",
            Self::Definition { why: Unusable::NoAddress, .. } => "definition-without-address",
            Self::Definition { why: Unusable::Empty, .. } => "definition-empty",
            Self::Definition { why: Unusable::Misshapen { .. }, .. } => "definition-misshapen",
            Self::Definition { why: Unusable::Twice, .. } => "definition-twice",
            Self::Definition { why: Unusable::Circular, .. } => "definition-circular",
        }
    }

    /// The definition that it is about, where it is about one, and the part of it where it is about
    /// a part.
    pub fn definition(&self) -> Option<String> {
        match self {
            Self::Definition { name, why: Unusable::Misshapen { part } } => {
                Some(format!("{name} ({part})"))
            }
            Self::Definition { name, .. } => Some(name.clone()),
            _ => None,
        }
    }
}

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Package {
    /// Reads a `.tgz` in npm layout, or one definition (or a Bundle of them) as JSON.
    pub fn read(bytes: &[u8], limits: &PackageLimits) -> Result<Self, Fault> {
        Self::of_bytes(bytes, limits, &mut Flaws::Refused)
    }

    /// Reads a package or a definition for one call: what can be used of it is used, and what is
    /// wrong with the rest is told. A resource that is no definition adds nothing.
    pub fn read_in_part(bytes: &[u8], limits: &PackageLimits) -> Result<(Self, Vec<Fault>), Fault> {
        let mut flaws = Flaws::Told(Vec::new());
        let package = Self::of_bytes(bytes, limits, &mut flaws)?;
        Ok((package, flaws.told()))
    }

    fn of_bytes(bytes: &[u8], limits: &PackageLimits, flaws: &mut Flaws) -> Result<Self, Fault> {
        if bytes.len() as u64 > limits.archive_max {
            return Err(Fault::TooLarge { limit: limits.archive_max });
        }
        let mut package = match bytes {
            [0x1f, 0x8b, ..] => Self::of_archive(bytes, limits, flaws)?,
            _ => Self::of_json(bytes, flaws)?,
        };
        package.manifest.digest = hex(&Sha256::digest(bytes));
        Ok(package)
    }

    /// The rules of practice: a small package of our own, written for teaching. It holds reports as
    /// the authority's packages do, and has a lesson for every kind of rule, which a resource opts
    /// into by naming its profile.
    pub fn practice() -> Result<Self, Fault> {
        let mut package = Self {
            manifest: Manifest {
                name: "labcourier.practice".to_owned(),
                version: "1.0.0".to_owned(),
                ..Manifest::default()
            },
            definitions: Vec::new(),
        };
        let mut digest = Sha256::new();
        for bundle in PRACTICE {
            package
                .definitions
                .extend(Self::of_json(bundle.as_bytes(), &mut Flaws::Refused)?.definitions);
            digest.update(bundle);
        }
        package.manifest.digest = hex(&digest.finalize());
        Ok(package)
    }

    fn of_archive(bytes: &[u8], limits: &PackageLimits, flaws: &mut Flaws) -> Result<Self, Fault> {
        let mut manifest = None;
        let mut definitions = Vec::new();
        archive::each_file(bytes, limits, |name, content| {
            if name == "package.json" {
                manifest = Some(Manifest::read(content)?);
                return Ok(());
            }
            match reading::json(content) {
                Ok(resource) => definitions.extend(reading::definitions(&resource, name, flaws)?),
                Err(why) => flaws.tell(Fault::Definition { name: name.to_owned(), why })?,
            }
            Ok(())
        })?;
        let manifest = manifest.ok_or(Fault::NoManifest)?;
        if definitions.is_empty() && manifest.dependencies.is_empty() {
            flaws.tell(Fault::NoDefinitions)?;
        }
        coherence::check(&definitions).or_else(|fault| flaws.tell(fault))?;
        Ok(Self { manifest, definitions })
    }

    fn of_json(bytes: &[u8], flaws: &mut Flaws) -> Result<Self, Fault> {
        let resource = reading::json(bytes).map_err(|why| match why {
            Unusable::NotJson => Fault::NotAPackage,
            why => Fault::Definition { name: "JSON".to_owned(), why },
        })?;
        let kind = resource.get("resourceType").and_then(Value::as_str);
        let kind = kind.ok_or(Fault::NoDefinitions)?;
        let mut definitions = reading::definitions(&resource, "StructureDefinition", flaws)?;
        if kind == "Bundle" {
            let entries = resource.get("entry").and_then(Value::as_array).into_iter().flatten();
            for (at, entry) in entries.enumerate() {
                let Some(resource) = entry.get("resource") else { continue };
                let place = format!("entry[{at}]");
                definitions.extend(reading::definitions(resource, &place, flaws)?);
            }
        }
        coherence::check(&definitions).or_else(|fault| flaws.tell(fault))?;
        let Some(first) = definitions.first() else {
            flaws.tell(Fault::NoDefinitions)?;
            let manifest = Manifest { name: kind.to_owned(), ..Manifest::default() };
            return Ok(Self { manifest, definitions });
        };
        let manifest = Manifest {
            name: first.url().to_owned(),
            version: first.version().to_owned(),
            ..Manifest::default()
        };
        Ok(Self { manifest, definitions })
    }
}

impl Manifest {
    /// Name and version of the package, `NAME@VERSION`.
    pub fn label(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }

    fn read(content: &[u8]) -> Result<Self, Fault> {
        let manifest: Value = serde_json::from_slice(reading::without_mark(content))
            .map_err(|_| Fault::BadManifest { member: "name" })?;
        let text = |name: &str| manifest.get(name).and_then(Value::as_str).unwrap_or_default();
        for member in ["name", "version"] {
            if !is_usable(text(member)) {
                return Err(Fault::BadManifest { member });
            }
        }
        let releases: Vec<&str> = ["fhirVersions", "fhir-version-list"]
            .into_iter()
            .filter_map(|name| manifest.get(name))
            // Some write one release as a text.
            .flat_map(|told| told.as_array().map_or(std::slice::from_ref(told), |all| all))
            .filter_map(Value::as_str)
            .collect();
        if !releases.is_empty() && !releases.iter().any(|release| release.starts_with("4.")) {
            return Err(Fault::OtherFhir { versions: releases.join(", ") });
        }
        let dependencies = match manifest.get("dependencies") {
            None | Some(Value::Null) => Some(Vec::new()),
            Some(told) => dependencies_in(told),
        };
        Ok(Self {
            name: text("name").to_owned(),
            version: text("version").to_owned(),
            dependencies: dependencies.ok_or(Fault::BadManifest { member: "dependencies" })?,
            digest: String::new(),
        })
    }
}

/// Names and versions; nothing where they are written otherwise, and something that is needed would
/// be overlooked.
fn dependencies_in(told: &Value) -> Option<Vec<(String, String)>> {
    let version = |(name, version): (&String, &Value)| {
        version.as_str().map(|version| (name.clone(), version.to_owned()))
    };
    told.as_object()?.iter().map(version).collect()
}

/// Whether a name or version can stand in a file name: it becomes one.
fn is_usable(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_+".contains(&byte);
    !text.is_empty()
        && text.len() <= 128
        && text.bytes().all(plain)
        && text.as_bytes()[0].is_ascii_alphanumeric()
}
