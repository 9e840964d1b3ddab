"""What goes into feeds (``-O FILE``): links, and the items of other spiders, but no captures; and nothing that acts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from scrapy.exporters import CsvItemExporter, XmlItemExporter
from scrapy.extensions.feedexport import ItemFilter

from spiderproj.display import inert_cell
from spiderproj.items import Capture

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy import Field

_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, 2.2


class WithoutCaptures(ItemFilter):
    """Scrapy's filter of items, less our captures: these are for the store, whole bodies with them."""

    def accepts(self, item: object) -> bool:
        """Say whether *item* is a row of a feed."""
        return not isinstance(item, Capture) and super().accepts(item)


class InertCsv(CsvItemExporter):
    """Scrapy's CSV, with an apostrophe before each text that a spreadsheet would run."""

    def serialize_field(self, field: Mapping[str, Any] | Field, name: str, value: object) -> object:
        """Return *value* as a cell."""
        cell = super().serialize_field(field, name, value)
        return inert_cell(cell) if isinstance(cell, str) else cell


class ValidXml(XmlItemExporter):
    """Scrapy's XML, with U+FFFD for each character that XML has not."""

    def serialize_field(self, field: Mapping[str, Any] | Field, name: str, value: object) -> object:
        """Return *value* as the text of an element."""
        text = super().serialize_field(field, name, value)
        return _NOT_XML.sub("\ufffd", text) if isinstance(text, str) else text
