"""Runs the notebooks from top to bottom, and stores what each cell shows beside it.

python docs/figures/notebooks.py                      # all
python docs/figures/notebooks.py first-steps
"""

from __future__ import annotations

import argparse
import ast
import base64
import contextlib
import io
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
DPI = 80
#: What a library logs when it is first imported in a process: whether it is here depends on what ran before.
LOGGED = re.compile(r"^\[\d{4}-\d\d-\d\d [^\]]*\] \[[A-Z]+\] .*\n", re.MULTILINE)


class Shown:
    """What one cell has shown, as a notebook stores it."""

    def __init__(self) -> None:
        self.outputs: list[dict[str, Any]] = []
        self._text = io.StringIO()

    def text(self) -> None:
        """What was printed since the last figure."""
        if text := LOGGED.sub("", self._text.getvalue()):
            self.outputs.append({"name": "stdout", "output_type": "stream", "text": lines(text)})
        self._text.seek(0)
        self._text.truncate()

    def figure(self) -> None:
        """Every open figure."""
        self.text()
        for number in plt.get_fignums():
            content = io.BytesIO()
            options = {"format": "png", "dpi": DPI, "bbox_inches": "tight", "metadata": {"Software": None}}
            plt.figure(number).savefig(content, **options)  # whatever format the backend likes best
            image = base64.b64encode(content.getvalue()).decode()
            self.outputs.append({"data": {"image/png": image}, "metadata": {}, "output_type": "display_data"})
        plt.close("all")

    def value(self, value: object, number: int) -> None:
        """That of the last line."""
        self.text()
        if value is not None:
            data = {"text/plain": lines(repr(value))}
            self.outputs.append(
                {"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"}
            )

    def run(self, source: str, where: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
        """The cell, with the names of those before it."""
        tree = ast.parse(source)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        show, plt.show = plt.show, lambda: self.figure()
        try:
            with contextlib.redirect_stdout(self._text):
                exec(compile(tree, where, "exec"), names)  # noqa: S102  (our own documents)
                value = None if last is None else eval(compile(ast.Expression(last.value), where, "eval"), names)
        finally:
            plt.show = show
        self.value(value, number)
        return self.outputs


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def executed(book: dict[str, Any], name: str) -> dict[str, Any]:
    """The notebook with the outputs of a run in the folder at hand."""
    names: dict[str, Any] = {"__name__": "__main__"}
    number = 0
    cells = []
    for place, cell in enumerate(book["cells"]):
        if cell["cell_type"] == "code":
            number += 1
            outputs = Shown().run("".join(cell["source"]), f"{name}[{place}]", names, number)
            cell = {**cell, "execution_count": number, "outputs": outputs}
        cells.append(cell)
    return {**book, "cells": cells}


def main() -> None:
    plt.switch_backend("Agg")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=["first-steps", "policy", "rules"])
    for name in parser.parse_args().names:
        path = NOTEBOOKS / f"{name}.ipynb"
        book = json.loads(path.read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as folder:
            here = Path.cwd()
            os.chdir(folder)
            try:
                book = executed(book, name)
            finally:
                os.chdir(here)
        path.write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
