"""Child processes that answer requests: one JSON line in, one JSON line out.

No pickling, no fork. A child exits as soon as its standard input ends, so that a killed command leaves no process
behind.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from recommit.storage.errors import WorkerDied

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from typing_extensions import Never, Self

    Request = dict[str, Any]
    Reply = dict[str, Any]


class Children:
    """A pool of child processes, started on demand and killed on exit from the context.

    Args:
        module: module whose ``main`` calls ``serve``.
        count: largest number of processes.
        about: value of the first line that each child reads.
        doing: describes the work on a request, for the error if a child dies.
        settings: additional environment variables.
        keep: file descriptors that children inherit.
    """

    def __init__(
        self,
        module: str,
        count: int,
        about: Any,
        doing: Callable[[Request], str],
        *,
        settings: Mapping[str, str] | None = None,
        keep: Sequence[int] = (),
    ) -> None:
        self._module, self._count, self._about, self._doing = module, count, about, doing
        self._settings, self._keep = settings or {}, keep
        self._children: list[subprocess.Popen[str]] = []
        self._servers: list[threading.Thread] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for child in self._children:
            child.kill()
        for child in self._children:
            child.wait()
        for server in self._servers:
            server.join(timeout=5)
        for child in self._children:
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):  # unread input of a killed child
                        pipe.close()

    def ask(self, requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
        """Yield (index, reply) of the requests as they complete."""
        todo: queue.SimpleQueue[tuple[int, Request] | None] = queue.SimpleQueue()
        done: queue.SimpleQueue[tuple[int, Reply | int]] = queue.SimpleQueue()
        needed = min(self._count, len(requests))
        self._children += [self._start() for _ in range(needed - len(self._children))]
        for item in [*enumerate(requests), *[None] * needed]:
            todo.put(item)
        servers = [
            threading.Thread(target=_hand_over, args=(child, todo, done), daemon=True)
            for child in self._children[:needed]
        ]
        for server in servers:
            server.start()
            self._servers.append(server)  # one that never started cannot be joined
        for _ in requests:
            i, reply = done.get()
            if isinstance(reply, int):
                what = self._doing(requests[i])
                raise WorkerDied(f"a process that {what} ended with status {reply}; the same command goes on")
            yield i, reply

    def _start(self) -> subprocess.Popen[str]:
        """Start a child and send the first line. It has its own session: Ctrl-C goes to the parent, which then kills
        it."""
        package = str(Path(__file__).resolve().parents[2])
        path = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
        child = subprocess.Popen(
            [sys.executable, "-c", f"from {self._module} import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={**os.environ, **self._settings, "PYTHONPATH": path},
            pass_fds=tuple(self._keep),
            start_new_session=True,
        )
        assert child.stdin is not None
        with contextlib.suppress(OSError):  # it died at once; its first request will report it
            child.stdin.write(json.dumps(self._about, default=str) + "\n")
            child.stdin.flush()
        return child


def _hand_over(
    child: subprocess.Popen[str],
    todo: queue.SimpleQueue[tuple[int, Request] | None],
    done: queue.SimpleQueue[tuple[int, Reply | int]],
) -> None:
    """Send requests to one child, one at a time, and collect the replies, or the exit status if it dies."""
    assert child.stdin is not None
    assert child.stdout is not None
    while (item := todo.get()) is not None:
        try:
            child.stdin.write(json.dumps(item[1]) + "\n")
            child.stdin.flush()
            reply = json.loads(child.stdout.readline())
        except (OSError, ValueError):  # it died, perhaps in the middle of a line
            done.put((item[0], child.wait()))
            return
        done.put((item[0], reply))


def serve(begin: Callable[[Any], Callable[[Request], Reply]]) -> Never:
    """Run as a child until the input ends: ``begin`` gets the first line and returns the request handler."""
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    # Only replies may reach the pipe, whatever a library prints, and no other code may read the requests.
    questions, pipe = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    threading.Thread(target=_listen, args=(questions, lines), daemon=True).start()
    answer = begin(json.loads(lines.get()))
    while True:
        pipe.write(json.dumps(answer(json.loads(lines.get()))) + "\n")
        pipe.flush()


def _listen(questions: TextIO, lines: queue.SimpleQueue[str]) -> None:
    for line in questions:
        lines.put(line)
    os._exit(0)  # the parent is done or dead: exit at once, even in the middle of an answer
