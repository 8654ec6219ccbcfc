"""``recommit graph show|push``: each command is a function whose signature is its command line."""

from __future__ import annotations

import json as json_module
from pathlib import Path

from recommit.cli.requests import WrongCall
from recommit.cli.verbs.graphs.scoring import settings_of, title_of
from recommit.storage.terminal_text import tell


def show(
    graph: Path,
    /,
    page: Path | None = None,
    rules: tuple[str, ...] = ("head", "fixed-1", "fixed-2", "fixed-4", "fixed-8"),
    budget: tuple[int, ...] = (),
    price_action: float = 0.01,
    price_observation: tuple[float, ...] = (0.02,),
    json: bool = False,
) -> int:
    """Say what a commitment graph holds, or make a page about it.

    Args:
        graph: A folder that recommit graph build wrote, or sliding-2x3, an example that comes with the package.
        page: An HTML file to write: what these rules are worth, where their regret falls, and the worst commitments of
            the best of them to watch.
        rules: For the page; see recommit graph score.
        budget: For the page: numbers of looks; those of the puzzle if not said.
        price_action: For the page: what an action costs.
        price_observation: For the page: what a look costs.
        json: Print the manifest as JSON.
    """
    from recommit.graph import files, tables
    from recommit.graph import rules as by_name
    from recommit.graph import score as scoring
    from recommit.graph.score import GraphScorer

    content = files.read(graph)
    manifest = files.describe(content)
    text = tables.about(content, manifest)
    if page is not None:
        from recommit.report import graph_page

        try:
            judge = GraphScorer(content, settings_of(content, budget, price_action, price_observation))
            entries = [by_name.named(name) for name in rules]
            graph_page.write(judge, scoring.score(judge, entries), entries, text, page, title_of(graph))
        except ValueError as error:
            raise WrongCall(str(error)) from None
    tell(json_module.dumps(manifest, indent=2) + "\n" if json else text, end="")
    return 0


def push(graph: Path, /, repo: str, hub: Path | None = None, send: bool = False) -> int:
    """Put a commitment graph on a hub, with a card that loads it back. Nothing is sent without --send.

    Args:
        graph: A folder that recommit graph build wrote.
        repo: OWNER/NAME of the repository.
        hub: A local folder that stands in for the hub.
        send: Upload it, with the login of huggingface_hub; the repository is private.
    """
    from recommit.graph import files, tables
    from recommit.storage import hub as hubs

    manifest = files.describe(files.read(graph))
    place = graph if graph.exists() else files.EXAMPLES / graph
    upload = hubs.Upload(repo, "dataset", place.absolute(), {"README.md": tables.card(manifest, repo)})
    tell(hubs.push(upload, hub, send))
    return 0
