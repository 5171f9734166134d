-- Which catalogue of the scanner last read what is in service without a person's approval. Where the
-- program's is another, a job reads it again: what came in before a rule was known is held too.

ALTER TABLE store ADD COLUMN scanned_by TEXT;                   -- digest of the rules; NULL: none yet
