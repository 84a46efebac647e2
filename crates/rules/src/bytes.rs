//! A part of a file, read when it is needed: most definitions of a package never are.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

/// A definition in a file.
#[derive(Debug)]
pub(crate) struct Bytes {
    pub(crate) file: Arc<Mutex<File>>,
    pub(crate) start: u64,
    pub(crate) length: u32,
}

impl Bytes {
    /// `None` where the file is cut off.
    pub(crate) fn read(&self) -> Option<Vec<u8>> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = vec![0; self.length as usize];
        file.seek(SeekFrom::Start(self.start)).ok()?;
        file.read_exact(&mut bytes).ok()?;
        Some(bytes)
    }
}
