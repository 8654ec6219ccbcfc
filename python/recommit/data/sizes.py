"""One puzzle in several sizes: a folder with an ordinary data set for each, and one checked file that names them.

sizes.json       written last: which folders there are, and what is in them
sliding-3x3/     a data set
sliding-3x4/     another one
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.data.building import builder
from recommit.data.dataset import INDEX, open_folder
from recommit.data.feeding.mixture import names
from recommit.data.spec import DataSpec
from recommit.storage import errors, files
from recommit.storage.safe_open import content

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recommit.data.dataset import Dataset
    from recommit.data.manifest import Manifest


def several(plain: Any) -> bool:
    """Does a spec, as its file says it, give some difficulty a size of its own?"""
    difficulties = plain.get("variants") if isinstance(plain, dict) else None
    return isinstance(difficulties, list) and any(isinstance(each, dict) and "size" in each for each in difficulties)


def specs(plain: Mapping[str, Any]) -> list[DataSpec]:
    """A spec for each size of the difficulties, in their order; all difficulties have as many instances."""
    groups: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for difficulty in plain["variants"]:
        own = {name: value for name, value in difficulty.items() if name != "size"}
        groups.setdefault(_size(difficulty.get("size", plain.get("size"))), []).append(own)
    whole, specs, before = len(plain["variants"]), [], 0
    for size, difficulties in groups.items():
        after = before + len(difficulties)
        counts = {
            name: _number(name, plain[name]) * after // whole - plain[name] * before // whole
            for name in ("count", "validation", "test")
            if name in plain
        }
        specs.append(DataSpec.from_dict({**plain, **counts, "size": list(size), "variants": difficulties}))
        before = after
    return specs


def build(specs: Sequence[DataSpec], folder: str | Path, **options: Any) -> dict[str, Manifest]:
    """Build each in a folder of its own under ``folder``, or finish what was interrupted; ``options`` are those of
    ``recommit.data.build``."""
    target, work = Path(folder).absolute(), files.Files()
    every = names(specs)
    _refuse_others(target, every)
    manifests = {name: builder.build(spec, target / name, **options) for spec, name in zip(specs, every, strict=True)}
    body = {"sets": [{"folder": name, "content_sha256": each.content} for name, each in manifests.items()]}
    text = json.dumps({**body, "check": _check(body)}, indent=1, sort_keys=True) + "\n"
    files.replace(work, target / INDEX, text.encode())
    return manifests


def open_all(folder: str | Path, split: str | None = "train") -> list[Dataset]:
    """Every data set of a folder: one, or one of each size."""
    path = Path(folder).absolute()
    if not os.path.lexists(path / INDEX):
        return [open_folder(path, split)]
    return [_opened(path, each, split) for each in _read(path / INDEX)]


def _opened(path: Path, entry: dict[str, str], split: str | None) -> Dataset:
    dataset = open_folder(path / entry["folder"], split)
    if dataset.manifest.content != entry["content_sha256"]:
        raise errors.Damaged(
            f"{path / entry['folder']}: expected content {entry['content_sha256']}, got {dataset.manifest.content}"
        )
    return dataset


def _read(path: Path) -> list[dict[str, str]]:
    try:
        plain = json.loads(content(path))
        check = plain.pop("check")
        sets: list[dict[str, str]] = plain["sets"]
    except OSError as error:
        raise errors.from_os(error, path) from error
    except (ValueError, RecursionError, KeyError, AttributeError, TypeError) as error:
        raise errors.Damaged(f"{path}: not the list of its data sets: {error!r}") from None
    if check != _check(plain):
        raise errors.Damaged(f"{path}: its own checksum does not fit; building again repairs it")
    return sets


def _check(body: dict[str, Any]) -> str:
    return files.sha256(json.dumps(body, sort_keys=True).encode())


def _refuse_others(folder: Path, every: list[str]) -> None:
    """Never build among files that are not ours."""
    entries = {entry.name for entry in folder.iterdir()} if folder.is_dir() else set()
    if others := sorted(name for name in entries - {INDEX, *every} if not name.endswith(files.TEMPORARY)):
        raise errors.WrongFolder(
            f"{folder}: expected a new or empty folder, or data sets of {', '.join(every)}; got {others[0]}"
        )


def _size(value: Any) -> tuple[int, int]:
    size = [value, value] if isinstance(value, int) else value
    if not isinstance(size, list | tuple) or len(size) != 2 or not all(isinstance(side, int) for side in size):
        raise errors.WrongDataSpec(f"variants.size: expected rows and columns, or one number for both, got {value!r}")
    return size[0], size[1]


def _number(name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise errors.WrongDataSpec(f"{name}: expected a number of instances, got {value!r}")
    return value
