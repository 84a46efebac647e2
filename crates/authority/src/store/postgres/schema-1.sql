-- What the authority keeps, for many processes. Times are microseconds since 1970-01-01T00:00:00Z.
-- Text is compared by code point, as everywhere else in this program.
CREATE TABLE laboratory (
    id   BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL UNIQUE
);

-- A laboratory is whoever presents one of its certificates; several for renewal.
CREATE TABLE certificate (
    fingerprint TEXT COLLATE "C" PRIMARY KEY,              -- SHA-256 of the DER, hexadecimal
    laboratory  BIGINT NOT NULL REFERENCES laboratory (id),
    issued      BIGINT,                                    -- notBefore
    not_after   BIGINT,
    revoked     BIGINT                                     -- since when it is refused
);

-- Rows of the next four tables are written by one statement for all of them, so that references between
-- them need no check of each row.

-- Metadata of every accepted document; never deleted by processing.
CREATE TABLE document (
    id                  BIGINT PRIMARY KEY,                -- time of arrival: since of its first version
    laboratory          BIGINT NOT NULL,
    ordinal             BIGINT NOT NULL,                   -- n-th of its laboratory
    receipt             TEXT COLLATE "C" NOT NULL UNIQUE,  -- DocumentReference.id
    identifier_system   TEXT COLLATE "C",                  -- DocumentReference.identifier
    identifier          TEXT COLLATE "C" NOT NULL,
    document_system     TEXT COLLATE "C",                  -- Bundle.identifier
    document_identifier TEXT COLLATE "C" NOT NULL,
    digest              BYTEA NOT NULL,                    -- of the document's data, whatever its encoding
    UNIQUE (laboratory, ordinal)
);
CREATE INDEX document_by_time       ON document (laboratory, id);
CREATE INDEX document_by_identifier ON document (laboratory, identifier);
CREATE INDEX document_by_document   ON document (laboratory, document_identifier);
CREATE INDEX document_by_digest     ON document (laboratory, digest, id);

-- The body as received; deleted when processing fails.
CREATE TABLE content (
    document BIGINT PRIMARY KEY,
    format   TEXT NOT NULL CHECK (format IN ('json', 'xml')),
    body     BYTEA NOT NULL
);

-- What a document's DocumentReference said from when to when. A version is never changed once another
-- follows it, so the state of everything at a past moment can be searched: paging is stable.
CREATE TABLE version (
    document    BIGINT NOT NULL,
    number      INTEGER NOT NULL,                          -- meta.versionId
    laboratory  BIGINT NOT NULL,
    status      TEXT COLLATE "C" NOT NULL CHECK (status IN ('in-progress', 'completed', 'failed')),
    since       BIGINT NOT NULL UNIQUE,                    -- meta.lastUpdated; rises in order of commit
    until       BIGINT NOT NULL DEFAULT 9223372036854775807,
    notices     TEXT NOT NULL DEFAULT '[]',                -- JSON
    -- How many documents of the laboratory had which status just after this version came.
    in_progress BIGINT NOT NULL,
    completed   BIGINT NOT NULL,
    failed      BIGINT NOT NULL,
    PRIMARY KEY (document, number)
-- `until` is in no index, and there is room on its page: ending a version changes no index.
) WITH (fillfactor = 80);
CREATE INDEX version_by_arrival ON version (laboratory, document);
CREATE INDEX version_by_time    ON version (laboratory, since);
CREATE INDEX version_by_status  ON version (laboratory, status, document);

-- What is still to be processed; a row goes in the transaction that writes the result, and is locked from
-- when a worker takes it.
CREATE TABLE queue (
    document   BIGINT PRIMARY KEY,
    laboratory BIGINT NOT NULL,
    due        BIGINT NOT NULL
-- A table through which everything passes: cleaned up early.
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
CREATE INDEX queue_by_due        ON queue (due, document);
CREATE INDEX queue_by_laboratory ON queue (laboratory, document);

-- Who sent and read what; no patient data. Rows are added, and never changed or deleted.
CREATE TABLE audit (
    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at          BIGINT NOT NULL,
    laboratory  BIGINT,                                    -- NULL: a certificate that is not registered
    certificate TEXT COLLATE "C" NOT NULL,                 -- fingerprint
    interaction TEXT COLLATE "C" NOT NULL,
    receipt     TEXT COLLATE "C",                          -- the document, where it is one
    entries     INTEGER,                                   -- documents that a search showed
    status      INTEGER NOT NULL                           -- of the answer
);
CREATE INDEX audit_by_laboratory ON audit (laboratory, id);
CREATE INDEX audit_by_receipt    ON audit (receipt) WHERE receipt IS NOT NULL;
CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the audit log is append-only'; END $$;
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();

-- Microseconds of now: one clock for all processes.
CREATE FUNCTION micros(at TIMESTAMPTZ) RETURNS BIGINT LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
    $$ SELECT (extract(epoch FROM at) * 1000000)::bigint $$;
