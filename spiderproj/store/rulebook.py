"""The rows of what a crawl has learned about URLs: rules, classes of URLs, their members, and templates.

Every change is written at once, in the transaction of the page that brought it, so that a kill undoes both together.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from spiderproj.content import Noise, Shared
from spiderproj.learning import Parameters, Pin, Rewrite, Rule, State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spiderproj.store.database import Database

HOST = "*"
"""The template of rules that hold for a whole host."""

BEFORE_ALL = -(1 << 63)
"""Less than the name of any class."""

MAX_RULES = 32
"""Most rules of one template: a site with more is not understood by them."""

_KEPT = 500  # templates and hosts in memory
_COLUMNS = ", ".join(one.name for one in fields(Rule))
_MARKS = ", ".join("?" for _ in fields(Rule))


class Standing(StrEnum):
    """What a member of a class is about to be, or has been spared."""

    HELD = "held"  # in the frontier, waiting for the rule
    PROBE = "probe"  # in the frontier, as a trial
    AUDIT = "audit"  # in the frontier, though the rule covers it
    JUDGED = "judged"  # fetched; differs from its representative in what may only be noise
    AGAIN = "again"  # a representative that is fetched a second time, to see that
    SKIPPED = "skipped"  # refused as learned
    RECALLED = "recalled"  # refused by a rule that has fallen since


class Class(NamedTuple):
    """URLs that one rewrite makes equal: the representative (None: there is none yet), and how trials went."""

    url: int | None
    good: int = 0
    bad: int = 0


class Member(NamedTuple):
    """Which rule a URL is held, tried or skipped for."""

    rule: int
    name: int  # of its class: the url_key of the URL that the rewrite makes of it
    standing: Standing


@dataclass(slots=True)
class Template:
    """What is known of the URLs and pages of one template."""

    parameters: Parameters = field(default_factory=Parameters)
    noise: Noise = field(default_factory=Noise)
    shared: Shared = field(default_factory=Shared)
    is_changed: bool = False


class Rulebook:
    """The tables ``rules``, ``classes``, ``members`` and ``templates``."""

    def __init__(self, database: Database, *, strict: bool) -> None:
        self._db = database
        self._strict = strict
        self._rules: dict[tuple[int, str], dict[Rewrite, Rule]] = {}
        self._templates: dict[tuple[int, str], Template] = {}
        self._next_rule: int = (database.scalar("SELECT max(id) FROM rules") or 0) + 1
        query = "SELECT rule, count(*) FROM members WHERE state IN ('held', 'recalled') GROUP BY rule"
        self.waiting: Counter[int] = Counter(dict(database.execute(query).fetchall()))

    def rules_of(self, host: int, template: str) -> dict[Rewrite, Rule]:
        """Return the rules of a template."""
        found = self._rules.get((host, template))
        if found is None:
            if len(self._rules) >= _KEPT:
                del self._rules[next(iter(self._rules))]
            query = f"SELECT {_COLUMNS} FROM rules WHERE host = ? AND template = ?"  # noqa: S608 - our columns
            rows = self._db.execute(query, (host, template)).fetchall()
            found = {rule.rewrite: rule for rule in map(self._rule, rows)}
            self._rules[host, template] = found
        return found

    def rule_of(self, host: int, template: str, rewrite: Rewrite) -> Rule | None:
        """Return the rule of a *rewrite*, a new one when there is none yet; None when its template has too many."""
        rules = self.rules_of(host, template)
        rule = rules.get(rewrite)
        if rule is None and len(rules) < MAX_RULES:
            rule = rules[rewrite] = Rule.new(self._next_rule, host, template, rewrite, strict=self._strict)
            self._next_rule += 1
            self.save(rule)
        return rule

    def rule(self, number: int) -> Rule:
        """Return the rule with this *number*."""
        host, template, rewrite = self._db.execute(
            "SELECT host, template, rewrite FROM rules WHERE id = ?", (number,)).fetchone()  # fmt: skip
        with self._db.reading():
            return self.rules_of(host, template)[Rewrite.parse(rewrite)]

    def rules(self) -> list[Rule]:
        """Return all rules; they are not those in use."""
        return list(map(self._rule, self._db.execute(f"SELECT {_COLUMNS} FROM rules ORDER BY id").fetchall()))  # noqa: S608 - our columns

    def save(self, rule: Rule) -> None:
        """Write a *rule*."""
        values = [str(value) if isinstance(value, Rewrite) else value for value in _values(rule)]
        self._db.write(f"INSERT OR REPLACE INTO rules ({_COLUMNS}) VALUES ({_MARKS})", values)  # noqa: S608 - our columns

    def class_of(self, rule: int, name: int) -> Class | None:
        """Return the class called *name* of a rule, None when nothing is known of it."""
        row = self._db.execute("SELECT url, good, bad FROM classes WHERE rule = ? AND name = ?",
                               (rule, name)).fetchone()  # fmt: skip
        return Class(*row) if row else None

    def keep_class(self, rule: int, name: int, known: Class) -> None:
        """Write what is *known* of a class."""
        self._db.write("INSERT OR REPLACE INTO classes VALUES (?, ?, ?, ?, ?)", (rule, name, *known))

    def representatives(self, rule: int, limit: int) -> list[tuple[int, int]]:
        """Return ids of URLs that stand for classes of a *rule*, with the names of the classes."""
        query = "SELECT url, name FROM classes WHERE rule = ? AND url IS NOT NULL LIMIT ?"
        return self._db.execute(query, (rule, limit)).fetchall()

    def represent(self, rule: Rule, name: int, known: Class | None, url: int) -> None:
        """Note that the URL with the id *url* stands for its class, unless that can be told without a row."""
        if known is not None or not rule.rewrite.is_enumerable:
            self.keep_class(rule.id, name, (known or Class(None))._replace(url=url))

    def member(self, url: int) -> Member | None:
        """Return what the URL with the id *url* is held, tried or skipped for."""
        row = self._db.execute("SELECT rule, class, state FROM members WHERE url = ?", (url,)).fetchone()
        with self._db.reading():
            return Member(row[0], row[1], Standing(row[2])) if row else None

    def enlist(self, url: int, rule: int, name: int, standing: Standing) -> None:
        """Note that *url* is a member of a class, in place of what it has been."""
        self.dismiss(url)
        self.waiting[rule] += _waits(standing)
        self._db.write("INSERT INTO members VALUES (?, ?, ?, ?)", (url, rule, name, standing))

    def dismiss(self, url: int) -> None:
        """Forget what *url* is a member of."""
        row = self._db.write("DELETE FROM members WHERE url = ? RETURNING rule, state", (url,)).fetchone()
        if row and _waits(row[1]):
            self.waiting[row[0]] -= 1

    def members(self, rule: int, standing: Standing, name: int | None = None, limit: int = -1) -> list[int]:
        """Return the ids of the URLs of a *rule* (and of its class *name*) in one *standing*."""
        where, values = ("", ()) if name is None else (" AND class = ?", (name,))
        query = f"SELECT url FROM members WHERE rule = ? AND state = ?{where} LIMIT ?"  # noqa: S608 - ours
        return [row[0] for row in self._db.execute(query, (rule, standing, *values, limit))]

    def count(self, rule: int, standing: Standing, name: int | None = None) -> int:
        """Return how many URLs of a *rule* (and of its class *name*) are in one *standing*."""
        where, values = ("", ()) if name is None else (" AND class = ?", (name,))
        query = f"SELECT count(*) FROM members WHERE rule = ? AND state = ?{where}"  # noqa: S608 - ours
        return int(self._db.scalar(query, (rule, standing, *values)))

    def on_trial(self, rule: int, name: int | None = None) -> int:
        """Return how many trials of a *rule* (and of its class *name*) have no outcome yet."""
        return self.count(rule, Standing.PROBE, name) + self.count(rule, Standing.JUDGED, name)

    def next_class(self, rule: int, standing: Standing, after: int) -> int | None:
        """Return the name of the next class, behind *after*, that has a member in one *standing*."""
        name: int | None = self._db.scalar(
            "SELECT class FROM members WHERE rule = ? AND state = ? AND class > ? ORDER BY class LIMIT 1",
            (rule, standing, after),
        )
        return name

    def recall(self, rule: int, name: int | None = None) -> int:
        """Mark what a *rule* has skipped (in its class *name*) to be decided again; return how much that is."""
        where, values = ("", ()) if name is None else (" AND class = ?", (name,))
        count = self._db.write(
            f"UPDATE members SET state = 'recalled' WHERE rule = ? AND state = 'skipped'{where}",  # noqa: S608 - ours
            (rule, *values)).rowcount  # fmt: skip
        self.waiting[rule] += count
        return count

    def forget(self, rule: Rule) -> None:
        """Begin a *rule* anew, without its evidence; what it has skipped is decided again."""
        self.recall(rule.id)
        self._db.write("DELETE FROM classes WHERE rule = ?", (rule.id,))
        self.save(Rule.new(rule.id, rule.host, rule.template, rule.rewrite, strict=self._strict))
        self._rules.pop((rule.host, rule.template), None)

    def template(self, host: int, template: str) -> Template:
        """Return what is known of a template; set ``is_changed`` when it is changed."""
        found = self._templates.get((host, template))
        if found is None:
            if len(self._templates) >= _KEPT:
                self._write_template(next(iter(self._templates)))
                del self._templates[next(iter(self._templates))]
            row = self._db.execute("SELECT parameters, noise, shared FROM templates WHERE host = ? AND template = ?",
                                   (host, template)).fetchone()  # fmt: skip
            with self._db.reading():
                parts = (Parameters.load(row[0]), Noise.load(row[1]), Shared.load(row[2])) if row else ()
            found = self._templates[host, template] = Template(*parts)
        return found

    def flush(self) -> None:
        """Write the templates that have changed."""
        for key, template in self._templates.items():
            if template.is_changed:
                self._write_template(key)

    def _write_template(self, key: tuple[int, str]) -> None:
        one = self._templates[key]
        self._db.write("INSERT OR REPLACE INTO templates VALUES (?, ?, ?, ?, ?)",
                       (*key, one.parameters.dump(), one.noise.dump(), one.shared.dump()))  # fmt: skip
        one.is_changed = False

    def _rule(self, row: tuple[object, ...]) -> Rule:
        with self._db.reading():
            rule = Rule(*row)  # type: ignore[arg-type]  # the columns are its fields
            rule.rewrite, rule.state = Rewrite.parse(str(rule.rewrite)), State(rule.state)
            rule.pin = Pin(rule.pin) if rule.pin else None
            return rule


def _values(rule: Rule) -> Iterator[object]:
    return (getattr(rule, one.name) for one in fields(rule))


def _waits(standing: str) -> bool:
    return standing in (Standing.HELD, Standing.RECALLED)
