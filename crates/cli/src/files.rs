//! Files that the command line names.

use std::path::Path;

use bridge::Problem;

/// What is told of one that cannot be read or written.
pub(crate) fn unreadable(file: &Path, error: &std::io::Error) -> Problem {
    let (file, reason) = (file.display().to_string(), error.kind().to_string());
    Problem::new("file-unreadable", &[("file", &file), ("reason", &reason)], "file")
}
