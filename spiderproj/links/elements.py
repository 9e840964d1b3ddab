"""Which attributes of which elements name a URL, what for, and what the context says it is: the one table."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from spiderproj.models import LinkRole, ResourceType


class Form(Enum):
    """How an attribute's value is written."""

    URL = "a URL"
    SRCSET = "image candidates"
    CSS = "CSS declarations"
    SCRIPTED = "for a script: a URL, url(...), or options that hold neither"


class Rule(NamedTuple):
    """What one attribute means."""

    role: LinkRole
    hint: ResourceType | None = None
    form: Form = Form.URL


_PAGE = Rule(LinkRole.NAVIGATION)
_FRAME = Rule(LinkRole.NAVIGATION, ResourceType.HTML)
_FORM = Rule(LinkRole.FORM)
_HINT = Rule(LinkRole.HINT)
_PART = Rule(LinkRole.REQUISITE)
_IMAGE = Rule(LinkRole.REQUISITE, ResourceType.IMAGE)
_IMAGES = Rule(LinkRole.REQUISITE, ResourceType.IMAGE, Form.SRCSET)
_BACKGROUND = Rule(LinkRole.REQUISITE, ResourceType.IMAGE, Form.SCRIPTED)
_SCRIPT = Rule(LinkRole.REQUISITE, ResourceType.SCRIPT)
_AUDIO = Rule(LinkRole.REQUISITE, ResourceType.AUDIO)
_VIDEO = Rule(LinkRole.REQUISITE, ResourceType.VIDEO)
_DATA = Rule(LinkRole.REQUISITE, ResourceType.DATA)

ANYWHERE: dict[str, Rule] = {
    "style": Rule(LinkRole.REQUISITE, ResourceType.IMAGE, Form.CSS),
    "background": _IMAGE,
    "xlink:href": _IMAGE,
    # Backgrounds that lazysizes, lozad, vanilla-lazyload, jquery.lazy and unveil load by script.
    "data-bg": _BACKGROUND,
    "data-bg-hidpi": _BACKGROUND,
    "data-bgset": _IMAGES,
    "data-background": _BACKGROUND,
    "data-background-image": _BACKGROUND,
}
"""Attributes that mean the same on every element."""

MARKS = ("url(", "background", "data-bg", "xlink:")
"""What the text of a tag holds, in lower case, when an attribute of ANYWHERE may name something."""

_LAZY_NAMES = ("data-src", "data-original", "data-lazy", "data-lazy-src", "data-echo", "data-hi-res-src")
_LAZY_SETS = ("data-srcset", "data-lazy-srcset", "data-original-set")


def _lazy(rule: Rule) -> dict[str, Rule]:
    return dict.fromkeys(_LAZY_NAMES, rule._replace(form=Form.SCRIPTED)) | dict.fromkeys(_LAZY_SETS, _IMAGES)


_PICTURE = {"src": _IMAGE, "srcset": _IMAGES, "lowsrc": _IMAGE, "longdesc": _HINT} | _lazy(_IMAGE)
_QUOTED = {"cite": _HINT}
_DRAWN = {"href": _IMAGE}

