"""What a survey has found beside the choices: levels and types, families, hosts, robots.txt, suspects, sitemaps."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from spiderproj import charset, content, mediatype, urls
from spiderproj.models import Level, Reason, Verdict
from spiderproj.robots import parse
from spiderproj.sitemaps.records import parse_time
from spiderproj.store.robots import robots_state
from spiderproj.store.sampled import linking_pages
from spiderproj.survey import End, Family, FamilyFacts, Range, estimate, family_of, suspect, variant
from spiderproj.survey.records import (
    MAX_ROWS,
    VERSION,
    Cell,
    FamilyRow,
    Host,
    LastModified,
    Rate,
    Robots,
    Sitemaps,
    Survey,
)
from spiderproj.survey.suspects import FEW, MANY, Suspect
from spiderproj.surveying import CHOICES, LOCAL, Field

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from spiderproj.probing import Listed, Probes
    from spiderproj.store.sampled import SampledURL
    from spiderproj.survey import SurveyOptions
    from spiderproj.surveying import Rehearsed

_READ = 40  # pages of a family whose contents are compared
_BYTES = 1 << 20  # of such a page
_DAY = 86_400.0
_RULES = 20  # of robots.txt that are named
_NEVER = frozenset({Reason.INVALID.value, Reason.SCHEME.value, Reason.TOO_LONG.value})

_Members = dict[Family, list["SampledURL"]]


def look(options: SurveyOptions, settings: BaseSettings, listed: Listed, probes: Probes, rate: Rate) -> Survey | None:
    """Return all that a survey tells, from the store in its folder, None when the site has answered nothing."""
    with Field(options, settings, Path.cwd()) as field:
        field.files = probes.files
        asked = robots(field, field.rehearsed(CHOICES[LOCAL]))
        if any(one.status for one in asked) or any(row.status for row in field.rows.values()):
            field.suspects = suspects(field)
            return _survey(field, asked, listed, probes, rate)
    return None


def _survey(field: Field, asked: list[Robots], listed: Listed, probes: Probes, rate: Rate) -> Survey:
    family_rows, families_total = families(field)
    host_rows, hosts_total = hosts(field)
    seeds = [row.url for row in field.rows.values() if row.via is None][:MAX_ROWS]
    return Survey(
        version=VERSION, seeds=seeds, surveyed_at=time.time(), title=field.title, rate=rate,
        choices=list(field.choices(listed, rate)), matrix=matrix(field), families=family_rows,
        families_total=families_total, hosts=host_rows, hosts_total=hosts_total, robots=asked,
        suspects=field.suspects, head=probes.head, validators=probes.validators, sitemaps=sitemaps(field, listed),
    )  # fmt: skip


def suspects(field: Field) -> list[Suspect]:
    """Return the families that may be traps, the largest first."""
    members = _families(field.rows.values())
    brought = _brought(field.rows.values())
    found = (suspect(_facts(field.folder, family, rows, brought)) for family, rows in members.items() if len(rows) > 1)
    return sorted(filter(None, found), key=lambda one: -one.known)[:MAX_ROWS]


def matrix(field: Field) -> list[Cell]:
    """Return levels by types of all known URLs."""
    cells: dict[tuple[str, str], list[SampledURL]] = defaultdict(list)
    for row in field.rows.values():
        if row.reason not in _NEVER:
            cells[row.level, row.type].append(row)
    return [_cell(field, level, kind, cells[level, kind]) for level, kind in sorted(cells, key=_place)]


def families(field: Field) -> tuple[list[FamilyRow], int]:
    """Return the largest families of the seed's host, and how many there are."""
    members = _families(field.rows.values())
    rows = [_family_row(family, found) for family, found in members.items()]
    return sorted(rows, key=lambda row: (-row.known, row.family))[:MAX_ROWS], len(rows)


def hosts(field: Field) -> tuple[list[Host], int]:
    """Return the other hosts, those that most pages link to first, and how many there are."""
    others = [row for row in field.rows.values() if row.level == Level.OTHER and row.reason not in _NEVER]
    names = {row.id: urls.split(row.url).authority for row in others}
    pages = linking_pages(field.database, names)
    known, files = Counter(names.values()), Counter(names[row.id] for row in others if row.type != "html")
    found = [Host(host=name, urls=count, files=files[name], pages=pages[name]) for name, count in known.items()]
    return sorted(found, key=lambda host: (-host.pages, -host.urls, host.host))[:MAX_ROWS], len(found)


