"""``python -m recommit.cli``: the command ``recommit``, also as a rank that a launcher started."""

from __future__ import annotations

import os
import sys

from recommit.cli.command_line import main

if __name__ == "__main__":
    exit_status = main()
    if "RANK" in os.environ:
        from recommit.runs import distributed

        distributed.end(exit_status)
    sys.exit(exit_status)
