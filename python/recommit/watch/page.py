"""The page of a match: from a server that plays, or as a file that holds what was played."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recommit.report.document import asset, document
from recommit.report.html import Html, tag

if TYPE_CHECKING:
    from recommit.watch.match import About

HOW = (
    "Regret: the value that the best of all depths, 1 to {most}, would have added from there, under the same plans and "
    "the observations that were left; exact. Value: {value}."
)
MADE = "The policy's files: sha256 {weights}. {command}"


def make(about: About, packed: dict[str, Any], *, asks: bool) -> str:
    """HTML; ``packed`` is a recording, or the beginning of one where the page ``asks`` its server."""
    made = MADE.format(weights=about.weights[:16], command=about.command and f"Recorded by: {about.command}")
    parts = [
        Html(asset("match.html")),
        tag("p", HOW.format(value=about.value, most=about.fixed[-1]), class_="quiet"),
        tag("p", made, class_="quiet"),
    ]
    content = [tag("section", *parts, id="match-page", class_="alone")]
    title = f"{about.policy}, beside a fixed depth"
    links = [("match-page", "Match")]
    return document("recommit", title, about.task, content, {**packed, "asks": asks}, links, viewer="match", asks=asks)
