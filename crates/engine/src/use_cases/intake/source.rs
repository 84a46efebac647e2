//! Where reports come from: files, folders, archives, lines of NDJSON. Everything is only read.

use std::fs::{self, File};
use std::io::{self, Cursor, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use report::{Kind, recognise};

use crate::candidate::Refusal;

mod directory;
#[cfg(test)]
mod tests;
mod turn;

pub use turn::FilesInTurn;

/// A text handed over as one report, with the name that people know it by.
#[derive(Clone)]
pub(crate) struct Piece {
    /// File name, `archive.zip/name.json` or `reports.ndjson:7`.
    pub(crate) name: String,
    /// The bytes, or why there are none.
    pub(crate) content: Result<Vec<u8>, Refusal>,
}

/// Bounds on what one hand-over may bring.
#[derive(Debug, Clone, Copy)]
pub struct SourceLimits {
    /// Bytes of one report.
    pub document_bytes_max: u64,
    /// Bytes of an archive or NDJSON file, and of what all archives of a hand-over unpack to.
    pub container_bytes_max: u64,
    /// Entries of an archive, lines of NDJSON.
    pub pieces_max: usize,
    /// Files of all folders together.
    pub files_max: usize,
}

impl SourceLimits {
    /// For reports up to so many bytes: containers up to 500 MB, 100,000 files.
    pub const fn with_document_bytes(document_bytes_max: u64) -> Self {
        Self {
            document_bytes_max,
            container_bytes_max: 500_000_000,
            pieces_max: 100_000,
            files_max: 100_000,
        }
    }

    /// Where folders are taken some files at a time, and never all of them are in memory.
    pub(crate) const fn in_turn(self) -> Self {
        Self { files_max: 1_000_000, ..self }
    }
}

/// All files below the given paths ([`FilesInTurn`]).
pub(crate) fn files_below(paths: &[PathBuf], limits: &SourceLimits) -> Vec<PathBuf> {
    FilesInTurn::below(paths, limits).collect()
}

/// The same for each path by itself, within the same bounds.
pub(crate) fn files_below_each(paths: &[PathBuf], limits: &SourceLimits) -> Vec<Vec<PathBuf>> {
    let mut all = 0;
    let below = |path: &PathBuf| {
        let files_max = limits.files_max.saturating_sub(all);
        let limits = SourceLimits { files_max, ..*limits };
        let files = files_below(std::slice::from_ref(path), &limits);
        all += files.len();
        files
    };
    paths.iter().map(below).collect()
}

/// What is in a folder and in the folders inside, in name order. Links to folders inside are not
/// followed (they may form loops); a link given by name is.
pub(crate) fn walk(folder: &Path) -> impl Iterator<Item = walkdir::Result<walkdir::DirEntry>> {
    shown(below(folder).sort_by_file_name())
}

/// The same in whatever order they are there: no folder is in memory as a whole.
fn unsorted(folder: &Path) -> impl Iterator<Item = walkdir::Result<walkdir::DirEntry>> {
    shown(below(folder))
}

/// Without the folder itself: given by a link, it would stand among what is in it.
fn below(folder: &Path) -> walkdir::WalkDir {
    walkdir::WalkDir::new(folder).min_depth(1)
}

fn shown(walk: walkdir::WalkDir) -> impl Iterator<Item = walkdir::Result<walkdir::DirEntry>> {
    walk.into_iter().filter_entry(|entry| !is_hidden(entry.file_name()))
}

/// What a link leads to, where the entry is one.
pub(crate) fn linked(entry: &walkdir::DirEntry) -> Option<fs::Metadata> {
    entry.path_is_symlink().then(|| fs::metadata(entry.path()).ok()).flatten()
}

fn is_hidden(name: &std::ffi::OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

/// Bytes by which most files are recognised.
const HEAD: u64 = 64 << 10;

/// What the archives and large files of one hand-over may still bring together. One of them is in
/// memory at a time beside what the others have brought: four of 500 MB would need several
/// gigabytes at once.
pub(crate) struct Room(Mutex<u64>);

impl Room {
    pub(crate) fn new(limits: &SourceLimits) -> Self {
        Self(Mutex::new(limits.container_bytes_max))
    }
}

/// Reads one file and takes apart what holds several reports.
pub(crate) fn pieces_of(path: &Path, limits: &SourceLimits, room: &Room) -> Vec<Piece> {
    let name = path
        .file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
    let read = || match read_file(path, limits) {
        Ok(bytes) => Ok(bytes),
        Err(refusal) => Err(vec![Piece { name: name.clone(), content: Err(refusal) }]),
    };
    if !may_hold_several(path, limits) {
        return match read() {
            Ok(bytes) => pieces_of_bytes(name, bytes, limits),
            Err(refused) => refused,
        };
    }
    let mut left = room.0.lock().unwrap_or_else(PoisonError::into_inner);
    let bytes = match read() {
        Ok(bytes) => bytes,
        Err(refused) => return refused,
    };
    let limits = SourceLimits { container_bytes_max: *left, ..*limits };
    if bytes.len() as u64 > *left {
        let content = Err(Refusal::Archive { reason: "too-large-unpacked" });
        return vec![Piece { name, content }];
    }
    let pieces = pieces_of_bytes(name, bytes, &limits);
    let taken = pieces.iter().filter_map(|piece| piece.content.as_ref().ok());
    *left = left.saturating_sub(taken.map(|content| content.len() as u64).sum());
    pieces
}

/// An archive, or a file so large that it can be nothing else than several reports.
pub(crate) fn may_hold_several(path: &Path, limits: &SourceLimits) -> bool {
    let Ok((mut file, facts)) = open(path) else { return false };
    if !facts.is_file() {
        return false;
    }
    let mut head = [0; 4];
    let length = file.read(&mut head).unwrap_or(0);
    facts.len() > limits.document_bytes_max || recognise(&head[..length]) == Kind::Zip
}

/// The same for bytes that did not come from a file (pasted text).
pub(crate) fn pieces_of_bytes(name: String, bytes: Vec<u8>, limits: &SourceLimits) -> Vec<Piece> {
    match recognise(&bytes) {
        Kind::Zip => unzip(&name, &bytes, limits),
        Kind::Ndjson => lines(&name, &bytes, limits),
        _ => vec![one(name, bytes, limits)],
    }
}

fn one(name: String, bytes: Vec<u8>, limits: &SourceLimits) -> Piece {
    let length = bytes.len() as u64;
    let content = if length == 0 {
        Err(Refusal::Empty)
    } else if length > limits.document_bytes_max {
        Err(Refusal::TooLarge { bytes: length, bytes_max: limits.document_bytes_max })
    } else {
        Ok(bytes)
    };
    Piece { name, content }
}

/// Opens, checks that it is a file, reads, and looks whether it changed meanwhile.
fn read_file(path: &Path, limits: &SourceLimits) -> Result<Vec<u8>, Refusal> {
    let metadata = fs::metadata(path).map_err(|error| refusal_of(&error))?;
    if metadata.is_dir() {
        return Err(refusal_of_folder(path, limits));
    }
    if !metadata.is_file() {
        return Err(Refusal::NotAFile);
    }
    let (mut file, before) = open(path).map_err(|error| refusal_of(&error))?;
    if !before.is_file() {
        return Err(Refusal::NotAFile);
    }
    if before.len() > limits.container_bytes_max {
        return Err(Refusal::TooLarge {
            bytes: before.len(),
            bytes_max: limits.container_bytes_max,
        });
    }
    if before.len() > limits.document_bytes_max && !is_container(&mut file, limits) {
        return Err(Refusal::TooLarge {
            bytes: before.len(),
            bytes_max: limits.document_bytes_max,
        });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(before.len()).unwrap_or(0));
    (&file)
        .take(limits.container_bytes_max)
        .read_to_end(&mut bytes)
        .map_err(|error| refusal_of(&error))?;
    let after = file.metadata().map_err(|error| refusal_of(&error))?;
    let same_time = matches!((before.modified(), after.modified()), (Ok(a), Ok(b)) if a == b);
    if bytes.len() as u64 != before.len() || after.len() != before.len() || !same_time {
        return Err(Refusal::StillChanging);
    }
    Ok(bytes)
}

/// Opens what is at a place, and says what that is: it may have become another thing since it was
/// looked at. A pipe without a writer does not keep anybody waiting.
fn open(path: &Path) -> io::Result<(File, fs::Metadata)> {
    let file = match open_at_once(path) {
        // Somebody holds a lease on it, which is given back to whoever waits.
        Err(error) if error.kind() == io::ErrorKind::WouldBlock && path.is_file() => {
            File::open(path)?
        }
        opened => opened?,
    };
    let facts = file.metadata()?;
    Ok((file, facts))
}

#[cfg(unix)]
fn open_at_once(path: &Path) -> io::Result<File> {
    use rustix::fs::{OFlags, fcntl_setfl};
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0);
    let file = fs::OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    // Reading waits, as that of a file does.
    fcntl_setfl(&file, OFlags::empty())?;
    Ok(file)
}

#[cfg(not(unix))]
fn open_at_once(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Why a folder is read as if it were a file: [`files_below`] found nothing to take in it, or a
/// link leads to it.
fn refusal_of_folder(path: &Path, limits: &SourceLimits) -> Refusal {
    if let Err(error) = fs::read_dir(path) {
        return refusal_of(&error);
    }
    let entries = unsorted(path).flatten().filter(|entry| !entry.file_type().is_dir());
    let count = entries.take(limits.files_max.saturating_add(1)).count();
    if count == 0 {
        Refusal::NothingInside
    } else if count <= limits.files_max && path.is_symlink() {
        Refusal::LinkNotFollowed
    } else {
        Refusal::TooManyInside { pieces_max: limits.files_max }
    }
}

/// Whether a large file is one that holds several reports; leaves the file at its start. NDJSON
/// shows only behind its first line, which may be as long as a report.
fn is_container(file: &mut File, limits: &SourceLimits) -> bool {
    use std::io::Seek as _;
    let mut is_one_behind = |length: u64| {
        let mut head = Vec::new();
        let read = (&*file).take(length).read_to_end(&mut head);
        read.is_ok()
            && file.rewind().is_ok()
            && matches!(recognise(&head), Kind::Zip | Kind::Ndjson)
    };
    is_one_behind(HEAD) || is_one_behind(limits.document_bytes_max.saturating_add(HEAD))
}

fn refusal_of(error: &io::Error) -> Refusal {
    match error.kind() {
        io::ErrorKind::NotFound => Refusal::NotFound,
        kind => Refusal::NotReadable { reason: kind.to_string() },
    }
}

/// NDJSON: each line that is not blank is a report, byte for byte. All of them or none: a part
/// would look like the whole.
fn lines(name: &str, bytes: &[u8], limits: &SourceLimits) -> Vec<Piece> {
    let filled = || {
        bytes
            .split(|byte| *byte == b'\n')
            .enumerate()
            .map(|(index, line)| (index + 1, line.strip_suffix(b"\r").unwrap_or(line)))
            .filter(|(_, line)| !line.trim_ascii().is_empty())
    };
    if filled().nth(limits.pieces_max).is_some() {
        let content = Err(Refusal::TooManyInside { pieces_max: limits.pieces_max });
        return vec![Piece { name: name.to_owned(), content }];
    }
    filled().map(|(number, line)| one(format!("{name}:{number}"), line.to_vec(), limits)).collect()
}

/// The files of an archive, one level deep, in their order. Sizes that the archive states are not
/// believed: reading stops at the limits. All of them or none: where it holds what its reader does
/// not show, a part would look like the whole.
fn unzip(name: &str, bytes: &[u8], limits: &SourceLimits) -> Vec<Piece> {
    let refused =
        |reason| vec![Piece { name: name.to_owned(), content: Err(Refusal::Archive { reason }) }];
    let Ok(mut archive) = zip::ZipArchive::new(Cursor::new(bytes)) else {
        return refused("damaged");
    };
    if archive.len() > limits.pieces_max {
        return refused("too-many-entries");
    }
    if let Some(reason) =
        directory::left_out(bytes, archive.central_directory_start(), archive.len())
    {
        return refused(reason);
    }
    let mut pieces = Vec::new();
    let mut unpacked: u64 = 0;
    let mut is_whole = archive.is_empty();
    for index in 0..archive.len() {
        let Ok(mut entry) = archive.by_index(index) else {
            let encrypted = archive.by_index_raw(index).is_ok_and(|entry| entry.encrypted());
            return refused(if encrypted { "encrypted" } else { "damaged" });
        };
        is_whole |= entry.header_start() == 0;
        let entry_name = format!("{name}/{}", entry.name());
        if entry.is_symlink() {
            let content = Err(Refusal::Archive { reason: "link-inside" });
            pieces.push(Piece { name: entry_name, content });
            continue;
        }
        if !entry.is_file() {
            continue;
        }
        let room = limits.container_bytes_max.saturating_sub(unpacked);
        let Ok(content) = read_entry(&mut entry, limits.document_bytes_max, room) else {
            let content = Err(Refusal::Archive { reason: "damaged" });
            pieces.push(Piece { name: entry_name, content });
            continue;
        };
        unpacked = unpacked.saturating_add(content.len() as u64);
        if unpacked > limits.container_bytes_max {
            return refused("too-large-unpacked");
        }
        match recognise(&content) {
            Kind::Zip => pieces.push(Piece {
                name: entry_name,
                content: Err(Refusal::Archive { reason: "nested" }),
            }),
            Kind::Ndjson => pieces.extend(lines(&entry_name, &content, limits)),
            _ => pieces.push(one(entry_name, content, limits)),
        }
        if pieces.len() > limits.pieces_max {
            return refused("too-many-entries");
        }
    }
    // It begins with an entry that its directory does not have: of two archives in one file the
    // first one is not seen.
    if !is_whole {
        return refused("damaged");
    }
    if pieces.is_empty() {
        pieces.push(Piece { name: name.to_owned(), content: Err(Refusal::NothingInside) });
    }
    pieces
}

/// Reads an entry of an archive: one report as far as its limit and a byte more, which shows that
/// it is too large; several in their lines to the end of `room` and a byte more.
fn read_entry(
    entry: &mut impl io::Read,
    document_bytes_max: u64,
    room: u64,
) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    entry.take(document_bytes_max.saturating_add(1)).read_to_end(&mut content)?;
    let length = content.len() as u64;
    if length > document_bytes_max && recognise(&content) == Kind::Ndjson {
        let left = room.saturating_add(1).saturating_sub(length);
        entry.take(left).read_to_end(&mut content)?;
    }
    Ok(content)
}
