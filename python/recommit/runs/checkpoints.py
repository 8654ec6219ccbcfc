"""Checkpoints that are whole or do not count.

    RUN/checkpoints/step-00000500/   what the run needs to go on, and policy/, a policy that anybody can load
                       .../COMMIT    size and sha256 of every file and the step, written last, checked by its own sha256

A checkpoint is made under a temporary name, every file flushed, COMMIT written last, the folder renamed, its parent
flushed. Whatever a crash leaves is either swept away or fails the check, and is then skipped, aloud.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.storage import errors, files, verified
from recommit.storage.safe_open import content

if TYPE_CHECKING:
    from collections.abc import Callable

COMMIT = "COMMIT"
_PREFIX = "step-"


class TornCheckpoint(ValueError):
    """A folder that is not, or no longer, what its COMMIT says; the message names the file."""


@dataclass(frozen=True)
class Checkpoint:
    """One that was whole when it was looked at."""

    folder: Path
    step: int


class Checkpoints:
    """The checkpoints of one run. One writer at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def save(
        self,
        step: int,
        write: Callable[[Path], None],
        *,
        is_main_process: bool = True,
        barrier: Callable[[], None] = lambda: None,
    ) -> Checkpoint:
        """Make the checkpoint of a step from what ``write`` puts into the folder it is given.

        With several ranks every one calls this and writes files of its own; the main process makes the folder and
        seals it.
        """
        target = self.folder / f"{_PREFIX}{step:08d}"
        temporary = self.folder / f".{target.name}.tmp"
        if is_main_process:
            shutil.rmtree(temporary, ignore_errors=True)
            temporary.mkdir(parents=True)
        barrier()
        write(temporary)
        barrier()
        if is_main_process:
            commit(temporary, step)
            _remove(target)  # the same step again: only a torn one can be in the way
            temporary.rename(target)
            files.Files().flush_folder(self.folder)
        barrier()
        return Checkpoint(target, step)

    def newest(self, tell: Callable[[str], None]) -> Checkpoint | None:
        """The last one that is whole; ``tell`` hears of each that is not."""
        for folder in sorted(self.folder.glob(f"{_PREFIX}*"), reverse=True):
            try:
                return Checkpoint(folder, verify(folder))
            except TornCheckpoint as error:
                tell(f"skipped a damaged checkpoint: {error}")
        return None

    def any(self) -> bool:
        """Is there one, whole or not?"""
        return next(self.folder.glob(f"{_PREFIX}*"), None) is not None

    def sweep(self) -> None:
        """Remove what interrupted writers left."""
        files.sweep(files.Files(), self.folder)

    def remove_after(self, step: int) -> None:
        """Remove those of later steps, which are not whole where a run goes on from ``step``: as the newest of what is
        kept they would cost it those that are."""
        for folder in sorted(self.folder.glob(f"{_PREFIX}*")):
            if _step(folder) > step:
                _remove(folder)

    def prune(self, keep: int, besides: set[int]) -> None:
        """Remove all but the ``keep`` newest and those of the steps ``besides``."""
        for folder in self.surplus(keep, besides):
            _remove(folder)

    def surplus(self, keep: int, besides: set[int]) -> list[Path]:
        """What ``prune`` would remove."""
        return [path for path in sorted(self.folder.glob(f"{_PREFIX}*"))[:-keep] if _step(path) not in besides]


def _remove(folder: Path) -> None:
    """Remove a checkpoint; of a link the link alone."""
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        (folder / COMMIT).unlink(missing_ok=True)  # first, so that a half-removed one never counts
        shutil.rmtree(folder, ignore_errors=True)


def commit(folder: Path, step: int) -> None:
    """Flush every file of a folder and seal it."""
    disk = files.Files()
    listed: dict[str, Any] = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and p.name != COMMIT):
        descriptor = disk.append(path)
        try:
            disk.flush(descriptor)
        finally:
            disk.close(descriptor)
        listed[path.relative_to(folder).as_posix()] = [path.stat().st_size, files.file_sha256(path)]
    for inner in [folder, *(p for p in folder.rglob("*") if p.is_dir())]:
        disk.flush_folder(inner)
    seal = json.dumps({"step": step, "files": listed}, sort_keys=True)
    files.replace(disk, folder / COMMIT, verified.checkable(seal))


def verify(folder: Path) -> int:
    """The step of a checkpoint, once every file is known to be what it was."""
    try:
        text = verified.checked(content(folder / COMMIT, verified.MOST_TEXT).removesuffix(b"\n"))
    except OSError:
        raise TornCheckpoint(f"{folder.name}: expected the file {COMMIT}, got none") from None
    if text is None:
        raise TornCheckpoint(f"{folder.name}/{COMMIT}: expected its own sha256 in front, got another")
    try:
        verified.expect(Path(COMMIT), seal := verified.parsed(Path(COMMIT), text), {"step": int, "files": dict})
    except errors.Damaged as error:  # a stranger's may have any checksum
        raise TornCheckpoint(f"{folder.name}/{error}") from None
    if wrong := [each for each in seal["files"].values() if not _is_record(each)]:
        raise TornCheckpoint(f"{folder.name}/{COMMIT}: expected sizes and sha256, got {wrong[0]!r:.80}")
    if seal["step"] != _step(folder):
        raise TornCheckpoint(f"{folder.name}: expected the step in its name, got {seal['step']} in {COMMIT}")
    if links := [path for path in folder.rglob("*") if path.is_symlink()]:
        raise TornCheckpoint(f"{folder.name}: expected files, got a link: {links[0].relative_to(folder)}")
    for name, (size, wanted) in seal["files"].items():
        path = folder / name
        if verified.leads_out(name):
            raise TornCheckpoint(f"{folder.name}/{COMMIT}: expected names of files of the folder, got {name!r:.80}")
        length = path.stat().st_size if path.is_file() else None
        if length != size:
            raise TornCheckpoint(f"{folder.name}/{name}: expected {size} bytes, got {length}")
        if files.file_sha256(path) != wanted:
            raise TornCheckpoint(f"{folder.name}/{name}: expected sha256 {wanted[:12]}, got another")
    return int(seal["step"])


def _is_record(value: Any) -> bool:
    return isinstance(value, list) and [type(each) for each in value] == [int, str]


def _step(folder: Path) -> int:
    digits = folder.name.removeprefix(_PREFIX)
    return int(digits) if digits.isdecimal() else -1
