"""Tables of the documentation: CSV in docs/results, or between ``<!-- KIND NAME -->`` and ``<!-- end -->`` in a page. A
script of each kind makes them anew; with ``--check`` it only says whether they are up to date."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

from recommit.storage import files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def names(page: str, kind: str) -> list[str]:
    """Those of the blocks of a kind, in order."""
    return [match["name"].strip() for match in _pattern(kind).finditer(page)]


def filled(page: str, kind: str, make: Callable[[str], str]) -> str:
    """The page with every block of a kind made anew, from its name."""
    if not names(page, kind):
        raise ValueError(f"expected a block <!-- {kind} ... --> with an <!-- end -->, got none")
    content = lambda name: f"<!-- {kind}{name} -->\n\n{make(name.strip())}\n\n<!-- end -->"
    return _pattern(kind).sub(lambda match: content(match["name"]), page)


def _pattern(kind: str) -> re.Pattern[str]:
    return re.compile(rf"<!-- {kind}(?P<name>(?: [\w-]+)*) -->\n.*?<!-- end -->", re.DOTALL)


def parser(description: str | None) -> argparse.ArgumentParser:
    """Of a script that fills blocks."""
    result = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("--check", action="store_true", help="write nothing; exit with 1 if something is out of date")
    return result


def write(wanted: dict[Path, str], check: bool) -> int:
    """Write the files that are otherwise, or only name them; the exit status."""
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in [] if check else stale:
        files.replace(files.Files(), path, wanted[path].encode())
    print(f"{'out of date' if check else 'written'}: {', '.join(path.name for path in stale) or 'nothing'}")
    return int(check and bool(stale))
