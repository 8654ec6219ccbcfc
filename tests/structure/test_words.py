"""One word per thing: what a name of the package may be, and that each of these checks notices what it is for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.structure import words

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "recommit"
#: Programs beside the package, which share no classes and have no public names.
BESIDE = (ROOT / "bench", ROOT / "docs")
CHECKS = {
    "classes": words.shared_class_names,
    "empty": words.empty_names,
    "docstrings": words.docstrings_of_nothing,
    "reserved": words.reserved_words,
}
#: Top folders and modules that have yet to be gone through; whoever has taken a line away keeps it away.
TO_DO: set[str] = set()
#: Names that are fixed, in the public interface or in another's.
FIXED: set[str] = set()


def findings(check: Callable[[dict[str, str]], list[words.Finding]]) -> list[str]:
    done = {name: text for name, text in words.sources(PACKAGE).items() if name.split("/")[0] not in TO_DO}
    return [str(each) for each in check(done) if str(each).split(": ")[1] not in FIXED]


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_each_word_means_one_thing(check: Callable[[dict[str, str]], list[words.Finding]]) -> None:
    assert findings(check) == []


@pytest.mark.parametrize("folder", BESIDE, ids=lambda folder: folder.name)
@pytest.mark.parametrize("check", ["empty", "docstrings"])
def test_programs_beside_the_package_say_what_they_hold(check: str, folder: Path) -> None:
    assert [str(each) for each in CHECKS[check](words.sources(folder))] == []


@pytest.mark.parametrize(
    ("check", "text"),
    [
        ("classes", "class Rows:\n    pass\ndef f():\n    class Rows:\n        pass"),
        ("empty", "def f():\n    found = 1\n    return found"),
        ("empty", "def f(given): ..."),
        ("empty", "class A:\n    def __init__(self):\n        self._told = 1"),
        ("empty", "def asked(): ..."),
        ("empty", "x = [made for made in range(3)]"),
        ("docstrings", 'def f():\n    """Of all ranks."""'),
        ("reserved", "def f(plan: EvaluationConfig) -> None: ..."),
        ("reserved", "class A:\n    budget: Gigabytes"),
        ("reserved", "def f(depths: NDArray[np.float64]) -> None: ..."),
        ("reserved", "class A:\n    def f(self, *, recipe: Recipe) -> None: ..."),
    ],
)
def test_a_word_in_a_wrong_place_is_noticed(check: str, text: str) -> None:
    assert CHECKS[check]({"planted.py": text})


@pytest.mark.parametrize(
    ("check", "text"),
    [
        ("classes", "class Rows:\n    pass"),
        ("empty", "def f(known_rooms): ..."),
        ("docstrings", 'def f():\n    """Often called."""'),
        ("reserved", "def f(plans: NDArray[np.uint8], depths: tuple[int, ...], recipe: str | Path) -> None: ..."),
        ("reserved", "def _f(plan: EvaluationConfig) -> None: ..."),
    ],
)
def test_a_word_in_its_place_is_not(check: str, text: str) -> None:
    assert not CHECKS[check]({"planted.py": text})


def test_the_folders_to_do_are_there() -> None:
    assert {name for name in TO_DO if not (PACKAGE / name).exists()} == set()
