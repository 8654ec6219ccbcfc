"""Folders compared byte by byte, and what may be seen in one at any moment."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from recommit.data import manifest
from recommit.data.spec import DataSpec, Difficulty
from recommit.storage import errors

#: Small and quick, with every kind of file in it: three splits, perturbed states, several shards.
SMALL = DataSpec(
    "sokoban",
    (6, 6),
    (Difficulty((2, 9), 1), Difficulty((4, 16), 2)),
    count=120,
    validation=16,
    test=8,
    shard=24,
    perturbed=2,
    ties="random",
)
#: Names that exist only while somebody builds.
PASSING = {".lock", ".journal"}


def tree(folder):
    """path -> sha256 of every file, hidden ones included."""
    folder = Path(folder)
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def findings(folder, expected):
    """What a reader could see in ``folder`` now that is not as in the finished tree ``expected``."""
    found = []
    folder = Path(folder)
    if not folder.exists():
        return found
    for name, digest in tree(folder).items():
        if name.endswith(".tmp") or name in PASSING:
            continue
        if name not in expected:
            found.append(f"{name}: does not belong there")
        elif digest != expected[name]:
            found.append(f"{name}: torn or wrong")
    if (folder / manifest.NAME).exists():
        found += _promises(folder)
    return found


def _promises(folder):
    """A manifest in place promises that everything it names is there."""
    try:
        shards = manifest.read(folder).shards
    except errors.DataError as error:
        return [f"manifest: {error}"]
    missing = [record.name for record in shards if not (folder / record.name).is_file()]
    return [f"manifest: {name} is missing" for name in missing]


def differences(folder, expected):
    """How a finished tree differs from the undisturbed one."""
    got = tree(folder)
    names = sorted(set(got) | set(expected))
    return [f"{name}: differs at the end" for name in names if got.get(name) != expected.get(name)]


def read_json(path):
    return json.loads(Path(path).read_text("utf-8"))
