"""``deepspeed ... --module recommit.train.grpo``: ``recommit train grpo`` on every rank that a launcher starts."""

from __future__ import annotations

import sys

from recommit.cli.command_line import main
from recommit.runs import ranks

if __name__ == "__main__":
    ranks.end(main(["train", "grpo", *ranks.arguments(sys.argv[1:])]))
