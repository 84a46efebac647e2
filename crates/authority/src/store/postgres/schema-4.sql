-- A UUID is the same in capital letters: identifiers are found by their lower case.
DROP INDEX document_by_identifier;
DROP INDEX document_by_document;
CREATE INDEX document_by_identifier ON document (laboratory, lower(identifier));
CREATE INDEX document_by_document   ON document (laboratory, lower(document_identifier));
