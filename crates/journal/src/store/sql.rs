//! The hot statements. Their query plans are tested in `plans` below.

/// Columns of a row of the list, in the order that `cells::row` reads.
macro_rules! row_columns {
    () => {
        "s.id, s.file, s.summary, s.document_identifier, s.digest, s.identifier, s.endpoint, \
         s.format, s.state_json, s.receipt, s.errors, s.warnings, s.notices, s.corrects, \
         s.corrected_by, s.created, s.updated, s.attempts, s.erased, s.environment, \
         CASE WHEN EXISTS (SELECT 1 FROM submission n WHERE n.corrects = s.id) THEN \
          (WITH RECURSIVE newer (id, state, received) AS \
            (SELECT n.id, n.state, n.state_json ->> '$.received' FROM submission n \
              WHERE n.corrects = s.id \
             UNION ALL SELECT n.id, n.state, n.state_json ->> '$.received' \
              FROM newer CROSS JOIN submission n ON n.corrects = newer.id \
              WHERE newer.state IN ('superseded', 'withdrawn')) \
           SELECT max(CASE WHEN state IN ('held', 'queued', 'sending', 'unknown') THEN id \
            ELSE -id END) FROM newer WHERE state IN ('held', 'queued', 'sending', 'unknown') \
            OR (s.state IN ('held', 'unknown', 'in-progress') \
             AND (state IN ('in-progress', 'completed', 'failed', 'rejected') OR received))) \
         END"
    };
}

pub(crate) const SEED: &str = "SELECT value FROM fact WHERE name = 'seed'";
pub(crate) const NEW_FACTS: &str =
    "INSERT INTO fact (name, value) VALUES ('seed', ?1), ('revision', 0)";
pub(crate) const REVISION: &str = "SELECT value FROM fact WHERE name = 'revision'";
pub(crate) const REVISION_GROWS: &str = "UPDATE fact SET value = value + 1 WHERE name = 'revision'";

pub(crate) const NEW_SUBMISSION: &str = "INSERT INTO submission (created, updated, file, format, \
     endpoint, digest, identifier, document_identifier, summary, state, state_json, due, errors, \
     warnings, notices, corrects, canonical, environment) \
     VALUES (?1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)";
pub(crate) const NEW_DOCUMENT: &str =
    "INSERT INTO document (submission, size, content) VALUES (?1, ?2, ?3)";
pub(crate) const NEW_EVIDENCE: &str = "INSERT INTO evidence (submission, kind, at, http_status, \
     content_type, fault, digest, size, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
pub(crate) const LAST_EVENT: &str = "SELECT id, hash FROM event ORDER BY id DESC LIMIT 1";
/// The earliest and the latest time of the events after a number, and the last number.
pub(crate) const EVENT_TIMES: &str = "SELECT min(at), max(at), max(id) FROM event WHERE id > ?1";
pub(crate) const NEW_EVENT: &str = "INSERT INTO event (id, submission, at, person, code, event, \
     evidence, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
pub(crate) const SET_MESSAGES: &str = "INSERT INTO message (submission, origin, list) VALUES (?1, \
     ?2, ?3) ON CONFLICT (submission, origin) DO UPDATE SET list = excluded.list";
pub(crate) const MESSAGES: &str =
    "SELECT list FROM message WHERE submission = ?1 ORDER BY origin DESC";
pub(crate) const MESSAGES_BY_ORIGIN: &str =
    "SELECT origin, list FROM message WHERE submission = ?1";
pub(crate) const SUBJECT: &str =
    "SELECT state_json, digest, identifier, corrects FROM submission WHERE id = ?1";
pub(crate) const MOVE: &str = "UPDATE submission SET updated = ?2, state = ?3, state_json = ?4, \
     due = ?5, doubt_since = ?6, attempts = attempts + ?7 WHERE id = ?1";
/// Apart from [`MOVE`], which would write its index anew at each step.
pub(crate) const SET_RECEIPT: &str = "UPDATE submission SET receipt = ?2 WHERE id = ?1";
/// Apart from [`MOVE`]: where a column that refers to its own table may change, SQLite writes every
/// index of that table anew, also those of other columns.
pub(crate) const SET_SUCCESSOR: &str = "UPDATE submission SET corrected_by = ?2 WHERE id = ?1";
pub(crate) const COUNT_MESSAGES: &str =
    "UPDATE submission SET errors = ?2, warnings = ?3, notices = ?4 WHERE id = ?1";
