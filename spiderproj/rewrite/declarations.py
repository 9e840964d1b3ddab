"""What a file has to say about its own encoding, when on the web the response's header said it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from spiderproj import charset
from spiderproj.links.budget import Budget
from spiderproj.links.markup import ALL_TAGS, start_tags

if TYPE_CHECKING:
    from spiderproj.rewrite.edits import Edits

_PROLOG = re.compile(
    r"\s*+(?:<\?[^>]*+>\s*+|<!--(?:[^-]|-(?!->))*+-->\s*+)*+(?:<![dD][oO][cC][tT][yY][pP][eE][^>]*+>)?"
)
_XML = re.compile(r"<\?xml[ \t\r\n][^>?]*?\bversion\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*')")
_XML_ENCODING = re.compile(r"<\?xml[ \t\r\n][^>?]*?\bencoding\s*=\s*[\"']([^\"'<>]*)[\"']")
_CSS_CHARSET = '@charset "'
_HEAD_REACH = 4096  # where a <head> is looked for


def declare_html(edits: Edits) -> None:
    """Let HTML declare the encoding of its view, unless it does so already."""
    view = edits.view
    if _is_plain(edits) or _declared(view.body) == view.encoding:
        return
    if view.unit == 2:
        edits.replace(0, 0, "\ufeff")
    else:
        place = _head_start(view.text)
        edits.replace(place, place, f'<meta charset="{view.encoding}">')


def declare_xml(edits: Edits) -> None:
    """Let XML declare the encoding of its view, unless it does so already or needs not."""
    view = edits.view
    label = _XML_ENCODING.match(view.text[: charset.PRESCAN_BYTES])
    known = charset.codec_for(label[1]) if label else "utf-8"
    if _is_plain(edits) or known == view.encoding:
        return
    if view.unit == 2:
        edits.replace(0, 0, "\ufeff")
    elif label:
        edits.replace(*label.span(1), view.encoding)
    elif start := _XML.match(view.text[: charset.PRESCAN_BYTES]):
        edits.replace(start.end(), start.end(), f' encoding="{view.encoding}"')
    else:
        edits.replace(0, 0, f'<?xml version="1.0" encoding="{view.encoding}"?>')


def declare_css(edits: Edits) -> None:
    """Let a style sheet declare the encoding of its view, unless it does so already."""
    view = edits.view
    label = charset.css_label(view.body)
    if _is_plain(edits) or charset.css_charset(view.body) == view.encoding:
        return
    if view.unit == 2:
        edits.replace(0, 0, "\ufeff")
    elif label is not None:
        edits.replace(len(_CSS_CHARSET), len(_CSS_CHARSET) + len(label), view.encoding)
    else:
        edits.replace(0, 0, f'{_CSS_CHARSET}{view.encoding}";')


def _is_plain(edits: Edits) -> bool:
    """Return whether the body reads the same in every encoding, or has a mark that decides."""
    view = edits.view
    return view.start > 0 or (view.body.isascii() and view.encoding != "iso-2022-jp" and view.unit == 1)


def _declared(body: bytes) -> str | None:
    """Return the encoding that a browser takes from the first bytes of HTML."""
    for label in charset.declared_labels(body):
        name = charset.codec_for(label)
        if name is not None:
            return "utf-8" if name.startswith("utf-16") else "windows-1252" if name == "x-user-defined" else name
    return None


def _head_start(text: str) -> int:
    """Return where a <meta> is the first of the head: after <head>, or else where it makes a head of its own."""
    prolog = _PROLOG.match(text)
    place = prolog.end() if prolog else 0
    for name, _, _, end, _ in start_tags(text[:_HEAD_REACH], ALL_TAGS, Budget()):
        if name not in {"html", "head"}:
            break
        place = end
        if name == "head":
            break
    return place
