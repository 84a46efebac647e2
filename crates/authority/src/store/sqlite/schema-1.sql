-- What the authority keeps. Times are microseconds since 1970-01-01T00:00:00Z.
CREATE TABLE laboratory (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

-- A laboratory is whoever presents one of its certificates; several for renewal.
CREATE TABLE certificate (
    fingerprint TEXT PRIMARY KEY,                          -- SHA-256 of the DER, hexadecimal
    laboratory  INTEGER NOT NULL REFERENCES laboratory (id)
) STRICT, WITHOUT ROWID;

-- Metadata of every accepted document; never deleted by processing.
CREATE TABLE document (
    id                  INTEGER PRIMARY KEY,               -- order of arrival
    laboratory          INTEGER NOT NULL REFERENCES laboratory (id),
    ordinal             INTEGER NOT NULL,                  -- n-th of its laboratory: totals without counting
    receipt             TEXT NOT NULL UNIQUE,              -- DocumentReference.id
    created             INTEGER NOT NULL UNIQUE,           -- since of its first version
    identifier_system   TEXT,                              -- DocumentReference.identifier
    identifier          TEXT NOT NULL,
    document_system     TEXT,                              -- Bundle.identifier
    document_identifier TEXT NOT NULL,
    digest              BLOB NOT NULL,                     -- of the document's data, whatever its encoding
    UNIQUE (laboratory, ordinal)
) STRICT;
CREATE INDEX document_by_time       ON document (laboratory, created, ordinal);
CREATE INDEX document_by_identifier ON document (laboratory, identifier);
CREATE INDEX document_by_document   ON document (laboratory, document_identifier);
CREATE INDEX document_by_digest     ON document (laboratory, digest, id);

-- The body as received; deleted when processing fails.
CREATE TABLE content (
    document INTEGER PRIMARY KEY REFERENCES document (id),
    format   TEXT NOT NULL CHECK (format IN ('json', 'xml')),
    body     BLOB NOT NULL
) STRICT;

-- What a document's DocumentReference said from when to when. A version is never changed once another
-- follows it, so the state of everything at a past moment can be searched: paging is stable.
CREATE TABLE version (
    document   INTEGER NOT NULL REFERENCES document (id),
    number     INTEGER NOT NULL,                           -- meta.versionId
    laboratory INTEGER NOT NULL,
    status     TEXT NOT NULL CHECK (status IN ('in-progress', 'completed', 'failed')),
    since      INTEGER NOT NULL UNIQUE,                    -- meta.lastUpdated; rises in order of commit
    until      INTEGER NOT NULL DEFAULT 9223372036854775807,
    notices    TEXT NOT NULL DEFAULT '[]',                 -- JSON
    PRIMARY KEY (document, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX version_by_arrival ON version (laboratory, document, since, until);
CREATE INDEX version_by_time    ON version (laboratory, since, until);
CREATE INDEX version_by_status  ON version (laboratory, status, document, since, until);

-- What is still to be processed; a row goes in the transaction that writes the result.
CREATE TABLE queue (
    document INTEGER PRIMARY KEY REFERENCES document (id),
    due      INTEGER NOT NULL
) STRICT;
CREATE INDEX queue_by_due ON queue (due, document);

PRAGMA user_version = 1;
