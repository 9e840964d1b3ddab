"""The encoding of a body: who decides, what the labels mean, and that no body can make a decode slow or fail."""

from __future__ import annotations

import time

import pytest
import webencodings.labels
from hypothesis import given, settings
from hypothesis import strategies as st

from spiderproj import charset
from tests.pace import slowness

LATIN = "café".encode("latin-1")
CYRILLIC = "привет"


@pytest.mark.parametrize(
    ("body", "header", "text", "encoding"),
    [
        (b"\xef\xbb\xbfcaf\xc3\xa9", "iso-8859-1", "café", "utf-8"),  # mark beats header
        (b"\xfe\xff\0a\x04\x16", "utf-8", "aЖ", "utf-16be"),
        (b"\xff\xfea\0\x16\x04", None, "aЖ", "utf-16le"),
        ("é".encode(), "UTF8", "é", "utf-8"),
        (LATIN, " latin1 ", "café", "windows-1252"),
        (b"\x80\x81\x9d", "ascii", "€\x81\x9d", "windows-1252"),
        (CYRILLIC.encode("cp1251"), "Windows-1251", CYRILLIC, "windows-1251"),
        (CYRILLIC.encode("koi8-r"), "koi8", CYRILLIC, "koi8-r"),
        ("日本".encode("shift_jis"), "sjis", "日本", "shift_jis"),
        ("日本".encode("iso2022_jp"), "iso-2022-jp", "日本", "iso-2022-jp"),
        ("中文".encode("gb18030"), "gb2312", "中文", "gbk"),
        ("a".encode("utf-16-le"), "utf-16", "a", "utf-16le"),
        (LATIN, None, "café", "windows-1252"),  # sniffed
        ("<a href=/é>".encode("utf-16-le"), "utf-16-le", "<a href=/é>", "utf-16le"),  # no label of the standard
        ("<a href=/é>".encode("utf-16-be"), None, "<a href=/é>", "utf-16be"),
        (b"a\0b\0", None, "a\0b\0", "utf-8"),  # too short to tell
        (("a" * 32 + "扡").encode("utf-16-le"), None, "a" * 32 + "扡", "utf-16le"),
        (("a" * 31 + "扡").encode("utf-16-le"), None, "a\0" * 31 + "ab", "utf-8"),
        (b"\0" * 64, None, "\0" * 64, "utf-8"),
        (b"ab" * 8 + b"\0\0", None, "ab" * 8 + "\0\0", "utf-8"),
        ("é".encode(), None, "é", "utf-8"),
        ("é日".encode()[:-1], None, "é\ufffd", "utf-8"),  # cut inside its last character
        (b"a\xc3", None, "aÃ", "windows-1252"),
        (b"\xff\xfe\x80"[:1], "utf-8", "\ufffd", "utf-8"),
        (b"", None, "", "utf-8"),
    ],
)
def test_the_order_of_mark_header_and_bytes(body: bytes, header: str | None, text: str, encoding: str) -> None:
    """A byte order mark beats the header, the header beats the bytes."""
    assert charset.decode(body, header, html=False) == (text, encoding)


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        (b"<meta charset=koi8-r>", "koi8-r"),
        (b"<META CHARSET = 'koi8-r' >", "koi8-r"),
        (b'<meta\nname=a charset="koi8-r"/>', "koi8-r"),
        (b'<meta/charset="koi8-r">', "koi8-r"),
        (b'<meta http-equiv=Content-Type content="text/html; charset=koi8-r">', "koi8-r"),
        (b"<meta content='text/html;CHARSET = \"koi8-r\"' http-equiv='content-type'>", "koi8-r"),
        (b'<meta content="text/html; charset=koi8-r">', None),  # no http-equiv
        (b"<metal charset=koi8-r>", None),
        (b"<!-- <meta charset=koi8-r> -->", None),
        (b"<!--><meta charset=koi8-r>", "koi8-r"),
        (b"<a title='<meta charset=koi8-r>'>", None),
        (b"</a title='<meta charset=koi8-r>'>", None),
        (b"<p><b x=1><meta charset=koi8-r>", "koi8-r"),
        (b"<meta charset=nonsense><meta charset=koi8-r>", "koi8-r"),
        (b"<meta charset=koi8-r charset=utf-8>", "koi8-r"),
        (b"<meta charset=utf-16le>", "utf-8"),
        (b"<meta charset=x-user-defined>", "windows-1252"),
        (b"<?xml version='1.0' encoding='koi8-r'?>", "koi8-r"),
        (b"<?xml version='1.0' encoding='koi8-r'?><meta charset=big5>", "big5"),
        (b"<!doctype html>" + b" " * 990 + b"<meta charset=koi8-r>", None),  # past the first 1024 bytes
        (b"<!doctype html><meta charset=koi8-r>", "koi8-r"),
        (b"<meta charset=utf-7>", None),
        (b"<meta charset", None),
        (b"<", None),
    ],
)
def test_what_html_declares(head: bytes, encoding: str | None) -> None:
    """The prescan finds what HTML 13.2.3.2 finds, and only when the header says nothing."""
    body = head + b"\xc1\xa9"

    assert charset.decode(body, None)[1] == (encoding or "windows-1252")
    assert charset.decode(body, "big5")[1] == "big5"
    assert charset.decode(body, None, html=False)[1] == "windows-1252"


