//! The journal's file as it lies on the disk, read beside SQLite.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::unused_page;

/// Read at once: 1 MB, so that a journal of gigabytes costs little memory and few calls.
const AT_ONCE: u64 = 1 << 20;

/// The file of a journal that SQLite may have open in this process.
///
/// On Unix it is never closed: closing any handle of a file takes all locks of the process off it,
/// SQLite's too, and another program would then take the journal for closed and remove the log that
/// is being written. One handle for each journal, as long as the process lives.
#[cfg(unix)]
pub(super) fn beside_sqlite(path: &Path) -> io::Result<Arc<Mutex<File>>> {
    use std::os::unix::fs::MetadataExt as _;

    /// Device and number of a file, and its handle.
    type Kept = ((u64, u64), Arc<Mutex<File>>);

    static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let facts = std::fs::metadata(path)?;
    let is = (facts.dev(), facts.ino());
    if let Some((_, file)) = kept.iter().find(|(known, _)| *known == is) {
        return Ok(Arc::clone(file));
    }
    let file = File::open(path)?;
    let facts = file.metadata()?;
    let file = Arc::new(Mutex::new(file));
    kept.push(((facts.dev(), facts.ino()), Arc::clone(&file)));
    Ok(file)
}

/// Elsewhere a lock belongs to its own handle.
#[cfg(not(unix))]
pub(super) fn beside_sqlite(path: &Path) -> io::Result<Arc<Mutex<File>>> {
    File::open(path).map(|file| Arc::new(Mutex::new(file)))
}

/// Gives every page of a file to `each`, one after the other; the one that SQLite does not use is
/// passed over.
pub(super) fn each_page<E: From<io::Error>>(
    file: &Mutex<File>,
    page: u32,
    pages: u32,
    mut each: impl FnMut(u32, &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let length = page as usize;
    let most = u32::try_from(AT_ONCE / u64::from(page.max(1))).unwrap_or(1).max(1);
    let mut buffer = vec![0; length * most as usize];
    let mut next = 1;
    while next <= pages {
        let unused = unused_page(page);
        let count = match unused.checked_sub(next) {
            Some(0) => {
                each(next, &vec![0; length])?;
                next += 1;
                continue;
            }
            Some(before) => most.min(before),
            None => most,
        };
        let count = count.min(pages - next + 1);
        let part = buffer.get_mut(..length * count as usize).unwrap_or_default();
        {
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(u64::from(next - 1) * u64::from(page)))?;
            file.read_exact(part)?;
        }
        for (number, bytes) in (next..).zip(part.chunks_exact(length)) {
            each(number, bytes)?;
        }
        next += count;
    }
    Ok(())
}
