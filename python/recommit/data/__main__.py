"""``python -m recommit.data``: the commands, without the rest of the command line."""

from __future__ import annotations

import sys

from recommit.cli.verbs.data import main

if __name__ == "__main__":
    sys.exit(main())
