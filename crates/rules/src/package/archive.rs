//! A gzip archive in npm layout, read under bounds: it comes from outside.

use std::io::Read;

use flate2::read::MultiGzDecoder;
use tar::PaxExtensions;

use super::Fault;

/// Bounds on what is read of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackageLimits {
    /// Bytes of the file that is handed over.
    pub archive_max: u64,
    /// Bytes of all files together, unpacked.
    pub unpacked_max: u64,
    /// Bytes of one file, unpacked.
    pub file_max: u64,
    /// Entries of the archive.
    pub files_max: usize,
}

impl Default for PackageLimits {
    /// 256 MiB as handed over, 2 GiB unpacked, 64 MiB a file, 50,000 entries: the largest published
    /// packages have a quarter of that.
    fn default() -> Self {
        Self {
            archive_max: 256 << 20,
            unpacked_max: 2 << 30,
            file_max: 64 << 20,
            files_max: 50_000,
        }
    }
}

/// Bytes of what an archive says of an entry before it, a long name above all. Names of packages
/// are short.
const NAME_MAX: u64 = 64 << 10;

/// Gives every JSON file of the folder `package` to `each`, by its name there. Folders below it
/// (examples, tests) are passed over.
pub(super) fn each_file(
    bytes: &[u8],
    limits: &PackageLimits,
    mut each: impl FnMut(&str, &[u8]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    // What is skipped is unpacked too: the bound is on everything that comes out of the archive.
    let unpacked = MultiGzDecoder::new(bytes).take(limits.unpacked_max);
    let mut archive = tar::Archive::new(unpacked);
    let mut content = Vec::new();
    let mut count = 0;
    let mut total = 0_u64;
    let mut long_name = None;
    let damaged = |_| Fault::Damaged;
    for entry in archive.entries().map_err(damaged)?.raw(true) {
        let cut_off = |total: u64| {
            if total >= limits.unpacked_max {
                Fault::TooLarge { limit: limits.unpacked_max }
            } else {
                Fault::Damaged
            }
        };
        let mut entry = entry.map_err(|_| cut_off(total))?;
        count += 1;
        if count > limits.files_max {
            return Err(Fault::TooManyFiles { limit: limits.files_max });
        }
        // 512 bytes of header for each entry.
        total = total.saturating_add(entry.size()).saturating_add(512);
        if total > limits.unpacked_max {
            return Err(Fault::TooLarge { limit: limits.unpacked_max });
        }
        // The library would read these whole, whatever their size.
        let kind = entry.header().entry_type();
        if kind.is_gnu_longname() || kind.is_pax_local_extensions() {
            if entry.size() > NAME_MAX {
                return Err(Fault::TooLarge { limit: NAME_MAX });
            }
            let mut said = Vec::new();
            entry.read_to_end(&mut said).map_err(|_| cut_off(total))?;
            long_name = name_in(&said, kind.is_gnu_longname()).or(long_name);
            continue;
        }
        if kind.is_gnu_longlink() || kind.is_pax_global_extensions() {
            continue;
        }
        let long_name = long_name.take();
        if !kind.is_file() {
            continue;
        }
        let path = long_name.unwrap_or_else(|| entry.path_bytes().into_owned());
        let Ok(path) = std::str::from_utf8(&path) else { continue };
        if path.starts_with('/') || path.split(['/', '\\']).any(|part| part == "..") {
            return Err(Fault::PathOutside);
        }
        let path = path.trim_start_matches("./").to_owned();
        let Some(name) = path.strip_prefix("package/") else { continue };
        if name.contains('/') || !name.ends_with(".json") || name == ".index.json" {
            continue;
        }
        if entry.size() > limits.file_max {
            return Err(Fault::TooLarge { limit: limits.file_max });
        }
        content.clear();
        let read = entry.by_ref().take(limits.file_max).read_to_end(&mut content);
        read.map_err(|_| cut_off(total))?;
        each(name, &content)?;
    }
    // The digest of the whole stands at its end, behind what the archive needs.
    let rest = std::io::copy(&mut archive.into_inner(), &mut std::io::sink());
    rest.map(|_| ()).map_err(damaged)
}

/// The name that is said of the next entry, in the way of GNU or of PAX.
fn name_in(said: &[u8], is_gnu: bool) -> Option<Vec<u8>> {
    if is_gnu {
        return Some(said.strip_suffix(&[0]).unwrap_or(said).to_vec());
    }
    let mut all = PaxExtensions::new(said).flatten();
    all.find(|one| one.key_bytes() == b"path").map(|one| one.value_bytes().to_vec())
}
