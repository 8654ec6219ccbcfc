"""One visit to a machine with a GPU: checks, measurements and pages in one go; called by ``bench/gpu/all``.

    bash bench/gpu/all                      # one H100 or H200, nine minutes at most
    bash bench/gpu/all --dry-run            # every part in small, on a CPU
    bash bench/gpu/all --only checks sft    # some parts

Parts run one after the other, what is worth most first, each in a process and with a time limit of its own. A part that
fails is reported and the others go on. The results go to ``bench/results/MACHINE-DATE.json``; ``page.py`` fills them
into the pages. The exit status is 1 if a part failed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
SMALL = ["--preset", "tiny", "--device", "cpu", "--size", "6"]
#: Seconds between two lines that say how far a part is.
PAUSE = 15.0
#: In a dry run limits are so many times as long, since a loaded CPU says nothing about them.
PATIENCE = 30
#: Seconds in which no part can begin.
LEAST = 5.0


@dataclass(frozen=True)
class Part:
    """A command that writes what it found into the folder ``OUT``; ``dry`` is it in small."""

    name: str
    limit: float
    command: list[str]
    dry: list[str]
    read: Callable[[Path], dict[str, Any]]


def written(folder: Path) -> dict[str, Any]:
    """The figures of a script that wrote one JSON file."""
    (path,) = folder.glob("*.json")
    return dict(json.loads(path.read_text()))


def tested(folder: Path) -> dict[str, Any]:
    """How many tests passed and were skipped; a failure is the command's own exit status."""
    suite = next(ElementTree.parse(folder / "tests.xml").iter("testsuite"))
    every, skipped, *failed = (int(suite.attrib[name]) for name in ("tests", "skipped", "failures", "errors"))
    return {"passed": every - skipped - sum(failed), "skipped": skipped, "failed": sum(failed)}


def timed(name: str, limit: float, small: str = "") -> Part:
    """A script beside this file, and what makes it small."""
    command = [sys.executable, str(HERE / f"{name}.py"), "--out", "OUT"]
    return Part(name.removesuffix("_7b"), limit, command, [*command, *SMALL, *small.split()], written)


CHECKS = [sys.executable, "-m", "pytest", "-q", "-m", "gpu"]
CHECKS += ["-o", "filterwarnings=default", "--junit-xml=OUT/tests.xml"]
PRECISION = [sys.executable, str(HERE.parent / "training" / "precision.py"), "--out", "OUT", "--steps"]
PARTS = (
    timed("attention", 30),
    timed("cells", 20),
    timed("sft_7b", 120, "--batch 2 --steps 1"),
    timed("grpo_7b", 130, "--instances 2 --rounds 1 --batch 2"),
    timed("run", 110),
    Part("checks", 120, [*CHECKS, "tests/gpu", "tests/unit/policy"], [*CHECKS, "tests/gpu/test_waits.py"], tested),
    Part("precision", 40, [*PRECISION, "200", "--device", "cuda"], [*PRECISION, "5"], written),
    timed("play_7b", 40, "--starts 8 --rounds 1"),
)