pub(crate) const SENDING: &str =
    "SELECT id FROM submission WHERE state = 'sending' AND (?1 IS NULL OR endpoint = ?1)";

/// Writes at most ?1 pages of the index of words anew, without what was forgotten.
pub(crate) const MERGE_WORDS: &str = "INSERT INTO search (search, rank) VALUES ('merge', ?1)";
pub(crate) const FORGET_WORDS: &str = "DELETE FROM search WHERE rowid = ?1";
pub(crate) const NEW_WORDS: &str = "INSERT INTO search (rowid, identifiers, patient, file, \
     subject, message) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
/// Words of the open transaction, in memory: a step that is undone takes its own along.
pub(crate) const GATHER_WORDS: &str = "CREATE TEMP TABLE IF NOT EXISTS words (\
     id INTEGER PRIMARY KEY, stands INTEGER NOT NULL, \
     identifiers TEXT, patient TEXT, file TEXT, subject TEXT, message TEXT) STRICT";
pub(crate) const GATHERS_WORDS: &str = "SELECT 1 FROM sqlite_temp_schema WHERE name = 'words'";
pub(crate) const WORDS_GATHERED: &str = "SELECT 1 FROM temp.words LIMIT 1";
pub(crate) const GATHER_NEW: &str = "INSERT INTO temp.words \
     (id, stands, identifiers, patient, file, subject, message) VALUES (?1, 0, ?2, ?3, ?4, ?5, ?6) \
     ON CONFLICT (id) DO UPDATE SET identifiers = ?2, patient = ?3, file = ?4, subject = ?5, \
     message = ?6";
/// What has words that were not gathered in this transaction stands in the index.
pub(crate) const GATHER_FORGOTTEN: &str = "INSERT INTO temp.words (id, stands) VALUES (?1, 1) \
     ON CONFLICT (id) DO UPDATE SET identifiers = NULL";
pub(crate) const FORGET_GATHERED: &str =
    "DELETE FROM search WHERE rowid IN (SELECT id FROM temp.words WHERE stands)";
/// In the order of the numbers: at each that is smaller than the last FTS5 writes what it holds.
pub(crate) const WRITE_GATHERED: &str = "INSERT INTO search \
     (rowid, identifiers, patient, file, subject, message) \
     SELECT id, identifiers, patient, file, subject, message FROM temp.words \
     WHERE identifiers IS NOT NULL ORDER BY id";
pub(crate) const NOTHING_GATHERED: &str = "DELETE FROM temp.words";

/// What a report (?1) takes the place of.
pub(crate) const CORRECTS: &str = "SELECT corrects FROM submission WHERE id = ?1";
/// The sums keep SQLite from planning anew for every value, which would take twice as long as the
/// look itself.
pub(crate) const DUE: &str = "SELECT id, state_json, due, identifier, endpoint, corrects, \
     document_identifier FROM submission WHERE due IS NOT NULL AND due <= ?1 + 0 \
     ORDER BY due, id LIMIT ?2 + 0";
pub(crate) const DUE_BEYOND: &str = "SELECT id, state_json, due, identifier, endpoint, corrects, \
     document_identifier FROM submission WHERE due IS NOT NULL AND due > min(?1, ?2) \
     AND +state = ?3 AND (due > ?1 OR updated > ?2) ORDER BY due, id LIMIT ?4 + 0";
pub(crate) const NEXT_DUE: &str =
    "SELECT due FROM submission WHERE due IS NOT NULL ORDER BY due LIMIT 1";
/// The same for one endpoint (?3, ?1).
pub(crate) const DUE_AT: &str = "SELECT id, state_json, due, identifier, endpoint, corrects, \
     document_identifier FROM submission WHERE due IS NOT NULL AND due <= ?1 + 0 \
     AND endpoint = ?3 ORDER BY due, id LIMIT ?2 + 0";
pub(crate) const NEXT_DUE_AT: &str =
    "SELECT due FROM submission WHERE due IS NOT NULL AND endpoint = ?1 ORDER BY due LIMIT 1";
pub(crate) const OPEN_REPORTS: &str = "SELECT id, state_json, identifier, endpoint, created FROM \
     submission WHERE state IN ('sending', 'unknown', 'in-progress')";
