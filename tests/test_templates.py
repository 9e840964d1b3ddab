"""Templates of paths, and which of their parts are names."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj.templates import MAX_PREFIXES, MAX_VALUES, Slugs, template

TEMPLATES = [
    ("/", "/"),
    ("/about/team.html", "/about/team.html"),
    ("/2008/05/", "/{n}/{n}/"),
    ("/forum/12/post-345.html", "/forum/{n}/post-{n}.html"),
    ("/item12", "/item{n}"),
    ("/2008-05-31/x", "/{d}/x"),
    ("/log_2008.05.31.txt", "/log_{d}.txt"),
    ("/a/0123456789abcdef/", "/a/{h}/"),
    ("/a/550e8400-e29b-41d4-a716-446655440000", "/a/{h}"),
    ("/12345678901234567890", "/{n}"),
    ("/(S(1lit3py55t21z5v55vlm25s55))/a", "/(S({h}))/a"),
    ("/song.mp3", "/song.mp3"),
    ("/a%20b%C3%A9/c%2012", "/a%20b%C3%A9/c%20{n}"),
    ("/v1.2/", "/v{n}.{n}/"),
]


@pytest.mark.parametrize(("path", "expected"), TEMPLATES)
def test_template(path: str, expected: str) -> None:
    """Numbers, tokens and dates are what a template leaves open; endings and escapes stay."""
    assert template(path) == expected


@settings(deadline=None)
@given(st.text(st.sampled_from("/.-_%aF0129{}~();"), max_size=60))
def test_a_template_is_its_own(path: str) -> None:
    """The template of a template is itself, whatever the path, and has as many segments."""
    made = template(path)
    assert template(made) == made
    assert made.count("/") == path.count("/")


def taught(count: int, form: str = "/blog/about-{}.html") -> Slugs:
    """Return what *count* names in one place have taught."""
    slugs = Slugs()
    for number in range(count):
        slugs.learn(form.format(letters(number)))
    return slugs


def letters(number: int) -> str:
    """Return a name without digits."""
    return "".join(chr(97 + int(digit)) for digit in str(number))


def test_names_are_many() -> None:
    """Twenty values of a segment are sections; one more makes names of them, there and nowhere else."""
    assert taught(MAX_VALUES).generalise("/blog/about-x.html") == "/blog/about-x.html"
    slugs = taught(MAX_VALUES + 1)
    assert slugs.generalise("/blog/about-x.html") == "/blog/{s}.html"
    assert slugs.generalise("/blog/{n}/") == "/blog/{n}/"
    assert slugs.generalise("/blog/") == "/blog/"
    assert slugs.generalise("/shop/about-x.html") == "/shop/about-x.html"


def test_names_behind_names() -> None:
    """What stands behind a name is counted together, whatever the name."""
    slugs = taught(50, "/{}/")
    for number in range(50):
        slugs.learn(f"/{letters(number)}/{letters(number + 100)}")
    assert slugs.generalise("/x/y") == "/{s}/{s}"
    assert slugs.generalise(slugs.generalise("/x/y")) == "/{s}/{s}"


def test_learn_tells_when_templates_change() -> None:
    """learn() says once that names were found."""
    slugs = Slugs()
    assert sum(slugs.learn(f"/a/{letters(number)}") for number in range(100)) == 1


def test_names_are_kept() -> None:
    """What was learned is the same after the store; a damaged dump is refused."""
    slugs = taught(MAX_VALUES)
    kept = Slugs.load(slugs.dump())
    assert kept.learn("/blog/one-more.html")
    assert kept.generalise("/blog/x") == "/blog/{s}"
    for dumped in (b"", b"[]", b'{"general": 1, "values": []}'):
        with pytest.raises(ValueError, match="delete it to learn anew"):
            Slugs.load(dumped)


def test_memory_is_bounded() -> None:
    """A host that invents directories fills no memory."""
    slugs = Slugs()
    for number in range(2 * MAX_PREFIXES):
        slugs.learn(f"/{{n}}/{letters(number)}x/y/z")
    assert len(slugs.dump()) < 200 * MAX_PREFIXES