class Visit:
    """Time, and what came of each part."""

    def __init__(self, seconds: float, spent: float, *, dry: bool) -> None:
        self.begin, self.seconds, self.dry = time.monotonic() - spent, seconds, dry
        self.parts: dict[str, dict[str, Any]] = {}

    def remaining(self) -> float:
        """Seconds until the visit ends."""
        return self.seconds - (time.monotonic() - self.begin)

    def take(self, part: Part, log: Path) -> None:
        """Run a part and note its figures, or why there are none."""
        limit, began = min(part.limit * (PATIENCE if self.dry else 1), self.remaining()), time.monotonic()
        if limit <= LEAST:
            self.parts[part.name] = {"status": "failed", "reason": "no time left", "seconds": 0.0}
            return
        with tempfile.TemporaryDirectory() as folder:
            command = [word.replace("OUT", folder) for word in (part.dry if self.dry else part.command)]
            reason = self._run(part.name, command, limit, log)
            outcome = self._figures(part, Path(folder), reason)
        self.parts[part.name] = {**outcome, "seconds": round(time.monotonic() - began, 1), "commit": commit()}

    def _figures(self, part: Part, folder: Path, reason: str) -> dict[str, Any]:
        try:
            figures = part.read(folder)
        except (OSError, ValueError, KeyError, StopIteration) as error:
            return {"status": "failed", "reason": reason or f"no figure: {error}"}
        return {"status": "failed" if reason else "ok", "figures": figures, **({"reason": reason} if reason else {})}

    def _run(self, name: str, command: list[str], limit: float, log: Path) -> str:
        """Why it failed; nothing if it did not."""
        began = time.monotonic()
        with log.open("wb") as file:
            process = subprocess.Popen(command, cwd=ROOT, stdout=file, stderr=subprocess.STDOUT, start_new_session=True)
            try:
                while (spent := time.monotonic() - began) <= limit:
                    with suppress(subprocess.TimeoutExpired):
                        status = process.wait(timeout=min(PAUSE, limit - spent))
                        return f"exit status {status}: {_last(log)}" if status else ""
                    in_all = f"{time.monotonic() - self.begin:.0f}/{self.seconds:.0f} s in all"
                    print(f"   {name}: {time.monotonic() - began:.0f}/{limit:.0f} s, {in_all}", flush=True)
                return f"not done after {limit:.0f} s: {_last(log)}"
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()


def _last(log: Path) -> str:
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return " | ".join(lines[-3:])[-600:]


def machine(device: str) -> dict[str, Any]:
    """Which machine, with what."""
    import torch

    packages = dict.fromkeys(("torch", "transformers", "peft", "deepspeed", "numpy"), "")
    packages |= {name: version(name) for name in packages if find_spec(name)}
    gpu = torch.cuda.get_device_name() if device == "cuda" else ""
    return {
        "device": gpu or f"{platform.machine()} CPU",
        "cuda": torch.version.cuda or "",
        "python": platform.python_version(),
        "packages": packages,
        "date": str(date.today()),
        "dry": device == "cpu",
    }


def commit() -> str:
    """The commit of this tree; empty outside of a repository."""
    call = ["git", "rev-parse", "HEAD"]
    return subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


def save(visit: Visit, out: Path) -> Path:
    """Everything that is known so far, and what another visit of the day had found of other parts."""
    about = machine("cpu" if visit.dry else "cuda")
    name = "-".join([*about["device"].lower().replace("_", "-").split(), about["date"]])
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{name}.json"
    earlier = json.loads(path.read_text())["parts"] if path.is_file() else {}
    path.write_text(json.dumps({**about, "parts": {**earlier, **visit.parts}}, indent=2) + "\n")
    return path


def summary(parts: dict[str, dict[str, Any]]) -> str:
    """One line per part."""
    return "\n".join(
        f"{name:<10} {outcome['status']:<7} {outcome['seconds']:6.1f} s  "
        f"{outcome.get('reason') or _short(outcome['figures'])}"
        for name, outcome in parts.items()
    )


def _short(figures: dict[str, Any]) -> str:
    numbers = {k: v for k, v in figures.items() if isinstance(v, int | float) and not isinstance(v, bool)}
    return ", ".join(f"{name} {value:,.4g}" for name, value in list(numbers.items())[:4])


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=9.0)
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "results")
    parser.add_argument("--only", nargs="+", default=[], choices=[part.name for part in PARTS])
    parser.add_argument("--dry-run", action="store_true", help="in small and on a CPU; no page is written")
    parser.add_argument("--spent", type=float, default=0.0, help="seconds that were used before")
    options = parser.parse_args(words)
    visit = Visit(60 * options.minutes, options.spent, dry=options.dry_run)
    logs = options.out / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    path = None
    for part in PARTS:
        if options.only and part.name not in options.only:
            continue
        print(f"== {part.name}: at most {min(part.limit, max(visit.remaining(), 0)):.0f} s", flush=True)
        visit.take(part, logs / f"{part.name}.log")
        path = save(visit, options.out)  # after every part, since the machine may be gone before the last
    if not options.dry_run:
        subprocess.run([sys.executable, str(HERE / "page.py")], cwd=ROOT, check=False)
    print(f"\n{summary(visit.parts)}\nwritten: {path}", flush=True)
    return int(any(outcome["status"] != "ok" for outcome in visit.parts.values()))


if __name__ == "__main__":
    sys.exit(main())