/// Of one endpoint (?1): the oldest and the newest report on hold that may have arrived: a request
/// was made for it, or it had perhaps one before a restore (up to ?2). Of one with a receipt
/// everything is known.
pub(crate) const HELD_AFTER_REQUEST: &str = "SELECT min(created), max(created) FROM submission \
     WHERE state = 'held' AND endpoint = ?1 AND state_json ->> '$.attempt' > 0 \
     AND (attempts > 0 OR id <= ?2) AND receipt IS NULL";
/// Also with its letters all small or all large, as ready envelopes bring them: the authority may
/// take them for one.
pub(crate) const BY_IDENTIFIER: &str = "SELECT max(id) FROM submission \
     WHERE identifier IN (?1, lower(?1), 'urn:uuid:' || upper(substr(?1, 10)))";
/// To one endpoint (?2): where that wants the document's identifier, others know the report by the
/// same one.
pub(crate) const BY_IDENTIFIER_AT: &str = "SELECT max(id) FROM submission \
     WHERE identifier IN (?1, lower(?1), 'urn:uuid:' || upper(substr(?1, 10))) AND endpoint = ?2";
/// The same; of several the newest for which a request was made, or that may have had one before a
/// restore (up to ?3).
pub(crate) const MAY_HAVE_LEFT: &str = "SELECT id FROM submission \
     WHERE identifier IN (?1, lower(?1), 'urn:uuid:' || upper(substr(?1, 10))) AND endpoint = ?2 \
     ORDER BY (attempts > 0 OR id <= ?3) DESC, id DESC LIMIT 1";
/// A submission with this identifier (?1) of its attempt to an endpoint (?2) that is not completed:
/// it may have been sent since, also where it had an end, once what took its place was withdrawn.
pub(crate) const NOT_COMPLETED_BESIDE: &str = "SELECT 1 FROM submission \
     WHERE identifier IN (?1, lower(?1), 'urn:uuid:' || upper(substr(?1, 10))) AND endpoint = ?2 \
     AND state <> 'completed' LIMIT 1";
/// An attempt (?1) to deliver a content (?3) to an endpoint (?2).
pub(crate) const OF_ATTEMPT: &str =
    "SELECT max(id) FROM submission WHERE identifier = ?1 AND endpoint = ?2 AND +digest = ?3";
pub(crate) const SIBLINGS: &str = "SELECT other.id, other.state, \
     other.attempts > 0 AND other.receipt IS NULL, other.endpoint, one.endpoint \
     FROM submission AS one \
     JOIN submission AS other \
     ON other.identifier IN (one.identifier, lower(one.identifier), \
         'urn:uuid:' || upper(substr(one.identifier, 10))) \
     AND other.id <> one.id \
     WHERE one.id = ?1 ORDER BY other.id";
/// The newest submission of all.
pub(crate) const NEWEST_ID: &str = "SELECT coalesce(max(id), 0) FROM submission";
pub(crate) const BY_RECEIPT: &str = "SELECT max(id) FROM submission WHERE receipt = ?1";
pub(crate) const BY_RECEIPT_AT: &str = "SELECT id, identifier FROM submission \
     WHERE receipt = ?1 AND endpoint = ?2 ORDER BY id DESC";
pub(crate) const ACCEPTED_AT: &str =
    "SELECT 1 FROM submission WHERE receipt > '' AND endpoint = ?1 LIMIT 1";
pub(crate) const OPEN_ELSEWHERE: &str = "SELECT endpoint, count(*) FROM submission \
     WHERE state IN ('queued', 'sending', 'unknown', 'in-progress') AND endpoint <> ?1 \
     GROUP BY endpoint ORDER BY endpoint";
/// Submissions of one content: of these bytes (?1), or of what says the same (?2).
pub(crate) const OF_CONTENT: &str = "SELECT id FROM submission WHERE digest = ?1 OR canonical = ?2";
/// The same in one environment (?3), each with its endpoint.
pub(crate) const OF_CONTENT_AT: &str = "SELECT id, endpoint FROM submission \
     WHERE (digest = ?1 OR canonical = ?2) \
     AND (?3 IS NULL OR environment IS NULL OR environment = ?3)";
