"""What an evaluation did not keep, and what it takes to have it: one folded list, instead of empty sections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recommit.report import sections
from recommit.report.agents.agent import CEILING
from recommit.report.commitments import regret
from recommit.report.embed import Html, tag

if TYPE_CHECKING:
    from recommit.report.reading import Folder

HOW_TO_KEEP = "The same recommit evaluate with --regret adds them, while the run is there."


def folded(folder: Folder, packed: dict[str, Any] | None, instances: int) -> Html:
    """The list, under one line; nothing where all is there."""
    lines = [tag("li", line) for line in [*_files(folder), *_figures(folder), *_episodes(packed, instances)]]
    return (
        tag("details", tag("summary", "What is not on this page"), tag("ul", *lines), class_="absent")
        if lines
        else Html()
    )


def _files(folder: Folder) -> list[str]:
    """Say which are missing."""
    lines = []
    if folder.comparisons is None:
        lines.append("comparisons.json is not there, so there are no paired differences.")
    if folder.curves is None:
        lines.append("curves.json is not there, so only the budgets above can be shown.")
    if not folder.decisions(folder.first):
        lines.append("The folder decisions/ is not there, so depths cannot be shown.")
    if not folder.training:
        lines.append("The run's folder is not there, or holds no steps, so its training cannot be shown.")
    return lines


def _figures(folder: Folder) -> list[str]:
    """Say which could not be worked out."""
    lines = sections.missing_columns(folder)
    gone = [name for name in ("shuffled", CEILING) if folder.agent(name) is None]
    if gone:
        lines.append(f"{', '.join(gone)} {'was' if len(gone) == 1 else 'were'} not played.")
    if not regret.of_agents(folder):
        lines.append(f"This evaluation kept no regrets of single commitments. {HOW_TO_KEEP}")
    return lines


def _episodes(packed: dict[str, Any] | None, instances: int) -> list[str]:
    """Say why none can be watched, or not well."""
    if packed is None:
        why = "none were asked for" if not instances else "the rows of decisions, episodes or instances are not there"
        return [f"There are no episodes to watch: {why}."]
    if not any(agent["drawn"] for agent in packed["agents"]):
        return ["This evaluation kept no actions, so that the boards stay at the start."]
    return []
