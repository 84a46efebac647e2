//! Reading and writing one file of pages.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::{Facts, MAGIC, SHORT_CODE, VERSION, hex};
use crate::OpenProblem;

/// Facts are some three hundred bytes.
const FACTS_MAX: u32 = 1 << 16;
/// Length of the facts and digest of the file.
const TAIL: u64 = 4 + DIGEST;
const DIGEST: u64 = 32;

/// A file that is being written.
pub(super) struct Writing {
    out: BufWriter<File>,
    digest: Sha256,
    held: u32,
}

impl Writing {
    /// Into an empty file of its own.
    pub(super) fn begin(path: &Path) -> io::Result<Self> {
        crate::store::open::private_file(path)?;
        let file = File::options().write(true).open(path)?;
        let out = BufWriter::with_capacity(1 << 18, file);
        let mut begun = Self { out, digest: Sha256::new(), held: 0 };
        begun.put(MAGIC)?;
        Ok(begun)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.digest.update(bytes);
        self.out.write_all(bytes)
    }

    pub(super) fn page(&mut self, number: u32, bytes: &[u8]) -> io::Result<()> {
        self.held += 1;
        self.put(&number.to_le_bytes())?;
        self.put(bytes)
    }

    /// Short codes of pages, after the pages.
    pub(super) fn codes(&mut self, codes: &[u8]) -> io::Result<()> {
        self.put(codes)
    }

    /// Pages so far.
    pub(super) fn held(&self) -> u32 {
        self.held
    }

    /// Ends the file and brings it to the disk.
    pub(super) fn end(mut self, facts: &Facts) -> io::Result<()> {
        let json = serde_json::to_vec(facts)?;
        self.put(&json)?;
        let length = u32::try_from(json.len()).map_err(io::Error::other)?;
        self.put(&length.to_le_bytes())?;
        let digest = self.digest.clone().finalize();
        self.out.write_all(&digest)?;
        self.out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    }
}

/// What a file says of itself, as far as its length shows that it is all there.
pub(super) fn facts(path: &Path) -> Result<Facts, OpenProblem> {
    let io = OpenProblem::io("read a backup");
    let mut file = File::open(path).map_err(&io)?;
    let length = file.metadata().map_err(&io)?.len();
    let damaged = || OpenProblem::WrongKeyOrDamaged;
    let begins = length.checked_sub(TAIL).ok_or_else(damaged)?;
    let mut size = [0; 4];
    file.seek(SeekFrom::Start(begins)).and_then(|_| file.read_exact(&mut size)).map_err(&io)?;
    let size = u32::from_le_bytes(size);
    let begins = begins.checked_sub(u64::from(size)).ok_or_else(damaged)?;
    if size > FACTS_MAX {
        return Err(damaged());
    }
    let mut json = vec![0; size as usize];
    file.seek(SeekFrom::Start(begins)).and_then(|_| file.read_exact(&mut json)).map_err(&io)?;
    let facts: Facts = serde_json::from_slice(&json).map_err(|_| damaged())?;
    let known = facts.version == VERSION && (512..=65_536).contains(&facts.page);
    if !known || begins != facts.codes_begin() + facts.codes_length() {
        return Err(damaged());
    }
    Ok(facts)
}

impl Facts {
    fn codes_begin(&self) -> u64 {
        MAGIC.len() as u64 + u64::from(self.held) * (4 + u64::from(self.page))
    }

    fn codes_length(&self) -> u64 {
        u64::from(self.pages) * SHORT_CODE as u64
    }
}

/// The short codes of a file, to be read one after the other.
pub(super) fn codes(path: &Path, facts: &Facts) -> io::Result<impl Read> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(facts.codes_begin()))?;
    Ok(BufReader::with_capacity(1 << 18, file.take(facts.codes_length())))
}

/// Takes a digest of what is read through it.
struct Digesting<R> {
    from: R,
    digest: Sha256,
}

impl<R: Read> Read for Digesting<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(into)?;
        self.digest.update(into.get(..count).unwrap_or_default());
        Ok(count)
    }
}

/// Reads all of a file, gives its pages to `each`, and says whether its digests fit: only then what
/// was given counts.
pub(super) fn read(
    path: &Path,
    facts: &Facts,
    each: impl FnMut(u32, &[u8]) -> io::Result<()>,
) -> Result<(), OpenProblem> {
    match is_whole(path, facts, each) {
        Ok(true) => Ok(()),
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
            Err(OpenProblem::io("read a backup")(error))
        }
        _ => Err(OpenProblem::WrongKeyOrDamaged),
    }
}

fn is_whole(
    path: &Path,
    facts: &Facts,
    mut each: impl FnMut(u32, &[u8]) -> io::Result<()>,
) -> io::Result<bool> {
    let file = File::open(path)?;
    let length = file.metadata()?.len().saturating_sub(DIGEST);
    let from = BufReader::with_capacity(1 << 18, file).take(length);
    let mut from = Digesting { from, digest: Sha256::new() };
    let mut begins = [0; MAGIC.len()];
    from.read_exact(&mut begins)?;
    let (mut number, mut page) = ([0; 4], vec![0; facts.page as usize]);
    for _ in 0..facts.held {
        from.read_exact(&mut number)?;
        from.read_exact(&mut page)?;
        let number = u32::from_le_bytes(number);
        if number == 0 || number > facts.pages {
            return Ok(false);
        }
        each(number, &page)?;
    }
    let mut state =
        Digesting { from: (&mut from).take(facts.codes_length()), digest: Sha256::new() };
    io::copy(&mut state, &mut io::sink())?;
    let state = hex(&state.digest.finalize());
    io::copy(&mut from, &mut io::sink())?;
    let mut digest = [0; DIGEST as usize];
    from.from.into_inner().read_exact(&mut digest)?;
    Ok(begins == *MAGIC && state == facts.state && from.digest.finalize().as_slice() == digest)
}
