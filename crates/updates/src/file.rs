//! The file of a newer version: written beside its place, and put there only once its signature is
//! right.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use minisign_verify::{PublicKey, Signature};

use crate::ask::{Limits, ask};
use crate::{Fault, Offer, Source, Version};

/// Endings of what can be installed, longest first; a file with another one is none.
const ENDINGS: &[&str] = &[".AppImage", ".deb", ".dmg", ".exe", ".msi", ".rpm"];
/// Bytes read at a time.
const PART: usize = 256 << 10;

/// A file whose signature was right, when it was looked at last.
#[derive(Clone)]
pub struct Checked {
    /// The version it is.
    pub version: Version,
    path: PathBuf,
    signature: Signature,
    key: PublicKey,
}

impl Checked {
    /// Whether it is what this source is asked for: another key may be trusted by now.
    pub fn is_of(&self, source: &Source) -> bool {
        self.key == source.key
    }

    /// Where it lies, once its signature was found right again: it may have lain there for days.
    ///
    /// # Errors
    /// [`Fault::SignatureWrong`] where it is another file by now, [`Fault::NotKept`] where it is
    /// gone. It is removed then.
    pub fn path(&self) -> Result<&Path, Fault> {
        self.still_right().inspect_err(|_| remove(&self.path))?;
        Ok(&self.path)
    }

    fn still_right(&self) -> Result<(), Fault> {
        let mut file = File::open(&self.path).map_err(|_| Fault::NotKept)?;
        let verifier = self.key.verify_stream(&self.signature);
        let mut verifier = verifier.map_err(|_| Fault::SignatureWrong)?;
        let mut part = vec![0; PART];
        loop {
            let count = file.read(&mut part).map_err(|_| Fault::NotKept)?;
            if count == 0 {
                return verifier.finalize().map_err(|_| Fault::SignatureWrong);
            }
            verifier.update(part.get(..count).unwrap_or_default());
        }
    }
}

/// Fetches what was promised into a folder, and keeps it only where the signature is right.
///
/// # Errors
/// [`Fault`]; nothing is left in the folder then.
pub async fn fetch(
    source: &Source,
    offer: &Offer,
    folder: &Path,
    limits: Limits,
) -> Result<Checked, Fault> {
    // By another key or of the old kind, which would need the whole file in memory: nothing is
    // fetched at all.
    let verifier = source.key.verify_stream(&offer.signature);
    let mut verifier = verifier.map_err(|_| Fault::SignatureWrong)?;
    let path = folder.join(name(offer)?);
    let unchecked = path.with_added_extension("unchecked");
    let mut file = begin(folder, &unchecked)?;
    let bounds = fetch::Bounds {
        connect: limits.connect,
        all: limits.file,
        bytes_max: limits.file_bytes_max,
    };
    let keep = |part: &[u8]| {
        verifier.update(part);
        file.write_all(part).map_err(|_| Fault::NotKept)
    };
    let fetched = ask(&offer.url, source.ca_pem.as_deref(), bounds, keep).await;
    let checked = fetched
        .and_then(|()| verifier.finalize().map_err(|_| Fault::SignatureWrong))
        .and_then(|()| signed_as(offer))
        .and_then(|()| file.sync_all().map_err(|_| Fault::NotKept))
        .and_then(|()| fs::rename(&unchecked, &path).map_err(|_| Fault::NotKept));
    checked.inspect_err(|_| remove(&unchecked))?;
    let (signature, key) = (offer.signature.clone(), source.key.clone());
    Ok(Checked { version: offer.version, path, signature, key })
}

/// Whether the signature names the promised version: the description itself is not signed, and
/// could call an old file with a known hole a new one. The comment is covered by the signature,
/// which has been found right before.
fn signed_as(offer: &Offer) -> Result<(), Fault> {
    let mut said = offer.signature.trusted_comment().split('\t');
    let version = said.find_map(|part| part.strip_prefix("version:"));
    match version.and_then(|version| version.trim().parse::<Version>().ok()) {
        Some(version) if version == offer.version => Ok(()),
        _ => Err(Fault::SignedForOther),
    }
}

/// A name of ours: nothing that a server says becomes a path.
fn name(offer: &Offer) -> Result<String, Fault> {
    let path = offer.url.path();
    let ending = ENDINGS.iter().find(|ending| path.ends_with(**ending));
    let ending = ending.ok_or(Fault::NoDescription)?;
    Ok(format!("lab-courier-{}{ending}", offer.version))
}

/// The folder, without what was fetched before, and an empty file in it.
fn begin(folder: &Path, file: &Path) -> Result<File, Fault> {
    let made = || {
        fs::create_dir_all(folder)?;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with("lab-courier-") {
                fs::remove_file(entry.path())?;
            }
        }
        // Made anew, or not at all: nothing that lies there is followed or written to.
        OpenOptions::new().write(true).create_new(true).open(file)
    };
    made().map_err(|_: std::io::Error| Fault::NotKept)
}

fn remove(file: &Path) {
    // What cannot be removed is never offered: it is looked at again before it is.
    let _ = fs::remove_file(file);
}
