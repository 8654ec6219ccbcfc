"""Checkpoints that are whole or do not count.

    RUN/checkpoints/step-00000500/   what the run needs to go on, and policy/, a policy that anybody can load
                       .../DIGESTS   sha256 of every file, written last, see ``recommit.storage.verified``

A checkpoint is made under a temporary name, every file flushed, DIGESTS written last, the folder renamed, its parent
flushed. Whatever a crash leaves is either swept away or fails the check, and is then skipped, aloud.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recommit.storage import errors, files, verified

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_NAME = re.compile(r"step-([0-9]{8,12})")


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
        target = self.folder / f"step-{step:08d}"
        temporary = self.folder / f".{target.name}.tmp"
        if is_main_process:
            shutil.rmtree(temporary, ignore_errors=True)
            temporary.mkdir(parents=True)
        barrier()
        write(temporary)
        barrier()
        if is_main_process:
            commit(temporary)
            _remove(target)  # the same step again: only a torn one can be in the way
            temporary.rename(target)
            files.Files().flush_folder(self.folder)
        barrier()
        return Checkpoint(target, step)

    def newest(self, tell: Callable[[str], None]) -> Checkpoint | None:
        """The last one that is whole; ``tell`` hears of each that is not."""
        for folder in reversed(self.every()):
            try:
                return Checkpoint(folder, verify(folder))
            except errors.DataError as error:
                tell(f"skipped a damaged checkpoint: {error}")
        return None

    def every(self) -> list[Path]:
        """The folders of all, whole or not, in the order of their steps."""
        return sorted((path for path in self.folder.glob("step-*") if _NAME.fullmatch(path.name)), key=step_of)

    def sweep(self) -> None:
        """Remove what interrupted writers left."""
        files.sweep(files.Files(), self.folder)

    def remove_after(self, step: int) -> None:
        """Remove those of later steps, which are not whole where a run goes on from ``step``: as the newest of what is
        kept they would cost it those that are."""
        for folder in self.every():
            if step_of(folder) > step:
                _remove(folder)

    def prune(self, keep: int, besides: set[int]) -> None:
        """Remove all but the ``keep`` newest and those of the steps ``besides``."""
        for folder in self.surplus(keep, besides):
            _remove(folder)

    def surplus(self, keep: int, besides: set[int]) -> list[Path]:
        """What ``prune`` would remove."""
        return [path for path in self.every()[:-keep] if step_of(path) not in besides]


def _remove(folder: Path) -> None:
    """Remove a checkpoint; of a link the link alone."""
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        (folder / verified.DIGESTS).unlink(missing_ok=True)  # first, so that a half-removed one never counts
        shutil.rmtree(folder, ignore_errors=True)


def commit(folder: Path) -> None:
    """Flush every file of a folder and seal it."""
    disk, every = files.Files(), [path for path in sorted(folder.rglob("*")) if path != folder / verified.DIGESTS]
    for path in every:
        if path.is_file():
            descriptor = disk.append(path)
            try:
                disk.flush(descriptor)
            finally:
                disk.close(descriptor)
    for inner in [folder, *(path for path in every if path.is_dir())]:
        disk.flush_folder(inner)
    verified.seal(disk, folder, [path.relative_to(folder).as_posix() for path in every if path.is_file()])


def verify(folder: Path) -> int:
    """The step of a checkpoint, once every file is known to be what it was."""
    files.refuse_links(folder)
    if not verified.verify(folder):
        raise errors.Damaged(f"{folder}: expected the file {verified.DIGESTS} of a whole checkpoint, got none")
    return step_of(folder)


def step_of(folder: Path) -> int:
    """The step in the name of a checkpoint."""
    return int(folder.name.removeprefix("step-"))
