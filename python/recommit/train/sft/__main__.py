"""``deepspeed ... --module recommit.train.sft``: ``recommit train sft`` on every rank that a launcher starts."""

from __future__ import annotations

import sys

from recommit.cli.command_line import main
from recommit.runs import ranks

if __name__ == "__main__":
    ranks.end(main(["train", "sft", *ranks.arguments(sys.argv[1:])]))