/// Other submissions of the content of one (?1) that were withdrawn, each with both endpoints.
pub(crate) const WITHDRAWN_OF_CONTENT: &str = "SELECT o.id, o.endpoint, s.endpoint \
     FROM submission s JOIN submission o ON o.digest = s.digest \
     WHERE s.id = ?1 AND o.id <> s.id AND o.state = 'withdrawn' \
     UNION SELECT o.id, o.endpoint, s.endpoint \
     FROM submission s JOIN submission o ON o.canonical = s.canonical \
     WHERE s.id = ?1 AND o.id <> s.id AND o.state = 'withdrawn'";
/// Submissions of documents with one identifier (?1) in one environment (?2), each with its
/// endpoint.
pub(crate) const OF_DOCUMENT: &str = "SELECT s.id, s.endpoint FROM submission s \
     WHERE s.document_identifier = ?1 \
     AND (?2 IS NULL OR s.environment IS NULL OR s.environment = ?2) ORDER BY s.id";
/// The endpoints of those that were taken in after a number (?3), with other contents than these
/// bytes (?4) and than what says the same (?5).
pub(crate) const VERSIONS_SINCE: &str = "SELECT endpoint FROM submission \
     WHERE document_identifier = ?1 AND id > ?3 \
     AND (?2 IS NULL OR environment IS NULL OR environment = ?2) \
     AND digest <> ?4 AND (?5 IS NULL OR canonical IS NOT ?5)";
/// What is compared of one of them (?1).
pub(crate) const RELATIVE: &str = "SELECT state_json, digest, canonical, erased IS NULL, updated, \
     endpoint FROM submission WHERE id = ?1";
/// The same of one report (?1), with other contents, in the states of a JSON array (?2), each with
/// both endpoints; where ?3 says so, later ones of the same content too. The plus sign keeps it on
/// the index of document identifiers.
pub(crate) const VERSIONS: &str = "SELECT o.id, o.state_json, o.summary, s.summary, o.endpoint, \
     s.endpoint FROM submission \
     s CROSS JOIN submission o ON o.document_identifier = s.document_identifier \
     WHERE s.id = ?1 AND o.id <> s.id \
     AND (o.environment IS NULL OR s.environment IS NULL OR o.environment = s.environment) \
     AND +o.state IN (SELECT value FROM json_each(?2)) \
     AND (?3 AND o.id > s.id OR o.digest <> s.digest \
     AND (s.canonical IS NULL OR o.canonical IS NOT s.canonical)) \
     AND (o.summary IS NOT NULL OR o.id > s.id) AND s.summary IS NOT NULL ORDER BY o.id";
pub(crate) const KNOWS_CONTENT: &str =
    "SELECT canonical IS NOT NULL OR erased IS NULL FROM submission WHERE id = ?1";
pub(crate) const SET_CANONICAL: &str =
    "UPDATE submission SET canonical = ?2 WHERE id = ?1 AND canonical IS NULL";
/// Submissions that took or are to take the place of another (?1).
pub(crate) const SUCCESSORS: &str = "SELECT id, state FROM submission WHERE corrects = ?1";
pub(crate) const TALLY: &str = "SELECT state, submissions FROM tally";
pub(crate) const DOUBTS_LONG: &str =
    "SELECT count(*) FROM submission WHERE state = 'unknown' AND doubt_since <= ?1";
pub(crate) const OVERDUE: &str =
    "SELECT count(*) FROM submission WHERE state = 'in-progress' AND doubt_since IS NOT NULL";
/// Reports that the authority of an endpoint (?1) should show to whoever may see ours: the newest
/// of a state (?2).
pub(crate) const WITNESSES: &str = "SELECT identifier FROM \
     (SELECT identifier, endpoint, receipt, state_json FROM submission WHERE state = ?2 \
      ORDER BY created DESC, id DESC LIMIT 1000) \
     WHERE endpoint = ?1 AND receipt > '' AND identifier <> ?3 \
     AND state_json ->> '$.not-found-since' IS NULL LIMIT 2";
