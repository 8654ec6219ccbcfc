"""The command line: ``recommit VERB ...``."""

from __future__ import annotations

from recommit.cli.command_line import main

__all__ = ["main"]
