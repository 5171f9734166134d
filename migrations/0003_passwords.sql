-- Passwords: what people sign in to the pages with. One a person, as an encoded argon2id hash, which
-- carries its salt and cost; agents have tokens and nothing else.

CREATE TABLE passwords (
    principal_id   TEXT    NOT NULL PRIMARY KEY REFERENCES principals (principal_id),
    encoded        TEXT    NOT NULL CHECK (length(encoded) BETWEEN 1 AND 300),
    set_at         INTEGER NOT NULL                     -- by a person; a stronger hash changes nothing
) STRICT;
