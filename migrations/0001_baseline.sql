-- Baseline: one tenant's reviewed project memory.
--
-- Every scoped table leads with repository_id, and foreign keys repeat it, so that a row can never
-- point into another repository even if a statement forgets where it is. The narrow tables of terms
-- and edges lead with scope_id, which stands for repository, project and audience. Tables of the
-- whole tenant have neither: store, imports, principals, teams, team_members, grants, tokens,
-- token_grants, receipts, audit, jobs.
--
-- Booleans are 0 and 1. Times are Unix microseconds, UTC. Lists of text are JSON arrays.

CREATE TABLE store (
    singleton      INTEGER NOT NULL PRIMARY KEY CHECK (singleton = 1),
    instance_id    TEXT    NOT NULL,
    tenant         TEXT    NOT NULL,
    created_at     INTEGER NOT NULL,
    restore_epoch  INTEGER NOT NULL DEFAULT 0,
    audit_epoch    INTEGER NOT NULL DEFAULT 1,      -- +1 whenever the home key is another
    key_check      TEXT    NOT NULL,                -- tells whether the home key is still the same
    latest_at      INTEGER NOT NULL DEFAULT 0,      -- the highest time seen; expiry never goes back
    next_scope_id  INTEGER NOT NULL DEFAULT 1,
    audit_count    INTEGER NOT NULL DEFAULT 0,
    audit_head     TEXT    NOT NULL DEFAULT ''
) STRICT;

-- The import of the older memory.json: absent, committed, renamed, then finalised by the first
-- mutation that changes a record.
CREATE TABLE imports (
    singleton      INTEGER NOT NULL PRIMARY KEY CHECK (singleton = 1),
    state          TEXT    NOT NULL CHECK (state IN ('committed', 'renamed', 'finalised')),
    source_sha256  TEXT    NOT NULL CHECK (length(source_sha256) = 64),
    digest         TEXT    NOT NULL CHECK (length(digest) = 64),
    counts         TEXT    NOT NULL,                -- JSON object
    findings       TEXT    NOT NULL,                -- JSON array of {memory_id, rules}
    imported_at    INTEGER NOT NULL
) STRICT;

CREATE TABLE principals (
    principal_id   TEXT    NOT NULL PRIMARY KEY,
    name           TEXT    NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200),
    kind           TEXT    NOT NULL CHECK (kind IN ('user', 'agent')),
    sponsor_id     TEXT    REFERENCES principals (principal_id),    -- who made an agent principal
    created_at     INTEGER NOT NULL,
    removed_at     INTEGER                                           -- NULL while it may act
) STRICT;

CREATE INDEX principals_sponsored ON principals (sponsor_id) WHERE sponsor_id IS NOT NULL;

CREATE TABLE teams (
    team_id        TEXT    NOT NULL PRIMARY KEY,
    slug           TEXT    NOT NULL UNIQUE CHECK (length(slug) BETWEEN 1 AND 200),
    name           TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    created_at     INTEGER NOT NULL
) STRICT;

CREATE TABLE team_members (
    team_id        TEXT    NOT NULL REFERENCES teams (team_id),
    principal_id   TEXT    NOT NULL REFERENCES principals (principal_id),
    added_at       INTEGER NOT NULL,
    PRIMARY KEY (team_id, principal_id)
) STRICT;

CREATE INDEX team_members_of_principal ON team_members (principal_id, team_id);

CREATE TABLE repositories (
    repository_id      TEXT    NOT NULL PRIMARY KEY,
    name               TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    identified_by      TEXT    NOT NULL
                       CHECK (identified_by IN ('key', 'remote', 'root_commit', 'common_dir', 'path')),
    revision           INTEGER NOT NULL DEFAULT 1 CHECK (revision >= 1),
    required_approvals INTEGER NOT NULL DEFAULT 1 CHECK (required_approvals BETWEEN 1 AND 16),
    codeowners         INTEGER NOT NULL DEFAULT 0 CHECK (codeowners IN (0, 1)),
    allow_own_approval INTEGER NOT NULL DEFAULT 0 CHECK (allow_own_approval IN (0, 1)),
    capture            INTEGER NOT NULL DEFAULT 0 CHECK (capture IN (0, 1)),
    merged_into        TEXT    REFERENCES repositories (repository_id),
    created_by         TEXT    NOT NULL REFERENCES principals (principal_id),
    created_at         INTEGER NOT NULL
) STRICT;