_SPECIFIC: dict[str, dict[str, Rule]] = {
    "a": {"href": _PAGE, "xlink:href": _PAGE},
    "area": {"href": _PAGE},
    "amp-anim": _PICTURE,
    "amp-img": _PICTURE,
    "amp-video": {"src": _VIDEO, "poster": _IMAGE},
    "audio": {"src": _AUDIO} | _lazy(_AUDIO),
    "base": {},
    "bgsound": {"src": _AUDIO},
    "blockquote": _QUOTED,
    "button": {"formaction": _FORM},
    "del": _QUOTED,
    "embed": {"src": _PART} | _lazy(_PART),
    "feimage": _DRAWN,
    "form": {"action": _FORM},
    "frame": {"src": _FRAME, "longdesc": _HINT},
    "html": {"manifest": _HINT},
    "iframe": {"src": _FRAME, "longdesc": _HINT} | _lazy(_FRAME),
    "image": _PICTURE | _DRAWN,  # HTML reads <image src> as <img src>; SVG's own has href
    "img": _PICTURE,
    "input": {"src": _IMAGE, "formaction": _FORM},
    "ins": _QUOTED,
    "link": {},
    "meta": {},
    "object": {"data": _PART},
    "q": _QUOTED,
    "script": {"src": _SCRIPT, "href": _SCRIPT, "xlink:href": _SCRIPT} | _lazy(_SCRIPT),
    "source": {"src": _PART, "srcset": _IMAGES} | _lazy(_PART),
    "track": {"src": _DATA},
    "use": _DRAWN,
    "video": {"src": _VIDEO, "poster": _IMAGE, "data-poster": _IMAGE} | _lazy(_VIDEO),
}
ELEMENTS: dict[str, dict[str, Rule]] = {tag: ANYWHERE | rules for tag, rules in _SPECIFIC.items()}
"""The rules of each element that has its own; for all others ANYWHERE holds."""

_BY_REL: dict[str, Rule] = {
    "stylesheet": Rule(LinkRole.REQUISITE, ResourceType.STYLE),
    "icon": _IMAGE,
    "apple-touch-icon": _IMAGE,
    "apple-touch-icon-precomposed": _IMAGE,
    "apple-touch-startup-image": _IMAGE,
    "fluid-icon": _IMAGE,
    "mask-icon": _IMAGE,
    "image_src": _HINT,
    "manifest": _DATA,
    "modulepreload": _SCRIPT,
    "preload": _PART,
    "prefetch": _PART,
    "subresource": _PART,
    "preconnect": _HINT,
    "dns-prefetch": _HINT,
    # Endpoints that answer only to a protocol of their own.
    "pingback": _HINT,
    "webmention": _HINT,
    "edituri": _HINT,
    "wlwmanifest": _HINT,
    "openid.server": _HINT,
    "authorization_endpoint": _HINT,
    "token_endpoint": _HINT,
    "micropub": _HINT,
    "profile": _HINT,
}
_AS = {
    "audio": ResourceType.AUDIO,
    "document": ResourceType.HTML,
    "embed": None,
    "fetch": ResourceType.DATA,
    "font": ResourceType.FONT,
    "image": ResourceType.IMAGE,
    "object": None,
    "script": ResourceType.SCRIPT,
    "style": ResourceType.STYLE,
    "track": ResourceType.DATA,
    "video": ResourceType.VIDEO,
    "worker": ResourceType.SCRIPT,
}


def link_rule(rel: str, destination: str) -> Rule:
    """Return what a <link> or Link: header is by its folded, lower case *rel* and its as=*destination*.

    The first keyword that says something decides; with any other keyword (canonical, next, alternate ...) a person
    can go there, and without any the link says nothing.
    """
    keywords = rel.split()
    for keyword in keywords:
        rule = _BY_REL.get(keyword)
        if rule is _PART:
            return rule._replace(hint=_AS.get(destination.lower()))
        if rule is not None:
            return rule
    return _PAGE if keywords else _HINT


_META_IMAGES = (
    "msapplication-tileimage",
    "og:image",
    "og:image:secure_url",
    "og:image:url",
    "twitter:image",
    "twitter:image:src",
)
META: dict[str, Rule] = {
    "og:audio": _HINT._replace(hint=ResourceType.AUDIO),
    "og:audio:secure_url": _HINT._replace(hint=ResourceType.AUDIO),
    "og:video": _HINT._replace(hint=ResourceType.VIDEO),
    "og:video:url": _HINT._replace(hint=ResourceType.VIDEO),
    "og:video:secure_url": _HINT._replace(hint=ResourceType.VIDEO),
    "twitter:player": _HINT._replace(hint=ResourceType.HTML),
} | dict.fromkeys(_META_IMAGES, _HINT._replace(hint=ResourceType.IMAGE))
"""Names of <meta> whose content is a URL for previews elsewhere: recorded, not needed to show the page."""
