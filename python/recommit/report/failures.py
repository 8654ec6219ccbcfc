"""Who fails at what others solve, and the instances that nobody solves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recommit.report.agents.agent import KNOWING
from recommit.report.embed import Html, joined, tag
from recommit.report.sections import number, percent, table

if TYPE_CHECKING:
    from recommit.report.reading import Folder

#: Rows of the list of instances that nobody solves.
LISTED = 12


def failures(folder: Folder, watched: set[int]) -> Html:
    """Who solves what nobody should fail at, and what nobody solves."""
    if folder.outcomes is None:
        return tag(
            "p", "episodes.parquet is not there, so nothing can be said about single instances.", class_="missing"
        )
    budget = folder.widest
    outcomes = {a: folder.outcomes[a.name, budget] for a in folder.agents}
    own = outcomes[folder.first]
    policies = [a for a in folder.agents if a.base not in KNOWING]
    knowing = [a for a in folder.agents if a.base in KNOWING]
    none = np.all([outcomes[a]["solved"] == 0 for a in policies], axis=0)
    failed = own["solved"] < 0.5
    count = len(failed)
    text = (
        f"Under the {budget} budget {folder.first.words} leaves {int(failed.sum())} of {count} instances unsolved; "
        f"{int((failed & ~none).sum())} of these are solved by another policy. "
        f"{_nobody(int(none.sum()))}"
    )
    rows = [
        (
            "",
            [
                instance_link(i, folder, watched),
                number(_length(folder, i), 0),
                "; ".join(a.words for a in knowing if outcomes[a]["solved"][i] > 0) or "nobody",
            ],
        )
        for i in np.flatnonzero(none)[:LISTED].tolist()
    ]
    parts = [tag("p", text)]
    if rows:
        more = f" (the first {LISTED} of {int(none.sum())})" if none.sum() > LISTED else ""
        label = f"Instances that no policy solves{more}"
        parts.append(table(("instance", "length", "solved by those that know the distance"), rows, label))
    lost = [(a, float(outcomes[a]["lost"].mean())) for a in folder.agents if outcomes[a]["lost"].any()]
    if lost:
        shares = "; ".join(f"{a.words} {percent(share)} %" for a, share in lost)
        parts.append(tag("p", f"Episodes that ended where nobody can solve any more: {shares}."))
    else:
        parts.append(tag("p", "No episode ended where nobody can solve any more."))
    return joined(*parts)


def _nobody(count: int) -> str:
    if not count:
        return "Every instance is solved by at least one policy."
    return f"{count} {'is' if count == 1 else 'are'} solved by no policy at all."


def _length(folder: Folder, i: int) -> float | None:
    return None if folder.instances is None else float(folder.instances["length"][i])


def instance_link(i: int, folder: Folder, watched: set[int]) -> Html:
    """Its number; a link where it can be watched."""
    name = str(folder.instances["id"][i]) if folder.instances else None
    return tag("a", str(i), href=f"#i={i}", title=name) if i in watched else tag("span", str(i), title=name)