def test_an_xml_declaration_in_utf_16() -> None:
    """XML in UTF-16 without a mark is known by its first characters."""
    xml = "<?xml version='1.0'?><a>é</a>"

    assert charset.decode(xml.encode("utf-16-le"), None) == (xml, "utf-16le")
    assert charset.decode(xml.encode("utf-16-be"), None) == (xml, "utf-16be")


@pytest.mark.parametrize(
    ("body", "header", "encoding"),
    [
        (b'@charset "koi8-r";\xc1', None, "koi8-r"),
        (b'@charset "koi8-r";\xc1', "big5", "big5"),
        (b'@charset "utf-16";', None, "utf-8"),
        (b"@charset 'koi8-r';\xc1", None, "windows-1252"),
        (b' @charset "koi8-r";\xc1', None, "windows-1252"),
        (b"a{}", None, "utf-8"),
    ],
)
def test_what_a_style_sheet_declares(body: bytes, header: str | None, encoding: str) -> None:
    """@charset counts in exactly one spelling, at the first byte, after the header."""
    assert charset.decode_css(body, header)[1] == encoding


@pytest.mark.parametrize(
    "label",
    [
        *("punycode", "idna", "zlib", "undefined", "unicode_escape", "raw-unicode-escape", "utf-7", "utf-32", "rot13"),
        *("mbcs", "hex", "base64", "cp037", "no-such-charset-\x7f", "a" * 8000, "", "ﬁ"),
        *("hz-gb-2312", "iso-2022-kr", "replacement"),
    ],
)
def test_python_codecs_are_never_used(label: str) -> None:
    """A label the standard does not have, or refuses, is as good as none."""
    assert charset.codec_for(label) is None
    assert charset.decode(b"ab9+ADw-\\ud800", label) == ("ab9+ADw-\\ud800", "utf-8")


@pytest.mark.parametrize("label", sorted(set(webencodings.labels.LABELS.values()) - {"replacement"}))
@pytest.mark.parametrize("unit", [b"\x81", b"\xff", b"\x1b$B", b"\xd8\x00", b"\x00\xd8", b"\x80\xfe\xff"])
def test_no_body_makes_a_decode_slow(label: str, unit: bytes) -> None:
    """A mebibyte of errors is decoded within 0.1 s in every encoding, and holds no lone surrogate."""
    body = unit * ((1 << 20) // len(unit))
    began = time.process_time()
    text, _ = charset.decode(body, label)
    seconds = time.process_time() - began

    text.encode("utf-8")
    assert seconds < 0.1 * slowness()


SOUP = st.lists(st.sampled_from([b"<meta charset=", b"<!--", b"'", b'"', b"koi8-r", b">", b"\xff"])).map(b"".join)


@settings(deadline=None, max_examples=300)
@given(
    body=st.one_of(st.binary(max_size=60), SOUP),
    header=st.one_of(st.none(), st.text(max_size=12), st.sampled_from(sorted(webencodings.labels.LABELS))),
)
def test_decode_never_fails(body: bytes, header: str | None) -> None:
    """Any bytes under any label give text that UTF-8 can hold, the same each time, in an encoding of the standard."""
    for read in (charset.decode, charset.decode_css):
        text, encoding = read(body, header)

        text.encode("utf-8")
        assert charset.codec_for(encoding) == encoding
        assert read(body, header) == (text, encoding)


@settings(deadline=None, max_examples=300)
@given(units=st.lists(st.sampled_from([0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0x41, 0x2603, 0xFFFD]), max_size=12))
def test_lone_surrogates_of_utf_16(units: list[int]) -> None:
    """Our way to replace lone surrogates gives what Python's own slow one gives."""
    for order, codec in (("big", "utf-16-be"), ("little", "utf-16-le")):
        body = b"".join(unit.to_bytes(2, order) for unit in units)  # type: ignore[arg-type]  # order is a Literal

        assert charset.decode(body, codec.replace("16-", "16"), html=False)[0] == body.decode(codec, "replace")


@pytest.mark.parametrize(
    ("query", "encoding", "sent"),
    [
        ("q=привет&a=b", "windows-1251", "q=%EF%F0%E8%E2%E5%F2&a=b"),
        ("q=привет", "utf-8", "q=%D0%BF%D1%80%D0%B8%D0%B2%D0%B5%D1%82"),
        ("é", "utf-16le", "%C3%A9"),
        ("é☃", "windows-1252", "%E9%26%239731%3B"),
        ("表", "shift_jis", "%95\\"),  # its second byte is a backslash
        ("é", "iso-8859-2", "%E9"),
    ],
)
def test_a_query_is_sent_in_the_page_s_encoding(query: str, encoding: str, sent: str) -> None:
    """Non-ASCII characters of a query are bytes of the page's encoding, or a reference where it lacks them."""
    assert charset.encode_query(query, encoding) == sent
