//! Two endpoints that lead to one authority, after a restore: what went by the one may be at the
//! authority, and the certificate of the other is shown nothing of it.

use std::fs;

use crate::common::{House, anna, at, key, on, report, step};
use journal::{EndpointNote, Journal, NewSubmission, restore};
use report::{Event, SubmissionId};

use super::forgotten::{new, recovered, saying, take};

/// Where the other one leads, and what becomes of a report then.
const CASES: [(&str, &str); 2] =
    [("https://one.example/fhir/", "held"), ("https://two.example/fhir", "queued")];

/// Both are noted, the first with one address.
fn note(journal: &Journal, (first, second): (&str, &str), second_at: &str) {
    for (id, base) in [(first, "https://one.example/fhir"), (second, second_at)] {
        let (name, environment) = (id.to_owned(), "production".to_owned());
        let note = EndpointNote { name, base: base.to_owned(), environment };
        journal.note_endpoint(id, note).unwrap();
    }
}

fn decide(journal: &Journal, id: SubmissionId) -> &'static str {
    journal.decide_guarded(id, None, &anna(), at(50)).unwrap();
    journal.state(id).unwrap().code()
}

fn told(journal: &Journal, id: SubmissionId) -> Vec<String> {
    journal.detail(id).unwrap().messages.into_iter().map(|it| it.code).collect()
}

#[test]
fn what_was_lost_for_another_endpoint_of_the_same_authority_is_held() {
    for (other, expected) in CASES {
        let house = House::new();
        let to = |endpoint: &str, n| NewSubmission {
            endpoint: endpoint.to_owned(),
            identifier: format!("urn:uuid:attempt-{endpoint}-{n}"),
            ..saying('a', n)
        };
        house.journal.import(to("first", 1)).unwrap();
        let (_folder, journal) = recovered(house);
        note(&journal, ("first", "second"), other);
        let id = new(take(&journal, to("second", 2)));
        assert_eq!(decide(&journal, id), expected, "{other}");
        assert_eq!(told(&journal, id).contains(&"went-elsewhere".to_owned()), expected == "held");
    }
}

/// The disk has died, and the register with it.
fn after_a_dead_disk(other: &str) -> (tempfile::TempDir, Journal) {
    let house = House::new();
    let backups = house.folder.path().join("backups");
    let backup = house.journal.back_up_into(&backups, at(0)).unwrap().file;
    let path = house.path();
    let folder = house.leave();
    for name in ["journal.db", "journal.db-register"] {
        fs::remove_file(folder.path().join(name)).unwrap();
    }
    restore(&backup, &key(), &path, &on("first"), at(1)).unwrap();
    let journal = Journal::open(&path, &key()).unwrap();
    note(&journal, ("practice", "other"), other);
    (folder, journal)
}

/// A person decides about what is taken in then, and nobody is told that it goes by itself. What is
/// on hold for its errors goes on saying that it could not be compared.
#[test]
fn what_another_endpoint_may_have_sent_is_decided_by_a_person() {
    for (other, expected) in CASES {
        for first in [report(1).first, Event::Held] {
            let has_errors = first == Event::Held;
            let (_folder, journal) = after_a_dead_disk(other);
            let id = new(take(&journal, NewSubmission { first, ..report(1) }));
            for _ in 0..3 {
                decide(&journal, id);
            }
            if expected == "queued" {
                let expected = if has_errors { "held" } else { "queued" };
                assert_eq!(decide(&journal, id), expected);
                continue;
            }
            assert_eq!(decide(&journal, id), "held");
            assert!(!journal.goes_by_itself(id).unwrap());
            assert_eq!(told(&journal, id), ["journal-not-compared"]);
            let release = Event::Released { reason: "looked at".to_owned(), due: at(9) };
            let state = journal.record(step(id, release)).unwrap();
            assert_eq!(state.code(), "queued");
        }
    }
}
