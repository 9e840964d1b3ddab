"""The schema of ``crawl.db`` and how an older one is brought up to date. Documented in docs/storage.md."""

from __future__ import annotations

VERSION = 3

_RENDERINGS = """
CREATE TABLE renderings (
    url INTEGER PRIMARY KEY REFERENCES urls (id),
    sign TEXT,
    failure TEXT,
    digest INTEGER NOT NULL,
    body BLOB
);
"""

_CAPTURES = """
CREATE TABLE IF NOT EXISTS captures (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    stamp TEXT NOT NULL,
    url TEXT NOT NULL,
    mime TEXT NOT NULL,
    status INTEGER NOT NULL,
    digest TEXT NOT NULL,
    chunked INTEGER NOT NULL,
    original INTEGER NOT NULL,
    file TEXT NOT NULL,
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS captures_key ON captures (key, stamp);
CREATE INDEX IF NOT EXISTS captures_digest ON captures (digest) WHERE original;
"""

_LEARNING = """
CREATE TABLE IF NOT EXISTS templates (
    host INTEGER NOT NULL REFERENCES hosts (id),
    template TEXT NOT NULL,
    parameters BLOB NOT NULL,
    noise BLOB NOT NULL,
    shared BLOB NOT NULL,
    PRIMARY KEY (host, template)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS rules (
    id INTEGER PRIMARY KEY,
    host INTEGER NOT NULL REFERENCES hosts (id),
    template TEXT NOT NULL,
    rewrite TEXT NOT NULL,
    state TEXT NOT NULL,
    score REAL NOT NULL,
    trials INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    bases INTEGER NOT NULL,
    on_one_base INTEGER NOT NULL,
    skipped INTEGER NOT NULL,
    audits INTEGER NOT NULL,
    audit_failures INTEGER NOT NULL,
    certified INTEGER NOT NULL,
    pin TEXT,
    UNIQUE (host, template, rewrite)
);

CREATE TABLE IF NOT EXISTS classes (
    rule INTEGER NOT NULL REFERENCES rules (id),
    name INTEGER NOT NULL,
    url INTEGER REFERENCES urls (id),
    good INTEGER NOT NULL,
    bad INTEGER NOT NULL,
    PRIMARY KEY (rule, name)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS members (
    url INTEGER PRIMARY KEY REFERENCES urls (id),
    rule INTEGER NOT NULL REFERENCES rules (id),
    class INTEGER NOT NULL,
    state TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS members_state ON members (rule, state, class);

CREATE TABLE IF NOT EXISTS readings (
    url INTEGER PRIMARY KEY REFERENCES urls (id),
    reading BLOB NOT NULL
);

CREATE TABLE IF NOT EXISTS families (
    id INTEGER PRIMARY KEY,
    key INTEGER NOT NULL UNIQUE,
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    fetched INTEGER NOT NULL,
    new INTEGER NOT NULL,
    judged INTEGER NOT NULL,
    recent INTEGER NOT NULL,
    wakes INTEGER NOT NULL,
    next_wake INTEGER NOT NULL,
    given INTEGER NOT NULL,
    tried INTEGER NOT NULL,
    found INTEGER NOT NULL,
    is_final INTEGER NOT NULL,
    is_kept INTEGER NOT NULL
);

CREATE TABLE IF NOT EXISTS quarantine (
    url INTEGER PRIMARY KEY REFERENCES urls (id),
    family INTEGER NOT NULL REFERENCES families (id),
    far INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS quarantine_family ON quarantine (family, far, url);

CREATE TABLE IF NOT EXISTS gate (
    host TEXT NOT NULL,
    name TEXT NOT NULL,
    answers TEXT NOT NULL,
    good_heads INTEGER NOT NULL,
    bad_heads INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    lies INTEGER NOT NULL,
    PRIMARY KEY (host, name)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS novelties (
    digest INTEGER PRIMARY KEY,
    url INTEGER REFERENCES urls (id)
);

CREATE TABLE IF NOT EXISTS changes (
    visit INTEGER NOT NULL,
    url INTEGER NOT NULL REFERENCES urls (id),
    what TEXT NOT NULL,
    fetch INTEGER REFERENCES fetches (id),
    before INTEGER REFERENCES fetches (id),
    main INTEGER,
    main_before INTEGER,
    digest BLOB,
    digest_before BLOB,
    other INTEGER REFERENCES urls (id),
    added INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    samples TEXT NOT NULL,
    PRIMARY KEY (visit, url)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS changes_main ON changes (main, visit);

CREATE TABLE IF NOT EXISTS replaced (
    id INTEGER PRIMARY KEY,
    url INTEGER NOT NULL UNIQUE REFERENCES urls (id),
    content INTEGER NOT NULL,
    path TEXT NOT NULL,
    links INTEGER NOT NULL,
    page_links TEXT,
    body BLOB
);

CREATE TABLE IF NOT EXISTS samples (
    id INTEGER PRIMARY KEY,
    time REAL NOT NULL,
    run INTEGER NOT NULL,
    pages INTEGER NOT NULL,
    pending INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    limited_by TEXT NOT NULL,
    peak_rss INTEGER NOT NULL
);
"""

