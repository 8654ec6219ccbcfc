"""The first screen of a page: the verdict, what the depth rule is worth, the front, and two agents on one puzzle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recommit.report.embed import Html, joined, tag
from recommit.report.screen import gain, verdict

if TYPE_CHECKING:
    from recommit.report.reading import Folder

#: What a mark is, by the part of its agent.
ROLES = {
    "first": "",
    "fixed": "fixed depths, joined",
    "control": "depths that ignore the state",
    "other": "other rules",
    "ceiling": "perfect depths: no policy can do better",
    "knowing": "knows the exact distance, as no policy does",
}


def screen(folder: Folder, front: Html, viewer: Html) -> Html:
    """The section; its heading is the verdict."""
    budget = folder.widest
    worth = gain.worth(folder, budget)
    return tag(
        "section",
        tag("h2", verdict.sentence(folder, budget)),
        tag("p", verdict.where(folder, budget), class_="how"),
        worth or "",
        tag("div", front, *_other_budgets(folder), class_="front"),
        tag("div", viewer, class_="watch", id="episodes"),
        id="result",
        class_="screen" if worth else "screen plain",
    )


def _other_budgets(folder: Folder) -> list[Html]:
    """The verdict under each of the others, and what the depth rule is worth there."""
    sentences = []
    for budget, looks in folder.budgets.items():
        if budget == folder.widest:
            continue
        row = folder.row(folder.first, budget)
        share = "" if row.get("gain") is None else f" Gain share {gain.in_words(row)}."
        sentences.append(
            tag("p", tag("b", f"At most {looks} looks: "), verdict.sentence(folder, budget), share, class_="also")
        )
    return sentences


def legend(folder: Folder, roles: set[str]) -> Html:
    """What the marks of these parts are."""
    words = ROLES | {"first": folder.first.words}
    keys = [
        tag("li", tag("span", class_=f"swatch {role}", aria_hidden="true"), words[role])
        for role in ROLES
        if role in roles
    ]
    line = tag("li", tag("span", class_="swatch line", aria_hidden="true"), "the front: nobody solves more with less")
    return tag("ul", *keys, line, class_="legend")


def beside(*parts: Html) -> Html:
    """A legend and its figures, which no page break parts."""
    return tag("div", joined(*parts), class_="together")
