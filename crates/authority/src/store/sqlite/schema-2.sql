-- Validity and revocation of certificates, and the audit log.
ALTER TABLE certificate ADD COLUMN issued    INTEGER;      -- notBefore
ALTER TABLE certificate ADD COLUMN not_after INTEGER;
ALTER TABLE certificate ADD COLUMN revoked   INTEGER;      -- since when it is refused

-- Who sent and read what; no patient data. Rows are added, and never changed or deleted.
CREATE TABLE audit (
    id          INTEGER PRIMARY KEY,
    at          INTEGER NOT NULL,
    laboratory  INTEGER REFERENCES laboratory (id),        -- NULL: a certificate that is not registered
    certificate TEXT NOT NULL,                             -- fingerprint
    interaction TEXT NOT NULL,
    receipt     TEXT,                                      -- the document, where it is one
    entries     INTEGER,                                   -- documents that a search showed
    status      INTEGER NOT NULL                           -- of the answer
) STRICT;
CREATE INDEX audit_by_laboratory ON audit (laboratory, id);
CREATE INDEX audit_by_receipt    ON audit (receipt) WHERE receipt IS NOT NULL;
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
    BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON audit
    BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;

PRAGMA user_version = 2;
