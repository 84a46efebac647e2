//! What several rows stand on: a bare server and a laboratory that sends to it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use testkit::{DocumentBuilder, TestCa};

use crate::Result;
use crate::bare::Bare;
use crate::bulk::written;
use crate::programs::Laboratory;

pub(crate) struct Ground {
    pub(crate) server: Bare,
    pub(crate) laboratory: Laboratory,
    pub(crate) ca: PathBuf,
    pub(crate) identity: PathBuf,
    folder: TempDir,
}

impl Ground {
    /// The server answers each request so late.
    pub(crate) async fn new(late: Duration) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let authority = TestCa::new("Bench");
        let (ca, identity) = (folder.path().join("ca.pem"), folder.path().join("client.pem"));
        std::fs::write(&ca, authority.pem())?;
        std::fs::write(&identity, authority.client("bench").pem())?;
        let server = Bare::serve_late(&authority, late).await?;
        let laboratory = Laboratory::new(&server.base, &ca, &identity, None)?;
        Ok(Self { server, laboratory, ca, identity, folder })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// So many new reports in a folder of their own, beginning with a number.
    pub(crate) fn reports(&self, name: &str, first: usize, count: usize) -> Result<PathBuf> {
        let folder = self.path(name);
        std::fs::create_dir_all(&folder)?;
        // One at a time: there may be a million.
        for seed in first..first + count {
            let text = DocumentBuilder::new(u64::try_from(seed)?).json();
            std::fs::write(folder.join(format!("{seed:09}.json")), text)?;
        }
        Ok(folder)
    }
}

/// Bodies to be posted, as files.
pub(crate) fn bodies(folder: &Path, first: usize, count: usize) -> Result<()> {
    let bodies = (first..first + count).map(|seed| {
        let text = DocumentBuilder::new(u64::try_from(seed)?).json();
        crate::raw::body(&text)
    });
    let bodies: Vec<_> = bodies.collect::<Result<_>>()?;
    written(folder, &bodies, count).map(drop)
}
