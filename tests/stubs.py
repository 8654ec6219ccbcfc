"""The stubs of the compiled core: ``python -m tests.stubs`` writes them, ``--check`` compares them with the module."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / "python" / "recommit" / "_core"
NAMES = "typing.SupportsInt | typing.SupportsIndex"

#: What pybind11-stubgen writes, and what we mean by it.
CHANGES = (
    (re.escape(NAMES), "typing.SupportsIndex"),  # an argument that counts something is never a float
    (r"numpy\.bool\b", "numpy.bool_"),  # the name that numpy 1 and 2 share
    (r"typing\.ClassVar\[int\] = 0", "int"),  # line and column belong to each error
    (r"collections\.abc\.Callable\b(?!\[)", "collections.abc.Callable[..., typing.Any]"),
    (r"\bdict\b(?!\[)", "dict[str, typing.Any]"),
    (r"-> tuple:", "-> tuple[typing.Any, ...]:"),
    (r"^from \. import (\w+)$", r"from . import \1 as \1"),
    (r"^from __future__ .*\n", ""),
    (r"^__all__: .*\n", ""),  # the module has none
    (r'"""\n\s*(.*?)\n\s*"""', r'"""\1"""'),
)


def generate() -> dict[str, str]:
    """File name -> text of every stub, made from the module that Python imports now."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pybind11_stubgen", "recommit._core", "-o", folder, "--exit-code"]
        subprocess.run(command, check=True)
        found = sorted(Path(folder, "recommit", "_core").glob("*.pyi"))
        return {path.name: tidy(path.read_text(encoding="utf-8"), path.name) for path in found}


def tidy(text: str, name: str) -> str:
    """The text as we want it, formatted like the rest of the package."""
    for pattern, replacement in CHANGES:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    command = ["ruff", "format", f"--config={ROOT / 'pyproject.toml'}", f"--stdin-filename={HOME / name}", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def differences() -> list[str]:
    """What is wrong with the committed stubs, one line each."""
    fresh = generate()
    stale = [f"{path.name}: the module has no such part" for path in HOME.glob("*.pyi") if path.name not in fresh]
    for name, text in fresh.items():
        path = HOME / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(f"{name}: differs from the module; run python -m tests.stubs")
    return stale


def main() -> int:
    """Write the stubs, or check them."""
    if "--check" in sys.argv[1:]:
        found = differences()
        print("\n".join(found) or "the stubs fit the module")
        return 1 if found else 0
    fresh = generate()
    HOME.mkdir(exist_ok=True)
    for path in HOME.glob("*.pyi"):
        path.unlink()
    for name, text in fresh.items():
        (HOME / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
