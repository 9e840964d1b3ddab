"""The content of a page: what makes two pages the same, what is noise, and what says nothing."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj.content import (
    CALIBRATIONS,
    SHARED_BY,
    Noise,
    Reading,
    Sameness,
    Shared,
    digests,
    is_error_like,
    is_login_like,
    near,
    read_blocks,
    same,
    sketch,
)
from spiderproj.content.blocks import MAX_CHARACTERS, MAX_TOKENS
from spiderproj.content.masks import masked
from spiderproj.content.noise import BOILERPLATE_SHARE, PAGES_BEFORE
from spiderproj.content.reading import FIRST_KEPT, LAST_KEPT, MAX_PACKED
from tests.content_pages import Moment, listing, not_found, post, product, words
from tests.pace import slowness

PARTS = """
<p> </p> <div\tclass=nav> </div> <a\thref=x> </a> <!-- --> <script> </script> <b> <svg> </svg> <title> </title> <td
<img\tsrc=a.png> text 12:30 &amp; " <li>
"""
MARKUP = st.text(st.sampled_from("<>/!-='\"& \nabp1:")) | st.lists(st.sampled_from(PARTS.split(" "))).map("".join)


def calibrated(page: Callable[[int, Moment], str]) -> Noise:
    """Return the noise of a template, of which three pages were fetched twice and thirty once."""
    noise = Noise()
    for number in range(CALIBRATIONS):
        first, second = (read_blocks(page(number, Moment(90_000 + 2 * number + fetch))) for fetch in (0, 1))
        noise.calibrate(first, second)
    for number in range(30):
        noise.observe(read_blocks(page(number, Moment(80_000 + number))))
    return noise


# T2: 300 pages


def test_same_posts() -> None:
    """Of 100 posts fetched twice, with all around them changed, at least 99 are recognised, by digest too."""
    noise = calibrated(post)
    pairs = [
        (read_blocks(post(number, Moment(2 * number))), read_blocks(post(number, Moment(2 * number + 1))))
        for number in range(1000, 1100)
    ]
    assert sum(same(first, second, noise) is Sameness.EXACT for first, second in pairs) >= 99
    assert sum(digests(first, noise) == digests(second, noise) for first, second in pairs) >= 99
    assert len({digests(first, noise) for first, _ in pairs}) == 100
    assert all(same(first, second) is Sameness.DIFFERENT for first, second in pairs), "the noise was not needed"


def test_different_products() -> None:
    """No two of 100 products that differ in one price, one number or one word are taken for one."""
    noise = calibrated(lambda number, moment: product(moment, sku=f"B-{number}", price=f"{number % 4 + 5}.99"))
    base = read_blocks(product(Moment(0)))
    for number in range(100):
        change = [{"price": f"{number + 20}.99"}, {"sku": f"A-{number + 1002}"}, {"name": f"Chair {words(number, 1)}"}]
        other = read_blocks(product(Moment(number + 1), **change[number % 3]))
        assert same(base, other, noise) is Sameness.DIFFERENT
        assert not set(digests(base, noise)) & set(digests(other, noise))
    again = read_blocks(product(Moment(500)))
    assert same(base, again, noise) is Sameness.EXACT


def test_different_lists() -> None:
    """No two of 50 lists under one introduction are taken for one; the same list is."""
    noise = calibrated(listing)
    lists = [read_blocks(listing(number, Moment(number))) for number in range(100, 150)]
    assert len({digests(reading, noise)[1] for reading in lists}) == 50
    assert all(same(lists[0], other, noise) <= Sameness.LINKS for other in lists[1:])
    assert same(lists[0], read_blocks(listing(100, Moment(7))), noise) is Sameness.EXACT


def test_soft_404s() -> None:
    """All of 50 error pages sent as good answers are recognised by one probe; no post, product or list is one."""
    noise = calibrated(post)
    probe = read_blocks(not_found("/blog/5f3a9c0be1d24788", Moment(1)))
    errors = [read_blocks(not_found(f"/blog/{words(number, 2)}", Moment(number))) for number in range(50)]
    others = [read_blocks(page) for page in (post(3, Moment(2)), product(Moment(3)), listing(4, Moment(4)))]
    assert all(is_error_like(reading, probe, noise) for reading in errors)
    assert not any(is_error_like(reading, probe, noise) for reading in [*others, read_blocks("")])


def test_pace() -> None:
    """Reading takes at most 1 ms for 10 kB on a quiet core."""
    pages = [post(number, Moment(number)) for number in range(50)]
    best = min(_seconds(pages) for _ in range(5))
    assert best / slowness() < 0.001 * sum(map(len, pages)) / 10_000


def _seconds(pages: list[str]) -> float:
    began = time.process_time()
    for page in pages:
        read_blocks(page)
    return time.process_time() - began


# one page


def page(*blocks: str) -> str:
    """Return a page with these blocks."""
    return f"<title>T</title><h1>Head</h1><p>{words(1, 30)}</p>{''.join(blocks)}"


UNSEEN = [
    ("", "<script>a</script>"),
    ("<p>a b</p>", "<p>\n a\n<b class=x>b</b></p>"),
    ("<p>a</p>", "<p id=1 class=x>a</P>"),
    ("<p>a&amp;b</p>", "<p>a&#38;b</p>"),
    ("<p>a", "<p>a<!-- now: 12 -->"),
    ("<p>a</p>", "<p>a</p><svg><text>no</text></svg><noscript><p>no</p></noscript><template><p>no</p></template>"),
    ("", "<nav><a href=/>Home</a></nav>"),
    ("", "<div id='sidebar'><ul><li><a href=/2008/>May</a> (7)</li></ul></div>"),
    ("<p>0123456789abcdef01", "<p>fedcba98765432100f"),
    ("<p><img src=a.png?v=1>", "<p><img src=a.png?v=2>"),
    ("<p>x<a href=/a/b;jsessionid=12?s=1>b", "<p>x<a href=/a/b>b"),
    ("<input type=hidden value=1>", "<input type=hidden value=2>"),
]


@pytest.mark.parametrize(("one", "other"), UNSEEN)
def test_not_content(one: str, other: str) -> None:
    """What is not shown, navigation, tokens and how markup is written make no other page."""
    assert same(read_blocks(page(one)), read_blocks(page(other))) is Sameness.EXACT


SEEN = [
    ("<p>9.99", "<p>9.98", Sameness.DIFFERENT),
    ("<p>a", "<p>b", Sameness.DIFFERENT),
    ("<p>a<p>b", "<p>b<p>a", Sameness.UNORDERED),
    ("<p>a<p>a", "<p>a", Sameness.DIFFERENT),
    ("<p>On 2026-01-02", "<p>On 2026-01-03", Sameness.DATES),
    ("<p>a 4 May 2026<p>b 5 May 2026", "<p>b 5 May 2026<p>a 4 May 2026", Sameness.UNORDERED),
    ("<p><img src=a.png>", "<p><img src=b.png>", Sameness.DIFFERENT),
    ("<p><img src=/i?id=1>", "<p><img src=/i?id=2>", Sameness.DIFFERENT),
    ("<p><iframe src=/v/1></iframe>", "<p><iframe src=/v/2></iframe>", Sameness.DIFFERENT),
    ("<p><a href=/a>x", "<p><a href=/b>x", Sameness.LINKS),
    ("<nav><p>text in a bar", "<nav><p>another text", Sameness.DIFFERENT),
    ("<nav><main><a href=/a>x", "<nav><main><a href=/b>x", Sameness.LINKS),
    ("<p title='<!--'>a", "<p title='<!--'>b", Sameness.DIFFERENT),
    ("<p>a<b title='<!--'>b</b>c", "<p>a<b title='<!--'>b</b>d", Sameness.DIFFERENT),
    ("<!-- a", "<!-- b", Sameness.DIFFERENT),
    ("<script>a", "<script>b", Sameness.DIFFERENT),
    ("<p title='a>x</p>", "<p title='b>x</p>", Sameness.DIFFERENT),
    ("<textarea>a</textarea>", "<textarea>b</textarea>", Sameness.DIFFERENT),
]


@pytest.mark.parametrize(("one", "other", "expected"), SEEN)
def test_content(one: str, other: str, expected: Sameness) -> None:
    """Numbers, words, pictures and what cannot be read make another page; order, dates and links are told apart."""
    assert same(read_blocks(page(one)), read_blocks(page(other))) is expected
    one_digests, other_digests = digests(read_blocks(page(one))), digests(read_blocks(page(other)))
    assert (one_digests[0] == other_digests[0]) == (expected in {Sameness.DATES, Sameness.EXACT})
    assert (one_digests[1] == other_digests[1]) == (expected >= Sameness.DATES)


@pytest.mark.parametrize(
    "text", ["", "<title>T</title>", "<div><script>x()</script></div>", "<nav><a href=/>x</a></nav>"]
)
def test_empty(text: str) -> None:
    """An empty page is equal to nothing, not even to itself."""
    reading = read_blocks(text)
    assert reading.is_empty
    assert same(reading, reading) is Sameness.DIFFERENT
    assert (digests(reading), sketch(reading)) == ((0, 0), (0, 0, 0, 0))


def test_lists_are_their_links() -> None:
    """Of pages that are first of all lists other links make another page, not only a doubt."""
    first, second = (read_blocks("".join(f"<li><a href=/{n}>Item {n}</a>" for n in part)) for part in ((1, 2), (1, 3)))
    assert first.is_list
    assert same(first, second) is Sameness.DIFFERENT


DATES = [
    ("on 2026-05-01T10:00:00Z", "on #d"),
    ("31.12.2026, 1/2/2026", "#d, #d"),
    ("5th May 2026 and May 5, 2026", "#d and #d"),
    ("1. März 2026, 3 de mayo de 2026, février 2026", "#d, #d, #d"),
    ("at 5:30 pm", "at #d"),
    ("may 5 apples, Decoder 3000, version 1.2.3, 1:0, 19.99", None),
    ("550e8400-e29b-41d4-a716-446655440000", "#h"),
    ("0123456789abcde", None),
]


@pytest.mark.parametrize(("text", "expected"), DATES)
def test_masks(text: str, expected: str | None) -> None:
    """Dates, times and long tokens are masked; a month's name without a year, and other numbers, are not."""
    assert masked(text)[0] == (expected or text)


