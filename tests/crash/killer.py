"""Builds that die by SIGKILL at one of the operations that change the disk.

What a build does between two of them leaves no trace, so that a kill at any moment is one before, after or, of a write,
in the middle of an operation.
"""

from __future__ import annotations

import os
import signal
import sys

from tests.crash.trees import SMALL

from recommit.data.builder import build
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


def naive(files_, path, data):
    """The planted defect, in the place of ``files.replace``: writes where the reader looks, in small pieces, as one
    would without thinking."""
    path.unlink(missing_ok=True)
    view = memoryview(data).cast("B")
    descriptor = files_.create(path)
    for begin in range(0, len(view), 512):
        files_.write(descriptor, view[begin : begin + 512])
    files_.close(descriptor)


def run(folder, files_=None, recipe=SMALL, **options):
    """Build in a child; what became of it."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            build(recipe, folder, files_=files_, **options)
            status = 0
        except BaseException as error:  # noqa: BLE001  (the child must not return into the test)
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return KILLED
    return SURVIVED if os.WEXITSTATUS(status) == 0 else FAILED
