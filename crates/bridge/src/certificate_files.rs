//! Certificate and key files as they are read: bounded, and wiped from memory when they have been
//! looked at, because a key may stand in them unprotected.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use zeroize::Zeroizing;

use crate::limits::CERTIFICATE_BYTES_MAX;
use crate::problem::Problem;

/// Which files are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// Regular ones: a pipe would be waited for, and the window would seem to hang.
    Regular,
    /// Whatever can be read, as scripts hand over descriptors.
    Any,
}

/// One byte more than the limit is read at most: then the import says that it is too large.
pub(crate) fn read(path: &Path, which: Which) -> Result<Zeroizing<Vec<u8>>, Problem> {
    let unreadable = |reason: &str| {
        let params = [("file", &*path.display().to_string()), ("reason", reason)];
        Problem::new("file-unreadable", &params, "certificate")
    };
    let said = |error: std::io::Error| unreadable(&error.kind().to_string());
    // Before and after opening: opening a pipe waits already, and the name may change its file.
    if which == Which::Regular && !path.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Err(unreadable("not a file"));
    }
    let file = File::open(path).map_err(said)?;
    let metadata = file.metadata().map_err(said)?;
    if which == Which::Regular && !metadata.is_file() {
        return Err(unreadable("not a file"));
    }
    // Room for all from the start: growing would leave copies behind.
    let size = metadata.len().min(CERTIFICATE_BYTES_MAX) + 2;
    let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(size).unwrap_or(0)));
    file.take(CERTIFICATE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(said)?;
    Ok(bytes)
}
