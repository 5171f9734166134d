-- What the rate limits of several servers come to together: when each bucket is full again. A bucket
-- that is full needs no row, so what is here ends by itself. With one server it stays empty.

CREATE TABLE rates (
    bucket   TEXT    NOT NULL PRIMARY KEY,          -- keyed hash of whose it is: token, tenant, address
    full_at  INTEGER NOT NULL
) STRICT;
