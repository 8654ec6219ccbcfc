"""Python files as arguments of a command: foreign code, executed only if the caller explicitly allows it."""

from __future__ import annotations

import runpy
import traceback
from pathlib import Path
from typing import Any


def definition(argument: str, path: Path, name: str, *, trusted: bool) -> Any:
    """Execute a Python file and return its object ``name``, or None. Errors name ``argument``."""
    if not trusted:
        raise ValueError(
            f"{argument}: expected --run-code beside it, since {path} is a program that would run here, got none"
        )
    if not path.is_file():
        raise ValueError(f"{argument}: expected a file of Python, got {path}")
    try:
        return runpy.run_path(str(path)).get(name)
    except (Exception, SystemExit) as error:
        raise ValueError(f"{argument}: {failing_line(path, error)}: {type(error).__name__}: {error}") from error


def failing_line(path: Path, error: BaseException) -> str:
    """The file, and its line at which the error was raised."""
    lines = [each.lineno for each in traceback.extract_tb(error.__traceback__) if Path(each.filename) == path]
    return f"{path}, line {lines[-1]}" if lines else str(path)
