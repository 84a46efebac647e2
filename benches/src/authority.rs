//! `labcourier-authority` alone: creating against an echo on the same server stack, and searching
//! with a thousand against a million stored documents, on each store.

mod cluster;
mod load;
mod requests;

use std::path::PathBuf;
use std::time::Instant;

use identity::{Identity, tls_client_config};
use rustls::ClientConfig;
use tempfile::TempDir;
use testkit::{DocumentBuilder, TestCa};

use self::cluster::Cluster;
use self::requests::{QUESTIONS, Reader};
use crate::bare::Bare;
use crate::programs::Authority;
use crate::table::{Bound, Figure, Row, Samples};
use crate::{Result, output, raw};

/// Documents that the store holds before anything is measured.
const SIZES: [u64; 2] = [1_000, 1_000_000];
/// Questions of one kind in a round; the round's figure is their median.
const ASKED: usize = 40;
/// Clients that search at the same time.
const CLIENTS: usize = 8;

/// Where the documents are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sqlite,
    Postgres,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }
}

/// A running authority with that many documents of one laboratory.
struct Loaded {
    kind: Kind,
    size: u64,
    authority: Authority,
    tls: ClientConfig,
    load_seconds: f64,
    stored_mb: f64,
    per_document: Option<load::PerDocument>,
    // Last, so that what uses them has ended when they go.
    _cluster: Option<Cluster>,
    _folder: TempDir,
}

/// Figures of one loaded authority.
#[derive(Default)]
struct Figures {
    echo: Samples,
    create: Samples,
    judged: Samples,
    pages: Samples,
    asked: Vec<Samples>,
}

/// Everything, interleaved: each round visits every store and size.
pub(crate) async fn measure(rounds: usize, reports: usize, most: u64) -> Result<Vec<Row>> {
    let trusted = TestCa::new("Bench");
    let echo = Bare::serve(&trusted).await?;
    let mut loaded = Vec::new();
    for kind in [Kind::Sqlite, Kind::Postgres] {
        for size in SIZES.map(|size| size.min(most)) {
            output::progress(&format!("loading {size} documents into {}", kind.name()));
            match Loaded::new(kind, size).await? {
                Some(one) => loaded.push(one),
                None => output::progress("PostgreSQL is not installed: its rows are left out"),
            }
        }
    }
    let mut figures: Vec<Figures> = loaded
        .iter()
        .map(|_| Figures { asked: vec![Samples::default(); QUESTIONS.len()], ..Figures::default() })
        .collect();
    let echo_tls = client_of(&trusted)?;
    for round in 0..rounds {
        for (one, figures) in loaded.iter().zip(&mut figures) {
            output::progress(&format!(
                "round {} of {rounds}: {} with {}",
                round + 1,
                one.kind.name(),
                one.size
            ));
            one.round(figures, (&echo.base, &echo_tls), round, reports).await?;
        }
    }
    Ok(rows(&loaded, &figures))
}

fn client_of(ca: &TestCa) -> Result<ClientConfig> {
    let client = Identity::import(&[ca.client("bench").pem().as_bytes()], None)?;
    let mut tls = tls_client_config(Some(&client), Some(&ca.pem()))?;
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(tls)
}

impl Loaded {
    /// `None`: this store is not installed.
    async fn new(kind: Kind, size: u64) -> Result<Option<Self>> {
        let folder = tempfile::tempdir()?;
        let data = folder.path().join("authority");
        let cluster = match kind {
            Kind::Sqlite => None,
            Kind::Postgres => match Cluster::start(folder.path())? {
                Some(cluster) => Some(cluster),
                None => return Ok(None),
            },
        };
        let store = cluster.as_ref().map(Cluster::url);
        // The first start makes the schema and the laboratory.
        drop(Authority::serve_on(&data, store.as_deref(), true)?);
        let began = Instant::now();
        let per_document = match &cluster {
            None => {
                load::sqlite(&data, size)?;
                None
            }
            Some(cluster) => Some(load::postgres(&cluster.url(), size).await?),
        };
        let load_seconds = began.elapsed().as_secs_f64();
        let authority = Authority::serve_on(&data, store.as_deref(), false)?;
        let pilot = |suffix: &str| data.join("pilot").join(format!("bench.{suffix}"));
        let password = std::fs::read_to_string(pilot("password"))?.trim().to_owned();
        let identity = Identity::import(&[&std::fs::read(pilot("p12"))?], Some(&password.into()))?;
        let ca = std::fs::read_to_string(data.join("ca.pem"))?;
        let mut tls = tls_client_config(Some(&identity), Some(&ca))?;
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        let stored_mb = folder_mb(folder.path().to_owned());
        Ok(Some(Self {
            kind,
            size,
            authority,
            tls,
            load_seconds,
            stored_mb,
            per_document,
            _cluster: cluster,
            _folder: folder,
        }))
    }

