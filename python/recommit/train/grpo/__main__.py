"""``deepspeed ... --module recommit.train.grpo``: ``recommit train grpo`` on every rank that a launcher starts."""

from __future__ import annotations

import sys

from recommit.cli.command_line import main
from recommit.runs import distributed

if __name__ == "__main__":
    distributed.end(main(["train", "grpo", *distributed.arguments(sys.argv[1:])]))
