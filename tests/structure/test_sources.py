"""The package writes files, and to the terminal, in one place each: links and control sequences get no further."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "recommit"
#: What only one file may do, and planted lines that do it.
ALONE = {
    "storage/safe_open.py": (
        (
            r"""\.(write_text|write_bytes|touch|symlink_to|hardlink_to|tofile)\(|\bopen\([^()]*["'][rbt]*[wax+][bt+]*["']"""
            r"|os\.O_(CREAT|WRONLY|RDWR|APPEND|TRUNC)|\b(mkstemp|NamedTemporaryFile)\("
        ),
        ('open(path, "w")', "path.open('ab')", 'io.open(path, mode="r+")', "path.write_bytes(b'')", "x | os.O_WRONLY"),
    ),
    "storage/terminal_text.py": (
        r"\bprint\(|\b(__)?std(out|err)(__)?\.write(lines)?\(",
        ("print(x)", "sys.stderr.write(x)", "stdout.writelines(x)"),
    ),
}


@pytest.mark.parametrize("place", ALONE)
def test_one_place_alone(place: str) -> None:
    pattern, planted = ALONE[place]
    assert all(re.search(pattern, line) for line in planted)
    files = {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
    code = {name: re.sub(r'"""(?s:.*?)"""', "", text) for name, text in files.items() if name not in ALONE}
    assert [name for name, text in code.items() if re.search(pattern, text)] == []


@pytest.mark.parametrize("time", ["first", "second"])
def test_torch_draws_the_same_in_every_test(time: str) -> None:
    torch = pytest.importorskip("torch")
    if time == "second":  # torch was there before this test began
        assert torch.equal(torch.rand(3), torch.rand(3, generator=torch.Generator().manual_seed(1)))
