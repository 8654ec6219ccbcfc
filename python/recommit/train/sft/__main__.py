"""``deepspeed ... --module recommit.train.sft``: ``recommit train sft`` on every rank that a launcher starts."""

from __future__ import annotations

import sys

from recommit.cli.command_line import main
from recommit.runs import distributed

if __name__ == "__main__":
    distributed.end(main(["train", "sft", *distributed.arguments(sys.argv[1:])]))
