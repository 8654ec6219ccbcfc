"""Boxoban's levels: 10x10 cells, 4 boxes, in the splits that papers compare on.

They are not part of this package. A copy of github.com/google-deepmind/boxoban-levels is imported once: every file is
checked against the published digests, and kept in the user's cache folder. From then on a spec may have ``generator:
unfiltered``, ``medium`` or ``hard``, which gives every user the same data set. The published medium set has no test
levels: its validation levels, which papers report, are the test split here, and the last of its training files the
validation split. Hard levels are for testing only.
"""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from recommit import _core
from recommit.puzzles.levels import parse_levels
from recommit.storage import errors, safe_open
from recommit.storage.files import Files, make_folders, replace

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from recommit.puzzles.puzzle import States

#: Levels of a file (the last one of a folder may have fewer), rows and columns, boxes.
PER_FILE, SIDE, BOXES = 1000, 10, 4
#: Largest level file or digest list that is read; published ones are an eighth of it.
MOST_BYTES = 1 << 20
#: Folder -> number of levels, and sha256 of the output of ``sha256sum *.txt`` in it.
FOLDERS = {
    "unfiltered/train": (900_000, "6d015e82db53e1964964aafcbfcb365776992ff4e429b0eef0e26f1d092d6a2e"),
    "unfiltered/valid": (100_000, "e0e0b0afd690aed4c37befa4bdeff1b4f251fc07ab6c78832f3b4ae965b0fb4e"),
    "unfiltered/test": (1_000, "a43ecabd0792dffa67402ac7841247aa2b31d21dff8332fdf81f02bf7e36072e"),
    "medium/train": (450_000, "23dded13ec85b978b4af6e1480c8faa42a38e5dacc659d2b89a71fbd0344fb4c"),
    "medium/valid": (50_000, "74ad76ef800cb021bc8d1f51fd597b24aa3b5f9ba7de737dfc369e3a3022433d"),
    "hard": (3_332, "2c25b86db86ad9975c7053bffc240a68ca5d7ae9173c18a3a2740ed4b615fd6c"),
}
#: Set and split -> folder, first level, and end of the range of levels.
SPLITS = {
    ("unfiltered", "train"): ("unfiltered/train", 0, 900_000),
    ("unfiltered", "validation"): ("unfiltered/valid", 0, 100_000),
    ("unfiltered", "test"): ("unfiltered/test", 0, 1_000),
    ("medium", "train"): ("medium/train", 0, 400_000),
    ("medium", "validation"): ("medium/train", 400_000, 450_000),
    ("medium", "test"): ("medium/valid", 0, 50_000),
    ("hard", "test"): ("hard", 0, 3_332),
}
#: By folder, the levels that are, up to symmetry, also test levels of a published set: excluded from training and
#: validation.
COPIES = {
    name: tuple(map(int, numbers.split()))
    for name, numbers in {
        "unfiltered/train": """
            14128 63104 80124 85677 174092 222030 259440 269024 375716 410204 423295 425846 438469 448336
            482966 516526 597995 636582 642207 669318 698902 774180 857925
        """,
        "unfiltered/valid": "26035",
        "medium/train": """
            8275 10343 23953 24965 30299 31000 32401 36502 38822 39413 40099 42863 58933 67734 67858 89932
            91009 102706 141444 147554 148838 149132 174242 176343 177841 182084 183471 185849 190063
            193539 195520 197373 198126 211258 215742 219567 230620 230671 232072 234290 242346 245649
            246429 254155 266036 285779 287465 287711 304710 307896 322428 326141 328763 331935 340144
            342587 344108 355822 357435 358192 358783 365887 367717 371869 373117 377053 378161 379604
            380980 390235 393928 395354 397120 401306 406077 407948 411981 412538 413411 419733 432124
            434015 440626 440739 441794 445870
        """,
    }.items()
}
SUMS, SOURCE = "SHA256SUMS", "https://github.com/google-deepmind/boxoban-levels"


def cached() -> Path:
    """Cache folder of imported levels."""
    if not (cache := _core.cache_folder()):
        raise errors.WrongFolder("RECOMMIT_CACHE: expected a folder for imported levels, got none and no HOME")
    return Path(cache) / "boxoban"


