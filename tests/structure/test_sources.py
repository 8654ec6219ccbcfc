"""What a source may not do, read from its syntax tree: the package opens files and writes to the terminal in one place
each; tests do not wait, read clocks or draw without a seed.
"""

from __future__ import annotations

import ast
import contextlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

with contextlib.suppress(ImportError):  # before any test, as where a test of torch came first
    import torch

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]
PACKAGE, TESTS = ROOT / "python" / "recommit", ROOT / "tests"
#: Nothing is written through a link, and nobody waits for a pipe, because files are opened here.
OPENING = "storage/safe_open.py"
#: Nothing passes the filter of control sequences by, because the terminal is written to here.
TERMINAL = "storage/terminal_text.py"
#: Methods of paths and arrays that write, wherever they are.
WRITERS = {"write_text", "write_bytes", "touch", "symlink_to", "hardlink_to", "tofile", "mkstemp", "NamedTemporaryFile"}
#: What else reads: files that the package brings, /proc, or a file that a person names in the call.
READERS = {
    "estimate/options.py",
    "storage/lock.py",
    "policy/prompt.py",
    "reproduce/preset.py",
    "report/html.py",
    "report/document.py",
    "train/config.py",
    "watch/recorded.py",
}
STREAMS = ("stdout", "stderr", "__stdout__", "__stderr__")


def calls(source: str) -> list[ast.Call]:
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]


