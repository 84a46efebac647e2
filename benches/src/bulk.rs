//! Bulk: `labcourier send` of a folder of new reports, the whole process, against raw POST of
//! prepared bodies and against one curl a file, to the same server.

use std::path::{Path, PathBuf};

use identity::{Identity, tls_client_config};
use rustls::ClientConfig;
use tempfile::TempDir;
use testkit::{DocumentBuilder, TestCa};

use crate::bare::Bare;
use crate::programs::{Authority, Laboratory};
use crate::table::{Bound, Figure, Row, Samples};
use crate::{Result, output, raw};

/// Files for curl in one round: it is slow.
const CURL_FILES: usize = 100;

/// Where to.
enum Server {
    Bare(Bare),
    Authority(Authority),
}

/// A server, a laboratory and what both trust.
pub(crate) struct Bulk {
    server: Server,
    laboratory: Laboratory,
    tls: ClientConfig,
    ca: PathBuf,
    identity: PathBuf,
    folder: TempDir,
}

/// Figures of the rounds.
#[derive(Default)]
struct Figures {
    raw: Samples,
    curl: Samples,
    ours: Samples,
    cpu: Samples,
    resident: Samples,
    first: Samples,
}

impl Bulk {
    /// To a server that answers at once.
    pub(crate) async fn bare() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let authority = TestCa::new("Bench");
        let (ca, identity) = (folder.path().join("ca.pem"), folder.path().join("client.pem"));
        std::fs::write(&ca, authority.pem())?;
        std::fs::write(&identity, authority.client("bench").pem())?;
        let server = Server::Bare(Bare::serve(&authority).await?);
        Self::with(server, ca, identity, folder)
    }

    /// To the real authority.
    pub(crate) async fn authority() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let data = folder.path().join("authority");
        let authority = Authority::serve(&data)?;
        let pilot = |suffix: &str| data.join("pilot").join(format!("bench.{suffix}"));
        let (identity, ca) = (pilot("p12"), data.join("ca.pem"));
        std::fs::rename(pilot("password"), folder.path().join("password"))?;
        Self::with(Server::Authority(authority), ca, identity, folder)
    }

    fn with(server: Server, ca: PathBuf, identity: PathBuf, folder: TempDir) -> Result<Self> {
        let password = std::fs::read_to_string(folder.path().join("password")).ok();
        let password = password.map(|text| text.trim().to_owned());
        let laboratory = {
            let password_file = password.as_ref().map(|_| folder.path().join("password"));
            Laboratory::new(server.base(), &ca, &identity, password_file.as_deref())?
        };
        let file = std::fs::read(&identity)?;
        let client = Identity::import(&[&file], password.map(Into::into).as_ref())?;
        let mut tls = tls_client_config(Some(&client), Some(&std::fs::read_to_string(&ca)?))?;
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { server, laboratory, tls, ca, identity, folder })
    }

    /// Interleaved rounds, each with reports of its own.
    pub(crate) async fn measure(
        &self,
        server: &str,
        rounds: usize,
        reports: usize,
    ) -> Result<Vec<Row>> {
        let mut figures = Figures::default();
        for round in 0..rounds {
            output::progress(&format!("bulk to {server}, round {} of {rounds}", round + 1));
            let documents = self.documents(round, reports)?;
            self.round(&mut figures, &documents, round).await?;
        }
        Ok(self.rows(server, &figures))
    }

    async fn round(&self, figures: &mut Figures, documents: &[String], round: usize) -> Result<()> {
        let bodies: Vec<_> =
            documents.iter().map(|document| raw::body(document)).collect::<Result<_>>()?;
        let per_second = |count: usize, seconds: f64| {
            f64::from(u32::try_from(count).unwrap_or(u32::MAX)) / seconds
        };
        if let Server::Bare(_) = self.server {
            let files = written(&self.folder.path().join("bodies"), &bodies, CURL_FILES)?;
            if let Some(time) = raw::curl(self.server.base(), &self.ca, &self.identity, &files)? {
                figures.curl.0.push(per_second(files.len(), time.as_secs_f64()));
            }
        }
        let time = raw::post(&self.tls, self.server.base(), bodies).await?;
        figures.raw.0.push(per_second(documents.len(), time.as_secs_f64()));
        let used = self.laboratory.send(&self.folder.path().join(format!("round-{round}")))?;
        figures.ours.0.push(per_second(documents.len(), used.time.as_secs_f64()));
        figures.cpu.0.push(used.cpu_seconds * 1e3 / per_second(documents.len(), 1.0));
        figures.resident.0.push(used.resident_mb);
        let one = self.laboratory.send(&self.folder.path().join(format!("one-{round}")))?;
        figures.first.0.push(one.time.as_secs_f64() * 1e3);
        Ok(())
    }

    /// New reports for a round in a folder, and one more in another.
    fn documents(&self, round: usize, reports: usize) -> Result<Vec<String>> {
        let first = u64::try_from(round * (reports + 1))?;
        let last = first + u64::try_from(reports)?;
        let documents: Vec<String> =
            (first..last).map(|seed| DocumentBuilder::new(seed).json()).collect();
        let folder = self.folder.path();
        written(&folder.join(format!("round-{round}")), &documents, documents.len())?;
        let one = [DocumentBuilder::new(last).json()];
        written(&folder.join(format!("one-{round}")), &one, 1)?;
        Ok(documents)
    }

    fn rows(&self, server: &str, figures: &Figures) -> Vec<Row> {
        let row = |what: &str, ours: Figure| Row {
            what: format!("{what}, {server}"),
            ours,
            ..Row::default()
        };
        let sent = || figures.ours.shown(0, "/s");
        let is_bare = matches!(self.server, Server::Bare(_));
        let mut rows = vec![Row {
            baseline: figures.raw.shown(0, "/s"),
            ratio: figures.ours.over(&figures.raw).shown(3, ""),
            bound: if is_bare { Bound::at_least(0.06, Some(0.15)) } else { None },
            ..row("send / raw POST, 8 connections", sent())
        }];
        if !figures.curl.0.is_empty() {
            rows.push(Row {
                baseline: figures.curl.shown(0, "/s"),
                ratio: figures.ours.over(&figures.curl).shown(0, "×"),
                bound: Bound::at_least(20.0, Some(60.0)),
                ..row("send / curl, one process a file", sent())
            });
        }
        rows.push(Row {
            bound: Bound::at_most(60.0, Some(30.0)),
            ..row("send, resident memory once opened", figures.resident.shown(1, " MB"))
        });
        rows.push(row("send, processor time a report", figures.cpu.shown(2, " ms")));
        let first = figures.first.shown(0, " ms");
        rows.push(row("send of one report (start, vault, handshake)", first));
        rows
    }
}

impl Server {
    fn base(&self) -> &str {
        match self {
            Self::Bare(bare) => &bare.base,
            Self::Authority(authority) => &authority.base,
        }
    }
}

/// The first of them as files of a folder.
pub(crate) fn written<T: AsRef<[u8]>>(
    folder: &Path,
    texts: &[T],
    count: usize,
) -> Result<Vec<PathBuf>> {
    std::fs::create_dir_all(folder)?;
    let mut files = Vec::new();
    for (index, text) in texts.iter().take(count).enumerate() {
        let file = folder.join(format!("{index:06}.json"));
        std::fs::write(&file, text)?;
        files.push(file);
    }
    Ok(files)
}
