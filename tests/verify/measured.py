"""Processes, the time and the memory that they take."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.verify.harness import ROOT, expect

GIB = 2**30
THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


@dataclass(frozen=True)
class Spent:
    """What a process took."""

    seconds: float
    cpu: float
    peak: int
    output: str

    def __str__(self) -> str:
        return f"{self.seconds:.0f} s ({self.cpu:.0f} of a core) {self.peak / GIB:.1f} GiB"


def process(words: list[object], *, stop_at: str = "", status: int = 0) -> Spent:
    """Run a command that must end with ``status``; sent Ctrl-C when it has said ``stop_at``."""
    begin = time.monotonic()
    environment = {**os.environ, "OMP_NUM_THREADS": str(THREADS)}
    with tempfile.TemporaryFile("w+") as said:
        child = subprocess.Popen(
            [str(word) for word in words],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert child.stderr is not None
        errors = []
        for line in child.stderr:
            errors.append(line)
            if stop_at and stop_at in line:
                child.send_signal(signal.SIGINT)
        _, ended, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(ended)
        said.seek(0)
        output = said.read()
    expect(
        child.returncode == status,
        f"exit status {child.returncode}, not {status}, of: "
        f"{' '.join(map(str, words))}\n{output}{''.join(errors)[-3000:]}",
    )
    cpu = usage.ru_utime + usage.ru_stime
    return Spent(time.monotonic() - begin, cpu, usage.ru_maxrss * 1024, output)


class Waiting:
    """A Python program that has said one line and waits until it may go."""

    def __init__(self, program: str, *arguments: object) -> None:
        words = [sys.executable, "-c", program, *map(str, arguments)]
        self.child = subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.child.stdout is not None
        self.line = self.child.stdout.readline()

    def memory(self, file: str, field: str) -> int:
        """Bytes that the kernel says in a file of the process."""
        lines = Path(f"/proc/{self.child.pid}/{file}").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))

    def end(self) -> None:
        """Let it go."""
        self.child.communicate("")