CREATE INDEX repositories_merged ON repositories (merged_into, repository_id)
    WHERE merged_into IS NOT NULL;

-- What a repository is known by. A remote, root commit or path may fit several repositories; then
-- it decides nothing.
CREATE TABLE repository_aliases (
    repository_id  TEXT    NOT NULL REFERENCES repositories (repository_id),
    kind           TEXT    NOT NULL
                   CHECK (kind IN ('key', 'remote', 'root_commit', 'common_dir', 'path')),
    value          TEXT    NOT NULL CHECK (length(value) BETWEEN 1 AND 4096),
    added_at       INTEGER NOT NULL,
    PRIMARY KEY (repository_id, kind, value)
) STRICT;

CREATE INDEX repository_aliases_by_value ON repository_aliases (kind, value, repository_id);

CREATE TABLE projects (
    repository_id  TEXT    NOT NULL REFERENCES repositories (repository_id),
    project_id     TEXT    NOT NULL UNIQUE,
    slug           TEXT    NOT NULL CHECK (length(slug) BETWEEN 1 AND 200),
    name           TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    path_prefix    TEXT,
    created_at     INTEGER NOT NULL,
    PRIMARY KEY (repository_id, project_id),
    UNIQUE (repository_id, slug)
) STRICT;

CREATE INDEX projects_by_slug ON projects (slug, project_id);

CREATE TABLE grants (
    grant_id       TEXT    NOT NULL PRIMARY KEY,
    principal_id   TEXT    NOT NULL REFERENCES principals (principal_id),
    role           TEXT    NOT NULL CHECK (role IN ('reader', 'contributor', 'reviewer',
                                                    'maintainer', 'owner', 'operator')),
    repository_id  TEXT    REFERENCES repositories (repository_id),     -- NULL: the whole tenant
    granted_by     TEXT    NOT NULL REFERENCES principals (principal_id),
    granted_at     INTEGER NOT NULL
) STRICT;

CREATE INDEX grants_of_principal ON grants (principal_id, repository_id);

CREATE TABLE runs (
    repository_id  TEXT    NOT NULL,
    run_id         TEXT    NOT NULL,
    project_id     TEXT    NOT NULL,
    principal_id   TEXT    NOT NULL REFERENCES principals (principal_id),
    branch         TEXT,
    agent          TEXT    NOT NULL CHECK (length(agent) BETWEEN 1 AND 200),
    team_id        TEXT    REFERENCES teams (team_id),
    live_entries   INTEGER NOT NULL DEFAULT 0 CHECK (live_entries >= 0),
    started_at     INTEGER NOT NULL,
    ended_at       INTEGER,                                             -- NULL while it runs
    PRIMARY KEY (repository_id, run_id),
    FOREIGN KEY (repository_id, project_id) REFERENCES projects (repository_id, project_id)
) STRICT;

CREATE INDEX runs_by_id ON runs (run_id, repository_id);
CREATE INDEX runs_of_principal ON runs (principal_id, run_id);

CREATE TABLE tokens (
    token_id       TEXT    NOT NULL PRIMARY KEY,
    secret_hash    TEXT    NOT NULL CHECK (length(secret_hash) = 64),
    principal_id   TEXT    NOT NULL REFERENCES principals (principal_id),
    background     INTEGER NOT NULL DEFAULT 0 CHECK (background IN (0, 1)),
    run_repository_id TEXT,                        -- both NULL, or the run that the token serves
    run_id         TEXT,
    created_by     TEXT    NOT NULL REFERENCES principals (principal_id),
    created_at     INTEGER NOT NULL,
    expires_at     INTEGER,
    revoked_at     INTEGER,
    last_used_at   INTEGER,
    FOREIGN KEY (run_repository_id, run_id) REFERENCES runs (repository_id, run_id),
    CHECK ((run_id IS NULL) = (run_repository_id IS NULL))
) STRICT;

