"""Checkpoints that are whole or do not count.

    RUN/checkpoints/step-00000500/   what the run needs to go on, and policy/, a policy that anybody can load
                       .../DIGESTS   sha256 of every file, written last (see ``recommit.storage.verified``)

A checkpoint is made under a temporary name, every file flushed, DIGESTS written last, the folder renamed, its parent
flushed. Whatever a crash leaves is either swept away or fails the check, and is then skipped, aloud.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recommit.storage import errors, files, verified

if TYPE_CHECKING:
    from collections.abc import Callable

_PREFIX = "step-"


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that was whole when it was read."""

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
            seal(temporary)
            _remove(target)  # the same step again: only a torn one can be in the way
            temporary.rename(target)
            files.Files().flush_folder(self.folder)
        barrier()
        return Checkpoint(target, step)

    def newest(self, tell: Callable[[str], None]) -> Checkpoint | None:
        """The last whole checkpoint; damaged ones are reported to ``tell`` and skipped."""
        for folder in sorted(self.folder.glob(f"{_PREFIX}*"), reverse=True):
            try:
                return Checkpoint(folder, verify(folder))
            except errors.Damaged as error:
                tell(f"skipped a damaged checkpoint: {error}")
        return None

    def any(self) -> bool:
        return next(self.folder.glob(f"{_PREFIX}*"), None) is not None

    def remove_after(self, step: int) -> None:
        """Remove those of later steps, which are not whole where a run goes on from ``step``: as the newest of what is
        kept they would cost it those that are."""
        for folder in sorted(self.folder.glob(f"{_PREFIX}*")):
            if _step(folder) > step:
                _remove(folder)

    def prune(self, keep: int, besides: set[int]) -> None:
        """Remove all but the ``keep`` newest and those of the steps ``besides``."""
        for folder in sorted(self.folder.glob(f"{_PREFIX}*"))[:-keep]:
            if _step(folder) not in besides:
                _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a checkpoint; of a link the link alone."""
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        (folder / verified.DIGESTS).unlink(missing_ok=True)  # first, so that a half-removed one never counts
        shutil.rmtree(folder, ignore_errors=True)


def seal(folder: Path) -> None:
    """Flush every file of a folder and write its digests."""
    disk = files.Files()
    (folder / verified.DIGESTS).unlink(missing_ok=True)
    every = sorted(path for path in folder.rglob("*") if path.is_file())
    for path in every:
        descriptor = disk.append(path)
        try:
            disk.flush(descriptor)
        finally:
            disk.close(descriptor)
    for inner in [folder, *(p for p in folder.rglob("*") if p.is_dir())]:
        disk.flush_folder(inner)
    verified.seal(disk, folder, [path.relative_to(folder).as_posix() for path in every])


def verify(folder: Path) -> int:
    """The step of a checkpoint; refuses one whose files are not what they were when it was sealed."""
    if links := [path for path in folder.rglob("*") if path.is_symlink()]:
        raise errors.Damaged(f"{folder}: expected files, got a link: {links[0].relative_to(folder)}")
    if not verified.verify(folder):
        raise errors.Damaged(f"{folder}: expected {verified.DIGESTS} of its files, got none")
    if (step := _step(folder)) < 0:
        raise errors.Damaged(f"{folder}: expected a step in its name, got none")
    return step


def _step(folder: Path) -> int:
    digits = folder.name.removeprefix(_PREFIX)
    return int(digits) if digits.isdecimal() else -1
