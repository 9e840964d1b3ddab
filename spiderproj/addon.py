"""The add-on that switches spiderproj on in a Scrapy project: ``ADDONS = {"spiderproj.addon.Addon": 0}``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spiderproj import default_settings

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

_COMPONENTS: dict[str, dict[str, int]] = {
    "DOWNLOADER_MIDDLEWARES": {
        "spiderproj.middlewares.scope.ScopeMiddleware": 10,
        "spiderproj.middlewares.robots.RobotsMiddleware": 20,
        "spiderproj.middlewares.gate.GateMiddleware": 30,
        "spiderproj.middlewares.identity.IdentityMiddleware": 40,
    },
    "ITEM_PIPELINES": {
        "spiderproj.pipelines.digest.DigestPipeline": 100,
        "spiderproj.pipelines.compare.ComparePipeline": 150,
        "spiderproj.pipelines.files.FilesPipeline": 200,
        "spiderproj.pipelines.ledger.LedgerPipeline": 300,
    },
    "EXTENSIONS": {
        "spiderproj.extensions.pace.Pace": -10,
        "spiderproj.extensions.guard.Guard": 0,
        "spiderproj.extensions.watchdog.Watchdog": 0,
        "spiderproj.extensions.summary.Summary": 0,
        "spiderproj.extensions.progress.Progress": 10,
        "spiderproj.extensions.limits.Limits": 20,
        "spiderproj.extensions.metrics.Metrics": 30,
    },
}

_REPLACED: dict[str, frozenset[str]] = {
    "DOWNLOADER_MIDDLEWARES": frozenset(
        {
            "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware",
            "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware",
            "scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware",
            "scrapy.downloadermiddlewares.downloadtimeout.DownloadTimeoutMiddleware",
            "scrapy.downloadermiddlewares.defaultheaders.DefaultHeadersMiddleware",
            "scrapy.downloadermiddlewares.useragent.UserAgentMiddleware",
            "scrapy.downloadermiddlewares.retry.RetryMiddleware",
            "scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware",
            "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware",
            "scrapy.downloadermiddlewares.redirect.RedirectMiddleware",
            "scrapy.downloadermiddlewares.cookies.CookiesMiddleware",
            "scrapy.downloadermiddlewares.httpproxy.HttpProxyMiddleware",
            "scrapy.downloadermiddlewares.stats.DownloaderStats",
        }
    ),
    "SPIDER_MIDDLEWARES": frozenset(
        {
            "scrapy.spidermiddlewares.start.StartSpiderMiddleware",
            "scrapy.spidermiddlewares.httperror.HttpErrorMiddleware",
            "scrapy.spidermiddlewares.referer.RefererMiddleware",
            "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware",
            "scrapy.spidermiddlewares.depth.DepthMiddleware",
        }
    ),
    "EXTENSIONS": frozenset(
        {
            "scrapy.extensions.telnet.TelnetConsole",
            "scrapy.extensions.logstats.LogStats",
            "scrapy.extensions.closespider.CloseSpider",
            "scrapy.extensions.throttle.AutoThrottle",
            "scrapy.extensions.spiderstate.SpiderState",
            "scrapy.extensions.remote_control.RemoteControl",
        }
    ),
}
"""Scrapy's own components whose work ours do, or that a crawl of ours has no use for."""

_FEED_FILTER = "spiderproj.extensions.feeds.WithoutCaptures"


class Addon:
    """Load our defaults and components below whatever the project itself sets."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Add our settings with the priority "addon", and our components where the project has not placed them."""
        settings.setmodule(default_settings, priority="addon")
        for name, replaced in _REPLACED.items():
            # Left out where Scrapy names them: what is switched off by None is imported all the same, in 0.3 s.
            kept = {path: place for path, place in settings.getdict(f"{name}_BASE").items() if path not in replaced}
            settings.set(f"{name}_BASE", kept, settings.getpriority(f"{name}_BASE") or 0)
        for name, own in _COMPONENTS.items():
            placed = {_path(component): place for component, place in settings.getdict(name).items()}
            settings.set(name, own | placed, settings.getpriority(name) or 0)
        feeds = {uri: {"item_filter": _FEED_FILTER} | options for uri, options in settings.getdict("FEEDS").items()}
        settings.set("FEEDS", feeds, settings.getpriority("FEEDS") or 0)


def _path(component: str | type) -> str:
    return component if isinstance(component, str) else f"{component.__module__}.{component.__qualname__}"
