//! Journals that are made for measuring.

use std::ops::RangeInclusive;
use std::path::Path;

use fhir::{Format, Instant};
use journal::{Evidence, EvidenceKind, Journal, Key, NewSubmission, Step};
use report::{Event, Person, SubmissionId, Summary, digest};
use rusqlite::Connection;
use testkit::DocumentBuilder;

use crate::{Result, output};

/// The newest submission is as old as this.
pub(crate) const NOW: Instant = Instant::from_seconds(1_800_000_000);
/// A word that every tenth report has.
pub(crate) const COMMON_WORD: &str = "salmonella";
const TEN_YEARS_MICROS: u64 = 3_652 * 86_400_000_000;
/// Steps that are written together.
const TOGETHER: u64 = 64;
/// Different documents: the others differ from one of these in their beginning only.
const DOCUMENTS: u64 = 256;
const TOLD_EVERY: u64 = 100_000;
const KEY: [u8; 32] = [7; 32];

pub(crate) fn key() -> Key {
    Key::new(zeroize::Zeroizing::new(KEY))
}

/// The statement that opens such a journal past the journal's own code.
pub(crate) fn key_statement() -> String {
    let key: String = KEY.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("PRAGMA key = \"x'{key}'\"")
}

/// What a made journal is like.
#[derive(Debug, Clone)]
pub(crate) struct Making {
    /// Its submissions: their dates are ten years long.
    pub(crate) of: u64,
    /// When the newest was taken in.
    pub(crate) newest: Instant,
    /// Id of the endpoint to which they went, and its environment.
    pub(crate) endpoint: String,
    pub(crate) environment: String,
    /// Whether some are in progress still; where not, they are completed.
    pub(crate) has_open: bool,
}

impl Making {
    /// A journal that nobody follows.
    pub(crate) fn bare(of: u64) -> Self {
        let (endpoint, environment) = ("bench".to_owned(), "integration".to_owned());
        Self { of, newest: NOW, endpoint, environment, has_open: true }
    }

    /// When the so-manieth was taken in.
    pub(crate) fn created(&self, number: u64) -> Instant {
        let age = u128::from(TEN_YEARS_MICROS) * u128::from(self.of.saturating_sub(number))
            / u128::from(self.of.max(1));
        Instant(self.newest.0 - i64::try_from(age).unwrap_or(i64::MAX))
    }

    /// Adds those: of a hundred one is on hold, one was rejected, one has failed, two are in
    /// progress, and the others are completed.
    pub(crate) fn add(&self, journal: &Journal, numbers: RangeInclusive<u64>) -> Result<()> {
        let documents: Vec<String> =
            (0..DOCUMENTS).map(|seed| DocumentBuilder::new(seed).json()).collect();
        let (mut next, last) = numbers.into_inner();
        while next <= last {
            let group: Vec<u64> = (next..=last.min(next + TOGETHER - 1)).collect();
            next += TOGETHER;
            let pending: Vec<_> = group
                .iter()
                .map(|number| journal.import_async(self.submission(*number, &documents)))
                .collect();
            let mut open = Vec::new();
            for (number, pending) in group.iter().zip(pending) {
                let id = pending.wait()?;
                if number % 100 != 0 {
                    open.push((*number, id));
                }
            }
            for step in [Self::sending, Self::answered, Self::ended] {
                let steps = open.iter().filter_map(|(number, id)| step(self, *number, *id));
                let pending: Vec<_> = steps.map(|step| journal.record_async(step)).collect();
                for pending in pending {
                    pending.wait()?;
                }
            }
            if group.iter().any(|number| number % TOLD_EVERY == 0) {
                output::progress(&format!("{} of {last}", next - 1));
            }
        }
        Ok(())
    }

    fn submission(&self, number: u64, documents: &[String]) -> NewSubmission {
        let at = usize::try_from(number % DOCUMENTS).unwrap_or_default();
        let text = documents.get(at).map_or("{}", String::as_str);
        let document = text.replacen('{', &format!("{{\"_n\":\"{number}\","), 1).into_bytes();
        let digest = digest(&document);
        let subject =
            if number.is_multiple_of(10) { "Salmonella enterica" } else { "Borrelia burgdorferi" };
        let summary = Summary {
            identifier: Some(format!("urn:uuid:{}", uuid::Uuid::new_v4())),
            patient: Some(format!("Muster{number}, Anna")),
            birth_date: Some("1980-02-03".to_owned()),
            subject: Some(subject.to_owned()),
            laboratory: Some("Labor Süd".to_owned()),
            ..Summary::default()
        };
        let at = self.created(number);
        NewSubmission {
            file: format!("befund-{number}.json"),
            format: Format::Json,
            canonical: Some(digest.chars().rev().collect()),
            digest,
            document,
            summary,
            identifier: format!("urn:uuid:{}", uuid::Uuid::now_v7()),
            endpoint: self.endpoint.clone(),
            environment: Some(self.environment.clone()),
            first: if number.is_multiple_of(100) { Event::Held } else { Event::Queued { due: at } },
            findings: Vec::new(),
            corrects: None,
            by: Person("bench".to_owned()),
            at,
        }
    }

    fn sending(&self, number: u64, id: SubmissionId) -> Option<Step> {
        let at = self.created(number);
        Some(Step::new(id, Event::SendingStarted { since: at }, Person("bench".to_owned()), at))
    }

    fn answered(&self, number: u64, id: SubmissionId) -> Option<Step> {
        let at = self.created(number);
        let event = match number % 100 {
            1 => Event::Rejected,
            _ => Event::Accepted { receipt: receipt(number), since: at, due: at },
        };
        Some(proven(Step::new(id, event, Person("bench".to_owned()), at), EvidenceKind::Create))
    }

    fn ended(&self, number: u64, id: SubmissionId) -> Option<Step> {
        let event = match number % 100 {
            1 => return None,
            2..=3 if self.has_open => return None,
            4 => Event::Failed { receipt: receipt(number) },
            _ => Event::Completed { receipt: receipt(number) },
        };
        let at = self.created(number);
        Some(proven(Step::new(id, event, Person("bench".to_owned()), at), EvidenceKind::Search))
    }
}

/// A journal of so many submissions with ten years of dates.
pub(crate) fn journal(path: &Path, count: u64) -> Result<()> {
    let journal = Journal::create(path, &key())?;
    Making::bare(count).add(&journal, 1..=count)?;
    journal.close();
    Ok(())
}

/// In no order, as those of an authority are: the number times an odd one, which repeats none.
fn receipt(number: u64) -> String {
    format!("{:032x}", u128::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835))
}

fn proven(mut step: Step, kind: EvidenceKind) -> Step {
    step.issues = Some(Vec::new());
    step.evidence = Some(Evidence {
        kind,
        at: step.at,
        http_status: Some(201),
        content_type: Some("application/fhir+json".to_owned()),
        body: vec![b'x'; 500],
        fault: None,
    });
    step
}

/// The same data without encryption.
pub(crate) fn plain(journal: &Path, plain: &Path) -> Result<()> {
    let connection = Connection::open(journal)?;
    connection.execute_batch(&key_statement())?;
    connection.execute("ATTACH ?1 AS plain KEY ''", [plain.to_string_lossy()])?;
    connection.query_row("SELECT sqlcipher_export('plain')", [], |_| Ok(()))?;
    connection.execute_batch("DETACH plain")?;
    Ok(())
}
