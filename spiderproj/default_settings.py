"""Values of this project for Scrapy's settings, and every setting of its own. Documented in docs/settings.md.

Loaded by the add-on with the priority "addon": a project's own settings and ``-s`` win over them.
"""

# Scrapy's settings, with the reason for each value that differs from Scrapy's.
AUTOTHROTTLE_ENABLED = False  # speeds up on quick errors; spiderproj.politeness replaces it
CONCURRENT_ITEMS = 1  # a page yields one item; each worker task costs 12 µs a page
CONCURRENT_REQUESTS = 32
CONCURRENT_REQUESTS_PER_DOMAIN = 8
COOKIES_ENABLED = True
DOWNLOADER = "spiderproj.downloader.turns.Downloader"
DOWNLOAD_DELAY = 1.0  # seconds between requests to one host; loopback has none unless it is set explicitly
DOWNLOAD_HANDLERS = {
    "data": None,
    "file": None,
    "ftp": None,
    "s3": None,
    "http": "spiderproj.downloader.handler.HttpHandler",
    "https": "spiderproj.downloader.handler.HttpHandler",
}
DOWNLOAD_MAXSIZE = 16 * 1024 * 1024  # a page; files are streamed to disk up to SPIDERPROJ_FILE_MAXSIZE
DOWNLOAD_TIMEOUT = 60
DOWNLOAD_VERIFY_CERTIFICATES = True
DOWNLOAD_WARNSIZE = 0
FEED_EXPORTERS = {"csv": "spiderproj.extensions.feeds.InertCsv", "xml": "spiderproj.extensions.feeds.ValidXml"}
FEED_EXPORT_ENCODING = "utf-8"
LOG_FORMATTER = "spiderproj.extensions.LeanLogFormatter"
MEMUSAGE_ENABLED = False
REDIRECT_ENABLED = False  # redirects are links: judged, recorded, queued
REFERER_ENABLED = False
REMOTE_CONTROL_ENABLED = False  # an HTTP server that runs posted code
RETRY_ENABLED = False  # retries live in the frontier, where a kill cannot lose them
RETRY_TIMES = 2
ROBOTSTXT_OBEY = True
ROBOTSTXT_USER_AGENT = "spiderproj"
SCHEDULER = "spiderproj.scheduler.FrontierScheduler"
TELNETCONSOLE_ENABLED = False
USER_AGENT = "spiderproj/0.1"
WARN_ON_GENERATOR_RETURN_VALUE = False  # inspects the callback's source for every response

# Ours.
SPIDERPROJ_ACCEPT_CHANGES = False  # believe what a revisit would hold back: logins, one page everywhere, collapses
SPIDERPROJ_ALLOWED_NETWORKS = ""  # networks besides the public ones that may be dialled, e.g. "10.0.0.0/8,fd00::/8"
SPIDERPROJ_CHROMIUM = "/usr/bin/chromium"  # the browser that pages are drawn in (render)
SPIDERPROJ_COMMIT_INTERVAL = 0.2  # seconds between commits of the store
SPIDERPROJ_DISK_RESERVE = 64 * 1024 * 1024  # bytes kept free: with less the crawl stops, saved, with status 5
SPIDERPROJ_FILE_MAXSIZE = 4 * 1024 * 1024 * 1024  # bytes of a file that is streamed to disk
SPIDERPROJ_FILTER = ""  # import path of a function(values) -> bool: one more condition
SPIDERPROJ_FOLLOW_NOFOLLOW = False  # follow links marked nofollow
SPIDERPROJ_FSYNC = False  # also survive a power cut, not only a kill: fsync every file
SPIDERPROJ_HEAD_TIMEOUT = 10  # seconds to wait for the answer to a HEAD
SPIDERPROJ_IDLE_TIMEOUT = 20  # seconds without a byte before an answer is given up
SPIDERPROJ_INFLIGHT_BYTES = 64 * 1024 * 1024  # bytes of all answers held in memory at once
SPIDERPROJ_MAX_LINKS = 50_000  # links kept of one page
SPIDERPROJ_METRICS_PORT = 0  # port on 127.0.0.1 where Prometheus may ask for the figures of the crawl; 0: none
SPIDERPROJ_ORDER = ""  # import path of a function(values) -> number: the first sort key, smaller first
SPIDERPROJ_RENDER_MEMORY = 1024 * 1024 * 1024  # bytes of the browser's processes; over it the browser is replaced
SPIDERPROJ_RETRY_AFTER_MAX = 3600  # seconds a Retry-After is honoured for at most
SPIDERPROJ_REVISIT_COVERAGE = 1.0  # share of the expected changes that a revisit asks for; 1.0: it asks for every page
SPIDERPROJ_ROBOTS_WAIT = 20  # seconds to go on asking for an unreachable robots.txt when nothing else is left
SPIDERPROJ_STREAM_ABOVE = 1024 * 1024  # bytes above which a file goes to disk while it arrives
SPIDERPROJ_TRAPS = True  # set aside URLs of families that have ceased to bring anything new
SPIDERPROJ_WARC_SIZE = 1_000_000_000  # bytes after which another WARC file is begun
