"""Runs a notebook from top to bottom and stores what it prints and draws in it (needs matplotlib).

python docs/figures/notebook.py docs/notebooks/rules.ipynb
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("agg")
import matplotlib.pyplot as plt


def run_cell(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """The outputs of a cell: what it printed, and a picture per figure that it showed."""
    printed, pictures = io.StringIO(), list[str]()

    def show() -> None:
        drawn = io.BytesIO()
        plt.gcf().savefig(drawn, format="png", dpi=70, bbox_inches="tight", metadata={"Software": None})
        pictures.append(base64.b64encode(drawn.getvalue()).decode())
        plt.close("all")

    plt.show = show
    with contextlib.redirect_stdout(printed):
        exec(source, names)  # noqa: S102  (our own documents)
    text = printed.getvalue().splitlines(keepends=True)
    outputs: list[dict[str, Any]] = [{"output_type": "stream", "name": "stdout", "text": text}] if text else []
    return outputs + [
        {"output_type": "display_data", "data": {"image/png": picture}, "metadata": {}} for picture in pictures
    ]


def main(path: Path) -> int:
    book = json.loads(path.read_text(encoding="utf-8"))
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = run_cell("".join(cell["source"]), names)
    path.write_text(json.dumps(book, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
