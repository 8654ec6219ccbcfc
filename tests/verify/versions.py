"""V1: unit tests of what uses other people's packages, with the lowest versions that pyproject.toml allows and with the
newest that there are, each in an environment made from nothing by `pip install`, as a user makes it.

Some 6 GB are fetched on Linux, torch for CUDA among them.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from typing import TYPE_CHECKING

from tests.verify.harness import BUILD, ROOT, Finding, Impossible, run

if TYPE_CHECKING:
    from pathlib import Path

EXTRAS = "deepspeed,envs,ray,zero-shot"
PATHS = [f"tests/unit/{name}" for name in ("policy", "train", "data", "envs", "estimate", "report", "cli")]
#: What a machine with a GPU runs; that has the lowest torch and transformers.
VISIT = "tests/unit/train/test_gpu_benches.py::test_every_part_of_a_visit_reports_a_figure"
VERSIONS = """import importlib.metadata as m, json, sys
has = {d.name.lower(): d.version for d in m.distributions()}
print(json.dumps({n: has[n] for n in sys.argv[1:] if n in has}))"""


def floors() -> dict[str, str]:
    """Name -> lowest version, of what the package is built with, and of what it and its extras ask for."""
    asked = (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition("\n[project.scripts]")[0]
    return dict(re.findall(r'"([\w-]+)>=([\d.]+)', asked))


def environment(folder: Path, constraints: list[str]) -> Path:
    """The Python of a new environment with the package, its extras and the tools that test it."""
    shutil.rmtree(folder, ignore_errors=True)
    run([sys.executable, "-m", "venv", folder])
    python = folder / "bin" / "python"
    listed = folder / "constraints.txt"
    listed.write_text("\n".join(constraints) + "\n", encoding="utf-8")
    for wanted in ([f".[{EXTRAS}]"], ["--group", "test"]):
        # By this environment's pip: that of a new one may be too old for groups.
        pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q"]
        run([*pip, "-c", listed, "--build-constraint", listed, *wanted])
    return python


def passed(python: Path | str, *words: str, beside: Path | str = "") -> int:
    """How many tests passed, all of them."""
    quiet = ["-q", "-n", "auto", "--dist", "worksteal", "-W", "default", "-p", "no:faulthandler"]
    said = run([python, "-m", "pytest", *quiet, *words], env={"PYTHONPATH": str(beside)})
    return int(re.findall(r"(\d+) passed", said)[-1])


def both(name: str, constraints: list[str], more: list[str], plant: bool) -> tuple[int, str]:
    """Make the environment and test in it; planted: PEFT 0.18, whose reference policy is rounded."""
    folder = BUILD / "versions" / ("planted" if plant else name)
    if plant:
        run(
            [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--upgrade", "--target", folder, "peft==0.18.0"]
        )
        try:
            return passed(sys.executable, "tests/unit/policy/test_loading.py", beside=folder), "tests"
        except Finding as found:
            if "1 failed" in str(found):  # and no more: it is that defect which was noticed
                raise
            return 0, f"tests; {found}"
    python = environment(folder, constraints)
    count = passed(python, *PATHS) + sum(passed(python, "-m", "nightly", each) for each in more)
    has = json.loads(run([python, "-c", VERSIONS, *floors()], cwd=folder))
    shutil.rmtree(folder)
    return count, "tests; " + ", ".join(" ".join(pair) for pair in has.items())


def lowest(plant: bool) -> tuple[int, str]:
    """The dry run of a GPU's visit, too."""
    if sys.version_info >= (3, 12):
        raise Impossible("numpy 1.24 is made for Python 3.10 and 3.11; newer ones have other floors")
    return both("lowest", [f"{name}=={version}" for name, version in floors().items()], [VISIT], plant)


def newest(plant: bool) -> tuple[int, str]:
    """Whatever pip takes."""
    return both("newest", [], [], plant)
