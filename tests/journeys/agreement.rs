//! The authority of the seeded world answers as the real one does: the same questions in the same
//! order, through the real client over mutual TLS, and beside it to the simulated one. What the
//! world proves of the worker is worth as much as this.

use std::time::{Duration, Instant};

use client::{Authority as _, Fault, HttpAuthority};
use exchange::{Answer, Envelope, Processing, wrap};
use fhir::{Format, Limits, Tree};
use journeys::Authority;
use journeys::outage::{endpoint, patient, pilot};
use testkit::DocumentBuilder;
use world::Alone;

/// Longest wait for the real authority's verdicts.
const PATIENCE: Duration = Duration::from_secs(60);
/// All verdicts of the simulated one are given by then.
const LONG: i64 = 10_000;

/// What both must agree on in an answer: whether it is final, and whose it is.
#[derive(Debug, PartialEq, Eq)]
struct Facts {
    /// Which submission, by its order; `None` where the receipt is unknown.
    which: Option<usize>,
    is_final: Option<bool>,
    names_its_identifier: bool,
    is_dated: bool,
}

/// One of the two: its receipts and identifiers in order of submission.
#[derive(Default)]
struct Side {
    receipts: Vec<String>,
    identifiers: Vec<String>,
}

impl Side {
    fn facts(&self, answer: &Answer) -> Facts {
        let receipt = answer.receipt.as_deref().unwrap_or_default();
        let which = self.receipts.iter().position(|known| known == receipt);
        Facts {
            which,
            is_final: answer.processing.map(|status| status != Processing::InProgress),
            names_its_identifier: which
                .is_some_and(|which| answer.identifiers.contains(&self.identifiers[which])),
            is_dated: answer.date.is_some() && answer.last_updated.is_some(),
        }
    }

    fn all(&self, answers: &[Answer]) -> Vec<Facts> {
        let mut facts: Vec<_> = answers.iter().map(|answer| self.facts(answer)).collect();
        facts.sort_by_key(|facts| facts.which);
        facts
    }
}

fn wrapped(document: &str, identifier: &str) -> Envelope {
    let tree = Tree::read(document.as_bytes(), Format::Json, &Limits::default()).unwrap();
    wrap(&tree, identifier, "de-CH").unwrap()
}

struct Both {
    client: HttpAuthority,
    alone: Alone,
    real: Side,
    simulated: Side,
}

impl Both {
    async fn submit(&mut self, seed: u64, identifier: &str) {
        let wrapped = wrapped(&DocumentBuilder::new(seed).json(), identifier);
        let received = self.client.submit(&wrapped).await.unwrap();
        let answer = self.alone.accept(identifier);
        for (side, answer) in [(&mut self.real, &received.answer), (&mut self.simulated, &answer)] {
            side.receipts.push(answer.receipt.clone().expect("accepted"));
            side.identifiers.push(identifier.to_owned());
            let facts = side.facts(answer);
            assert_eq!(facts.which, Some(side.receipts.len() - 1), "a receipt of its own");
        }
        assert_eq!(received.answer.processing, Some(Processing::InProgress));
    }

