"""What is to be known about drawing a page, without a browser: does it look drawn by script, and how is it kept.

``signs`` reads what tells, ``still`` makes what a browser drew into a page that draws no more, ``installed`` says
what is missing on this machine.
"""

from spiderproj.rendering.installed import missing
from spiderproj.rendering.signs import Sign, Signs, read_signs
from spiderproj.rendering.still import still

__all__ = ["Sign", "Signs", "missing", "read_signs", "still"]
