//! Which index a statement reads along, and into which it writes.

use super::*;

fn plan(statement: &str) -> String {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    connection.execute_batch(include_str!("../../../schema/full.sql")).unwrap();
    let mut query = connection.prepare(&format!("EXPLAIN QUERY PLAN {statement}")).unwrap();
    let parameters = query.parameter_count();
    let steps = query
        .query_map(rusqlite::params_from_iter(vec![1_i64; parameters]), |row| {
            row.get::<_, String>(3)
        })
        .unwrap();
    steps.map(Result::unwrap).collect::<Vec<_>>().join(" | ")
}

#[test]
fn hot_statements_use_their_index_and_never_sort() {
    for (statement, index) in [
        (DUE, "submission_due"),
        (DUE_AT, "submission_due"),
        (NEXT_DUE, "submission_due"),
        (PAGE, "submission_created"),
        (PAGE_OF_STATE, "submission_state"),
        (PAGE_OF_UNCLEAR, "submission_state"),
        (OLDEST_OF_STATE, "submission_state"),
        (FIGURES, "submission_created"),
        (COUNT_OF_STATE_IN, "COVERING INDEX submission_state"),
        (OPEN_REPORTS, "submission_state"),
        (HELD_AFTER_REQUEST, "submission_state"),
        (SENDING, "submission_state"),
        (DOUBTS_LONG, "submission_state"),
        (OVERDUE, "submission_state"),
        (ERASABLE, "submission_state"),
        (COUNT_ERASABLE, "submission_state"),
        (BY_IDENTIFIER, "submission_identifier"),
        (BY_IDENTIFIER_AT, "submission_identifier"),
        (OF_ATTEMPT, "submission_identifier"),
        (NOT_COMPLETED_BESIDE, "submission_identifier"),
        (BY_RECEIPT, "submission_receipt"),
        (BY_RECEIPT_AT, "submission_receipt"),
        (ACCEPTED_AT, "submission_receipt"),
        (DUE_BEYOND, "submission_due"),
        (OF_CONTENT, "submission_canonical"),
        (OF_CONTENT, "submission_digest"),
        (OF_CONTENT_AT, "submission_canonical"),
        (WITHDRAWN_OF_CONTENT, "submission_digest"),
        (WITHDRAWN_OF_CONTENT, "submission_canonical"),
        (OF_DOCUMENT, "submission_document"),
        (VERSIONS_SINCE, "submission_document"),
        (VERSIONS, "submission_document"),
        (SUCCESSORS, "submission_corrects"),
        (TIMELINE, "event_submission"),
        (EVIDENCE, "evidence_submission"),
        (MATCHES, "VIRTUAL TABLE"),
        (HAS_WORDS, "VIRTUAL TABLE"),
        (NUMBERS, "submission_state"),
        (SUBJECT, "INTEGER PRIMARY KEY"),
        (CORRECTS, "INTEGER PRIMARY KEY"),
        (ROW, "INTEGER PRIMARY KEY"),
        (NAMED_AS_DOCUMENT, "INTEGER PRIMARY KEY"),
        (MOVE, "INTEGER PRIMARY KEY"),
        (MESSAGES, "PRIMARY KEY"),
        (DOCUMENT, "INTEGER PRIMARY KEY"),
        (SETTINGS, "PRIMARY KEY"),
    ] {
        let plan = plan(statement);
        assert!(plan.contains(index), "{statement}\n{plan}");
        assert!(!plan.contains("TEMP B-TREE"), "{statement}\n{plan}");
        let searched = plan
            .replace("SCAN search VIRTUAL TABLE", "")
            .replace("SCAN json_each VIRTUAL TABLE", "")
            // What it has just found of a chain of corrections.
            .replace("SCAN newer", "");
        let scan_by_index = statement == NEXT_DUE;
        assert!(scan_by_index || !searched.contains("SCAN"), "{statement}\n{plan}");
    }
}

/// Indices of submissions into which a statement writes.
fn indices_written(statement: &str) -> Vec<String> {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    connection.execute_batch(include_str!("../../../schema/full.sql")).unwrap();
    connection.execute_batch("PRAGMA foreign_keys = ON").unwrap();
    let mut query = connection.prepare(&format!("EXPLAIN {statement}")).unwrap();
    let parameters = query.parameter_count();
    let steps = query
        .query_map(rusqlite::params_from_iter(vec![1_i64; parameters]), |row| {
            Ok((row.get::<_, String>(1)?, row.get::<_, i64>(2)?, row.get::<_, i64>(3)?))
        })
        .unwrap()
        .map(Result::unwrap)
        .collect::<Vec<_>>();
    let name = |root: i64| -> String {
        let of = "SELECT name FROM sqlite_schema WHERE rootpage = ?1";
        connection.query_row(of, [root], |row| row.get(0)).unwrap()
    };
    let written =
        |cursor: i64| steps.iter().any(|(code, of, _)| code == "IdxInsert" && *of == cursor);
    let mut names: Vec<String> = steps
        .iter()
        .filter(|(code, cursor, _)| code == "OpenWrite" && written(*cursor))
        .map(|(_, _, root)| name(*root))
        .filter(|name| name.starts_with("submission_"))
        .collect();
    names.sort();
    names
}

/// A report takes several steps, and an index over values without an order, as digests are,
/// costs a page of its own for each entry.
#[test]
fn a_step_writes_into_no_index_whose_columns_it_leaves_as_they_are() {
    assert_eq!(indices_written(MOVE), ["submission_due", "submission_state"]);
    assert_eq!(indices_written(SET_RECEIPT), ["submission_receipt"]);
    for statement in [COUNT_MESSAGES, ERASE_SUBMISSION] {
        assert_eq!(indices_written(statement), Vec::<String>::new(), "{statement}");
    }
    assert_eq!(indices_written(NEW_SUBMISSION).len(), 9);
}

#[test]
fn the_last_event_is_found_from_the_end() {
    assert_eq!(plan(LAST_EVENT), "SCAN event");
    assert!(LAST_EVENT.contains("ORDER BY id DESC LIMIT 1"));
}