def import_levels(source: Path, progress: Callable[[str], None] = lambda _: None) -> dict[str, int]:
    """Check a copy of the published levels and store it in the cache; returns the number of levels by folder. Some, but
    not all, folders may be missing; files that differ from the published ones raise before anything is stored."""
    found = {name: _checked(source / name, name) for name in FOLDERS if (source / name).is_dir()}
    if not found:
        raise errors.WrongFolder(f"{source}: expected a copy of {SOURCE}, got none of {', '.join(FOLDERS)}")
    for name, sums in found.items():
        target, files = cached() / name, Files()
        make_folders(files, target)
        for number, (file, digest) in enumerate(lines := list(_listed(sums)), 1):
            text = safe_open.content(source / name / file, MOST_BYTES)
            if hashlib.sha256(text).hexdigest() != digest:
                raise errors.Damaged(f"{source / name / file}: expected what was checked, got other bytes meanwhile")
            replace(files, target / file, text)
            progress(f"{name}: {number} of {len(lines)} files")
        replace(files, target / SUMS, sums)  # last: marks a complete folder
    return {name: FOLDERS[name][0] for name in found}


def _checked(folder: Path, name: str) -> bytes:
    """The output of ``sha256sum *.txt`` in a folder, refused if it is not the published one."""
    count, expected = FOLDERS[name]
    files = [f"{number:03}.txt" for number in range(-(-count // PER_FILE))]
    there = sorted(path.name for path in folder.glob("*.txt"))
    if there != files:
        raise errors.WrongFolder(f"{folder}: expected {files[0]} to {files[-1]}, got {len(there)} files")
    texts = ((file, safe_open.content(folder / file, MOST_BYTES)) for file in files)
    sums = "".join(f"{hashlib.sha256(text).hexdigest()}  {file}\n" for file, text in texts)
    if (digest := hashlib.sha256(sums.encode()).hexdigest()) != expected:
        raise errors.Damaged(f"{folder}: expected the published levels, sha256 {expected}, got {digest}")
    return sums.encode()


def _listed(sums: bytes) -> list[tuple[str, str]]:
    """Parse (file, digest) pairs."""
    return [(line[66:], line[:64]) for line in sums.decode().splitlines()]


def levels(name: str, split: str, numbers: NDArray[np.int64]) -> States:
    """The numbered levels of a split, uint8[N, 10, 10]."""
    folder, first, _ = SPLITS[name, split]
    files, places = np.divmod(numbers + first, PER_FILE)
    result = np.empty((len(numbers), SIDE, SIDE), np.uint8)
    for file in np.unique(files).tolist():
        chosen = files == file
        result[chosen] = _file(os.fspath(cached()), folder, file)[places[chosen]]
    return result


def copies(name: str, split: str, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    """True for levels of a split that are also test levels."""
    folder, first, _ = SPLITS[name, split]
    return np.isin(numbers + first, COPIES.get(folder, ()))


def count(name: str, split: str) -> int:
    """Number of levels of a split."""
    if (name, split) not in SPLITS:
        raise errors.WrongDataSpec(f"{split}: expected 0 of the {name} levels, which have none for it, got some")
    _, first, end = SPLITS[name, split]
    return end - first


@lru_cache(maxsize=16)
def _file(cache: str, folder: str, number: int) -> States:
    """All levels of a cached file, after checking it against the published digest."""
    place = Path(cache) / folder
    try:
        sums = safe_open.content(place / SUMS, MOST_BYTES)
    except FileNotFoundError:
        raise errors.WrongFolder(
            f"generator: expected the levels of Boxoban in {place}, got none; recommit data import boxoban FOLDER "
            f"takes them from a copy of {SOURCE}"
        ) from None
    file, digest = _listed(sums)[number] if hashlib.sha256(sums).hexdigest() == FOLDERS[folder][1] else ("", "")
    text = safe_open.content(place / file, MOST_BYTES) if file else b""
    if hashlib.sha256(text).hexdigest() != digest:
        raise errors.Damaged(f"{place / (file or SUMS)}: expected what was imported, got other bytes; import it again")
    return parse_levels(text).states
