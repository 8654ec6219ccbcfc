"""The notebooks are valid, hold no outputs, and run from top to bottom."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def read(path):
    """The notebook; anything that nbformat 4.5 does not allow, and anything left by a run, is an error."""
    book = json.loads(path.read_text(encoding="utf-8"))
    assert set(book) == {"cells", "metadata", "nbformat", "nbformat_minor"}
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    assert book["metadata"]["kernelspec"]["name"] == "python3"
    ids = [cell["id"] for cell in book["cells"]]
    assert len(set(ids)) == len(ids)
    for cell in book["cells"]:
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", cell["id"])
        assert all(isinstance(line, str) for line in cell["source"])
        wanted = {"cell_type", "id", "metadata", "source"}
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None
            wanted |= {"outputs", "execution_count"}
        assert cell["cell_type"] in ("code", "markdown")
        assert set(cell) == wanted
    return book


def run(path):
    """Every code cell, in one set of names; the value of its last line is shown, as a kernel would."""
    names = {"__name__": "__main__"}
    for number, cell in enumerate(read(path)["cells"]):
        if cell["cell_type"] == "code":
            tree = ast.parse("".join(cell["source"]))
            last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            where = f"{path.name}[{number}]"
            exec(compile(tree, where, "exec"), names)  # noqa: S102  (our own documents)
            if last is not None:
                repr(eval(compile(ast.Expression(last.value), where, "eval"), names))
    return names


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path, monkeypatch):
    needed = ["matplotlib", "gymnasium", *(["torch", "transformers", "pyarrow"] if path.stem == "policy" else [])]
    for module in needed:
        pytest.importorskip(module)
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    shown = []
    monkeypatch.setattr(plt, "show", lambda: (shown.append(plt.gcf().number), plt.close("all")))
    monkeypatch.chdir(tmp_path)
    run(path)
    assert len(shown) >= 3


def test_there_are_two():
    assert [path.stem for path in NOTEBOOKS] == ["first-steps", "policy"]


def test_a_broken_notebook_is_noticed(tmp_path):
    book = read(NOTEBOOKS[0])
    book["cells"][1]["source"] = ["1 / 0\n"]
    path = tmp_path / "broken.ipynb"
    path.write_text(json.dumps(book))
    with pytest.raises(ZeroDivisionError):
        run(path)
    del book["cells"][0]["id"]
    path.write_text(json.dumps(book))
    with pytest.raises(KeyError):
        read(path)