CREATE INDEX tokens_of_principal ON tokens (principal_id, token_id);
CREATE INDEX tokens_of_run ON tokens (run_id) WHERE run_id IS NOT NULL;

-- The roles a token was made with: it can never do more, whatever is granted later.
CREATE TABLE token_grants (
    token_id       TEXT    NOT NULL REFERENCES tokens (token_id),
    role           TEXT    NOT NULL CHECK (role IN ('reader', 'contributor', 'reviewer',
                                                    'maintainer', 'owner', 'operator')),
    repository_id  TEXT    NOT NULL,                                    -- '': the whole tenant
    PRIMARY KEY (token_id, role, repository_id)
) STRICT;

-- One audience of one project. The counters change in the transaction that changes the entries:
-- limits and statistics read them and never scan.
CREATE TABLE scopes (
    repository_id     TEXT    NOT NULL,
    scope_id          INTEGER NOT NULL UNIQUE,
    project_id        TEXT    NOT NULL,
    audience          TEXT    NOT NULL,             -- project, team:<id> or private:<principal>
    live_entries      INTEGER NOT NULL DEFAULT 0 CHECK (live_entries >= 0),
    accepted_entries  INTEGER NOT NULL DEFAULT 0 CHECK (accepted_entries >= 0),
    canonical_bytes   INTEGER NOT NULL DEFAULT 0 CHECK (canonical_bytes >= 0),
    generation        INTEGER NOT NULL DEFAULT 0,   -- +1 with every change of an entry
    PRIMARY KEY (repository_id, scope_id),
    UNIQUE (project_id, audience),
    FOREIGN KEY (repository_id, project_id) REFERENCES projects (repository_id, project_id)
) STRICT;

CREATE INDEX scopes_of_audience ON scopes (audience, scope_id);

CREATE TABLE memories (
    repository_id   TEXT    NOT NULL,
    memory_id       TEXT    NOT NULL,
    scope_id        INTEGER NOT NULL,
    project_id      TEXT    NOT NULL,
    revision        INTEGER NOT NULL CHECK (revision >= 1),
    collection      TEXT    NOT NULL CHECK (collection IN ('private', 'team', 'project')),
    owner           TEXT    NOT NULL REFERENCES principals (principal_id),
    team_id         TEXT    REFERENCES teams (team_id),
    run_id          TEXT,
    status          TEXT    NOT NULL CHECK (status IN ('proposed', 'accepted', 'rejected',
                                                       'outdated', 'superseded', 'archived',
                                                       'deleted')),
    kind            TEXT    NOT NULL,
    sensitivity     TEXT    NOT NULL CHECK (sensitivity IN ('normal', 'sensitive', 'secret')),
    author          TEXT    NOT NULL,
    editor          TEXT    NOT NULL,               -- who wrote the text of this revision
    origin          TEXT    NOT NULL CHECK (origin IN ('user', 'agent', 'background', 'repository',
                                                       'import', 'legacy', 'system')),
    trust           INTEGER NOT NULL CHECK (trust BETWEEN 0 AND 10000),     -- basis points
    supersedes_id   TEXT,
    supersedes_revision INTEGER,
    superseded_by   TEXT,
    review_reason   TEXT,
    conflicts_with  TEXT    NOT NULL DEFAULT '[]',  -- JSON array of memory ids
    extractor       TEXT,
    self_approved   INTEGER NOT NULL DEFAULT 0 CHECK (self_approved IN (0, 1)),
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    valid_to        INTEGER,
    canonical_bytes INTEGER NOT NULL CHECK (canonical_bytes >= 0),
    text_hash       TEXT    NOT NULL,               -- keyed; what a tombstone keeps of its text
    content_sha256  TEXT,                           -- NULL exactly when deleted
    tags            TEXT    NOT NULL DEFAULT '[]',  -- copies of fields of content, for filters
    paths           TEXT    NOT NULL DEFAULT '[]',
    branches        TEXT    NOT NULL DEFAULT '[]',
    cited           TEXT    NOT NULL DEFAULT '[]',  -- files that its sources cite
    characters      INTEGER NOT NULL DEFAULT 0,     -- of title and body
    title           TEXT,
    content         TEXT,                           -- canonical JSON; NULL exactly when deleted
    PRIMARY KEY (repository_id, memory_id),
    FOREIGN KEY (repository_id, scope_id) REFERENCES scopes (repository_id, scope_id),
    CHECK ((collection = 'team') = (team_id IS NOT NULL)),
    CHECK ((status = 'superseded') <= (superseded_by IS NOT NULL)),
    CHECK ((status = 'deleted') = (content IS NULL)),
    CHECK ((status = 'deleted') = (content_sha256 IS NULL)),
    CHECK ((status = 'deleted') = (title IS NULL))
) STRICT;

