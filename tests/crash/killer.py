"""Commands that die by a signal: builds at one of the operations that change the disk, and any command at any moment.

What a build does between two operations leaves no trace. That cannot be said of libraries that write by themselves, nor
of Ctrl-C and SIGTERM, which a program may handle. So a campaign draws moments: of processor time, so that other work on
the machine does not move them.
"""

from __future__ import annotations

import ctypes
import os
import random
import shutil
import signal
import struct
import sys
import time
import traceback
from collections import Counter

from tests.crash.changes import SMALL, content, differences

from recommit.data.builder import build
from recommit.storage import files, verified
from recommit.storage.files import Files

SURVIVED, KILLED, FAILED = "survived", "killed", "failed"


class Disturbed(Files):
    """Something happens around one of the operations."""

    def _around(self, name, *arguments):
        return getattr(Files, name)(self, *arguments)


for _name in [name for name in vars(Files) if not name.startswith("_")]:
    setattr(Disturbed, _name, lambda self, *a, _name=_name: self._around(_name, *a))


class Suicidal(Disturbed):
    """Dies at operation number ``at``, before or after it; ``middle``: half way through write number ``at``."""

    def __init__(self, at, moment):
        self.remaining, self.moment = at, moment

    def _around(self, name, *arguments):
        self.remaining -= self.moment != "middle" or name == "write"
        if self.remaining == 0 and self.moment == "middle":
            super()._around(name, arguments[0], arguments[1][: len(arguments[1]) // 2])
        result = super()._around(name, *arguments) if self.remaining or self.moment == "after" else None
        if self.remaining == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result


class Failing(Disturbed):
    """Operation number ``at`` fails with ``error``: once, or from then on for ever."""

    def __init__(self, at, error, forever=False):
        self.remaining, self.error, self.forever = at, error, forever

    def _around(self, name, *arguments):
        self.remaining -= 1
        if name != "close" and (self.remaining == 0 or (self.forever and self.remaining < 0)):
            raise OSError(self.error, os.strerror(self.error))
        return super()._around(name, *arguments)


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
    end, _ = child(lambda: build(recipe, folder, files_=files_, **options) and 0)
    return KILLED if end < 0 else FAILED if end else SURVIVED


def child(call, number=0, seconds=0.0):
    """The exit status of a call in a process of its own, which is sent a signal after ``seconds`` of processor
    time; and how many it has taken."""
    process = os.fork()
    if process == 0:
        status = 1
        try:
            if number:
                alarm(number, seconds)
            status = call()
        except KeyboardInterrupt:
            status = INTERRUPTED
        except BaseException:  # noqa: BLE001  (the child must not return into the test)
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    _, status, used = os.wait4(process, 0)
    return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime


def alarm(number, seconds):
    """Have the kernel send this process any signal: Python knows timers of their own signals alone."""
    library, timer = ctypes.CDLL(None, use_errno=True), ctypes.c_void_p()
    event = struct.pack("Pii48x", 0, number, 0)  # a sigevent whose kind is SIGEV_SIGNAL
    span = struct.pack("qqqq", 0, 0, *divmod(int(seconds * 1e9) + 1, 10**9))
    if library.timer_create(time.CLOCK_PROCESS_CPUTIME_ID, event, ctypes.byref(timer)):
        raise OSError(ctypes.get_errno(), "timer_create")
    if library.timer_settime(timer, 0, span, None):
        raise OSError(ctypes.get_errno(), "timer_settime")


def wanted(kills):
    """How many kills a nightly campaign makes."""
    return int(os.environ.get("RECOMMIT_KILLS", kills))


SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
INTERRUPTED = 130
#: Of what is killed; SIGTERM ends training like Ctrl-C, after the step, and all else like SIGKILL.
KILLS = (-signal.SIGKILL, -signal.SIGTERM, INTERRUPTED)


def torn(folder):
    """What a reader could see in a folder now that is not what its digests say."""
    places = [path.relative_to(folder).parent for path in folder.rglob(verified.DIGESTS)]
    shown = [folder / place for place in places if not any(part.startswith(".") for part in place.parts)]
    return [str(error) for place in shown if (error := _error_of(place))]


def _error_of(place):
    try:
        verified.verify(place)
    except ValueError as error:
        return error
    return None


def slowly():
    """A tenth of a second or so, of processor time."""
    sum(range(4_000_000))


def write_in_place(patch):
    """The planted defect of a campaign: files are made where the reader looks, and so slowly that it is most of the
    time."""
    create = Files.create

    def slow(self, path):
        descriptor = create(self, path)
        slowly()
        return descriptor

    patch.setattr(Files, "create", slow)
    patch.setattr(files, "temporary_name", lambda path: path.unlink(missing_ok=True) or path)


class Campaign:
    """A command, ``call(out)``, that is killed at random moments.

    Half of the moments are any, half soon after the start, while it recovers from the kills before.
    """

    def __init__(self, call, out):
        self.call, self.out = call, out
        shutil.rmtree(out, ignore_errors=True)
        assert call(out) == 0  # here, so that no child imports anything
        self.whole = content(out)
        shutil.rmtree(out)
        end, self.seconds = child(lambda: call(out))
        self.check(end, "undisturbed")

    def kill(self, count):
        """``count`` times; how many it was."""
        seed = int(os.environ.get("RECOMMIT_KILLS_SEED", "0"))
        draw, kills = random.Random(seed), Counter()
        while kills.total() < count:
            number = draw.choice(SIGNALS)
            seconds = 1.1 * self.seconds * draw.random() ** draw.choice((1, 4))
            end, _ = child(lambda: self.call(self.out), number, seconds)
            where = f"RECOMMIT_KILLS_SEED={seed}, after {kills.total()} kills {number.name} after {seconds:.4f} s"
            if end in KILLS:
                kills[number.name] += 1
                found = torn(self.out)
                assert found == [], f"{where}: {found}"
            else:
                self.check(end, where)
        self.check(child(lambda: self.call(self.out))[0], f"RECOMMIT_KILLS_SEED={seed}, left alone at last")
        print(f"seed {seed}: {dict(kills)} in {self.seconds:.2f} s each")
        return kills.total()

    def check(self, end, where):
        """It ended by itself: in the bytes of an undisturbed one. The next one begins from nothing."""
        others = differences(self.out, self.whole)
        assert (end, others) == (0, []), f"{where}: ended with {end}, and these differ: {others}"
        shutil.rmtree(self.out)
