"""No test depends on chance or on the speed of the machine: nobody sleeps, reads clocks or draws without a seed.

What does all the same stands in ``REASONS``. Limits in seconds are there to end what hangs, and are ``HANG`` of
``tests/waiting.py``.
"""

from __future__ import annotations

import ast
import contextlib
import re
from pathlib import Path

import pytest

with contextlib.suppress(ImportError):  # before any test, as where a test of torch came first
    import torch

ROOT = Path(__file__).resolve().parents[2]
#: A call by its full or last name, and what is wrong with it.
FORBIDDEN = {
    r"(time\.)?sleep": "sleeps",
    r"time\.(time|perf_counter|monotonic|process_time|thread_time)(_ns)?": "reads a clock",
    r"random\.(random|randint|randrange|choice|choices|shuffle|sample|uniform|seed)": "draws without a seed",
    r"secrets\.\w+|os\.urandom": "draws without a seed",
    r"(np|numpy)\.random\.(?!default_rng|Generator|Philox|PCG64)\w+": "draws without a seed",
}
#: Calls that draw without a seed if they have no argument.
SEEDED = r"((np|numpy)\.random\.)?default_rng|random\.Random"
#: Limits of this many seconds are missed by slow machines; none is a limit that is tested.
SHORT = 300

#: file, as below tests/ -> what it may do, and why.
REASONS = {
    "waiting.py": ("sleeps", "the one place that waits, for what must come"),
    "ticks.py": ("sleeps", "for no time at all: a turn of a thread is offered to another one"),
    "effort.py": ("reads a clock", "processor time, in units that take longer on a slow machine, too"),
    "crash/killer.py": ("sleeps, reads a clock", "kills at any moment; a kill that comes too late is not counted"),
    "invariant/test_interrupt.py": ("reads a clock", "processor time, in units of effort.py"),
    "unit/data/test_mutations.py": ("reads a clock", "processor time, in units of effort.py"),
    "unit/train/family/one_rank.py": ("sleeps", "a stand-in for a rank that computes; nobody measures it"),
    "verify/__main__.py": ("reads a clock", "for the table: nothing is asserted"),
    "verify/measured.py": ("reads a clock", "for the table: nothing is asserted"),
    "verify/oversize.py": ("reads a clock", "for the table: nothing is asserted"),
    "invariant/rank_jobs.py": ("draws without a seed", "planted: an order that nobody decided"),
}
FILES = sorted([*(ROOT / "tests").rglob("*.py"), *(ROOT / "bench").rglob("test_*.py")])


def faults(text: str) -> list[tuple[int, str]]:
    """Line and fault of every call that waits, measures or draws."""
    nodes = list(ast.walk(ast.parse(text)))
    imported = {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    # A parameter may be called random: a generator that somebody seeds.
    own = [call for call in calls if "random" in imported or not ast.unparse(call.func).startswith("random.")]
    return [(call.lineno, fault) for call in own for fault in _faults(call)]


def _faults(call: ast.Call) -> list[str]:
    name = ast.unparse(call.func)
    wrong = [what for pattern, what in FORBIDDEN.items() if re.fullmatch(pattern, name)]
    if re.fullmatch(SEEDED, name) and not call.args and not call.keywords:
        wrong.append("draws without a seed")
    if _is_short(call, name):
        wrong.append("limits in seconds")
    return wrong


def _is_short(call: ast.Call, name: str) -> bool:
    limits = [word.value for word in call.keywords if word.arg in ("timeout", "seconds")]
    if name.endswith((".wait", ".join", ".result", ".settimeout", ".alarm")):
        limits += call.args
    numbers = [each.value for each in limits if isinstance(each, ast.Constant)]
    return any(isinstance(number, int | float) and number is not False and 0 < number < SHORT for number in numbers)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_nothing_depends_on_chance(path: Path) -> None:
    allowed, _ = REASONS.get(
        path.relative_to(ROOT / "tests").as_posix() if ROOT / "tests" in path.parents else "", ("", "")
    )
    assert [fault for fault in faults(path.read_text("utf-8")) if fault[1] not in allowed.split(", ")] == []


def test_every_exception_is_needed() -> None:
    for name, (allowed, _) in REASONS.items():
        does = {fault for _, fault in faults((ROOT / "tests" / name).read_text("utf-8"))}
        assert set(allowed.split(", ")) == does, name


@pytest.mark.parametrize(
    "line",
    [
        "time.sleep(1)",
        "begin = time.monotonic()",
        "assert time.perf_counter() - begin < 5",
        "random.random()",
        "np.random.rand(3)",
        "np.random.default_rng()",
        "default_rng()",
        "random.Random()",
        "secrets.token_hex()",
        "process.wait(timeout=60)",
        "subprocess.run(call, timeout=20)",
        "connection = HTTPConnection(host, port, timeout=30)",
        "wire.post(address, seconds=2.0)",
        "thread.join(0.2)",
        "link.settimeout(5)",
    ],
)
def test_what_waits_or_draws_is_noticed(line: str) -> None:
    assert len(faults(f"import random\ndef test():\n    {line}\n")) == 1


@pytest.mark.parametrize(
    "line",
    [
        "random.Random(0)",
        "np.random.default_rng(0)",
        "process.wait(timeout=HANG)",
        "event.wait()",
        "', '.join(words)",
        "link.settimeout(0)",
    ],
)
def test_what_is_sure_is_not(line: str) -> None:
    assert faults(f"import random\n{line}") == []


@pytest.mark.parametrize("time", ["first", "second"])
def test_torch_draws_the_same_in_every_test(time: str) -> None:
    pytest.importorskip("torch")
    assert torch.equal(torch.rand(3), torch.rand(3, generator=torch.Generator().manual_seed(1))), time
