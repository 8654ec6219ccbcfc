"""Every change that this process makes to a folder, one by one: heard, and one of them fails or is the last; and what
may be seen of a data set at any moment of its build."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

from recommit.data import manifest
from recommit.data.spec import DataSpec, Difficulty
from recommit.storage import errors

#: Events of the interpreter that change a disk; ``open`` does if it is for writing.
CHANGES = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.truncate"}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


class Dead(BaseException):
    """This process is as good as dead: nothing catches it, and nothing changes the disk any more."""


class Changes:
    """Counts the changes in a folder; before number ``at``, ``act`` is called with the path."""

    def __init__(self) -> None:
        self.folder, self.at, self.count, self.act = "", 0, 0, full
        sys.addaudithook(self._hear)  # for ever

    def watch(self, folder: Path, at: int = 0, act: Callable[[str], None] | None = None) -> None:
        self.folder, self.at, self.count, self.act = str(folder), at, 0, act or full

    def stop(self) -> int:
        """Hear no more; how many changes there were."""
        self.folder = ""
        return self.count

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self.folder or not (event in CHANGES or (event == "open" and _flags(arguments) & WRITES)):
            return
        path = arguments[0]
        if isinstance(path, str | os.PathLike) and os.fspath(path).startswith(self.folder):
            self.count += 1
            if self.count == self.at or (self.act is dead and 0 < self.at < self.count):
                self.act(os.fspath(path))


def full(path: str) -> None:
    """No room is left."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)


def refused(path: str) -> None:
    """It is not allowed."""
    raise OSError(errno.EACCES, os.strerror(errno.EACCES), path)


def dead(path: str) -> None:
    """It ends here, in the middle of everything."""
    raise Dead(path)


def _flags(arguments: tuple[object, ...]) -> int:
    flags = arguments[2]
    return flags if isinstance(flags, int) else 0


#: What may become of a change, by name.
ACTS = {"full disk": full, "no permission": refused, "killed": dead}


def content(folder: Path) -> dict[str, bytes]:
    """Every file but for what depends on the machine, the locks, and what the commands of a preset said when."""
    files = (p for p in sorted(folder.rglob("*")) if p.is_file() and p.parent.name != "launch")
    names = (p for p in files if p.name not in ("timing.jsonl", ".lock"))
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in names}


def differences(folder: Path, expected: dict[str, bytes]) -> list[str]:
    """Names of the files that are not as they would be undisturbed."""
    now = content(folder)
    return [name for name in sorted(now.keys() | expected.keys()) if now.get(name) != expected.get(name)]


@dataclass(frozen=True)
class Undisturbed:
    """A command, the folder that it makes, and what is in there if it is undisturbed."""

    run: Callable[[Path], int]
    out: Path
    files: dict[str, bytes]
    count: int  #: of changes

    @classmethod
    def of(cls, run: Callable[[Path], int], out: Path, changes: Changes) -> Undisturbed:
        changes.watch(out)
        assert run(out) == 0
        return cls(run, out, content(out), changes.stop())

    def survives(self, changes: Changes, at: int, act: Callable[[str], None]) -> bool:
        """One change that fails or is the last, then the same command again. Did the first one end as if all were well?

        If it did, all had better be there: it is not called again."""
        shutil.rmtree(self.out, ignore_errors=True)
        changes.watch(self.out, at, act)
        try:
            well = self.run(self.out) == 0
        except (Exception, Dead):  # noqa: BLE001  (whatever it is called: the command ends)
            well = False
        changes.stop()
        if not well:
            assert self.run(self.out) == 0, f"change {at} of {self.count}"
        others = differences(self.out, self.files)
        assert others == [], f"change {at} of {self.count}: {others}"
        return well

    def check(self, changes: Changes, acts: Iterable[Callable[[str], None]], points: Iterable[int]) -> None:
        """At every one of the points, the acts in turn; if nothing failed, no change was heard."""
        ends = {self.survives(changes, at, act) for at, act in zip(points, cycle(acts))}
        assert False in ends

    def points(self, some: int) -> list[int]:
        """The first ones and the last ones, where runs are made and ended, and as many between."""
        ends = [*range(1, some + 1), *range(self.count - some + 1, self.count + 1)]
        return sorted({*ends, *range(some + 1, self.count - some + 1, max(1, self.count // some))})


#: Small and quick, with every kind of file in it: three splits, perturbed states, several shards.
SMALL = DataSpec(
    "sokoban", (6, 6), (Difficulty((2, 9), 1), Difficulty((4, 16), 2)), 120, 16, 8, shard=24, perturbed=2, ties="random"
)
#: Names that exist only during a build.
PASSING = {".lock", ".journal"}


def findings(folder: Path, expected: dict[str, bytes]) -> list[str]:
    """What a reader could see in ``folder`` now that is not as in the finished tree ``expected``."""
    found: list[str] = []
    if not folder.exists():
        return found
    for name, data in content(folder).items():
        if name.endswith(".tmp") or name in PASSING:
            continue
        if name not in expected:
            found.append(f"{name}: does not belong there")
        elif data != expected[name]:
            found.append(f"{name}: torn or wrong")
    if (folder / manifest.NAME).exists():
        found += _promises(folder)
    return found


def _promises(folder: Path) -> list[str]:
    """A manifest in place promises that everything it names is there."""
    try:
        shards = manifest.read(folder).shards
    except errors.DataError as error:
        return [f"manifest: {error}"]
    missing = [record.name for record in shards if not (folder / record.name).is_file()]
    return [f"manifest: {name} is missing" for name in missing]
