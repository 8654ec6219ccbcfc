"""The style of all matplotlib figures, and files of them that are the same bytes every time.

Global state of the process stays as it is: no backend is chosen, and settings hold within ``style`` alone.
"""

from __future__ import annotations

import io
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.text import Text

from recommit.storage.files import replacing
from recommit.storage.terminal_text import plain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

INK, SOFT, RULE = "#1f2430", "#5b6373", "#e3e1da"
#: Colours by the role of an agent.
COLOURS = {
    "first": "#1f5fb0",
    "fixed": "#c2570c",
    "control": "#a8447f",
    "oracle": "#0a7a5c",
    "privileged": "#0a7a5c",
    "other": SOFT,
}
#: Colours of depths 1 to 16.
DEPTHS = (
    *("#f5c451", "#b9c96a", "#82c28d", "#4aa9a6", "#3b93b3", "#3576b3", "#32579f", "#2c3a7e"),
    *("#4b3a86", "#63398b", "#7a398c", "#8f3a88", "#a23d7f", "#b24373", "#c04b66", "#cb5558"),
)
_STYLE = {
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelcolor": SOFT,
    "axes.edgecolor": SOFT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": RULE,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "text.color": INK,
    "text.parse_math": False,  # a name with dollars is a name
    "legend.frameon": False,
    "legend.fontsize": 8,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "savefig.dpi": 160,
    "svg.hashsalt": "recommit",
    "pdf.fonttype": 42,
}
#: Metadata without dates, versions or machines, so that files are reproducible.
_METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": "recommit"},
    "pdf": {"CreationDate": None, "Producer": None, "Creator": "recommit"},
    "png": {"Software": None},
}


@contextmanager
def style(**settings: Any) -> Iterator[None]:
    """Use matplotlib's defaults with our style and ``settings``; restores the user's settings afterwards."""
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*[Gg]lyph.*missing from.*")  # names may hold any character
        mpl.rcdefaults()
        mpl.rcParams.update({**_STYLE, **settings})
        yield


def figure(width: float, height: float) -> Figure:
    """An empty figure, in inches, with constrained layout; outside pyplot, so that nothing has to close it."""
    return Figure(figsize=(width, height), layout="constrained")


def content(drawn: Figure, form: str) -> bytes:
    """The figure as svg, pdf or png. Call it within the ``style`` that the figure was drawn in. XML has no place for
    control characters."""
    for text in drawn.findobj(Text):
        text.set_text(plain(text.get_text()))
    out = io.BytesIO()
    drawn.savefig(out, format=form, metadata=_METADATA[form])
    return out.getvalue()


def save(drawn: Figure, *paths: Path) -> None:
    """Write a figure in the formats of the file names' suffixes; each file is replaced atomically."""
    for path in paths:
        with replacing(path) as file:
            file.write(content(drawn, path.suffix.removeprefix(".")))