UPGRADES = {1: _RENDERINGS, 2: _CAPTURES + _LEARNING}
"""What makes a store of a version one of the next."""

TABLES = """
CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE hosts (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    politeness TEXT
);

CREATE TABLE robots (
    origin TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    body BLOB
) WITHOUT ROWID;

CREATE TABLE urls (
    id INTEGER PRIMARY KEY,
    key INTEGER NOT NULL,
    url TEXT NOT NULL,
    host INTEGER NOT NULL REFERENCES hosts (id),
    depth INTEGER NOT NULL,
    via INTEGER REFERENCES urls (id),
    level TEXT NOT NULL,
    role TEXT NOT NULL,
    near INTEGER NOT NULL,
    hops INTEGER NOT NULL,
    type TEXT,
    answered INTEGER NOT NULL,
    hint TEXT,
    text TEXT NOT NULL,
    verdict TEXT NOT NULL,
    reason TEXT,
    rule TEXT NOT NULL,
    fetch INTEGER REFERENCES fetches (id)
);
CREATE INDEX urls_key ON urls (key);

CREATE TABLE frontier (
    url INTEGER PRIMARY KEY REFERENCES urls (id),
    host INTEGER NOT NULL REFERENCES hosts (id),
    first INTEGER NOT NULL,
    second INTEGER NOT NULL,
    third INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    ready_at REAL NOT NULL DEFAULT 0,
    worker TEXT
);
CREATE INDEX frontier_order ON frontier (host, first, second, third, url) WHERE worker IS NULL;
CREATE INDEX frontier_taken ON frontier (worker, ready_at) WHERE worker IS NOT NULL;

CREATE TABLE contents (
    id INTEGER PRIMARY KEY,
    digest BLOB NOT NULL,
    links INTEGER NOT NULL,
    size INTEGER NOT NULL,
    path TEXT NOT NULL,
    url INTEGER NOT NULL REFERENCES urls (id)
);
CREATE INDEX contents_digest ON contents (digest, links);
CREATE INDEX contents_path ON contents (path);

CREATE TABLE fetches (
    id INTEGER PRIMARY KEY,
    url INTEGER NOT NULL REFERENCES urls (id),
    fetched_at REAL NOT NULL,
    seconds REAL NOT NULL,
    status INTEGER NOT NULL,
    final_url TEXT,
    type TEXT,
    content_type TEXT,
    size INTEGER NOT NULL,
    content INTEGER REFERENCES contents (id),
    duplicate INTEGER NOT NULL,
    etag TEXT,
    last_modified TEXT,
    title TEXT,
    error TEXT
);
CREATE INDEX fetches_url ON fetches (url);
CREATE INDEX fetches_duplicate ON fetches (content) WHERE duplicate;

CREATE TABLE page_links (
    source INTEGER PRIMARY KEY REFERENCES urls (id),
    links TEXT NOT NULL
);

CREATE TABLE rewrites (
    path TEXT PRIMARY KEY,
    signature INTEGER NOT NULL,
    form BLOB,
    local INTEGER NOT NULL,
    outside INTEGER NOT NULL,
    broken INTEGER NOT NULL,
    missing INTEGER NOT NULL,
    reasons TEXT
) WITHOUT ROWID;

CREATE VIEW links AS
    SELECT page_links.source, link.key AS position,
        json_extract(link.value, '$[0]') AS target, json_extract(link.value, '$[1]') AS text,
        json_extract(link.value, '$[2]') AS tag, json_extract(link.value, '$[3]') AS attribute,
        json_extract(link.value, '$[4]') AS rel, json_extract(link.value, '$[5]') AS role,
        json_extract(link.value, '$[6]') AS hint, json_extract(link.value, '$[7]') AS nofollow,
        json_extract(link.value, '$[8]') AS problem
    FROM page_links, json_each(page_links.links) AS link;

CREATE VIEW decisions AS
    SELECT urls.id, urls.url, urls.verdict, urls.reason, urls.rule, urls.depth, urls.level, urls.type, via.url AS via
    FROM urls LEFT JOIN urls AS via ON via.id = urls.via;
"""
TABLES += _RENDERINGS + _CAPTURES + _LEARNING
