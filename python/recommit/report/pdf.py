"""Figures as files for a paper; as PDF the same drawing, fonts inside, the same bytes every time. Needs matplotlib."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from functools import cache
from typing import TYPE_CHECKING, Any

from recommit.report import axes
from recommit.storage import files

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from recommit.report.axes import Figure

#: What a child takes from its parent.
_INHERITED = ("color", "fill", "stroke", "stroke-width", "stroke-dasharray", "font-weight")
_START = {"color": "#1f2430", "fill": "#000", "stroke": "none", "stroke-width": "1", "font-size": "11.5px"}
_SIZE = 11.5
#: Nothing that changes from day to day or from machine to machine.
_METADATA = {"Creator": "recommit", "Producer": None, "CreationDate": None}


def pdf(figure: Figure) -> bytes:
    """The file."""
    out = io.BytesIO()
    with settings():
        page(figure).savefig(out, format="pdf", metadata={**_METADATA, "Title": figure.title})
    return out.getvalue()


def write_folder(figures: Iterable[Figure], folder: Path) -> None:
    """Make a folder of figures, each as SVG, PDF and CSV."""
    files.make_folders(files.Files(), folder.absolute())
    for figure in figures:
        name = re.sub(r"[/\\\0]", "_", figure.name)  # a budget of somebody's evaluation is in it
        forms = {"svg": figure.alone().encode(), "pdf": pdf(figure), "csv": figure.csv().encode()}
        for ending, content in forms.items():
            files.replace(files.Files(), folder / f"{name}.{ending}", content)


def settings() -> Any:
    """Settings of matplotlib while a page is made and written: fonts as outlines that scale, lengths of dashes as they
    are given."""
    import matplotlib

    return matplotlib.rc_context({"pdf.fonttype": 42, "font.family": "DejaVu Sans", "lines.scale_dashes": False})


def page(figure: Figure) -> Any:
    """The drawing as one of matplotlib; a point for a unit."""
    from matplotlib.figure import Figure as Page

    sheet = Page(figsize=(axes.WIDTH / 72, axes.HEIGHT / 72))
    plot = sheet.add_axes((0, 0, 1, 1), xlim=(0, axes.WIDTH), ylim=(axes.HEIGHT, 0))
    plot.axis("off")
    for place, (artist, is_text) in enumerate(_drawn(ET.fromstring(figure.svg), [], _START, 1.0)):
        artist.set_zorder(place)
        (plot.add_artist if is_text else plot.add_patch)(artist)
    return sheet


def _drawn(
    element: ET.Element, above: list[ET.Element], style: dict[str, str], opacity: float
) -> list[tuple[Any, bool]]:
    """Every shape and every text below an element, in order."""
    chain = [*above, element]
    own = _style(chain)
    style = {**{k: v for k, v in style.items() if k in _INHERITED}, **own}
    opacity *= float(own.get("opacity", 1))
    kind = _kind(element)
    if kind == "text":
        return [(_text(element, style, opacity), True)]
    if kind in _SHAPES:
        return [(_shape(kind, element, style, opacity), False)]
    if kind == "title":
        return []
    if kind not in ("svg", "g"):
        raise ValueError(f"figure: expected what report/figures.py draws, got an element {kind}")
    return [one for child in element for one in _drawn(child, chain, style, opacity)]


def _kind(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def _numbers(element: ET.Element, *names: str) -> list[float]:
    return [float(element.get(name, 0)) for name in names]


def _points(element: ET.Element) -> list[tuple[float, float]]:
    pairs = (pair.split(",") for pair in element.get("points", "").split())
    return [(float(x), float(y)) for x, y in pairs]


def _line(element: ET.Element, closed: bool) -> Any:
    from matplotlib.path import Path

    x1, y1, x2, y2 = _numbers(element, "x1", "y1", "x2", "y2")
    points = _points(element) if element.get("points") is not None else [(x1, y1), (x2, y2)]
    return Path([*points, points[0]] if closed else points, closed=closed)


def _circle(element: ET.Element) -> Any:
    from matplotlib.path import Path

    x, y, r = _numbers(element, "cx", "cy", "r")
    return Path.circle((x, y), r)


def _rectangle(element: ET.Element) -> Any:
    from matplotlib.path import Path

    x, y, width, height = _numbers(element, "x", "y", "width", "height")
    return Path([(x, y), (x + width, y), (x + width, y + height), (x, y + height), (x, y)], closed=True)


_SHAPES = {
    "line": lambda element: _line(element, closed=False),
    "polyline": lambda element: _line(element, closed=False),
    "polygon": lambda element: _line(element, closed=True),
    "circle": _circle,
    "rect": _rectangle,
}


def _shape(kind: str, element: ET.Element, style: dict[str, str], opacity: float) -> Any:
    from matplotlib.patches import PathPatch

    dashes = [float(n) for n in style.get("stroke-dasharray", "").split()]
    return PathPatch(
        _SHAPES[kind](element),
        facecolor="none" if kind == "line" else _colour(style["fill"], style),
        edgecolor=_colour(style["stroke"], style),
        linewidth=float(style["stroke-width"].removesuffix("px")),
        linestyle=(0, dashes) if dashes else "solid",
        alpha=opacity,
        capstyle="butt",
        joinstyle="round",
    )


def _text(element: ET.Element, style: dict[str, str], opacity: float) -> Any:
    from matplotlib.patheffects import withStroke
    from matplotlib.text import Text

    x, y = _numbers(element, "x", "y")
    anchor = {"middle": "center", "end": "right"}.get(element.get("text-anchor", ""), "left")
    turned = re.match(r"rotate\((-?\d+)", element.get("transform", ""))
    text = Text(
        x,
        y,
        "".join(element.itertext()),
        size=_SIZE,
        ha=anchor,
        va="baseline",
        color=_colour(style["fill"], style),
        weight="bold" if style.get("font-weight") == "700" else "normal",
        rotation=-int(turned[1]) if turned else 0,
        rotation_mode="anchor",
        alpha=opacity,
        parse_math=False,
    )
    if style["stroke"] != "none":
        width = float(style["stroke-width"].removesuffix("px"))
        text.set_path_effects([withStroke(linewidth=width, foreground=_colour(style["stroke"], style))])
    return text


def _colour(value: str, style: dict[str, str]) -> str:
    """A value of the style sheet; variables have the colours of the light page."""
    value = re.sub(r"var\(--[\w-]+, ([^)]+)\)", r"\1", value)
    return _colour(style["color"], style) if value == "currentColor" else value


@cache
def _rules() -> list[tuple[tuple[int, int], list[tuple[str, frozenset[str]]], dict[str, str]]]:
    """Read the rules of ``figure.css``: weight and place, the chain of elements, what is set; the strongest last."""
    rules = []
    for place, (names, body) in enumerate(re.findall(r"([^{}]+)\{([^{}]*)\}", axes.asset("figure.css"))):
        settings = {k.strip(): v.strip() for k, _, v in (line.partition(":") for line in body.split(";")) if k.strip()}
        for name in names.split(","):
            chain = [(part.split(".")[0], frozenset(part.split(".")[1:])) for part in name.split()]
            weight = sum(100 * len(classes) + bool(kind) for kind, classes in chain)
            rules.append(((weight, place), chain, settings))
    return sorted(rules, key=lambda rule: rule[0])


def _style(chain: list[ET.Element]) -> dict[str, str]:
    """What the style sheet sets for the last element of a chain."""
    style: dict[str, str] = {}
    for _, wanted, settings in _rules():
        if _fits(chain[-1], wanted[-1]) and _inside(chain[:-1], wanted[:-1]):
            style.update(settings)
    return style


def _fits(element: ET.Element, wanted: tuple[str, frozenset[str]]) -> bool:
    kind, classes = wanted
    return kind in ("", _kind(element)) and classes <= set(element.get("class", "").split())


def _inside(above: list[ET.Element], wanted: list[tuple[str, frozenset[str]]]) -> bool:
    """Do the elements above hold what is wanted, in this order?"""
    rest = list(wanted)
    for element in reversed(above):
        if rest and _fits(element, rest[-1]):
            rest.pop()
    return not rest
