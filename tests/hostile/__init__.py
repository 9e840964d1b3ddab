"""A web server that misbehaves on purpose, and what a crawl must make of it.

Each attack is a ``Case``: data and a pure answer, in one module for each class:

    framing     how long a body is, and when it comes: lengths, chunks, silence, resets
    heads       status lines and header fields
    codings     content codings: bombs, layers, false labels
    redirects   where a Location or a refresh leads: other schemes, the inside, for ever
    cookies     cookies and challenges
    charsets    labels of encodings, Python's own codecs among them
    markup      pages that are slow to read, or that link to what must not be fetched
    names       paths that are dangerous or alike as names of files
    traps       sites without end
    sitemaps    XML: entities, bombs, lists without end
    robots      robots.txt in every wrong form
    ports       what answers is no web server

``server`` serves them, each on an origin of its own, so that what a host does to a crawler stays with that host; only
127.0.0.1 is bound. ``inside`` is the origin that no crawl may reach, ``twin`` one with nothing but ordinary pages,
``/fine/...``, and ``/echo``. Every request is kept in ``asked``.

    python -m tests.hostile                      # every case in a crawl of its own, with 20 ordinary pages; a table
    python -m tests.hostile markup codings.gzip  # those classes and cases
    python -m tests.hostile --serve              # the server alone: prints where each case is, then what is asked
    python -m tests.hostile --server URL         # the cases that another server publishes (``foreign``, ``listed``)

Each crawl may have 768 MB of memory of its own (``ulimit -d``).

``judge`` says what is wrong with what a crawl made of a case; ``tests/test_hostile.py`` asks it in CI, where one crawl
meets many cases at once: one bad page must never spoil another.
"""
