"""Finished folders in which something is damaged, and what their readers make of it.

Every file that a reader opens, and every attempt to reach beyond the folders, is heard by an audit hook: a file that no
reader opens cannot change what any of them learns.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import random
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq
import torch
import yaml
from tests.damage import changes, finished

from recommit.storage import verified
from recommit.storage.files import Files

#: From the best outcome to the worst.
SAME, SEEN, NAMELESS = "the same result", "noticed", "an error that does not name the file"
FOREIGN, SILENT = "an error that is no sentence", "another result, unnoticed"
OUTCOMES = (SAME, SEEN, NAMELESS, FOREIGN, SILENT)
#: ``DataError`` is a RuntimeError, other refusals ValueErrors.
NOTICED = (ValueError, RuntimeError)
NETWORK = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto")
PROGRAMS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "webbrowser.open")
CHANGES = ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.symlink", "os.link", "os.truncate", "os.chmod")


class Reached(RuntimeError):
    """What a reader was about to do beyond its folders."""


class Guard:
    """Hears which files below ``place`` are opened; with a ``victim`` it stops what reaches beyond the place."""

    def __init__(self):
        self.place = self.victim = None
        self.reached, self.opened = [], set()
        sys.addaudithook(self.hear)

    def hear(self, event, arguments):
        if self.place is None:
            return
        if event == "open" or event in ("os.listdir", "os.scandir", *CHANGES):
            if isinstance(arguments[0], str | os.PathLike):
                self.touched(event, os.path.realpath(arguments[0]), arguments)
        elif self.victim is None:
            return
        elif event in NETWORK and arguments[0] is not None:
            self.stop("network", arguments)
        elif event in PROGRAMS:
            self.stop("program", arguments)
        elif event == "pickle.find_class":
            self.stop("unpickled", arguments)

    def touched(self, event, path, arguments):
        writes = event in CHANGES or (event == "open" and bool((arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR)))
        if path.startswith(f"{self.place}{os.sep}"):
            self.opened |= {os.path.relpath(path, self.place)} if event == "open" else set()
        elif self.victim is None:
            return
        elif writes and path != os.devnull:
            self.stop("write", path)
        elif path == self.victim or path.startswith(f"{self.victim}{os.sep}"):
            self.stop("read", path)

    def stop(self, what, about):
        self.reached.append((what, about))
        raise Reached(f"{what}: {about}")

    @contextlib.contextmanager
    def listening(self, place, victim=None):
        self.reached, self.opened = [], set()
        self.place, self.victim = str(place), victim and str(victim)
        try:
            yield self
        finally:
            self.place = self.victim = None


@functools.cache
def guard():
    """The only one of a process: a hook stays."""
    torch.set_num_threads(1)
    return Guard()


class Ended(NamedTuple):
    """What a reader learned, or its error, and the files that it opened."""

    learned: object
    error: Exception | None
    opened: set[str]
    reached: list[tuple[str, object]]


class Folders:
    """Finished folders, the user's own folder beside them, and how each reader ends undisturbed."""

    def __init__(self, root, **options):
        self.place, self.victim = root / "finished", root / "mine"
        self.guard, self.usual = guard(), {}
        finished.make(self.place, **options)
        finished.adapt(self.place)
        self.victim.mkdir()
        for name in changes.LOOKED_FOR:
            (self.victim / name).write_text("{}")
        self.uses = finished.uses(self.place)
        for use in self.uses:
            self.usual[use] = self.ended(use)
            assert self.usual[use].error is None, (use.name, self.usual[use].error)
        self.readers = {name: self.readers_of(name, self.uses) for name in finished.every_file(self.place)}

    def readers_of(self, name, uses):
        return [use for use in uses if name in self.usual[use].opened]

    def ended(self, reader, *, guarded=False):
        learned = error = None
        with self.guard.listening(self.place, self.victim if guarded else None):
            try:
                learned = reader(self.place)
            except Exception as raised:  # noqa: BLE001  (judged by the caller)
                error = raised
        return Ended(learned, error, set(self.guard.opened), list(self.guard.reached))

    def judged(self, ended, usual, name):
        """The kind of an end."""
        if isinstance(ended.error, NOTICED):
            return SEEN if Path(name).name in str(ended.error) else NAMELESS
        if ended.error:
            return FOREIGN
        return SAME if ended.learned == usual.learned else SILENT

    def flip(self, name, bit):
        """The worst end of the readers of a file with another bit."""
        with self.other_bytes(name, changes.flipped((self.place / name).read_bytes(), bit)):
            return max((self.judged(self.ended(use), self.usual[use], name) for use in self.readers[name]), key=rank)

    @contextlib.contextmanager
    def other_bytes(self, name, data, *, seals=()):
        kept = {path: path.read_bytes() for path in (self.place / name, *seals)}
        (self.place / name).write_bytes(data)
        try:
            yield
        finally:
            for path, whole in kept.items():
                path.write_bytes(whole)

    def flips(self, count, seed):
        """What is wrong with random bits of random files that some reader opens."""
        rng, names, bad = random.Random(seed), [name for name, uses in self.readers.items() if uses], []
        for _ in range(count):
            name = rng.choice(names)
            bit = rng.randrange(8 * (self.place / name).stat().st_size)
            if (outcome := self.flip(name, bit)) not in (SAME, SEEN):
                bad.append(f"{name}, bit {bit}: {outcome}")
        return bad

    def files(self, area):
        return [name for name in finished.every_file(self.place) if name.partition("/")[0] == area]

    def tree(self, name):
        text = (self.place / name).read_text()
        return yaml.safe_load(text) if name.endswith(".yaml") else json.loads(text)

    def seals(self, name):
        """The lists of digests above a file."""
        above = [folder for folder in (self.place / name).parents if self.place in folder.parents]
        return [folder / verified.DIGESTS for folder in above if (folder / verified.DIGESTS).is_file()]

    @contextlib.contextmanager
    def resealed(self, name, value):
        """A file with another content, which its maker vouches for: plain values, or a table."""
        seals = self.seals(name)
        if name == "data/manifest.json":
            value["sha256"] = verified.digest(value)
        text = "" if name.endswith(".parquet") else (yaml.safe_dump if name.endswith(".yaml") else json.dumps)(value)
        with self.other_bytes(name, text.encode(), seals=seals):
            if not text:
                pq.write_table(value, self.place / name)
            for seal in seals:
                verified.seal(Files(), seal.parent, verified.digests(seal.parent))
            yield

    def reached(self, use):
        """What a use reaches beyond the folders."""
        shutil.rmtree(self.place / "new", ignore_errors=True)
        (self.place / "page.html").unlink(missing_ok=True)
        return self.ended(use, guarded=True)

    def named(self, uses, name, path, value):
        """What the uses of a file reach when one of its texts names another place."""
        tree = self.tree(name)
        holder = functools.reduce(lambda inner, key: inner[key], path[:-1], tree)
        holder[path[-1]] = changes.elsewhere(self.victim, (self.place / name).parent)[value]
        with self.resealed(name, tree):
            found = [each for use in self.readers_of(name, uses) for each in self.reached(use).reached]
        return [
            f"{name}: {'.'.join(map(str, path))}: {value}: {what}: {about}"
            for what, about in found
            if what != "read" or (name, path) not in READ_ANYWHERE
        ]


rank = OUTCOMES.index
#: An evaluation may name any folder of this machine as its run: a page shows its training.
READ_ANYWHERE = {("eval/plan.json", ("run",))}


def unwritable(value):
    """Whether plain values are no JSON."""
    try:
        return not json.dumps(value, sort_keys=True).encode()
    except (TypeError, ValueError, RecursionError):
        return True
