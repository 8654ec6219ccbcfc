"""The page about an evaluation: its sections in order, as one file that needs nothing else.

    reading.Folder   what the evaluation left       ->  sections  words and tables
                                                        figures, depths, training  drawings (axes: frames; pdf: for
                                                        print)
    tables.json      the paper's tables beside ours ->  published
    decisions/       every commitment that was made ->  episodes  packed small, for the viewer in ``assets``

Each section is a function that returns its parts, none where there is nothing to show; ``embed`` escapes all text. The
same evaluation gives the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from importlib import resources
from string import Template
from typing import TYPE_CHECKING, Any, NamedTuple

from recommit.paper import seeds as across
from recommit.report import axes, depths, embed, episodes, failures, figures, published, sections, training
from recommit.report.commitments import regret
from recommit.report.embed import Html, joined, tag
from recommit.report.reading import Folder
from recommit.storage import files

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from recommit.report.axes import Figure


@dataclass(frozen=True)
class ReportPage:
    """A page, and the figures that are in it."""

    html: str
    figures: tuple[Figure, ...]
    #: Instances that can be watched, of how many.
    watched: int
    of: int


class Section(NamedTuple):
    """What a section is called, and how it is read."""

    title: str
    how: str


#: In the order of the page.
SECTIONS = {
    "result": Section(
        "Result",
        "Each tile is one agent: the share of all instances that it solves, and the actions that it spends on the mean "
        "episode, solved or not.",
    ),
    "seeds": Section(
        "All seeds",
        "Every seed's policy is compared with the agents of its own seed, on the same instances; intervals are over "
        "instances (over rooms, where the data keeps rooms apart), of the mean over seeds.",
    ),
    "pareto": Section(
        "Solved against actions",
        "Up is better and left is better; bars are 95 % intervals; an agent above and to the left of another dominates "
        "it.",
    ),
    "table": Section(
        "All agents",
        "Intervals are 95 %; the right half compares the first agent with each other one on the same instances, so "
        "that its intervals are narrower than the difference of two rows.",
    ),
    "paper": Section(
        "Beside the paper",
        "What the paper prints, what was measured here, and the difference; a dash stands where there is no number.",
    ),
    "depth": Section(
        "Depth and distance",
        "A policy that uses its depth well commits far where it is sure and little where it is not; the control takes "
        "the same depths whatever the state, so it is flat.",
    ),
    "regret": Section(
        "Where regret falls",
        "Every commitment gives away what the best depth there would have been worth more, under the same plans; "
        "columns add it up by how far the goal was, colours say why.",
    ),
    "curves": Section(
        "Solved over budgets",
        "Every line is read at a budget K: what the agent has solved, or spent, by then.",
    ),
    "training": Section(
        "Training",
        "Pale lines are single steps, bold ones the mean of the last five; dots are validations.",
    ),
    "episodes": Section(
        "Episodes",
        "Two agents on the same instance, one commitment at a time: each looks, chooses a depth, and executes that "
        "many actions without looking.",
    ),
    "failures": Section(
        "What failed",
        "Instances are counted under the largest budget; of agents that draw, the mean of their seeds counts.",
    ),
    "made": Section(
        "How it was made",
        "The same commands on the same run give the same rows, and these the same page.",
    ),
}


#: Where regrets are missing.
HOW_TO_KEEP = "The same recommit evaluate with --regret adds them, while the run is there."


def make(folder: Folder, instances: int = 48, seeds: Sequence[Path] = ()) -> ReportPage:
    """Everything, with episodes of up to ``instances`` instances; ``seeds`` are evaluations of other seeds."""
    drawn: list[Figure] = []
    packed = episodes.pack(folder, instances) if instances else None
    watched = {one["n"] for one in packed["instances"]} if packed else set()
    parts: dict[str, list[Html]] = {
        "result": [sections.heading(folder), sections.headline(folder)],
        "seeds": _seeds(folder, seeds),
        "pareto": _pareto(folder, drawn),
        "table": _tables(folder),
        "paper": _published(folder),
        "depth": _depths(folder, drawn),
        "regret": _regret(folder, drawn),
        "curves": _curves(folder, drawn),
        "training": _training(folder, drawn),
        "episodes": [_viewer(packed, instances)],
        "failures": [failures.failures(folder, watched), sections.limits(folder)],
        "made": [sections.commands(folder, instances), sections.versions(folder)],
    }
    content = [section(name, SECTIONS[name], *parts[name]) for name in SECTIONS if parts[name]]
    title = f"{folder.first.label} on {folder.task}"
    html = document("recommit report", title, folder.task, content, packed)
    return ReportPage(html, tuple(drawn), len(watched), int(folder.spec["instances"]))


def document(kind: str, title: str, task: str, content: list[Html], packed: dict[str, Any] | None) -> str:
    """The page around its sections, of the ``kind`` of a command; ``packed`` are episodes to watch."""
    script = rules(task) + "".join(axes.asset(f"{name}.js") for name in ("draw", "viewer", "report"))
    first = re.match(r'<section id="(\w+)">', content[0])
    return Template(axes.asset("page.html")).substitute(
        kind=embed.escaped(kind),
        title=embed.escaped(title),
        first=first[1] if first else "",
        sections=_links(content),
        contents=joined(*content),
        styles=axes.asset("report.css") + axes.asset("figure.css"),
        script=script,
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        packed=embed.json_script("packed", packed),
    )


def write(evaluation: Path, out: Path, instances: int = 48, seeds: Sequence[Path] = ()) -> ReportPage:
    """Make the page as a file, which is replaced whole or not at all."""
    report = make(Folder(evaluation), instances, seeds)
    files.make_folders(files.Files(), out.absolute().parent)
    files.replace(files.Files(), out, report.html.encode())
    return report


def rules(task: str) -> str:
    """How a page plays and draws the puzzle; of one that has no file in ``assets/puzzles`` no board is shown."""
    own = resources.files("recommit.report") / "assets" / "puzzles" / f"{task}.js"
    return axes.asset("puzzles.js") + (own.read_text(encoding="utf-8") if own.is_file() else "")


def section(name: str, about: Section, *parts: object) -> Html:
    """Under its title, and how it is read."""
    return tag("section", tag("h2", about.title), tag("p", about.how, class_="how"), *parts, id=name)


def _links(content: list[Html]) -> Html:
    """To every section that is there."""
    heads = [re.match(r'<section id="(\w+)"><h2>([^<]*)</h2>', section) for section in content]
    return joined(*(tag("li", tag("a", Html(m[2]), href=f"#{m[1]}")) for m in heads if m))


def _missing(what: str) -> Html:
    return tag("p", what, class_="missing")


def shown(figure: Figure, drawn: list[Figure]) -> Html:
    """A figure with its two files beside it."""
    drawn.append(figure)
    files = (
        ("SVG", "svg", embed.data_link("image/svg+xml", figure.alone())),
        ("CSV", "csv", embed.data_link("text/csv", figure.csv())),
    )
    links = [
        tag("a", word, href=link, download=f"{figure.name}.{ending}", aria_label=f"{figure.title} as {word}")
        for word, ending, link in files
    ]
    return tag("figure", tag("figcaption", figure.title, tag("span", *links, class_="files")), figure.svg)


def grid(figures_: list[Figure], drawn: list[Figure]) -> Html:
    """Side by side."""
    return tag("div", *(shown(figure, drawn) for figure in figures_), class_="grid")


def _pareto(folder: Folder, drawn: list[Figure]) -> list[Html]:
    planes = [figure for budget in folder.budgets for figure in figures.pareto(folder, budget)]
    roles = {
        "first": folder.first.label,
        "fixed": "fixed depths, joined",
        "control": "depths drawn whatever the state",
        "ceiling": "exact ceiling",
        "other": "others",
    }
    here = [role for role in roles if any(a.role == role for a in folder.agents)]
    keys = [tag("li", tag("span", class_=f"swatch {role}", aria_hidden="true"), roles[role]) for role in here]
    parts = [tag("ul", *keys, class_="legend")]
    if any("point paper" in figure.svg for figure in planes):
        box = tag("label", Html('<input type="checkbox" id="show-paper">'), " show the numbers that the paper prints")
        note = "The paper's are of another model on other instances; they stand here for orientation."
        parts.append(tag("p", box, ". ", note, class_="quiet"))
    return [*parts, grid(planes, drawn)]


def _seeds(folder: Folder, others: Sequence[Path]) -> list[Html]:
    if not others:
        return []
    note = f"{1 + len(others)} evaluations of the same instances."
    every = [folder.path, *others]
    lacks = [_missing(line) for line in across.missing(every)]
    return [tag("p", note, class_="quiet"), published.seeds(across.grids(every)), *lacks]


def _published(folder: Folder) -> list[Html]:
    tables = published.tables(folder)
    return [] if tables is None else [tables]


def _tables(folder: Folder) -> list[Html]:
    parts = [sections.main_tables(folder), *map(_missing, sections.missing_columns(folder))]
    if folder.comparisons is None:
        parts.append(_missing("comparisons.json is not there, so there are no paired differences."))
    return parts


def _depths(folder: Folder, drawn: list[Figure]) -> list[Html]:
    counts_of = depths.tables(folder)
    if not counts_of:
        return [_missing("The folder decisions/ is not there, so depths cannot be shown.")]
    gone = [name for name in ("shuffled", "oracle-dp") if folder.agent(name) is None]
    pale = f"Under the {folder.widest} budget; columns of fewer than {depths.FEW} decisions are pale."
    note = pale + depths.dead_in_words(counts_of)
    parts = [tag("p", note, class_="quiet"), depths.legend(depths.used(counts_of))]
    parts += [_missing(f"{', '.join(gone)} {'was' if len(gone) == 1 else 'were'} not played.")] if gone else []
    return [*parts, grid([*(depths.shares(t) for t in counts_of), depths.means(counts_of)], drawn)]


def _regret(folder: Folder, drawn: list[Figure]) -> list[Html]:
    every = regret.of_agents(folder)
    if not every:
        return [_missing(f"This evaluation kept no regrets. {HOW_TO_KEEP}")]
    paid = sections.prices(folder)
    note = f"Exact, under the {folder.widest} budget{paid}; best are the best of the depths that the head has."
    parts = [tag("p", note, class_="quiet"), regret.legend(), regret.paragraphs(every)]
    return [*parts, grid(regret.figures(every), drawn)]


def _curves(folder: Folder, drawn: list[Figure]) -> list[Html]:
    if folder.curves is None:
        return [_missing("curves.json is not there, so only the budgets above can be shown.")]
    note = "Agents that know their budget are those of the largest one, cut short."
    if len(folder.agents) > figures.MANY:
        note += " Only agents of the evaluation's own policy are drawn; the others are in the table."
    return [tag("p", note, class_="quiet"), grid(figures.curves(folder), drawn)]


def _training(folder: Folder, drawn: list[Figure]) -> list[Html]:
    panels = training.panels(folder.training)
    if not panels:
        return [_missing("The run's folder is not there, or holds no steps, so its training cannot be shown.")]
    return [grid(panels, drawn)]


def _viewer(packed: dict[str, Any] | None, instances: int) -> Html:
    if packed is None:
        why = "none were asked for" if not instances else "the rows of decisions, episodes or instances are not there"
        return _missing(f"There are no episodes to watch: {why}.")
    count, budget = len(packed["instances"]), packed["budget"]
    note = (
        f"{count} of {packed['of']} instances can be watched: as many as there is room for of every kind, short and "
        f"long ones. Played under the {budget} budget; of agents that draw, the first of their seeds."
    )
    parts = [tag("p", note, class_="quiet")]
    if not any("r" in one for played in packed["played"] for one in played):
        parts.append(_missing(f"What single commitments cost, and the best depths, are not shown. {HOW_TO_KEEP}"))
    if not any(agent["drawn"] for agent in packed["agents"]):
        parts.append(_missing("This evaluation kept no actions, so that the boards stay at the start."))
    return joined(*parts, Html(axes.asset("viewer.html")))
