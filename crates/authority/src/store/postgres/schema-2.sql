-- Which documents a search showed; and how long the audit log is kept.
ALTER TABLE audit ADD COLUMN shown TEXT COLLATE "C";       -- ids, with spaces between them

-- Lines from before a time may be deleted once it is on record, for ever, that they are.
CREATE TABLE audit_retention (
    id    BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at    BIGINT NOT NULL,                                 -- when it was said
    until BIGINT NOT NULL                                  -- lines before this time are not kept
);
CREATE TRIGGER audit_retention_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_retention
    FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();
CREATE FUNCTION audit_is_kept() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF OLD.at >= coalesce((SELECT max(until) FROM audit_retention), 0) THEN
            RAISE EXCEPTION 'the audit log is append-only';
        END IF;
        RETURN OLD;
    END $$;
DROP TRIGGER audit_is_append_only ON audit;
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit
    FOR EACH ROW EXECUTE FUNCTION audit_is_kept();
