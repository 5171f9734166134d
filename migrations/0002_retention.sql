-- Retention: legal holds, which keep entries from every deletion, and receipts of erasures.
--
-- A hold names one entry or a whole project and is asked in the transaction of each deletion; it
-- leads with its repository, so a hold can never point into another one. Its reason is for people
-- and goes with the hold. Receipts of erasures are of the whole tenant, as principals are: a
-- receipt tells that somebody's data went, when and how much, and never whose it was. They come
-- together because both answer the same question, why an entry is still there or no longer.

CREATE TABLE legal_holds (
    repository_id  TEXT    NOT NULL,
    project_id     TEXT    NOT NULL,
    memory_id      TEXT    NOT NULL DEFAULT '',                      -- '': the whole project
    reason         TEXT    NOT NULL CHECK (length(reason) BETWEEN 1 AND 200),
    placed_by      TEXT    NOT NULL,
    placed_at      INTEGER NOT NULL,
    PRIMARY KEY (repository_id, project_id, memory_id),
    FOREIGN KEY (repository_id, project_id) REFERENCES projects (repository_id, project_id)
) STRICT;

-- Begun, with what there was; done once nothing of it names the subject any more.
CREATE TABLE erasures (
    erasure_id     TEXT    NOT NULL PRIMARY KEY,
    subject_id     TEXT    UNIQUE REFERENCES principals (principal_id),  -- NULL once it is done
    pseudonym_id   TEXT    NOT NULL REFERENCES principals (principal_id),
    erased_by      TEXT    NOT NULL,
    begun_at       INTEGER NOT NULL,
    erased_at      INTEGER,
    counts         TEXT    NOT NULL,                                 -- JSON object of numbers
    CHECK ((subject_id IS NULL) = (erased_at IS NOT NULL))
) STRICT;
