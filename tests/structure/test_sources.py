"""What a source may not do: the package opens files and writes to the terminal in one place each. (Clocks and pauses:
ruff; what belongs to the whole process: tests/invariant/test_global_state.py.)"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "recommit"


class Rule(NamedTuple):
    """A pattern that no file of the package has but a few, with planted lines that have it and harmless ones."""

    pattern: str
    but: tuple[str, ...]
    planted: tuple[str, ...]
    harmless: tuple[str, ...] = ()


RULES = {
    "links and pipes: files are written in one place": Rule(
        r"""\.(write_text|write_bytes|touch|symlink_to|hardlink_to|tofile)\(|\bopen\([^()]*["'][rbt]*[wax+][bt+]*["']"""
        r"|os\.O_(CREAT|WRONLY|RDWR|APPEND|TRUNC)|\b(mkstemp|NamedTemporaryFile)\(",
        ("storage/safe_open.py", "storage/terminal_text.py"),
        ('open(path, "w")', "path.open('ab')", 'io.open(path, mode="r+")', "path.write_bytes(b'')", "x | os.O_WRONLY"),
        ("open(path)", "os.open(path, os.O_RDONLY)", "envs.open()", "file.write(x)"),
    ),
    "links and pipes: files of strangers are read in one place": Rule(
        r"""\.read_(text|bytes)\(|\bopen\([^()]*["']rb["']""",
        # Files that the package brings, /proc, and a file that a person names in the call.
        (
            *("storage/safe_open.py", "storage/lock.py", "estimate/options.py", "policy/prompt.py", "report/html.py"),
            *("reproduce/preset.py", "train/config.py", "watch/recorded.py"),
        ),
        ("path.read_text('utf-8')", "path.open('rb')"),
    ),
    "control sequences: the terminal is written to in one place": Rule(
        r"\bprint\(|\b(__)?std(out|err)(__)?\.write(lines)?\(",
        ("storage/terminal_text.py",),
        ("print(x)", "sys.stderr.write(x)", "stdout.writelines(x)"),
        ("file.write(x)",),
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_a_source_keeps_to_it(name: str) -> None:
    rule = RULES[name]
    assert all(re.search(rule.pattern, line) for line in rule.planted)
    assert not any(re.search(rule.pattern, line) for line in rule.harmless)
    texts = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
    own = {name: text for name, text in texts.items() if not name.endswith(rule.but)}
    code = {name: re.sub(r'"""(?s:.*?)"""|#.*', "", text) for name, text in own.items()}
    found = [f"{name}: {match[0]}" for name, text in code.items() for match in re.finditer(rule.pattern, text)]
    assert found == []
