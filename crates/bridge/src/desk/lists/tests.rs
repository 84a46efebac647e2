//! Counts at the filters of a list that is longer than what is read of it.

use std::path::Path;

use engine::{EngineDeps, Profile};
use fhir::Format;
use identity::SecretsKind;
use journal::NewSubmission;
use report::{Event, Person, Summary};

use super::*;

/// Those that came first, and what is read of a list.
const OLD: u64 = 4;
const READ: u32 = 10_000;

fn new(engine: &Engine, number: u64) -> NewSubmission {
    let is_old = number < OLD;
    let document = format!("{{\"_n\":{number}}}").into_bytes();
    let laboratory = if is_old { "Labor Nord" } else { "Labor Süd" };
    NewSubmission {
        file: format!("{number}.json"),
        format: Format::Json,
        digest: report::digest(&document),
        document,
        summary: Summary { laboratory: Some(laboratory.to_owned()), ..Summary::default() },
        identifier: format!("urn:uuid:{number:032x}"),
        endpoint: "somewhere".to_owned(),
        canonical: None,
        environment: None,
        first: if is_old { Event::Held } else { Event::Queued { due: engine.now() } },
        findings: Vec::new(),
        corrects: None,
        by: Person("test".to_owned()),
        at: engine.now(),
    }
}

fn take(engine: &Engine, numbers: std::ops::Range<u64>) {
    let pending: Vec<_> =
        numbers.map(|number| engine.journal().import_async(new(engine, number))).collect();
    for pending in pending {
        pending.wait().unwrap();
    }
}

fn opened(folder: &Path) -> Engine {
    let profile = Profile::create(folder, SecretsKind::Practice, Vec::new()).unwrap();
    Engine::create(profile, None, EngineDeps::default()).unwrap()
}

fn counted(engine: &Engine, query: &ListQuery) -> ListCountsView {
    let filter = filter_of(query, engine.now()).unwrap();
    counts(engine, None, &filter, Arrangement::of(query).unwrap()).unwrap()
}

#[test]
fn the_newest_10_000_are_counted_by_everything_and_all_of_them_by_group() {
    let root = tempfile::tempdir().unwrap();
    let engine = opened(&root.path().join("laboratory"));
    take(&engine, 0..u64::from(READ));
    let all = ListQuery::default();
    let counts = counted(&engine, &all);
    assert_eq!(counts.choices_counted, None, "these are all");
    assert_eq!(counts.states, [(StateCode::Held, 4), (StateCode::Queued, READ - 4)].into());

    take(&engine, u64::from(READ)..u64::from(READ) + 3);
    let counts = counted(&engine, &all);
    assert_eq!((counts.choices_counted, counts.at_least), (Some(READ), false));
    let groups = [
        (Group::NeedsAttention, 4),
        (Group::InProgress, READ - 1),
        (Group::Completed, 0),
        (Group::Closed, 0),
    ];
    assert_eq!(counts.groups, groups.into(), "the journal counts them all");
    // Of the four that came first, three are not among the newest.
    assert_eq!(counts.states, [(StateCode::Held, 1), (StateCode::Queued, READ - 1)].into());
    let laboratories: Vec<_> =
        counts.laboratories.iter().map(|one| (one.name.as_str(), one.count)).collect();
    assert_eq!(laboratories, [("Labor Süd", READ - 1), ("Labor Nord", 1)]);

    // Of a group that has fewer all are counted, however old.
    let of_group = ListQuery { group: Some("needs-attention".to_owned()), ..all.clone() };
    let counts = counted(&engine, &of_group);
    assert_eq!((counts.choices_counted, counts.at_least), (None, false));
    assert_eq!(counts.groups, groups.into());
    assert_eq!(counts.states, [(StateCode::Held, 4)].into());
    assert_eq!((counts.laboratories.len(), counts.laboratories[0].count), (1, 4));
    let of_group = ListQuery { group: Some("in-progress".to_owned()), ..all.clone() };
    let counts = counted(&engine, &of_group);
    assert_eq!(counts.choices_counted, None, "of those that wait there are not more");
    assert_eq!(counts.states, [(StateCode::Queued, READ - 1)].into());

    // Beside another filter nobody has counted the rest.
    let since = ListQuery { since: Some("2020-01-01T00:00:00Z".to_owned()), ..all };
    let counts = counted(&engine, &since);
    assert_eq!((counts.choices_counted, counts.at_least), (Some(READ), true));
    assert_eq!(counts.groups, [(Group::NeedsAttention, 1), (Group::InProgress, READ - 1)].into());
    let late = ListQuery { since: Some("2999-01-01T00:00:00Z".to_owned()), ..since };
    let counts = counted(&engine, &late);
    assert_eq!((counts.choices_counted, counts.at_least), (None, false), "none is left");
}