-- Scope first: a hidden id and an absent one take the same steps.
CREATE UNIQUE INDEX memories_in_scope ON memories (scope_id, memory_id);
CREATE INDEX memories_listed ON memories (scope_id, status, updated_at, memory_id);
CREATE INDEX memories_with_text ON memories (scope_id, text_hash, memory_id);
CREATE INDEX memories_expiring ON memories (repository_id, valid_to, memory_id)
    WHERE valid_to IS NOT NULL AND status = 'accepted';

-- One immutable row a revision; a deletion takes the text out of all of them.
CREATE TABLE memory_revisions (
    repository_id   TEXT    NOT NULL,
    memory_id       TEXT    NOT NULL,
    revision        INTEGER NOT NULL CHECK (revision >= 1),
    status          TEXT    NOT NULL,
    superseded_by   TEXT,
    action          TEXT    NOT NULL,
    actor           TEXT    NOT NULL,
    at              INTEGER NOT NULL,
    operation_id    TEXT    NOT NULL,
    reason          TEXT,
    valid_to        INTEGER,
    content_sha256  TEXT,
    content         TEXT,
    PRIMARY KEY (repository_id, memory_id, revision),
    FOREIGN KEY (repository_id, memory_id) REFERENCES memories (repository_id, memory_id)
) STRICT;

CREATE TABLE approvals (
    repository_id   TEXT    NOT NULL,
    memory_id       TEXT    NOT NULL,
    revision        INTEGER NOT NULL,
    principal       TEXT    NOT NULL,
    decision        TEXT    NOT NULL CHECK (decision IN ('approve', 'reject')),
    own             INTEGER NOT NULL DEFAULT 0 CHECK (own IN (0, 1)),
    withdrawn       INTEGER NOT NULL DEFAULT 0 CHECK (withdrawn IN (0, 1)),
    at              INTEGER NOT NULL,
    comment         TEXT,
    PRIMARY KEY (repository_id, memory_id, revision, principal, at),
    FOREIGN KEY (repository_id, memory_id) REFERENCES memories (repository_id, memory_id)
) STRICT;

CREATE TABLE feedback (
    repository_id   TEXT    NOT NULL,
    memory_id       TEXT    NOT NULL,
    revision        INTEGER NOT NULL,
    principal       TEXT    NOT NULL,
    helpful         INTEGER NOT NULL CHECK (helpful IN (0, 1)),
    selection_id    TEXT,
    run_id          TEXT,
    note            TEXT,
    at              INTEGER NOT NULL,
    PRIMARY KEY (repository_id, memory_id, revision, principal, at),
    FOREIGN KEY (repository_id, memory_id) REFERENCES memories (repository_id, memory_id)
) STRICT;

