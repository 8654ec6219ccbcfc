"""Atomic, verified checkpoints.

    RUN/checkpoints/step-00000500/   what the run needs to go on, and policy/, a policy that anybody can load
                       .../DIGESTS   sha256 of every file, written last (see ``recommit.storage.verified``)

A checkpoint is written under a temporary name: flush every file, write DIGESTS last, rename the folder, flush its
parent. Leftovers of a crash are either removed, or fail verification and are skipped with a message.
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
    """A verified checkpoint."""

    folder: Path
    step: int


class Checkpoints:
    """The checkpoints of one run; for a single writer."""

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
        """Save the checkpoint of a step; ``write`` writes its files to the given folder.

        With several ranks, every rank calls this and writes its own files; the main process creates and seals the
        folder.
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
            _remove(target)  # only a damaged one of the same step can exist
            temporary.rename(target)
            files.Files().flush_folder(self.folder)
        barrier()
        return Checkpoint(target, step)

    def newest(self, tell: Callable[[str], None]) -> Checkpoint | None:
        """The newest intact checkpoint; damaged ones are reported to ``tell`` and skipped."""
        for folder in sorted(self.folder.glob(f"{_PREFIX}*"), reverse=True):
            try:
                return Checkpoint(folder, verify(folder))
            except errors.Damaged as error:
                tell(f"skipped a damaged checkpoint: {error}")
        return None

    def any(self) -> bool:
        return next(self.folder.glob(f"{_PREFIX}*"), None) is not None

    def remove_after(self, step: int) -> None:
        """Remove checkpoints of later steps when a run resumes from ``step``: they are damaged, and as the newest they
        would make ``prune`` delete intact ones."""
        for folder in sorted(self.folder.glob(f"{_PREFIX}*")):
            if _step(folder) > step:
                _remove(folder)

    def prune(self, keep: int, besides: set[int]) -> None:
        """Remove all but the ``keep`` newest and those of steps in ``besides``."""
        for folder in sorted(self.folder.glob(f"{_PREFIX}*"))[:-keep]:
            if _step(folder) not in besides:
                _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a checkpoint folder, or only the link if it is one."""
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        (folder / verified.DIGESTS).unlink(missing_ok=True)  # first, so that a half-removed one is never valid
        shutil.rmtree(folder, ignore_errors=True)


def seal(folder: Path) -> None:
    """Flush all files of a folder and write its digests."""
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
    """Check the files of a checkpoint against its digests; returns its step."""
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