# noise


def test_numbers_are_content_until_calibrated() -> None:
    """A number that changes by itself on two pages is noise where it stands, and nowhere else."""
    noise = Noise()
    one, two = (read_blocks(page(f"<p class=c>Seen {n} times</p><p>Price 5</p>")) for n in (1, 2))
    noise.calibrate(one, two)
    assert same(one, two, noise) is Sameness.DIFFERENT, "one page is no evidence"
    noise.calibrate(one, two)
    assert same(one, two, noise) is Sameness.EXACT
    other = read_blocks(page("<p class=c>Seen 1 times</p><p>Price 6</p>"))
    assert same(one, other, noise) is Sameness.DIFFERENT


def test_a_clock_is_noise() -> None:
    """A time that changes by itself is noise where it stands; a date elsewhere still counts."""
    noise = Noise()
    for _ in range(2):
        noise.calibrate(*(read_blocks(page(f"<p class=now>It is 10:0{n}</p>")) for n in (1, 2)))
    first, second, other = (
        read_blocks(page(f"<p class=now>It is 10:0{n}</p><p>On {day} May 2026")) for n, day in ((3, 1), (4, 1), (5, 2))
    )
    assert same(first, second, noise) is Sameness.EXACT
    assert same(first, other, noise) is Sameness.DATES


