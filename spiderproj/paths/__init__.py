"""Where a URL's body lies on disk: one pure, total, injective function."""

from spiderproj.paths.mapping import MAX_LEVELS, MAX_NAME_BYTES, MAX_PATH_BYTES, relative_path

__all__ = ["MAX_LEVELS", "MAX_NAME_BYTES", "MAX_PATH_BYTES", "relative_path"]