/// Those of a state (?2) that were accepted and had been sent in a time (?4 to ?5), and those that
/// were sent before the report with the identifier ?3 by the order of the journal, and not after
/// ?6: a clock that was set back dates them after it. The last one sent comes first, with its place
/// in that order, and whether that is after the report itself. One whose answer was lost was stored
/// when it was sent, and not when it was found; of what a recovery has read back only the later
/// events are known.
pub(crate) const NEWEST_ACCEPTED: &str = "SELECT identifier, receipt, place, place > doubt FROM \
     (SELECT new.identifier, new.receipt, event.id AS place, event.at AS sent, \
        (SELECT max(event.id) FROM event JOIN submission ON event.submission = submission.id \
         WHERE submission.identifier = ?3 AND event.code = 'sending-started') AS doubt \
      FROM (SELECT id, identifier, endpoint, receipt FROM submission WHERE state = ?2 \
            ORDER BY created DESC, id DESC LIMIT 1000) AS new \
      JOIN event ON event.id = coalesce( \
        (SELECT max(id) FROM event WHERE submission = new.id AND code = 'sending-started'), \
        (SELECT max(id) FROM event WHERE submission = new.id AND code = 'accepted'), \
        (SELECT max(id) FROM event WHERE submission = new.id AND code = 'completed')) \
      WHERE new.endpoint = ?1 AND new.receipt > '' AND new.identifier <> ?3) \
     WHERE sent BETWEEN ?4 AND ?5 OR (sent BETWEEN ?4 AND ?6 AND place < doubt) \
     ORDER BY place DESC LIMIT 3";
/// The same of those that went out under an identifier other than their document's, or (?3) under
/// that one too.
pub(crate) const WITNESSES_BY_DOCUMENT: &str = "SELECT document_identifier, receipt FROM \
     (SELECT document_identifier, identifier, endpoint, receipt, state_json FROM submission \
      WHERE state = ?2 ORDER BY created DESC, id DESC LIMIT 1000) \
     WHERE endpoint = ?1 AND receipt > '' AND document_identifier > '' \
     AND (?3 OR identifier <> document_identifier) \
     AND state_json ->> '$.not-found-since' IS NULL LIMIT 2";
pub(crate) const HAS_ACCEPTED: &str = "SELECT 1 FROM submission WHERE state IN ('completed', \
     'in-progress') AND endpoint = ?1 AND receipt > '' LIMIT 1";
/// Whether one of these was not shown when it was asked for.
pub(crate) const HAS_HIDDEN: &str = "SELECT 1 FROM submission WHERE state = 'in-progress' \
     AND endpoint = ?1 AND receipt > '' AND state_json ->> '$.not-found-since' IS NOT NULL LIMIT 1";
/// Whether a report goes out under the identifier of its document.
pub(crate) const NAMED_AS_DOCUMENT: &str =
    "SELECT identifier = document_identifier FROM submission WHERE id = ?1";
pub(crate) const DOCUMENT: &str = "SELECT size, content FROM document WHERE submission = ?1";
pub(crate) const DOCUMENT_SIZE: &str = "SELECT size FROM document WHERE submission = ?1";
pub(crate) const EVIDENCE: &str = "SELECT id, kind, at, http_status, content_type, fault, digest, \
     size, body FROM evidence WHERE submission = ?1 ORDER BY id";
pub(crate) const TIMELINE: &str =
    "SELECT id, event, person, at, evidence FROM event WHERE submission = ?1 ORDER BY id";

pub(crate) const ROW: &str =
    concat!("SELECT ", row_columns!(), " FROM submission s WHERE s.id = ?1");
/// Where a page begins: the place of the submission that it follows, or, where there is none of
/// that number, of the nearest before it.
pub(crate) const KEYSET: &str =
    "SELECT created, id FROM submission WHERE id <= ?1 ORDER BY id DESC LIMIT 1";
/// Page of all states; keyset (?1, ?2), from ?3 on, before ?4, at most ?5.
pub(crate) const PAGE: &str = concat!(
    "SELECT ",
    row_columns!(),
    " FROM submission s \
     WHERE (s.created, s.id) < (?1, ?2) AND s.created >= ?3 AND s.created < ?4 \
     ORDER BY s.created DESC, s.id DESC LIMIT ?5"
);
/// Page of one state (?6); pages of several states are merged.
pub(crate) const PAGE_OF_STATE: &str = concat!(
    "SELECT ",
    row_columns!(),
    " FROM submission s \
     WHERE s.state = ?6 AND (s.created, s.id) < (?1, ?2) AND s.created >= ?3 AND s.created < ?4 \
     ORDER BY s.created DESC, s.id DESC LIMIT ?5"
);
/// The same of those that are in doubt, or in progress for too long.
pub(crate) const PAGE_OF_UNCLEAR: &str = concat!(
    "SELECT ",
    row_columns!(),
    " FROM submission s \
     WHERE s.state = ?6 AND (s.created, s.id) < (?1, ?2) AND s.created >= ?3 AND s.created < ?4 \
     AND s.doubt_since IS NOT NULL ORDER BY s.created DESC, s.id DESC LIMIT ?5"
);
/// Those of one state, the oldest first.
pub(crate) const OLDEST_OF_STATE: &str = concat!(
    "SELECT ",
    row_columns!(),
    " FROM submission s WHERE s.state = ?1 ORDER BY s.created, s.id"
);
/// What is counted of each from ?1 on, before ?2, newest first.
pub(crate) const FIGURES: &str = "SELECT created, updated, state, state_json, summary \
     FROM submission WHERE created >= ?1 AND created < ?2 ORDER BY created DESC, id DESC";
