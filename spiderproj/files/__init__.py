"""The output folder on disk: bodies and lines that are whole or not there, and never outside the folder."""

from spiderproj.files.bodies import FileStore, Spool
from spiderproj.files.lines import LineFile, json_line
from spiderproj.files.output import Lock, free_space, prepare

__all__ = ["FileStore", "LineFile", "Lock", "Spool", "free_space", "json_line", "prepare"]