    async fn round(
        &self,
        figures: &mut Figures,
        echo: (&str, &ClientConfig),
        round: usize,
        reports: usize,
    ) -> Result<()> {
        let first = u64::try_from(round * reports)? + self.size * 1_000;
        let bodies: Vec<Vec<u8>> = (first..first + u64::try_from(reports)?)
            .map(|seed| raw::body(&DocumentBuilder::new(seed).json()))
            .collect::<Result<_>>()?;
        let per_second =
            |seconds: f64| f64::from(u32::try_from(reports).unwrap_or(u32::MAX)) / seconds;
        let time = raw::post(echo.1, echo.0, bodies.clone()).await?;
        figures.echo.0.push(per_second(time.as_secs_f64()));
        let reader = Reader::new(&self.tls, &self.authority.base, self.size).await?;
        let began = Instant::now();
        let time = raw::post(&self.tls, &self.authority.base, bodies).await?;
        figures.create.0.push(per_second(time.as_secs_f64()));
        reader.all_judged().await?;
        figures.judged.0.push(per_second(began.elapsed().as_secs_f64()));
        figures.pages.0.push(reader.pages_a_second(CLIENTS, ASKED).await?);
        for (question, samples) in QUESTIONS.iter().zip(&mut figures.asked) {
            samples.0.push(reader.median_ms(question, ASKED).await?);
        }
        Ok(())
    }
}

/// Size of everything under a folder, in MB.
fn folder_mb(folder: PathBuf) -> f64 {
    let mut bytes = 0_u64;
    let mut open = vec![folder];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(meta) if meta.is_dir() => open.push(entry.path()),
                Ok(meta) => bytes += meta.len(),
                Err(_) => {}
            }
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "shown in MB")]
    let mb = bytes as f64 / 1e6;
    mb
}

fn rows(loaded: &[Loaded], figures: &[Figures]) -> Vec<Row> {
    let mut rows = Vec::new();
    for (one, figures) in loaded.iter().zip(figures) {
        rows.push(Row {
            what: one.names("create / echo"),
            baseline: figures.echo.shown(0, "/s"),
            ours: figures.create.shown(0, "/s"),
            ratio: figures.create.over(&figures.echo).shown(3, ""),
            bound: match one.kind {
                Kind::Sqlite => Bound::at_least(0.10, Some(0.15)),
                Kind::Postgres => Bound::at_least(0.08, Some(0.15)),
            },
        });
    }
    for (pair, figures) in loaded.chunks(2).zip(figures.chunks(2)) {
        let ([small, large], [of_small, of_large]) = (pair, figures) else { continue };
        for (index, question) in QUESTIONS.iter().enumerate() {
            let (before, after) = (&of_small.asked[index], &of_large.asked[index]);
            let (name, sizes) = (question.name, format!("{} / {}", large.size, small.size));
            rows.push(Row {
                what: format!("{name}: {sizes}, {}", small.kind.name()),
                baseline: before.shown(2, " ms"),
                ours: after.shown(2, " ms"),
                ratio: after.over(before).shown(2, "×"),
                bound: Bound::at_most(2.0, Some(1.0)),
            });
        }
    }
    for (one, figures) in loaded.iter().zip(figures) {
        rows.extend(one.of_its_own(figures));
    }
    rows
}

impl Loaded {
    fn names(&self, what: &str) -> String {
        format!("{what}, {}, {} stored", self.kind.name(), self.size)
    }

    /// Rows without a baseline and without a bound.
    fn of_its_own(&self, figures: &Figures) -> Vec<Row> {
        let row = |what: &str, ours: Figure| Row { what: self.names(what), ours, ..Row::default() };
        let mut rows = vec![
            row("created and judged", figures.judged.shown(0, "/s")),
            row("pages of 50 changed since, 8 clients", figures.pages.shown(0, "/s")),
            row("resident memory", Figure::of(self.authority.resident_mb(), 0, " MB")),
            row("on disk before measuring", Figure::of(self.stored_mb, 0, " MB")),
            row("time to load it", Figure::of(self.load_seconds, 0, " s")),
        ];
        if let Some(stored) = self.per_document {
            rows.push(row("facts of a document", Figure::of(stored.facts as f64, 0, " B")));
            rows.push(row("body of a document", Figure::of(stored.body as f64, 0, " B")));
        }
        rows
    }
}
