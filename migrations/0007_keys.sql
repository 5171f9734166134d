-- Keys: what an entry is about. A key whose last part names a functional predicate has one value at
-- a place, so a new value meets the entry that holds it. The digest stands for key, family of kinds,
-- paths and branches together: whoever looks for the holder needs one row, and a deletion leaves no
-- word. NULL without a key; entries from before have none until their next revision.

ALTER TABLE memories ADD COLUMN key_sha256 TEXT;

CREATE INDEX memories_with_key ON memories (scope_id, key_sha256, status, memory_id)
    WHERE key_sha256 IS NOT NULL;

-- The tenant's own registry: a JSON array of folded names; NULL is the program's default.
ALTER TABLE store ADD COLUMN functional_predicates TEXT;
