"""WARC and WACZ: what went over the wire as records (ISO 28500, WARC/1.1), and the archive that viewers open.

``answer`` finds the answer in a received stream, ``exchange`` decides which records it becomes, ``record`` makes their
bytes, ``writer`` appends them, ``recovery`` brings the files back to the last commit; ``surt``, ``cdxj`` and ``wacz``
make the index and the archive.
"""

from spiderproj.warc.cdxj import Capture
from spiderproj.warc.exchange import Exchanged, Original
from spiderproj.warc.record import capture_stamp, sha1_text
from spiderproj.warc.surt import surt
from spiderproj.warc.tape import Tape
from spiderproj.warc.wacz import Contents, Page, write_wacz
from spiderproj.warc.writer import Place, Warcs

__all__ = [
    "Capture",
    "Contents",
    "Exchanged",
    "Original",
    "Page",
    "Place",
    "Tape",
    "Warcs",
    "capture_stamp",
    "sha1_text",
    "surt",
    "write_wacz",
]
