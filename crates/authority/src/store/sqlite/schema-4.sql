-- Which documents a search showed; and how long the audit log is kept.
ALTER TABLE audit ADD COLUMN shown TEXT;                   -- ids, with spaces between them

-- Lines from before a time may be deleted once it is on record, for ever, that they are.
CREATE TABLE audit_retention (
    id    INTEGER PRIMARY KEY,
    at    INTEGER NOT NULL,                                -- when it was said
    until INTEGER NOT NULL                                 -- lines before this time are not kept
) STRICT;
CREATE TRIGGER audit_retention_is_not_changed BEFORE UPDATE ON audit_retention
    BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_retention_is_not_deleted BEFORE DELETE ON audit_retention
    BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;
DROP TRIGGER audit_is_not_deleted;
CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON audit
    WHEN OLD.at >= coalesce((SELECT max(until) FROM audit_retention), 0)
    BEGIN SELECT raise(ABORT, 'the audit log is append-only'); END;

PRAGMA user_version = 4;