def test_another_page_each_time_teaches_nothing() -> None:
    """A URL that shows another page at each fetch makes no noise of what pages are about."""
    noise = Noise()
    form = "<h1>{}</h1><div><p>{}</div><footer>Our site</footer>"
    for number in range(4):
        noise.calibrate(*(read_blocks(form.format(words(n, 3), words(n, 9))) for n in (number, number + 50)))
    assert same(read_blocks(form.format("A", "a")), read_blocks(form.format("A", "b")), noise) is Sameness.DIFFERENT


def test_a_place_of_content_is_no_noise() -> None:
    """An advertisement among the paragraphs of a page makes no noise of them."""
    noise = Noise()
    for number in range(4):
        noise.calibrate(*(read_blocks(page(f"<p>Buy {letter}")) for letter in (f"a{number}x", "b")))
    assert same(read_blocks(page("<p>a")), read_blocks(page("<p>b")), noise) is Sameness.DIFFERENT


def test_boilerplate_may_come_and_go() -> None:
    """A block of nearly all pages makes no difference; of two that exclude one another, one always does."""
    noise = Noise()
    for number in range(PAGES_BEFORE):
        stock = "In stock" if number % 10 < 6 else "Sold out"
        noise.observe(read_blocks(page(f"<p>{number}</p><p>{stock}</p><p>We use cookies</p>")))
    plain, cookies = read_blocks(page("<p>x")), read_blocks(page("<p>x<p>We use cookies"))
    assert same(plain, cookies, noise) is Sameness.EXACT
    stocked, sold = read_blocks(page("<p>x<p>In stock")), read_blocks(page("<p>x<p>Sold out"))
    assert same(stocked, sold, noise) is Sameness.DIFFERENT
    assert BOILERPLATE_SHARE > 0.5


