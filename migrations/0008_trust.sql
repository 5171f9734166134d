-- Trust: what an entry has earned (its standing) apart from what age and an open conflict take off
-- for as long as they last. Without the two, decay could not be computed twice to the same number.
-- A revision keeps the trust that it was made with: a report compares it with what came of it.

ALTER TABLE memories ADD COLUMN standing INTEGER NOT NULL DEFAULT 0
    CHECK (standing BETWEEN 0 AND 10000);                               -- basis points
ALTER TABLE memories ADD COLUMN judged_at INTEGER NOT NULL DEFAULT 0;   -- age counts from here
ALTER TABLE memory_revisions ADD COLUMN trust INTEGER;                  -- NULL: not known

UPDATE memories SET standing = trust, judged_at = created_at;

CREATE INDEX memories_temporal ON memories (repository_id, memory_id)
    WHERE kind = 'temporal' AND status IN ('accepted', 'proposed');