/// How many of a state (?1) came from ?2 on, before ?3.
pub(crate) const COUNT_OF_STATE_IN: &str =
    "SELECT count(*) FROM submission WHERE state = ?1 AND created >= ?2 AND created < ?3";
/// States in full of those.
pub(crate) const OF_STATE_IN: &str =
    "SELECT state_json FROM submission WHERE state = ?1 AND created >= ?2 AND created < ?3";
/// Matches of words (?1) below id ?2 in the states of a JSON array (?3), from ?4 on, before ?5,
/// newest first. The plus signs keep the walk on the index of words, which has the order.
pub(crate) const MATCHES: &str = concat!(
    "SELECT ",
    row_columns!(),
    " FROM search CROSS JOIN submission s ON s.id = search.rowid \
     WHERE search MATCH ?1 AND search.rowid < ?2 \
     AND +s.state IN (SELECT value FROM json_each(?3)) \
     AND +s.created >= ?4 AND +s.created < ?5 ORDER BY search.rowid DESC"
);
/// Numbers of a state (?1) below id ?2.
pub(crate) const NUMBERS: &str = "SELECT id FROM submission WHERE state = ?1 AND id < ?2";
/// Whether one submission (?2) has the words (?1).
pub(crate) const HAS_WORDS: &str = "SELECT 1 FROM search WHERE search MATCH ?1 AND rowid = ?2";

pub(crate) const SETTING: &str = "SELECT value FROM setting WHERE name = ?1";
pub(crate) const SET_SETTING: &str = "INSERT INTO setting (name, value) VALUES (?1, ?2) \
     ON CONFLICT (name) DO UPDATE SET value = excluded.value";
/// From a name (?1) to another (?2).
pub(crate) const SETTINGS: &str =
    "SELECT name, value FROM setting WHERE name >= ?1 AND name < ?2 ORDER BY name";
pub(crate) const REMOVE_SETTING: &str = "DELETE FROM setting WHERE name = ?1";
pub(crate) const LEASE: &str = "SELECT holder, token, until FROM lease WHERE id = 1";
pub(crate) const SET_LEASE: &str = "INSERT INTO lease (id, holder, token, until) VALUES (1, ?1, \
     ?2, ?3) ON CONFLICT (id) DO UPDATE SET holder = excluded.holder, token = excluded.token, \
     until = excluded.until";

/// Settled submissions of a state (?1), last changed before ?2, not yet erased.
pub(crate) const ERASABLE: &str =
    "SELECT id FROM submission WHERE state = ?1 AND updated < ?2 AND erased IS NULL LIMIT ?3";
/// How many these are in all.
pub(crate) const COUNT_ERASABLE: &str =
    "SELECT count(*) FROM submission WHERE state = ?1 AND updated < ?2 AND erased IS NULL";
/// All that retention has erased.
pub(crate) const ERASED: &str = "SELECT id FROM submission WHERE erased IS NOT NULL";
pub(crate) const ERASE_SUBMISSION: &str =
    "UPDATE submission SET erased = ?2, summary = NULL, file = '' WHERE id = ?1";
pub(crate) const ERASE_DOCUMENT: &str = "DELETE FROM document WHERE submission = ?1";
/// All bodies but the one behind the last event that has one.
pub(crate) const ERASE_EVIDENCE: &str = "UPDATE evidence SET body = NULL WHERE submission = ?1 AND \
     body IS NOT NULL AND id IS NOT (SELECT evidence FROM event WHERE submission = ?1 AND evidence \
      IS NOT NULL ORDER BY id DESC LIMIT 1)";

#[cfg(test)]
mod plans;
