"""Files of Python among the arguments of a command: foreign programs, run only where the caller asks for it."""

from __future__ import annotations

import runpy
import traceback
from pathlib import Path
from typing import Any


def definition(argument: str, path: Path, name: str, *, trusted: bool) -> Any:
    """The object ``name`` of a file of Python, None if there is none. ``argument`` is named where that fails."""
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
    """The file, and the last of its lines that was at work."""
    lines = [each.lineno for each in traceback.extract_tb(error.__traceback__) if Path(each.filename) == path]
    return f"{path}, line {lines[-1]}" if lines else str(path)
