-- The schema as the sum of all migrations gives it; a test compares the two.
-- Points of time are microseconds since 1970-01-01T00:00:00Z.

-- Facts about this journal.
CREATE TABLE fact (
    name TEXT PRIMARY KEY,  -- 'seed': random start of the chain; 'revision': grows with every change
    value ANY NOT NULL
) STRICT, WITHOUT ROWID;

-- One report on its way to one endpoint. Small on purpose: lists read many of these.
CREATE TABLE submission (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    created INTEGER NOT NULL,        -- taken in at
    updated INTEGER NOT NULL,        -- last event
    file TEXT NOT NULL,              -- name or path as shown; empty once erased (names may name patients)
    format TEXT NOT NULL CHECK (format IN ('json', 'xml')),
    endpoint TEXT NOT NULL,          -- name of the endpoint it goes to
    digest TEXT NOT NULL CHECK (length(digest) = 64),  -- SHA-256 of the received bytes, hex
    identifier TEXT NOT NULL,        -- of the attempt to deliver; not unique: a setting allows the document's own
    document_identifier TEXT,        -- Bundle.identifier.value
    summary TEXT CHECK (summary IS NULL OR json_valid(summary)),  -- report::Summary; NULL once erased
    state TEXT NOT NULL CHECK (state IN ('held', 'queued', 'sending', 'unknown', 'in-progress',
        'completed', 'rejected', 'failed', 'withdrawn', 'superseded')),
    state_json TEXT NOT NULL CHECK (json_valid(state_json)),      -- report::State in full
    due INTEGER,                     -- something is owed from then on (State::duty)
    doubt_since INTEGER,             -- of an unknown: in doubt since
    receipt TEXT,                    -- the authority's id; kept when superseded
    attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),    -- requests begun
    errors INTEGER NOT NULL DEFAULT 0,    -- messages by severity, ours and the authority's
    warnings INTEGER NOT NULL DEFAULT 0,
    notices INTEGER NOT NULL DEFAULT 0,
    corrects INTEGER REFERENCES submission (id),      -- takes the place of
    corrected_by INTEGER REFERENCES submission (id),  -- its place was taken by
    erased INTEGER                   -- retention removed document, summary and words at
, canonical TEXT CHECK (canonical IS NULL OR length(canonical) = 64), environment TEXT) STRICT;

CREATE INDEX submission_created ON submission (created, id);
CREATE INDEX submission_state ON submission (state, created, id);
CREATE INDEX submission_due ON submission (due, id) WHERE due IS NOT NULL;
CREATE INDEX submission_identifier ON submission (identifier);
CREATE INDEX submission_digest ON submission (digest);
CREATE INDEX submission_document ON submission (document_identifier) WHERE document_identifier IS NOT NULL;
CREATE INDEX submission_receipt ON submission (receipt) WHERE receipt IS NOT NULL;
CREATE INDEX submission_canonical ON submission (canonical) WHERE canonical IS NOT NULL;
CREATE INDEX submission_corrects ON submission (corrects) WHERE corrects IS NOT NULL;

-- The received bytes. Apart from submission, so that lists never read over them.
CREATE TABLE document (
    submission INTEGER PRIMARY KEY REFERENCES submission (id),
    size INTEGER NOT NULL CHECK (size >= 0),  -- bytes as received
    content BLOB NOT NULL                     -- zstd
) STRICT;

-- Findings and issues, one row per origin, replaced as a whole.
CREATE TABLE message (
    submission INTEGER NOT NULL REFERENCES submission (id),
    origin TEXT NOT NULL CHECK (origin IN ('authority', 'check')),
    list TEXT NOT NULL CHECK (json_valid(list)),  -- array of journal::Message
    PRIMARY KEY (submission, origin)
) STRICT, WITHOUT ROWID;

-- Answers of the authority as they came.
CREATE TABLE evidence (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    submission INTEGER NOT NULL REFERENCES submission (id),
    kind TEXT NOT NULL CHECK (kind IN ('create', 'search', 'read')),
    at INTEGER NOT NULL,
    http_status INTEGER,
    content_type TEXT,
    fault TEXT,                               -- code of the fault, where there was no answer
    digest TEXT NOT NULL CHECK (length(digest) = 64),  -- SHA-256 of the body as it came, hex
    size INTEGER NOT NULL CHECK (size >= 0),  -- bytes as it came
    body BLOB                                 -- zstd; NULL once erased
) STRICT;

CREATE INDEX evidence_submission ON evidence (submission, id);

