"""The ids exist after ``import recommit``, in either order of imports, and importing stays light (K5)."""

from __future__ import annotations

import subprocess
import sys

import pytest

MAKE = "gymnasium.make('recommit/Sliding-v0'); gymnasium.make_vec('recommit/Sokoban-v0', num_envs=2, size=6, boxes=1)"


def python(code: str) -> str:
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    "imports",
    [
        "import recommit, gymnasium",
        "import gymnasium, recommit",
        "import recommit.envs, gymnasium",
        "import recommit, sys; import gymnasium.vector as _, gymnasium",
        "import recommit, importlib.util as u; u.find_spec('gymnasium'); import gymnasium",
    ],
)
def test_the_ids_exist(imports: str) -> None:
    python(f"{imports}; {MAKE}")


def test_without_importing_recommit_the_module_prefix_does_it() -> None:
    """Gymnasium 1.x loads no plugins by itself; this is its own way to say where an id comes from."""
    python("import gymnasium; gymnasium.make('recommit:recommit/Sliding-v0').reset(seed=0)")


def test_without_gymnasium_the_rest_works() -> None:
    hide = "import sys; sys.modules['gymnasium'] = None; import recommit; recommit.Sliding(3).generate(1)\n"
    said = python(hide + "try:\n    import recommit.envs\nexcept ImportError as error:\n    print(error)")
    assert "pip install '.[envs]'" in said
    absent = (
        "import sys, recommit; sys.path[:] = []\ntry:\n    import gymnasium\nexcept ImportError as error:\n   "
        " print(error)"
    )
    assert "No module named 'gymnasium'" in python(absent)
