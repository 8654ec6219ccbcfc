"""The notebooks are valid, hold no outputs or those of a run of today, and run from top to bottom."""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: Notebooks that hold what they print, which must be what they print now, and what they draw.
STORED = ("rules",)
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def read(path):
    """The notebook; anything that nbformat 4.5 does not allow, and anything left by a run, is an error. Of notebooks in
    ``STORED`` what was printed and drawn may be there."""
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
            assert path.stem in STORED or cell["outputs"] == []
            assert {name for each in cell["outputs"] for name in each} <= {
                "name",
                "text",
                "data",
                "metadata",
                "output_type",
            }
            assert cell["execution_count"] is None
            wanted |= {"outputs", "execution_count"}
        assert cell["cell_type"] in ("code", "markdown")
        assert set(cell) == wanted
    return book


def stored_text(cell):
    """What the notebook says that a cell printed; pictures must be pictures."""
    for each in cell["outputs"]:
        if each["output_type"] == "display_data":
            assert base64.b64decode(each["data"]["image/png"], validate=True).startswith(b"\x89PNG")
    return "".join(line for each in cell["outputs"] if each["output_type"] == "stream" for line in each["text"])


def run(path):
    """Every code cell, in one set of names; the value of its last line is shown, as a kernel would."""
    names = {"__name__": "__main__"}
    for number, cell in enumerate(read(path)["cells"]):
        if cell["cell_type"] == "code":
            tree = ast.parse("".join(cell["source"]))
            printed = io.StringIO()
            last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            where = f"{path.name}[{number}]"
            with contextlib.redirect_stdout(printed):
                exec(compile(tree, where, "exec"), names)  # noqa: S102  (our own documents)
                if last is not None:
                    repr(eval(compile(ast.Expression(last.value), where, "eval"), names))
            if path.stem in STORED:
                assert printed.getvalue() == stored_text(cell), f"{where}: python docs/figures/notebook.py {path}"
    return names


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path, monkeypatch):
    needed = [
        "matplotlib",
        "gymnasium",
        *({"policy": ["torch", "transformers", "pyarrow"], "rules": ["pyarrow"]}.get(path.stem, [])),
    ]
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


def test_there_are_three():
    assert [path.stem for path in NOTEBOOKS] == ["first-steps", "policy", "rules"]


def test_another_output_than_the_stored_one_is_noticed(tmp_path):
    """The planted defect: a notebook whose stored output is of another day."""
    book = read(NOTEBOOKS[-1])
    for cell in book["cells"]:
        for each in cell.get("outputs", []):
            if each["output_type"] == "stream":
                each["text"][0] = each["text"][0].replace("360 nodes", "361 nodes")
    path = tmp_path / "rules.ipynb"
    path.write_text(json.dumps(book))
    with pytest.raises(AssertionError, match=r"rules\.ipynb\[1\]: python docs/figures/notebook\.py"):
        run(path)


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
