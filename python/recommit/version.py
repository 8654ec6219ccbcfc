"""Which version this is, for files that say what made them."""

from __future__ import annotations

VERSION = "0.1.0"
