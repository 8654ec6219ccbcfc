"""K5: the core imports without any extra, quickly, and says what to install where one is missing."""

from __future__ import annotations

import statistics
import sys

from tests.effort import unit
from tests.verify.harness import expect, main, run

#: Units of tests/effort.py, half a millisecond or so each.
LIMIT = 1000
REPEATS = 5

#: Only the package, numpy and the standard library can be found.
ALONE = """
import importlib.abc, sys, time
OTHERS = {"torch", "transformers", "deepspeed", "gymnasium", "tyro", "rich", "PIL", "ray", "openai"}
class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in OTHERS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name.split(".")[0])
sys.meta_path.insert(0, Missing())
"""
TIMED = "begin = time.process_time(); import recommit; print(time.process_time() - begin)"
USED = "t = recommit.Sliding(3); s = t.generate(4, seed=0).states; t.step(s, __import__('numpy').zeros(4, 'i4'))"
FOREIGN = (
    "tops = {n.split('.')[0] for n, m in sys.modules.items() if 'site-packages' in (getattr(m, '__file__', '') or '')};"
    "print(' '.join(sorted(tops - {'recommit', 'numpy', '_recommit_editable', 'sitecustomize'})))"
)


def check(plant: bool) -> tuple[int, str]:
    """Import in fresh processes; planted: an import that takes longer than allowed."""
    slow = "sum(range(160_000_000));" if plant else ""
    timed = TIMED.replace("import recommit;", f"{slow} import recommit;")
    repeats = 1 if plant else REPEATS
    seconds = [float(run([sys.executable, "-c", f"{ALONE}{timed}"])) for _ in range(repeats)]
    median = statistics.median(seconds)
    units = median / unit()
    expect(units < LIMIT, f"import recommit took {units:.0f} units of effort ({median:.3f} s), expected < {LIMIT}")
    run([sys.executable, "-c", f"{ALONE}{timed}\n{USED}"])
    foreign = run([sys.executable, "-c", f"import sys\nbefore = set(sys.modules)\nimport recommit\n{FOREIGN}"]).split()
    unexpected = [name for name in foreign if not name.startswith(("_", "recommit", "__editable__"))]
    expect(not unexpected, f"import recommit also imported {unexpected}")
    said = run([sys.executable, "-c", f"{ALONE}\n{CALL}"])
    expect("pip install 'recommit[cli]'" in said, f"no hint at the missing extra in: {said}")
    return REPEATS, f"imports, median {median:.3f} s of CPU time"


CALL = """
import contextlib, io
from recommit.cli import main
text = io.StringIO()
with contextlib.redirect_stderr(text):
    status = main(["bench", "--signature"])
assert status == 1, status
print(text.getvalue())
"""

if __name__ == "__main__":
    main(check)
