-- What a report says, whatever its encoding and white space: fhir's canonical digest, hex. NULL where nobody
-- has needed it since this column came.
ALTER TABLE submission ADD COLUMN canonical TEXT CHECK (canonical IS NULL OR length(canonical) = 64);
-- Environment of the endpoint when it was taken in: another endpoint may get the same name. NULL: before this
-- column came.
ALTER TABLE submission ADD COLUMN environment TEXT;

CREATE INDEX submission_canonical ON submission (canonical) WHERE canonical IS NOT NULL;
CREATE INDEX submission_corrects ON submission (corrects) WHERE corrects IS NOT NULL;
