//! A gzip archive in npm layout, read under bounds: it comes from outside.

use std::io::Read;

use flate2::read::MultiGzDecoder;

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
    let damaged = |_| Fault::Damaged;
    for entry in archive.entries().map_err(damaged)? {
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
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let path = entry.path_bytes().into_owned();
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
    Ok(())
}