CREATE TABLE sightings (
    repository_id   TEXT    NOT NULL,
    memory_id       TEXT    NOT NULL,
    source          TEXT    NOT NULL,
    at              INTEGER NOT NULL,
    PRIMARY KEY (repository_id, memory_id, source),
    FOREIGN KEY (repository_id, memory_id) REFERENCES memories (repository_id, memory_id)
) STRICT;

-- The blob and line hashes of each file: citation, taken when it was made.
CREATE TABLE citations (
    repository_id   TEXT    NOT NULL,
    memory_id       TEXT    NOT NULL,
    source          TEXT    NOT NULL,
    blob_hash       TEXT    NOT NULL,
    lines_hash      TEXT,
    result          TEXT    NOT NULL DEFAULT 'valid'
                    CHECK (result IN ('valid', 'moved', 'changed', 'missing', 'unknown')),
    new_place       TEXT,
    checked_at      INTEGER NOT NULL,
    PRIMARY KEY (repository_id, memory_id, source),
    FOREIGN KEY (repository_id, memory_id) REFERENCES memories (repository_id, memory_id)
) STRICT;

CREATE INDEX citations_suspect ON citations (repository_id, memory_id, source)
    WHERE result IN ('changed', 'missing');

CREATE TABLE verifications (
    repository_id   TEXT    NOT NULL,
    memory_id       TEXT    NOT NULL,
    commit_hash     TEXT    NOT NULL CHECK (length(commit_hash) = 40),
    principal       TEXT    NOT NULL,
    result          TEXT    NOT NULL,
    at              INTEGER NOT NULL,
    PRIMARY KEY (repository_id, memory_id),
    FOREIGN KEY (repository_id, memory_id) REFERENCES memories (repository_id, memory_id)
) STRICT;

CREATE TABLE memory_terms (
    scope_id        INTEGER NOT NULL,
    term            TEXT    NOT NULL CHECK (length(term) BETWEEN 1 AND 64),
    form            TEXT    NOT NULL CHECK (form IN ('exact', 'part', 'plain', 'stem', 'pair')),
    memory_id       TEXT    NOT NULL,
    title_tf        INTEGER NOT NULL,
    tag_tf          INTEGER NOT NULL,
    body_tf         INTEGER NOT NULL,
    PRIMARY KEY (scope_id, term, form, memory_id)
) STRICT, WITHOUT ROWID;

-- Which rows an entry has in memory_terms, so that they are found again whatever the tokeniser of
-- the day would say. An index by memory would hold every word twice, in random order: half as fast
-- to fill, and 1.8 times the size.
CREATE TABLE memory_term_lists (
    scope_id        INTEGER NOT NULL,
    memory_id       TEXT    NOT NULL,
    terms           TEXT    NOT NULL,               -- JSON array of [term, form]
    PRIMARY KEY (scope_id, memory_id)
) STRICT;

CREATE TABLE entities (
    repository_id   TEXT    NOT NULL,
    entity_id       INTEGER NOT NULL UNIQUE,
    project_id      TEXT    NOT NULL,
    kind            TEXT    NOT NULL CHECK (kind IN ('memory', 'file', 'run', 'commit', 'branch')),
    key             TEXT    NOT NULL,
    PRIMARY KEY (repository_id, project_id, kind, key),
    FOREIGN KEY (repository_id, project_id) REFERENCES projects (repository_id, project_id)
) STRICT;

CREATE TABLE relationships (
    scope_id        INTEGER NOT NULL,
    memory_id       TEXT    NOT NULL,               -- the supplier, and the source of every edge
    type            TEXT    NOT NULL CHECK (type IN ('applies_to', 'learned_from', 'verified_at',
                                                     'derived_from', 'cites')),
    target          INTEGER NOT NULL,               -- entity
    target_revision INTEGER NOT NULL DEFAULT 0,     -- of a memory; else 0
    memory_revision INTEGER NOT NULL,
    PRIMARY KEY (scope_id, memory_id, type, target, target_revision)
) STRICT, WITHOUT ROWID;

