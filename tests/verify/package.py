"""K1: the wheel and the source archive as a user meets them; the extension exports its init function alone, is
compiled and linked safely, and does not say where.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

from tests.verify.harness import BUILD, ROOT, expect, run

EPOCH = {"SOURCE_DATE_EPOCH": "1700000000"}
#: An absolute path of a source file, as assertions and debug information have them.
SOURCE = re.compile(rb"(?<![\w.+-])/(?:[\w.+ -]+/)+[\w.+-]+\.(?:h|hpp|c|cc|cpp|inc|tcc)\b")
USE = (
    "import recommit; t = recommit.Sokoban(8); i = t.generate(3, seed=0); t.render(i.states);"
    "assert not t.is_solved(i.states).any(); print(recommit.__file__)"
)


def build_wheel(source: Path, into: Path) -> Path:
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


def wheel(plant: bool) -> tuple[int, str]:
    """Build thrice, compare, install, use, remove; planted: the second build is made at another time."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first = build_wheel(clean_copy(folder / "source"), folder / "a")
        if plant:
            EPOCH["SOURCE_DATE_EPOCH"] = "1800000000"
        shutil.rmtree(folder / "source")
        second = build_wheel(clean_copy(folder / "source"), folder / "b")
        expect(first.read_bytes() == second.read_bytes(), f"two builds of {first.name} differ")
        run([sys.executable, "-m", "build", "--sdist", "--no-isolation", "-o", folder / "sdist", folder / "source"])
        third = build_wheel(next((folder / "sdist").glob("*.tar.gz")), folder / "c")
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


def extension() -> str:
    """The file that Python imports now."""
    import recommit

    return str(recommit._core.__file__)


def symbols(plant: bool) -> tuple[int, str]:
    """Read the tables of the file; planted: a library that exports more and binds lazily."""
    path = _careless_library() if plant else extension()
    # 'u' are unique symbols: function-local statics of inline functions, which must not leave the module either.
    exported = re.findall(r"^[0-9a-f]+ [A-TV-Zu] (\S+)$", run(["nm", "-D", "--defined-only", path]), re.MULTILINE)
    expect(exported == ["PyInit__core"], f"exported symbols: {exported[:20]}")
    dynamic = run(["readelf", "-dW", path])
    expect("BIND_NOW" in dynamic or re.search(r"FLAGS_1.*NOW", dynamic), "no BIND_NOW")
    expect("TEXTREL" not in dynamic, "text relocations")
    expect(not re.search(r"RPATH|RUNPATH", dynamic), "a run path")
    headers = run(["readelf", "-lW", path])
    expect("GNU_RELRO" in headers, "no RELRO")
    stack = re.search(r"GNU_STACK.*?\s([RWE]+)\s+0x", headers)
    expect(stack and "E" not in stack[1], f"executable stack: {stack and stack[0]}")
    imported = run(["nm", "-D", "--undefined-only", path])
    expect("__stack_chk_fail" in imported, "no stack protector")
    expect(re.search(r"__\w+_chk\b", imported), "no C function that checks the size of what it fills")
    places = SOURCE.findall(Path(path).read_bytes())
    expect(not places, f"paths of the machine it was built on: {places[:5]}")
    needed = re.findall(r"NEEDED.*\[(.*)\]", dynamic)
    return 10, f"properties; needs {', '.join(needed)}"


def _careless_library() -> str:
    BUILD.mkdir(parents=True, exist_ok=True)
    source, library = BUILD / "careless.c", BUILD / "careless.so"
    source.write_text("int PyInit__core(void) { return 0; }\nint leak(void) { return 1; }\n")
    run(["cc", "-shared", "-fPIC", "-Wl,-z,lazy", "-o", library, source])
    return str(library)
