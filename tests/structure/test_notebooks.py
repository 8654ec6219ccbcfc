"""The notebooks are valid, run from top to bottom, and show what is stored in them."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
#: What a run of the training prints and draws depends on the processor; its kinds do not.
TRAINED = {"policy"}


def read(path):
    """The notebook; a cell that has not been run is an error."""
    book = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    return book


def runner():
    spec = importlib.util.spec_from_file_location("notebooks", ROOT / "docs" / "figures" / "notebooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def outputs(book, *, whole):
    """What its code cells show: the kinds, and the text of it."""
    shown = [cell["outputs"] for cell in book["cells"] if cell["cell_type"] == "code"]
    kinds = [[output["output_type"] for output in each] for each in shown]
    texts = [output.get("text") or output["data"].get("text/plain") for each in shown for output in each]
    return (kinds, texts) if whole else kinds


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.nightly] * (path.stem in TRAINED)) for path in NOTEBOOKS],
    ids=lambda path: path.stem,
)
def test_a_notebook_shows_what_is_stored_in_it(path, tmp_path, monkeypatch):
    more = {"policy": ["torch", "transformers", "pyarrow"], "rules": ["pyarrow"]}
    needed = ["matplotlib", "gymnasium", *more.get(path.stem, [])]
    for module in needed:
        pytest.importorskip(module)
    import matplotlib.pyplot as plt

    plt.close("all")  # what another test has left open is no output of this notebook
    monkeypatch.chdir(tmp_path)
    book, whole = read(path), path.stem not in TRAINED
    again = runner().executed(book, path.stem)
    assert outputs(again, whole=whole) == outputs(book, whole=whole)
    drawn = [output for cell in book["cells"] for output in cell.get("outputs", ()) if "data" in output]
    assert sum("image/png" in output["data"] for output in drawn) >= 3


def test_a_broken_notebook_is_noticed(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    book = {"cells": [{"cell_type": "code", "source": ["print(1)\n", "1 / 0\n"], "outputs": []}]}
    with pytest.raises(ZeroDivisionError):
        runner().executed(book, "broken")
    book["cells"][0]["source"] = ["print(1)\n", "2"]
    shown = runner().executed(book, "whole")
    assert outputs(shown, whole=True) == ([["stream", "execute_result"]], [["1\n"], ["2"]])
    assert outputs(shown, whole=True) != outputs(book, whole=True)
    whole = read(NOTEBOOKS[0])
    next(cell for cell in whole["cells"] if cell["cell_type"] == "code")["execution_count"] = None
    (tmp_path / "broken.ipynb").write_text(json.dumps(whole))
    with pytest.raises(AssertionError):
        read(tmp_path / "broken.ipynb")
