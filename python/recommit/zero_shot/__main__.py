"""``python -m recommit.zero_shot``: the same as ``recommit zero-shot``."""

from __future__ import annotations

import sys
from importlib import import_module

# The program is the command line's, which no module here may import.
sys.exit(import_module("recommit.cli").main(["zero-shot", *sys.argv[1:]]))
