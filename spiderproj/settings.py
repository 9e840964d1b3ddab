"""Settings of this Scrapy project: everything is switched on by the add-on."""

ADDONS = {"spiderproj.addon.Addon": 0}
ASYNCIO_EVENT_LOOP = "uvloop.Loop"  # half the cost of the standard loop per event; too late for an add-on to set
BOT_NAME = "spiderproj"
COMMANDS_MODULE = "spiderproj.commands"
LOG_LEVEL = "INFO"
SPIDER_MODULES = ["spiderproj.spiders"]