-- Covering, because the planner takes the key instead of an index that needs a second look-up.
CREATE INDEX relationships_to ON relationships (scope_id, target, memory_id, memory_revision);

CREATE TABLE manifests (
    repository_id   TEXT    NOT NULL,
    manifest_id     TEXT    NOT NULL UNIQUE,
    project_id      TEXT    NOT NULL,
    principal_id    TEXT    NOT NULL,
    run_id          TEXT,
    created_at      INTEGER NOT NULL,
    record          TEXT    NOT NULL,               -- canonical JSON without the free text
    free_text       TEXT,                           -- canonical JSON; NULL once it was taken out
    free_sha256     TEXT    NOT NULL,
    context_sha256  TEXT    NOT NULL,
    manifest_sha256 TEXT    NOT NULL,
    PRIMARY KEY (repository_id, manifest_id),
    FOREIGN KEY (repository_id, project_id) REFERENCES projects (repository_id, project_id)
) STRICT;

CREATE INDEX manifests_of_run ON manifests (project_id, run_id, manifest_id)
    WHERE run_id IS NOT NULL;
CREATE INDEX manifests_of_principal ON manifests (project_id, principal_id, manifest_id);

-- Which memories a manifest lists, so that a deletion finds it: the first 8 bytes of each id's
-- SHA-256. A row for each memory would be one page for each, and a selection lists up to 200; this
-- is read through by deletions, which are rare. It goes together with the free text.
CREATE TABLE manifest_lists (
    repository_id   TEXT    NOT NULL,
    manifest_id     TEXT    NOT NULL,
    listed          BLOB    NOT NULL CHECK (length(listed) % 8 = 0),
    PRIMARY KEY (repository_id, manifest_id),
    FOREIGN KEY (repository_id, manifest_id) REFERENCES manifests (repository_id, manifest_id)
) STRICT, WITHOUT ROWID;

-- Operations already done: ids, revisions and a keyed hash of the request, never text.
CREATE TABLE receipts (
    principal_id    TEXT    NOT NULL,
    operation_id    TEXT    NOT NULL CHECK (length(operation_id) BETWEEN 1 AND 200),
    request_hash    TEXT    NOT NULL CHECK (length(request_hash) = 64),
    action          TEXT    NOT NULL,
    target_id       TEXT    NOT NULL,
    revision        INTEGER NOT NULL,
    outcome         TEXT    NOT NULL,               -- JSON object of ids, revisions and codes
    at              INTEGER NOT NULL,
    PRIMARY KEY (principal_id, operation_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
    sequence        INTEGER NOT NULL PRIMARY KEY,
    epoch           INTEGER NOT NULL,               -- which key signed the row
    at              INTEGER NOT NULL,
    principal_id    TEXT    NOT NULL,
    origin          TEXT    NOT NULL,
    batch_id        TEXT    NOT NULL,
    action          TEXT    NOT NULL,
    item            TEXT    NOT NULL,
    repository_id   TEXT,
    scope_id        INTEGER,
    from_revision   INTEGER,
    to_revision     INTEGER,
    from_status     TEXT,
    to_status       TEXT,
    reason          TEXT,
    previous_hash   TEXT    NOT NULL,
    hash            TEXT    NOT NULL
) STRICT;

CREATE TABLE jobs (
    job_id          TEXT    NOT NULL PRIMARY KEY,
    kind            TEXT    NOT NULL,
    dedupe_key      TEXT    UNIQUE,                 -- NULL: any number of them
    payload         TEXT    NOT NULL DEFAULT '{}',
    status          TEXT    NOT NULL DEFAULT 'queued'
                    CHECK (status IN ('queued', 'leased', 'succeeded', 'failed', 'dead')),
    attempts        INTEGER NOT NULL DEFAULT 0,
    not_before      INTEGER NOT NULL,
    leased_until    INTEGER,
    error_code      TEXT,
    created_at      INTEGER NOT NULL
) STRICT;

CREATE INDEX jobs_due ON jobs (not_before, job_id) WHERE status IN ('queued', 'leased');
