-- What is counted without counting, and the queue by laboratory.

-- How many documents of the laboratory had which status just after this version came.
ALTER TABLE version ADD COLUMN in_progress INTEGER NOT NULL DEFAULT 0;
ALTER TABLE version ADD COLUMN completed   INTEGER NOT NULL DEFAULT 0;
ALTER TABLE version ADD COLUMN failed      INTEGER NOT NULL DEFAULT 0;
UPDATE version SET in_progress = t.in_progress, completed = t.completed, failed = t.failed
FROM (
    SELECT document, number,
           sum(CASE number WHEN 1 THEN 1 ELSE -1 END) OVER earlier AS in_progress,
           sum(status = 'completed') OVER earlier                  AS completed,
           sum(status = 'failed') OVER earlier                     AS failed
    FROM version
    WINDOW earlier AS (PARTITION BY laboratory ORDER BY since ROWS UNBOUNDED PRECEDING)
) t
WHERE t.document = version.document AND t.number = version.number;

ALTER TABLE queue ADD COLUMN laboratory INTEGER;
UPDATE queue SET laboratory = (SELECT laboratory FROM document WHERE id = queue.document);
CREATE INDEX queue_by_laboratory ON queue (laboratory, document);

PRAGMA user_version = 3;