def name_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def dotted(node: ast.AST) -> str:
    """``a.b.c``, with a question mark for whatever is not a name."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


def words(call: ast.Call) -> list[str]:
    """Every text among the arguments, and every name of a flag."""
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    nodes = [node for argument in arguments for node in ast.walk(argument)]
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return texts + [node.attr for node in nodes if isinstance(node, ast.Attribute)]


def writes(call: ast.Call) -> bool:
    elsewhere = any(keyword.arg == "fileobj" for keyword in call.keywords) or "devnull" in words(call)
    if name_of(call) == "open" and not elsewhere:
        modes = [text for text in words(call) if 0 < len(text) <= 3 and set(text) <= set("rwaxbt+U")]
        flags = {"O_CREAT", "O_WRONLY", "O_RDWR", "O_APPEND", "O_TRUNC"} & set(words(call))
        return any(set(mode) & set("wax+") for mode in modes) or bool(flags)
    return name_of(call) in WRITERS


def reads(call: ast.Call) -> bool:
    return name_of(call) in ("read_text", "read_bytes") or (name_of(call) == "open" and "rb" in words(call))


def shows(call: ast.Call) -> bool:
    stream = getattr(call.func, "value", None)
    named = getattr(stream, "attr", getattr(stream, "id", ""))
    return (name_of(call) in ("write", "writelines") and named in STREAMS) or dotted(call.func) == "print"


def chooses(call: ast.Call) -> bool:
    """Does it choose how matplotlib draws, for the whole process?"""
    return bool(re.fullmatch(r"(matplotlib|mpl)\.use|(\w+\.)*switch_backend", dotted(call.func)))


def places(judge: Callable[[ast.Call], bool], but: set[str]) -> list[str]:
    """Where the package does what only some files of it may."""
    every = {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
    found = {name: [call.lineno for call in calls(text) if judge(call)] for name, text in every.items()}
    return [f"{name}: {lines}" for name, lines in found.items() if lines and name not in but]


def test_files_are_opened_and_the_terminal_is_written_to_in_one_place() -> None:
    assert places(writes, {OPENING}) == []
    assert places(reads, {OPENING, *READERS}) == []
    assert places(shows, {TERMINAL}) == []


def test_nobody_chooses_how_matplotlib_draws() -> None:
    """Not the package, and no script of figures or timings, which tests run in their own process; but what remakes the
    notebooks does, where it is a program."""
    scripts = [path for folder in ("python", "docs", "bench", "scripts") for path in (ROOT / folder).rglob("*.py")]
    assert len(scripts) > 300
    found = [path for path in scripts for call in calls(path.read_text("utf-8")) if chooses(call)]
    assert [path.relative_to(ROOT).as_posix() for path in found] == ["docs/figures/notebooks.py"]


@pytest.mark.parametrize(
    ("judge", "planted"),
    [
        (writes, 'open(path, "w")'),
        (writes, 'path.open("ab")'),
        (writes, 'io.open(path, mode="r+")'),
        (writes, "path.write_bytes(b'')"),
        (writes, "os.open(path, flags | os.O_WRONLY)"),
        (writes, "array.tofile(path)"),
        (reads, "path.read_text('utf-8')"),
        (reads, "path.open('rb')"),
        (chooses, "matplotlib.use('svg')"),
        (chooses, "mpl.use('agg', force=False)"),
        (chooses, "plt.switch_backend('agg')"),
        (shows, "print(x)"),
        (shows, "sys.stderr.write(x)"),
        (shows, "stdout.writelines(x)"),
    ],
)
def test_a_planted_call_is_noticed(judge: Callable[[ast.Call], bool], planted: str) -> None:
    (call,) = calls(f"x = 1\n{planted}")
    assert judge(call)


@pytest.mark.parametrize("harmless", ["open(path)", "os.open(path, os.O_RDONLY)", "envs.open()", "file.write(x)"])
def test_a_harmless_call_is_not(harmless: str) -> None:
    (call,) = calls(harmless)
    assert not writes(call)
    assert not shows(call)


#: What no test does, by the call's full or last name.
CHANCE = {
    r"(time\.)?sleep": "sleeps",
    r"time\.(time|perf_counter|monotonic|process_time|thread_time)(_ns)?": "reads a clock",
    r"random\.(random|randint|randrange|choice|choices|shuffle|sample|uniform|seed)": "draws without a seed",
    r"secrets\.\w+|os\.urandom": "draws without a seed",
    r"(np|numpy)\.random\.(?!default_rng|Generator|Philox|PCG64)\w+": "draws without a seed",
}
#: These draw without a seed if they have no argument.
SEEDED = r"((np|numpy)\.random\.)?default_rng|random\.Random"
#: Slow machines miss limits of fewer seconds; those of tests only end what hangs, and are ``HANG`` of waiting.py.
SHORT = 300
#: file below tests/ -> what it does all the same.
ALLOWED = {
    "waiting.py": "sleeps",  # the one place that waits, for what must come
    "ticks.py": "sleeps",  # for no time: a turn is offered to another thread
    "effort.py": "reads a clock",  # processor time, in units that take longer on a slow machine, too
    "invariant/test_interrupt.py": "reads a clock",  # processor time, in units of effort.py
    "invariant/global_state.py": "draws without a seed",  # planted
    "unit/data/test_mutations.py": "reads a clock",  # processor time, in units of effort.py
    "unit/horizon/sweep/test_player.py": "draws without a seed",  # a policy from the streams that the sweep seeds
    "unit/train/family/one_rank.py": "sleeps",  # a stand-in for a rank that computes
    "verify/__main__.py": "reads a clock",  # for the table
    "verify/orders.py": "reads a clock",  # for the table
    "verify/true_shapes.py": "reads a clock",  # for the table
    "invariant/rank_jobs.py": "draws without a seed",  # planted: an order that nobody decided
}


def chances(text: str) -> list[tuple[int, str]]:
    """Line and fault of every call that waits, measures or draws."""
    nodes = list(ast.walk(ast.parse(text)))
    imported = {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    found = []
    for call in calls(text):
        name = dotted(call.func)
        if name.startswith("random.") and "random" not in imported:
            continue  # a parameter: a generator that somebody seeds
        wrong = [what for pattern, what in CHANCE.items() if re.fullmatch(pattern, name)]
        wrong += ["draws without a seed"] * bool(re.fullmatch(SEEDED, name) and not call.args and not call.keywords)
        found += [(call.lineno, what) for what in (*wrong, *["limits in seconds"] * _is_short(call, name))]
    return found


def _is_short(call: ast.Call, name: str) -> bool:
    limits = [word.value for word in call.keywords if word.arg in ("timeout", "seconds")]
    if name.endswith((".wait", ".join", ".result", ".settimeout", ".alarm")):
        limits += call.args
    numbers = [each.value for each in limits if isinstance(each, ast.Constant)]
    return any(isinstance(number, int | float) and number is not False and 0 < number < SHORT for number in numbers)


def test_no_test_depends_on_chance_or_on_the_speed_of_the_machine() -> None:
    wrong = []
    for path in sorted([*TESTS.rglob("*.py"), *(ROOT / "bench").rglob("test_*.py")]):
        allowed = ALLOWED.get(path.relative_to(TESTS).as_posix(), "") if TESTS in path.parents else ""
        wrong += [f"{path}:{line} {what}" for line, what in chances(path.read_text("utf-8")) if what not in allowed]
    assert wrong == []


@pytest.mark.parametrize(
    ("line", "faults"),
    [
        ("time.sleep(1)", 1),
        ("assert time.perf_counter() - begin < 5", 1),
        ("random.random()", 1),
        ("random.Random()", 1),
        ("np.random.rand(3)", 1),
        ("default_rng()", 1),
        ("process.wait(timeout=60)", 1),
        ("thread.join(0.2)", 1),
        ("random.Random(0)", 0),
        ("np.random.default_rng(0)", 0),
        ("process.wait(timeout=HANG)", 0),
        ("', '.join(words)", 0),
        ("link.settimeout(0)", 0),
    ],
)
def test_what_waits_or_draws_is_noticed(line: str, faults: int) -> None:
    assert len(chances(f"import random\ndef test():\n    {line}\n")) == faults


@pytest.mark.parametrize("time", ["first", "second"])
def test_torch_draws_the_same_in_every_test(time: str) -> None:
    pytest.importorskip("torch")
    assert torch.equal(torch.rand(3), torch.rand(3, generator=torch.Generator().manual_seed(1))), time
