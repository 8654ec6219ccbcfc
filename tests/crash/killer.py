"""Kills builds with SIGKILL, again and again, and looks at what is left.

    python -m tests.crash.killer --kills 2000 --seed 0 --out report.json

Every build runs in a forked child. A kill comes at a uniformly random moment, within 50 ms of a restart (up to three
deep), or just before, in the middle of, or just after one of the operations that change the disk. After each kill the
folder is looked at as a reader would see it: no file but temporary ones may differ from the undisturbed tree; and every
series of kills ends with a build that finishes, whose tree must be byte-identical to the undisturbed one.

``--plant naive`` swaps the safe writer for one that writes in place; builds then die at one operation after another, by
count and not by chance: the campaign must have findings, each time the same.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from itertools import cycle, islice
from pathlib import Path

from tests.crash.trees import SMALL, differences, findings, tree

from recommit.data.builder import build
from recommit.storage import files
from recommit.storage.files import Files

SURVIVED, KILLED, FAILED = "survived", "killed", "failed"


class Suicidal(Files):
    """Dies at operation number ``at``, before or after it; ``middle``: half way through write number ``at``."""

    def __init__(self, at, moment):
        self.remaining, self.moment = at, moment

    def _around(self, name, *arguments):
        self.remaining -= self.moment != "middle" or name == "write"
        if self.remaining == 0 and self.moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.remaining == 0 and self.moment == "middle":
            getattr(Files, name)(self, arguments[0], arguments[1][: len(arguments[1]) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        result = getattr(Files, name)(self, *arguments)
        if self.remaining == 0 and self.moment == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return result


OPERATIONS = (
    "make_folder",
    "create",
    "append",
    "write",
    "flush",
    "close",
    "rename",
    "remove",
    "remove_folder",
    "flush_folder",
)
for _name in OPERATIONS:
    setattr(Suicidal, _name, lambda self, *a, _name=_name: self._around(_name, *a))


def plant_naive_writer():
    """Writes where the reader looks, in small pieces, as one would without thinking. Its operations count like those
    of the safe writer, so that targeted kills hit it however quick the build is."""

    def careless(files_, path, data):
        path.unlink(missing_ok=True)
        view = memoryview(data).cast("B")
        descriptor = files_.create(path)
        for begin in range(0, len(view), 512):
            files_.write(descriptor, view[begin : begin + 512])
        files_.close(descriptor)

    files.replace = careless


def run(folder, kill_after=None, files_=None, recipe=SMALL, **options):
    """Build in a child; kill it after some seconds. What became of it."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            build(recipe, folder, files_=files_, **options)
            status = 0
        except BaseException as error:  # noqa: BLE001  (the child must not return into the harness)
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
        finally:
            os._exit(status)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return KILLED
    return SURVIVED if os.WEXITSTATUS(status) == 0 else FAILED


#: Kills in one folder.
MOST = 30


class Campaign:
    """Series of kills until enough of them have been made."""

    def __init__(self, seed, scratch, recovery=False, counted=False):
        self.random = random.Random(seed)
        self.recovery = recovery
        self.counted = cycle(range(4, 120, 4)) if counted else None
        self.scratch = Path(scratch)
        reference = self.scratch / "undisturbed"
        begin = time.monotonic()
        if run(reference) != SURVIVED:
            raise SystemExit("the undisturbed build failed")
        self.duration = time.monotonic() - begin
        self.expected = tree(reference)
        self.counts = Counter()
        self.found = []

    def series(self):
        """One folder, killed until one of its builds ends; the last of many is left alone, or a slow machine kills for
        ever.
        """
        folder = Path(tempfile.mkdtemp(dir=self.scratch)) / "set"
        for kind in (*islice(self._kinds(), MOST), "undisturbed"):
            if self._attempt(folder, kind) != KILLED:  # a build that failed by itself would fail again
                break
            self.found += findings(folder, self.expected)
        self.found += differences(folder, self.expected)
        self.counts["series"] += 1
        shutil.rmtree(folder.parent)

    def _kinds(self):
        """How each attempt of a series is killed; with ``recovery`` a kill anywhere, then three restarts."""
        while True:
            if self.counted:
                yield "operation"
            elif self.recovery:
                yield from ("anywhere", "restart", "restart", "restart")
            else:
                yield self.random.choice(["anywhere", "anywhere", "restart", "operation"])

    def _attempt(self, folder, kind):
        if kind == "undisturbed":
            end = run(folder)
        elif kind == "operation":
            end = run(folder, files_=Suicidal(*self._operation()))
        else:
            end = run(folder, self.random.uniform(0, 0.05 if kind == "restart" else self.duration))
        self.counts[f"{end} ({kind})" if end == KILLED else end] += 1
        self.counts["kills"] += end == KILLED
        if end == FAILED:
            self.found.append("a build failed by itself")
        return end

    def _operation(self):
        if self.counted:
            return next(self.counted), "before"
        moment = self.random.choice(["before", "middle", "after"])
        return self.random.randint(1, 10 if moment == "middle" else 60), moment


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100, help="with --recovery: of restarts")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--recovery", action="store_true", help="kill builds while they recover from a kill, three deep"
    )
    parser.add_argument("--plant", choices=["naive"])
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(arguments)
    if given.plant:
        plant_naive_writer()
    with tempfile.TemporaryDirectory() as scratch:
        begin, campaign = time.monotonic(), Campaign(given.seed, scratch, given.recovery, bool(given.plant))
        goal = "killed (restart)" if given.recovery else "kills"
        while campaign.counts[goal] < given.kills:
            campaign.series()
    report = {
        "seed": given.seed,
        "planted": given.plant,
        "seconds": round(time.monotonic() - begin, 1),
        "undisturbed_seconds": round(campaign.duration, 3),
        **dict(sorted(campaign.counts.items())),
        "findings": len(campaign.found),
        "examples": sorted(set(campaign.found))[:10],
    }
    text = json.dumps(report, indent=2)
    print(text)
    if given.out:
        given.out.write_text(text + "\n", "utf-8")
    return 1 if campaign.found else 0


if __name__ == "__main__":
    sys.exit(main())
