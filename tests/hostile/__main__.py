"""``python -m tests.hostile``: see ``tests.hostile``."""

import sys

from tests.hostile.run import main

sys.exit(main())
