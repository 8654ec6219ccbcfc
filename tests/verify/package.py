"""K1: the wheel and the source archive, as a user meets them."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

from tests.verify.harness import ROOT, expect, main, run

EPOCH = {"SOURCE_DATE_EPOCH": "1700000000"}
USE = (
    "import recommit; t = recommit.Sokoban(8); i = t.generate(3, seed=0); t.render(i.states);"
    "assert not t.is_solved(i.states).any(); print(recommit.__file__)"
)


def wheel(source: Path, into: Path) -> Path:
    """A wheel from a folder or from a source archive."""
    into.mkdir()
    # The build tools of this environment are used, so that nothing has to be fetched.
    run([sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "-w", into, source], env=EPOCH)
    return next(into.glob("*.whl"))


def contents(path: Path) -> dict[str, str]:
    """Name -> digest of everything in a wheel."""
    with zipfile.ZipFile(path) as archive:
        return {name: hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()}


def files(folder: Path) -> set[str]:
    """Every file below a folder, except caches."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if "__pycache__" not in path.parts}


def clean_copy(into: Path) -> Path:
    """What git knows of the working tree."""
    into.mkdir()
    for name in run(["git", "ls-files", "-z"]).split("\0"):
        if name and (ROOT / name).is_file():
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, into / name)
    return into


def check(plant: bool) -> tuple[int, str]:
    """Build thrice, compare, install, use, remove; planted: the second build is made at another time."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first = wheel(clean_copy(folder / "source"), folder / "a")
        if plant:
            EPOCH["SOURCE_DATE_EPOCH"] = "1800000000"
        shutil.rmtree(folder / "source")
        second = wheel(clean_copy(folder / "source"), folder / "b")
        expect(first.read_bytes() == second.read_bytes(), f"two builds of {first.name} differ")
        run([sys.executable, "-m", "build", "--sdist", "--no-isolation", "-o", folder / "sdist", folder / "source"])
        third = wheel(next((folder / "sdist").glob("*.tar.gz")), folder / "c")
        expect(contents(third) == contents(first), "the wheel from the source archive differs")
        expect(any(n.endswith("py.typed") for n in contents(first)), "py.typed is missing")
        expect(any(n.endswith("_core/__init__.pyi") for n in contents(first)), "the stubs are missing")
        tag = run(["auditwheel", "show", first])
        expect("manylinux" in tag, f"not a manylinux wheel:\n{tag}")
        installed = install_use_remove(first, folder)
        policy = next((word.strip('".,') for word in tag.split() if "manylinux" in word), "?")
    return installed + 3, f"files installed and removed, builds; {policy}"


def install_use_remove(path: Path, folder: Path) -> int:
    """In a fresh environment, offline except for numpy, from an empty folder; nothing may be left behind."""
    run([sys.executable, "-m", "venv", folder / "venv"])
    python = folder / "venv" / "bin" / "python"
    site = next((folder / "venv" / "lib").glob("python*/site-packages"))
    run([python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", "numpy"])
    before = files(site)
    run([python, "-m", "pip", "install", "-q", "--no-index", path])
    added = files(site) - before
    empty = folder / "empty"
    empty.mkdir()
    where = run([python, "-c", USE], cwd=empty, env={"PYTHONPATH": os.devnull}).strip()
    expect(Path(where).is_relative_to(folder), f"imported from {where}")
    expect(not list(empty.iterdir()), "the working directory was written to")
    run([python, "-m", "pip", "uninstall", "-q", "-y", "recommit"])
    remaining = files(site) - before
    expect(not remaining, f"left behind: {sorted(remaining)}")
    return len(added)


if __name__ == "__main__":
    main(check)