CREATE TRIGGER evidence_is_kept BEFORE DELETE ON evidence
BEGIN
    SELECT RAISE(ABORT, 'evidence is append-only');
END;

CREATE TRIGGER evidence_is_not_replaced BEFORE INSERT ON evidence
WHEN EXISTS (SELECT 1 FROM evidence WHERE id = NEW.id)
BEGIN
    SELECT RAISE(ABORT, 'evidence is append-only');
END;

-- The one permitted change: retention removes the body of a submission that it has erased.
CREATE TRIGGER evidence_is_unchanged BEFORE UPDATE ON evidence
WHEN NEW.body IS NOT NULL
    OR (SELECT erased FROM submission WHERE id = OLD.submission) IS NULL
    OR (NEW.id, NEW.submission, NEW.kind, NEW.at, NEW.digest, NEW.size)
        IS NOT (OLD.id, OLD.submission, OLD.kind, OLD.at, OLD.digest, OLD.size)
    OR (NEW.http_status, NEW.content_type, NEW.fault)
        IS NOT (OLD.http_status, OLD.content_type, OLD.fault)
BEGIN
    SELECT RAISE(ABORT, 'evidence is append-only');
END;

-- What happened, in order. Replaying the events of a submission gives its state.
CREATE TABLE event (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- order over the whole journal
    submission INTEGER NOT NULL REFERENCES submission (id),
    at INTEGER NOT NULL,
    person TEXT NOT NULL,                  -- system user and part of the program
    code TEXT NOT NULL,
    event TEXT NOT NULL CHECK (json_valid(event)),  -- report::Event
    evidence INTEGER REFERENCES evidence (id),
    hash BLOB NOT NULL CHECK (length(hash) = 32),   -- SHA-256 over the predecessor's hash and this row
    -- Completed is only ever recorded with the authority's answer.
    CHECK (code <> 'completed' OR evidence IS NOT NULL)
) STRICT;

CREATE INDEX event_submission ON event (submission, id);

CREATE TRIGGER event_is_kept BEFORE DELETE ON event
BEGIN
    SELECT RAISE(ABORT, 'events are append-only');
END;

CREATE TRIGGER event_is_unchanged BEFORE UPDATE ON event
BEGIN
    SELECT RAISE(ABORT, 'events are append-only');
END;

-- Also where INSERT OR REPLACE would delete without asking the triggers above. Numbers have no gaps.
CREATE TRIGGER event_is_next BEFORE INSERT ON event
WHEN NEW.id IS NOT (SELECT coalesce(max(id), 0) + 1 FROM event)
BEGIN
    SELECT RAISE(ABORT, 'events are append-only');
END;

CREATE TRIGGER submission_is_kept BEFORE DELETE ON submission
BEGIN
    SELECT RAISE(ABORT, 'submissions are kept');
END;

CREATE TRIGGER submission_is_not_replaced BEFORE INSERT ON submission
WHEN EXISTS (SELECT 1 FROM submission WHERE id = NEW.id)
BEGIN
    SELECT RAISE(ABORT, 'submissions are kept');
END;

-- Live counts: one row per state.
CREATE TABLE tally (
    state TEXT PRIMARY KEY,
    submissions INTEGER NOT NULL CHECK (submissions >= 0)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER tally_of_new AFTER INSERT ON submission
BEGIN
    INSERT INTO tally (state, submissions) VALUES (NEW.state, 1)
        ON CONFLICT (state) DO UPDATE SET submissions = submissions + 1;
END;

CREATE TRIGGER tally_of_moved AFTER UPDATE OF state ON submission
WHEN NEW.state <> OLD.state
BEGIN
    UPDATE tally SET submissions = submissions - 1 WHERE state = OLD.state;
    INSERT INTO tally (state, submissions) VALUES (NEW.state, 1)
        ON CONFLICT (state) DO UPDATE SET submissions = submissions + 1;
END;

-- Words to search by; rowid is submission.id. Contentless: the words stand in the tables above.
CREATE VIRTUAL TABLE search USING fts5 (
    identifiers, patient, file, subject, message,
    content = '', contentless_delete = 1,
    tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
);

-- Settings as JSON, e.g. the watermark of the search at an endpoint.
CREATE TABLE setting (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL CHECK (json_valid(value))
) STRICT, WITHOUT ROWID;

-- Who works the queue.
CREATE TABLE lease (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    holder TEXT NOT NULL,
    token INTEGER NOT NULL,  -- grows with every change of hands
    until INTEGER NOT NULL   -- others may take it from then on
) STRICT;
