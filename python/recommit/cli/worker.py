"""``python -m recommit.cli.worker QUEUE``: run queued ``recommit`` commands, see ``recommit.reproduce.worker``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from recommit.cli.command_line import main
from recommit.reproduce.worker import work
from recommit.runs.progress import hold_tether

if __name__ == "__main__":
    from recommit.policy.backbones import resident

    hold_tether()
    resident.keep()
    try:
        exit_status = work(Path(sys.argv[1]), main)
    except KeyboardInterrupt:  # between two commands
        exit_status = 130
    if "RANK" in os.environ:
        from recommit.runs import distributed

        distributed.end(exit_status)
    sys.exit(exit_status)
