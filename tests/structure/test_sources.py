"""What a source may not do: the package opens files and writes to the terminal in one place each, nothing chooses how
matplotlib draws, and no test draws without a seed or waits for less than what hangs. (Clocks and pauses: ruff.)"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]


class Rule(NamedTuple):
    """A pattern that no file below some folders has but a few, with planted lines that have it and harmless ones."""

    pattern: str
    folders: tuple[str, ...]
    but: tuple[str, ...]
    planted: tuple[str, ...]
    harmless: tuple[str, ...] = ()


PACKAGE, TESTS = ("python/recommit",), ("tests",)
RULES = {
    "links and pipes: files are written in one place": Rule(
        r"""\.(write_text|write_bytes|touch|symlink_to|hardlink_to|tofile)\(|\bopen\([^()]*["'][rbt]*[wax+][bt+]*["']"""
        r"|os\.O_(CREAT|WRONLY|RDWR|APPEND|TRUNC)|\b(mkstemp|NamedTemporaryFile)\(",
        PACKAGE,
        ("storage/safe_open.py", "storage/terminal_text.py"),
        ('open(path, "w")', "path.open('ab')", 'io.open(path, mode="r+")', "path.write_bytes(b'')", "x | os.O_WRONLY"),
        ("open(path)", "os.open(path, os.O_RDONLY)", "envs.open()", "file.write(x)"),
    ),
    "links and pipes: files of strangers are read in one place": Rule(
        r"""\.read_(text|bytes)\(|\bopen\([^()]*["']rb["']""",
        PACKAGE,
        # Files that the package brings, /proc, and a file that a person names in the call.
        (
            *("storage/safe_open.py", "storage/lock.py", "estimate/options.py", "policy/prompt.py", "report/html.py"),
            *("reproduce/preset.py", "train/config.py", "watch/recorded.py"),
        ),
        ("path.read_text('utf-8')", "path.open('rb')"),
    ),
    "control sequences: the terminal is written to in one place": Rule(
        r"\bprint\(|\b(__)?std(out|err)(__)?\.write(lines)?\(",
        PACKAGE,
        ("storage/terminal_text.py",),
        ("print(x)", "sys.stderr.write(x)", "stdout.writelines(x)"),
        ("file.write(x)",),
    ),
    "nothing chooses how matplotlib draws for the whole process": Rule(
        r"\b(matplotlib|mpl)\.use\(|\bswitch_backend\(",
        ("python", "docs", "bench"),
        ("docs/figures/notebooks.py",),  # where it is a program
        ("matplotlib.use('svg')", "mpl.use('agg', force=False)", "plt.switch_backend('agg')"),
    ),
    "chance: no test draws without a seed": Rule(
        r"\b(default_rng|random\.Random)\(\)|\bos\.urandom\b|\b(np|numpy)\.random\.(?!default_rng|Generator|Philox|PCG64)[a-z]",
        TESTS,
        (
            *("invariant/global_state.py", "invariant/rank_jobs.py"),  # planted
            "unit/horizon/sweep/test_player.py",  # a policy from the streams that the sweep seeds
        ),
        ("random.Random()", "np.random.rand(3)", "default_rng()", "os.urandom(8)"),
        ("random.Random(0)", "np.random.default_rng(0)"),
    ),
    "slow machines: no test gives up before what hangs": Rule(
        r"\btimeout=(0\.\d*[1-9]|[1-9]\d?|[12]\d\d)(\.0)?[,)]|\.(wait|join|result|settimeout|alarm)\([\d.]*[1-9][\d.]*\)",
        TESTS,
        (
            "verify/network.py",
            "invariant/test_callbacks.py",
        ),  # where one must fail, or hangs
        ("process.wait(timeout=60)", "thread.join(0.2)", "link.settimeout(1)"),
        ("process.wait(timeout=HANG)", "', '.join(words)", "link.settimeout(0)", "wait(timeout=600)"),
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_a_source_keeps_to_it(name: str) -> None:
    rule = RULES[name]
    assert all(re.search(rule.pattern, line) for line in rule.planted)
    assert not any(re.search(rule.pattern, line) for line in rule.harmless)
    files = [path for folder in rule.folders for path in (ROOT / folder).rglob("*.py") if path != Path(__file__)]
    texts = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in files}
    own = {name: text for name, text in texts.items() if not name.endswith(rule.but)}
    code = {name: re.sub(r'"""(?s:.*?)"""|#.*', "", text) for name, text in own.items()}
    found = [f"{name}: {match[0]}" for name, text in code.items() for match in re.finditer(rule.pattern, text)]
    assert found == []


@pytest.mark.parametrize("time", ["first", "second"])
def test_torch_draws_the_same_in_every_test(time: str) -> None:
    torch = pytest.importorskip("torch")
    if time == "second":  # torch was there before this test began
        assert torch.equal(torch.rand(3), torch.rand(3, generator=torch.Generator().manual_seed(1)))
