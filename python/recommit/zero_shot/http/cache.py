"""Answers by what was asked, shared between runs: the first decisions of a larger budget are those of a smaller one."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import TYPE_CHECKING

from recommit.storage import files
from recommit.storage.opening import content
from recommit.zero_shot.http.bodies import Completion

if TYPE_CHECKING:
    from pathlib import Path


class Cache:
    """One file per answer in a folder, or nothing at all without a folder. Safe from any thread and process."""

    def __init__(self, folder: Path | None) -> None:
        self.folder, self._files = folder, files.Files()

    def get(self, name: str) -> Completion | None:
        """The answer kept under a name; a file that holds none counts as no answer."""
        if self.folder is None:
            return None
        try:
            values = json.loads(content(self._path(name)))
            completion = Completion(**values)
        except (OSError, ValueError, TypeError, RecursionError):
            return None
        return completion if all(_fits(getattr(completion, f.name), f.type) for f in fields(Completion)) else None

    def put(self, name: str, completion: Completion) -> None:
        """Keep an answer."""
        if self.folder is None:
            return
        path = self._path(name)
        files.make_folders(self._files, path.parent)
        files.replace(self._files, path, json.dumps(asdict(completion)).encode("ascii"))

    def _path(self, name: str) -> Path:
        assert self.folder is not None
        return self.folder / name[:2] / f"{name}.json"


_KINDS: dict[str, tuple[type, ...]] = {"str": (str,), "bool": (bool,), "int | None": (int, type(None))}


def _fits(value: object, kind: object) -> bool:
    return isinstance(value, _KINDS[str(kind)])
