"""The report of an evaluation: its sections in order, as one HTML file that needs nothing else.

    reading.Folder   the evaluation's files           ->  sections   verdict, results table
                                                          figures    matplotlib figures
    decisions/       every commitment that was made   ->  episodes   packed small, for the viewer in ``assets``

A section without content is left out; ``html`` escapes all text. The same evaluation gives the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from recommit.evaluate.seeds import Seeds
from recommit.report import by_distance, episodes, figures, html, sections
from recommit.report.html import Html, asset, document, joined, tag
from recommit.report.reading import Folder
from recommit.storage import errors, files, safe_open

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from recommit.report.figures import ReportFigure
    from recommit.report.options import ReportOptions


@dataclass(frozen=True)
class ReportPage:
    """A page, and the figures that are in it."""

    html: str
    figures: tuple[ReportFigure, ...]
    #: Number of instances whose episodes can be watched, and of all.
    watched: int
    of: int


class Section(NamedTuple):
    """Title of a section, how to read it, and its label in the line of links."""

    title: str
    how: str
    word: str = ""


#: In the order of the page, below the first screen.
SECTIONS = {
    "table": Section(
        "All agents",
        "Small figures are 95 % intervals over puzzles, about these very policies: another training seed may differ by "
        "more. Differences are paired, puzzle by puzzle, and bold where they are significant. The first agent "
        "dominates another if it solves as much with as few actions, and is better in one of the two; a yes alone has "
        "both intervals on its side.",
        "Agents",
    ),
    "seeds": Section(
        "All seeds",
        "Every seed's policy is compared with the agents of its own seed, on the same instances. In brackets: 95 % "
        "intervals.",
        "Seeds",
    ),
    "pareto": Section(
        "Success against actions",
        "Up and left is better; bars are 95 % intervals; an agent above and to the left of another dominates it.",
        "Pareto front",
    ),
    "depth": Section(
        "Depth and distance",
        "A policy that uses its depth well commits far where it is sure and little where it is not; the control takes "
        "the same depths whatever the state, so its bars are alike. Bars of fewer than ten decisions are pale.",
        "Depths",
    ),
    "made": Section(
        "How it was made", "The same command on the same run gives the same rows and the same page.", "Made"
    ),
}


def write(options: ReportOptions) -> ReportPage:
    """Write the page, and the figures if there is a folder for them; each file is replaced atomically."""
    if options.out.exists() and b"<html" not in safe_open.content(options.out)[:1000].lower():
        raise errors.WrongFolder(f"out: expected a new file or an HTML page, got {options.out}, which is neither")
    forms, folder = (".svg", ".pdf", ".png", ".csv"), options.figures
    others = folder is not None and folder.is_dir() and [e.name for e in folder.iterdir() if e.suffix not in forms]
    if others:
        raise errors.WrongFolder(f"figures: expected a new folder or one of figures, got {folder} with {min(others)}")
    try:
        report = make(Folder(options.eval), options.instances, options.seeds)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"eval: {options.eval} holds an evaluation that cannot be read: {error!r}") from None
    files.replace(files.Files(), options.out, report.html.encode())
    if folder is not None:
        figures.write_folder(report.figures, folder)
    return report


def make(folder: Folder, instances: int = 48, seeds: Sequence[Path] = ()) -> ReportPage:
    """The page, with episodes of up to ``instances`` instances; ``seeds`` are evaluations of other seeds."""
    drawn: list[ReportFigure] = []
    packed = episodes.pack(folder, instances) if instances else None
    front = shown(figures.pareto(folder, folder.widest, compared_only=True), drawn)
    first = sections.first_screen(folder, front, viewer(packed))
    parts: dict[str, list[Html]] = {
        "table": [sections.results(folder)],
        "seeds": _seeds(folder, seeds),
        "pareto": [grid([figures.pareto(folder, budget) for budget in folder.budgets], drawn)],
        "depth": _depths(folder, drawn),
        "made": [sections.made(folder)],
    }
    there = [name for name in SECTIONS if parts[name]]
    content = [first, *(section(name, SECTIONS[name], *parts[name]) for name in there)]
    links = [("result", "Result"), *((name, SECTIONS[name].word) for name in there)]
    text = document("recommit report", sections.title(folder), folder.task, content, packed, links)
    watched = len(packed["instances"]) if packed else 0
    return ReportPage(text, tuple(drawn), watched, int(folder.spec["instances"]))


def section(name: str, about: Section, *parts: object) -> Html:
    """Section with its title and the text on how to read it."""
    return tag("section", tag("h2", about.title), tag("p", about.how, class_="how"), *parts, id=name)


def shown(figure: ReportFigure, drawn: list[ReportFigure]) -> Html:
    """A figure with a link to its numbers as CSV. As an image it can run nothing, whatever the names in it."""
    drawn.append(figure)
    table = html.data_link("text/csv", figure.csv().encode())
    link = tag("a", "CSV", href=table, download=f"{figure.name}.csv", aria_label=f"{figure.title} as CSV")
    image = Html(f'<img src="{html.data_link("image/svg+xml", figure.svg)}" alt="{html.escaped(figure.title)}">')
    return tag("figure", tag("figcaption", figure.title, tag("span", link, class_="files")), image)


def grid(every: list[ReportFigure], drawn: list[ReportFigure]) -> Html:
    """Figures side by side."""
    return tag("div", *(shown(figure, drawn) for figure in every), class_="grid")


def viewer(packed: dict[str, Any] | None) -> Html:
    """The episode viewer, or a note that there are no episodes to watch."""
    if packed is None:
        return tag("p", "There are no episodes to watch.", class_="missing")
    many = (
        f"{len(packed['instances'])} of {packed['of']:,} puzzles, of every kind, with the {packed['budget']} budget. "
        "Agents that sample their depths are shown with one seed."
    )
    return joined(Html(asset("viewer.html")), tag("p", many, class_="quiet"))


def _seeds(folder: Folder, others: Sequence[Path]) -> list[Html]:
    if not others:
        return []
    every = Seeds([folder.path, *others])
    note = tag("p", f"{len(every.names)} evaluations of the same instances. {every.caption}", class_="quiet")
    grids = (Html(grid.html(f"{budget.capitalize()} budget")) for budget, grid in every.grids().items())
    return [note, *grids, *(tag("p", line, class_="missing") for line in every.missing)]


def _depths(folder: Folder, drawn: list[ReportFigure]) -> list[Html]:
    counts = by_distance.depth_counts(folder)
    if not counts:
        return []
    dead = ", ".join(f"{one.agent.words} {one.dead}" for one in counts if one.dead)
    text = f"Under the {folder.widest} budget." + (f" Left out, in unsolvable states: {dead}." if dead else "")
    return [tag("p", text, class_="quiet"), shown(figures.depth_histogram(counts), drawn)]