def robots(field: Field, local: Rehearsed) -> list[Robots]:
    """Return what robots.txt does, for each origin that was asked for it."""
    found = []
    refused: dict[str, Counter[str]] = defaultdict(Counter)
    for row in local.rows:
        if row.reason == Reason.ROBOTS:
            refused[urls.origin(row.url)][row.rule] += 1
    for (origin,) in field.database.execute("SELECT origin FROM robots ORDER BY origin").fetchall():
        state, counts = robots_state(field.database, origin), refused[origin]
        rules = parse(state.body, field.token) if state.body is not None and field.token else None
        found.append(Robots(
            url=f"{origin}/robots.txt", status=state.status, crawl_delay=rules.crawl_delay if rules else None,
            sitemaps=list(rules.sitemaps)[:_RULES] if rules else [], refused=counts.total(),
            refused_by=dict(counts.most_common(_RULES)),
        ))  # fmt: skip
    return found


def sitemaps(field: Field, listed: Listed) -> Sitemaps:
    """Return what the sitemaps list, beside what is linked."""
    linked = sum(url in field.rows for url in listed.entries)
    known = sum(row.level != Level.OTHER and row.verdict != Verdict.REFUSED for row in field.rows.values())
    both = sum(row.url in listed.entries for row in field.rows.values()
               if row.level != Level.OTHER and row.verdict != Verdict.REFUSED)  # fmt: skip
    return Sitemaps(files=listed.files, unread=listed.unread, urls=listed.urls, linked=linked, unlisted=known - both,
                    lastmod=_lastmod(field.rows, listed.entries))  # fmt: skip


def _lastmod(rows: Mapping[str, SampledURL], entries: Mapping[str, float | None]) -> LastModified:
    times = [time for time in entries.values() if time is not None]
    apart = []
    for url, lastmod in entries.items():
        header = rows[url].last_modified if url in rows else None
        modified = parse_time(header) if header is not None else None
        if lastmod is not None and modified is not None:
            apart.append(lastmod - modified)
    return LastModified(
        listed=len(times), times=len(set(times)), compared=len(apart), same=sum(abs(each) <= _DAY for each in apart),
        later=sum(each > _DAY for each in apart), earlier=sum(each < -_DAY for each in apart),
    )  # fmt: skip


def _families(rows: Iterable[SampledURL]) -> _Members:
    """Return the URLs of the seed's host that a crawl would ask for, or has asked for, by family."""
    members: _Members = defaultdict(list)
    for row in rows:
        if row.level != Level.OTHER and row.verdict != Verdict.REFUSED:
            members[family_of(row.url)].append(row)
    return members


def _brought(rows: Iterable[SampledURL]) -> Counter[int]:
    """Return how many URLs of its own family each page was the first to link to."""
    family = {row.id: family_of(row.url) for row in rows}
    return Counter(row.via for row in rows if row.via is not None and family.get(row.via) == family[row.id])


def _facts(folder: Path, family: Family, rows: Sequence[SampledURL], brought: Mapping[int, int]) -> FamilyFacts:
    read = sorted((row for row in rows if row.is_whole and row.fetch is not None), key=lambda row: row.fetch or 0)
    later = read[len(read) // 2 :]
    is_worth_it = len(rows) >= MANY and len(read) >= FEW
    return FamilyFacts(
        family=family, example=rows[-1].url, known=len(rows), read=len(read[:_READ]),
        contents=_contents(folder, read[:_READ]) if is_worth_it else len(read),
        variants=len({variant(row.url) for row in rows}),
        growth=sum(brought.get(row.id, 0) for row in later) / len(later) if later else 0.0,
    )  # fmt: skip


def _contents(folder: Path, rows: Sequence[SampledURL]) -> int:
    """Return how many different main texts the pages have; those without one count as one."""
    return len({_main_text(folder, row) for row in rows})


def _main_text(folder: Path, row: SampledURL) -> int:
    if row.path is None:
        return 0
    try:
        with (folder / "files" / row.path).open("rb") as file:
            body = file.read(_BYTES)
    except OSError:
        return 0
    declared = mediatype.parse([row.content_type] if row.content_type else []).charset
    return content.digests(content.read_blocks(charset.decode(body, declared)[0]))[0]


def _cell(field: Field, level: str, kind: str, rows: list[SampledURL]) -> Cell:
    seen = field.seen_all(rows)
    size = estimate(seen, 0, End.KNOWN).bytes if level != Level.OTHER else Range(0, 0, None)
    return Cell(level=level, type=kind, known=len(rows), read=sum(one.is_read for one in seen), bytes=size)


def _place(cell: tuple[str, str]) -> tuple[int, str]:
    return list(Level).index(Level(cell[0])), cell[1]


def _family_row(family: Family, rows: Sequence[SampledURL]) -> FamilyRow:
    sizes = [row.size for row in rows if row.is_whole and row.size is not None]
    return FamilyRow(
        family=str(family), level=Counter(row.level for row in rows).most_common(1)[0][0],
        type=Counter(row.type for row in rows).most_common(1)[0][0], known=len(rows),
        read=sum(row.fetch is not None for row in rows), mean_bytes=round(sum(sizes) / len(sizes)) if sizes else None,
        example=rows[0].url,
    )  # fmt: skip
