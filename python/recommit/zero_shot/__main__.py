"""``python -m recommit.zero_shot``: the same as ``recommit zero-shot``."""

from __future__ import annotations

import sys

from recommit.cli.command_line import main

if __name__ == "__main__":
    sys.exit(main(["zero-shot", *sys.argv[1:]]))