    /// Until the real one has given all its verdicts.
    async fn settle(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        self.alone.pass(LONG);
        for receipt in &self.real.receipts {
            while self.client.status(receipt).await.unwrap().answer.processing
                == Some(Processing::InProgress)
            {
                assert!(Instant::now() < deadline, "the authority has processed everything");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }

    async fn compare(&self) -> usize {
        let mut compared = 0;
        for index in 0..self.real.receipts.len() {
            let (real, simulated) = (&self.real.receipts[index], &self.simulated.receipts[index]);
            let read = self.client.status(real).await.unwrap().answer;
            let beside = self.alone.status(simulated).expect("stored");
            assert_eq!(self.real.facts(&read), self.simulated.facts(&beside), "read {index}");
            let identifier = &self.real.identifiers[index];
            let found = self.client.find(identifier).await.unwrap().answers;
            let beside = self.alone.find(identifier);
            assert_eq!(self.real.all(&found), self.simulated.all(&beside), "find {index}");
            compared += 2;
        }
        // From before everything, from each change on, and from just after it.
        let real = self.changes(None).await;
        let simulated = self.alone.changed_since(None);
        assert_eq!(self.real.all(&real), self.simulated.all(&simulated));
        for index in 0..self.real.receipts.len() {
            let at = |side: &Side, answers: &[Answer]| {
                let receipt = Some(&side.receipts[index]);
                let answer = answers.iter().find(|answer| answer.receipt.as_ref() == receipt);
                answer.and_then(|answer| answer.last_updated).expect("dated")
            };
            let (since, beside) = (at(&self.real, &real), at(&self.simulated, &simulated));
            for later in [0, 1] {
                let real = self.changes(Some(since.plus_micros(later))).await;
                let simulated = self.alone.changed_since(Some(beside.plus_micros(later)));
                // Which came later differs where verdicts overtake each other; whether each side
                // follows its own times does not.
                for (side, answers, since) in
                    [(&self.real, &real, since), (&self.simulated, &simulated, beside)]
                {
                    let here = answers.iter().any(|a| side.facts(a).which == Some(index));
                    assert_eq!(here, later == 0, "a search for changes includes its own moment");
                    let late = |a: &Answer| a.last_updated >= Some(since.plus_micros(later));
                    assert!(answers.iter().all(late), "nothing older");
                }
                compared += 1;
            }
        }
        compared
    }

    async fn changes(&self, since: Option<fhir::Instant>) -> Vec<Answer> {
        let changes = self.client.changed_since(since).await.unwrap();
        assert!(changes.incomplete.is_none(), "{:?}", changes.incomplete);
        changes.answers
    }
}

/// The two of them, empty; the real one gives its verdicts after this time.
async fn both(data: &std::path::Path, delay: &str) -> (Both, Authority) {
    Authority::init(data);
    let authority = Authority::serve(data, &["--processing-delay", delay]);
    let ca = std::fs::read_to_string(authority.ca()).unwrap();
    let endpoint = endpoint(&authority.base, &ca);
    let client = HttpAuthority::with_limits(&endpoint, Some(&pilot(data)), patient());
    let both = Both {
        client: client.unwrap(),
        // A seed with which nothing is final at once.
        alone: Alone::new(2),
        real: Side::default(),
        simulated: Side::default(),
    };
    (both, authority)
}

fn identifier(number: u64) -> String {
    format!("urn:uuid:00000000-0000-4000-8000-{number:012}")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_simulated_authority_answers_as_the_real_one_while_reports_are_in_progress() {
    let data = tempfile::tempdir().unwrap();
    let (mut both, _authority) = both(data.path(), "1h").await;
    // Nothing is known of what was never sent.
    assert!(both.client.find(&identifier(99)).await.unwrap().answers.is_empty());
    assert!(both.alone.find(&identifier(99)).is_empty());
    assert!(both.changes(None).await.is_empty() && both.alone.changed_since(None).is_empty());
    let unknown = both.client.status("00000000-0000-4000-8000-000000000000").await;
    assert!(matches!(unknown, Err(Fault::Transient { .. })), "as the link says it: {unknown:?}");
    assert!(both.alone.status("nobody").is_none());
    for number in 0..6 {
        both.submit(number, &identifier(number)).await;
    }
    // A blind resend: both store the same identifier twice, and show both.
    both.submit(5, &identifier(5)).await;
    assert_eq!(both.alone.find(&identifier(5)).len(), 2);
    // A refusal leaves nothing behind.
    let broken = DocumentBuilder::new(7).json().replace("\"gender\"", "\"gendr\"");
    let refused = both.client.submit(&wrapped(&broken, &identifier(7))).await;
    let Err(Fault::Refused { answer, .. }) = refused else { panic!("{refused:?}") };
    assert!(answer.receipt.is_none() && !answer.issues.is_empty());
    assert!(both.client.find(&identifier(7)).await.unwrap().answers.is_empty());
    assert!(both.compare().await >= 20, "answers were compared");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_simulated_authority_answers_as_the_real_one_once_all_is_final() {
    let data = tempfile::tempdir().unwrap();
    let (mut both, _authority) = both(data.path(), "0s").await;
    for number in 0..6 {
        both.submit(number, &identifier(number)).await;
    }
    both.settle().await;
    assert!(both.compare().await >= 20, "answers were compared");
}