def test_one_text_is_counted_once() -> None:
    """A hundred URLs of one page do not make boilerplate of it."""
    noise = Noise()
    for _ in range(100):
        noise.observe(read_blocks(page("<p>x")))
    assert same(read_blocks(page("<p>x<p>y")), read_blocks(page("<p>y")), noise) is Sameness.DIFFERENT


def test_old_and_new_readings_meet_under_one_noise() -> None:
    """What was read before anything was learned compares with what is read after; the version tells digests apart."""
    noise = Noise()
    before = read_blocks(page("<p class=c>Seen 1 times"))
    version, old = noise.version, digests(before, noise)
    for _ in range(2):
        noise.calibrate(*(read_blocks(page(f"<p class=c>Seen {n} times")) for n in (1, 2)))
    after = read_blocks(page("<p class=c>Seen 3 times"))
    assert noise.version != version
    assert same(Reading.unpack(before.pack()), after, noise) is Sameness.EXACT
    assert digests(before, noise) == digests(after, noise) != old


def test_noise_is_kept() -> None:
    """What was learned is the same after the store."""
    noise = calibrated(post)
    kept = Noise.load(noise.dump())
    assert kept.is_calibrated
    assert (kept.version, kept.dump()) == (noise.version, noise.dump())
    assert len(noise.dump()) < 20_000


@pytest.mark.parametrize("dumped", [b"", b"{}", b"[1]", b'{"calibrations":1,"pages":1,"blocks":[[-1,9]]}', b"\xff"])
def test_bad_dumps(dumped: bytes) -> None:
    """A damaged dump is refused with what to do."""
    with pytest.raises(ValueError, match="delete it to learn anew"):
        Noise.load(dumped)


# guards and near-duplicates


def test_shared_contents() -> None:
    """A content with more than five base paths is an error page, also after the store; so is no content."""
    shared = Shared()
    for number in range(SHARED_BY):
        shared.note(1, f"/a/{number}")
        shared.note(1, "/a/0")
    assert not shared.is_error(1)
    shared.note(1, "/a/x")
    assert Shared.load(shared.dump()).is_error(1)
    assert shared.is_error(0)
    with pytest.raises(ValueError, match="delete it to count anew"):
        Shared.load(b"{")


def test_login_walls() -> None:
    """A page with a password and little text is a wall; an article with a box to sign in is none."""
    box = "<form>Sign in <input name=p type='password'></form>"
    assert is_login_like(read_blocks(f"<h1>Members</h1>{box}"))
    assert not is_login_like(read_blocks(f"<p>{words(1, 200)}</p>{box}"))
    assert not is_login_like(read_blocks("<p>Nothing</p>"))


