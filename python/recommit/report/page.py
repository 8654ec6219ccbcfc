"""The page about an evaluation: its sections in order, as one file that needs nothing else.

    reading.Folder   what the evaluation left       ->  screen    the verdict, the front, the first episode
                                                        agents    who was played: words, groups, tables, marks
                                                        sections  further words
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
from dataclasses import dataclass
from importlib import resources
from string import Template
from typing import TYPE_CHECKING, Any, NamedTuple

from recommit.evaluate import seeds as across
from recommit.report import axes, depths, embed, episodes, failures, figures, published, sections, training
from recommit.report.agents import marks, tables
from recommit.report.commitments import regret
from recommit.report.embed import Html, joined, tag
from recommit.report.reading import Folder
from recommit.report.screen import absent, first, verdict
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
    """What a section is called, how it is read, and its word in the line of links."""

    title: str
    how: str
    word: str = ""


#: In the order of the page, below the first screen.
SECTIONS = {
    "table": Section(
        "All agents",
        "Small figures are 95 % intervals. Differences are paired, puzzle by puzzle; those beyond chance (95 %) are "
        "bold. An agent is dominated where the first one solves as much with as few actions, and is better in one of "
        "the two.",
        "Agents",
    ),
    "seeds": Section(
        "All seeds",
        "Every seed's policy is compared with the agents of its own seed, on the same instances; intervals are over "
        "instances (over rooms, where the data keeps rooms apart), of the mean over seeds.",
        "Seeds",
    ),
    "pareto": Section(
        "All agents: solved against actions",
        "Up is better and left is better; bars are 95 % intervals; an agent above and to the left of another dominates "
        "it.",
        "Solved and actions",
    ),
    "depth": Section(
        "Depth and distance",
        "A policy that uses its depth well commits far where it is sure and little where it is not; the control takes "
        "the same depths whatever the state, so it is flat.",
        "Depths",
    ),
    "regret": Section(
        "Where regret falls",
        "Every commitment gives away what the best depth there would have been worth more, under the same plans; "
        "columns add it up by how far the goal was, colours say why.",
        "Regret",
    ),
    "curves": Section(
        "Solved over budgets",
        "Every line is read at a budget K: what the agent has solved, or spent, by then.",
        "Budgets",
    ),
    "training": Section(
        "Training",
        "Pale lines are single steps, bold ones the mean of the last five. A run of fewer than ten is drawn as it is. "
        "Dots are validations.",
        "Training",
    ),
    "failures": Section(
        "What failed",
        "Instances are counted under the largest budget; of agents that draw, the mean of their seeds counts.",
        "Failures",
    ),
    "paper": Section(
        "Beside the paper",
        "What the paper prints, what was measured here, and the difference. It is of another model on other levels.",
        "Paper",
    ),
    "made": Section(
        "How it was made",
        "The same commands on the same run give the same rows, and these the same page.",
        "Made",
    ),
}


def make(folder: Folder, instances: int = 48, seeds: Sequence[Path] = ()) -> ReportPage:
    """Everything, with episodes of up to ``instances`` instances; ``seeds`` are evaluations of other seeds."""
    drawn: list[Figure] = []
    packed = episodes.pack(folder, instances) if instances else None
    watched = {one["n"] for one in packed["instances"]} if packed else set()
    shown_first = first.screen(folder, _front(folder, drawn), viewer(packed))
    parts: dict[str, list[Html]] = {
        "table": [tables.tables(folder)],
        "seeds": _seeds(folder, seeds),
        "pareto": _pareto(folder, drawn),
        "depth": _depths(folder, drawn),
        "regret": _regret(folder, drawn),
        "curves": _curves(folder, drawn),
        "training": _training(folder, drawn),
        "failures": [failures.failures(folder, watched), sections.limits(folder)],
        "paper": _published(folder),
        "made": [
            sections.test_set(folder),
            sections.commands(folder, instances),
            sections.versions(folder),
            absent.folded(folder, packed, instances),
        ],
    }
    content = [section(name, SECTIONS[name], *parts[name]) for name in SECTIONS if parts[name]]
    links = [("result", "Result"), *((name, SECTIONS[name].word) for name in SECTIONS if parts[name])]
    html = document("recommit report", verdict.title(folder), folder.task, [shown_first, *content], packed, links)
    return ReportPage(html, tuple(drawn), len(watched), int(folder.spec["instances"]))


def document(
    kind: str,
    title: str,
    task: str,
    content: list[Html],
    packed: dict[str, Any] | None,
    links: Sequence[tuple[str, str]],
) -> str:
    """The page around its sections, of the ``kind`` of a command; ``packed`` are episodes to watch, ``links`` the
    sections' identities and words."""
    script = rules(task) + "".join(axes.asset(f"{name}.js") for name in ("draw", "viewer", "report"))
    return Template(axes.asset("page.html")).substitute(
        kind=embed.escaped(kind),
        title=embed.escaped(title),
        first=links[0][0],
        sections=joined(*(tag("li", tag("a", word, href=f"#{name}")) for name, word in links)),
        contents=joined(*content),
        styles="".join(axes.asset(f"{name}.css") for name in ("report", "screen", "viewer", "figure", "print")),
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


def _front(folder: Folder, drawn: list[Figure]) -> Html:
    figure = figures.front(folder, folder.widest)
    roles = {agent.role for agent in folder.agents if f"point {agent.role}" in figure.svg}
    return joined(shown(figure, drawn), first.legend(folder, roles))


def _pareto(folder: Folder, drawn: list[Figure]) -> list[Html]:
    planes = [figure for budget in folder.budgets for figure in figures.pareto(folder, budget)]
    parts = [first.beside(first.legend(folder, {agent.role for agent in folder.agents}), grid(planes, drawn))]
    if any("point paper" in figure.svg for figure in planes):
        box = tag("label", Html('<input type="checkbox" id="show-paper">'), " show the numbers that the paper prints")
        note = "The paper's are of another model on other instances; they stand here for orientation."
        parts.insert(0, tag("p", box, ". ", note, class_="quiet"))
    return parts


def _seeds(folder: Folder, others: Sequence[Path]) -> list[Html]:
    if not others:
        return []
    note = f"{1 + len(others)} evaluations of the same instances."
    every = [folder.path, *others]
    lacks = [tag("p", line, class_="missing") for line in across.missing(every)]
    return [tag("p", note, class_="quiet"), published.seeds(across.grids(every)), *lacks]


def _published(folder: Folder) -> list[Html]:
    papers = published.tables(folder)
    if papers is None:
        return []
    return [tag("details", tag("summary", "The paper's tables, with our figures"), papers, class_="paper")]


def _depths(folder: Folder, drawn: list[Figure]) -> list[Html]:
    counts_of = depths.tables(folder)
    if not counts_of:
        return []
    pale = f"Under the {folder.widest} budget; columns of fewer than {depths.FEW} decisions are pale."
    note = tag("p", pale + depths.dead_in_words(counts_of), class_="quiet")
    drawings = grid([*(depths.shares(t) for t in counts_of), depths.means(counts_of)], drawn)
    return [note, first.beside(depths.legend(depths.used(counts_of)), drawings)]


def _regret(folder: Folder, drawn: list[Figure]) -> list[Html]:
    every = regret.of_agents(folder)
    if not every:
        return []
    paid = sections.prices(folder)
    note = f"Exact, under the {folder.widest} budget{paid}; best are the best of the depths that the head has."
    parts = [tag("p", note, class_="quiet"), regret.paragraphs(every)]
    return [*parts, first.beside(regret.legend(), grid(regret.figures(every), drawn))]


def _curves(folder: Folder, drawn: list[Figure]) -> list[Html]:
    if folder.curves is None:
        return []
    note = "Agents that know their budget are those of the largest one, cut short."
    if len(folder.agents) > marks.MANY:
        note += " Only agents of the evaluation's own policy are drawn; the others are in the table."
    return [tag("p", note, class_="quiet"), grid(figures.curves(folder), drawn)]


def _training(folder: Folder, drawn: list[Figure]) -> list[Html]:
    panels = [*training.imitation(folder.warm_start), *training.panels(folder.training)]
    singles = training.in_words(folder.training)
    words = [tag("p", " ".join(["This run is too short for curves.", *singles]))] if singles else []
    return [*words, *([grid(panels, drawn)] if panels else [])]


def viewer(packed: dict[str, Any] | None) -> Html:
    """Where episodes are watched; nothing where there are none."""
    if packed is None:
        return tag("p", "There are no episodes to watch.", class_="missing")
    count = len(packed["instances"])
    many = (
        f"{count} of {packed['of']:,} puzzles, of every kind, with the {packed['budget']} budget. Agents that draw "
        "their depths are shown with one seed."
    )
    rule = tag("p", packed["rule"], class_="quiet rule") if packed.get("rule") else Html()
    return joined(rule, Html(axes.asset("viewer.html")), tag("p", many, class_="quiet"))
