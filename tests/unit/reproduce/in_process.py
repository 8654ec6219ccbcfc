"""Commands of a preset as calls of this process: a start takes seconds where it is a process of its own."""

from __future__ import annotations

import subprocess
from types import SimpleNamespace

from recommit.cli import main

#: What a launched module says to the command line in front of its own words.
VERBS = {"recommit.train.sft": ["train", "sft"], "recommit.train.grpo": ["train", "grpo"], "recommit.cli": []}


class Called:
    """A launcher whose one rank is this process, and which has ended when it has begun."""

    stdin = None

    def __init__(self, words, **_):
        module, *rest = words[words.index("-m") + 1 :] if "-m" in words else ["recommit.cli", *words[1:]]
        self.returncode = main([*VERBS[module], *rest])

    def poll(self):
        return self.returncode


def by(launcher):
    """What starts processes, with a launcher in their place: others than those of runs are started as ever."""
    return SimpleNamespace(**{**vars(subprocess), "Popen": launcher})