def test_near_duplicates() -> None:
    """One paragraph of twenty may differ, and such pages share a part of their sketches; a number or title may not."""
    paragraphs = [f"<p>{words(n, 20)}" for n in range(20)]
    base = read_blocks("".join(paragraphs))
    shared = 0
    for number in range(50):
        other = read_blocks("".join([*paragraphs[:-1], f"<p>{words(100 + number, 20)}"]))
        assert near(base, other)
        shared += any(mine == theirs for mine, theirs in zip(sketch(base), sketch(other), strict=True))
    assert shared >= 49
    assert not near(base, read_blocks("".join([*paragraphs[:-1], "<p>19.99"])))
    assert not near(base, read_blocks("<title>T</title>" + "".join(paragraphs)))
    assert not near(base, read_blocks("".join(paragraphs[:15])))


# bounds


@settings(deadline=None, max_examples=200)
@given(MARKUP)
def test_anything_is_read(text: str) -> None:
    """Any text gives a bounded reading, equal to itself, that the store gives back."""
    reading = read_blocks(text)
    assert Reading.unpack(reading.pack()) == reading
    assert reading == read_blocks(text)
    assert same(reading, reading) is (Sameness.DIFFERENT if reading.is_empty else Sameness.EXACT)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.text(st.characters(exclude_characters="<&", exclude_categories=["Cs"]), max_size=20)), st.randoms())
def test_layout_is_no_content(paragraphs: list[str], random: Random) -> None:
    """White space, scripts and attributes in any order leave a reading as it is."""
    attributes = ["class=a", "id=b", "data-x='1'"]
    plain = "".join(f"<p class=a>{text}</p>" for text in paragraphs)
    laid_out = ""
    for text in paragraphs:
        random.shuffle(attributes)
        laid_out += f"\n <p {' '.join(attributes)}>\n{text} </p><script>{random.random()}</script>\n"
    assert read_blocks(plain) == read_blocks(laid_out)


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_unpacked_or_refused(packed: bytes) -> None:
    """Bytes that are no reading are refused."""
    with contextlib.suppress(ValueError):
        assert Reading.unpack(packed).pack() == packed


def test_long_pages() -> None:
    """Of a long page each block counts, in the folded middle too, and the reading stays small."""
    blocks = [f"<p>{number}" for number in range(4 * (FIRST_KEPT + LAST_KEPT))]
    first = read_blocks("".join(blocks))
    assert len(first.pack()) < MAX_PACKED
    middle = len(blocks) // 2
    changed = [*blocks]
    changed[middle] = "<p>x"
    assert same(first, read_blocks("".join(changed))) is Sameness.DIFFERENT
    blocks[middle], blocks[middle + 1] = blocks[middle + 1], blocks[middle]
    assert same(first, read_blocks("".join(blocks))) is Sameness.UNORDERED


HOSTILE = {
    "nested": lambda: "<div>" * 4_000_000,
    "formatting": lambda: "".join(f"<p><b x{number}>x" for number in range(20_000)),
    "unclosed": lambda: "<svg><a href='" * 500_000,
    "less-than": lambda: "<" * 1_000_000,
    "raw": lambda: "<title>x</titl" * 500_000,
    "tokens": lambda: "<!---->" * (MAX_TOKENS + 1),
    "end tags": lambda: "<div>" * 50_000 + "</section></div>" * 100_000,
    "classes": lambda: f"<div {'class=' * 500_000}>",
    "hex": lambda: "a" * MAX_CHARACTERS,
    "times": lambda: "1:11:11.111" * 100_000,
    "links": lambda: "<a href=x>y" * 500_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile(name: str) -> None:
    """Pages made to be slow are read within a second of a quiet core, and what follows them is not overlooked."""
    text = HOSTILE[name]()
    began = time.process_time()
    first = read_blocks(text + "a")
    assert (time.process_time() - began) / slowness() < 1
    assert len(first.pack()) < MAX_PACKED
    assert same(first, read_blocks(text + "b")) < Sameness.DATES
