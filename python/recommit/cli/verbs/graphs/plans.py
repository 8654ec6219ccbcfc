"""``recommit graph build|score|show|compare``: each command is a function whose signature is its command line."""

from __future__ import annotations

import json as json_module
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from recommit.cli.comparing import compare
from recommit.cli.requests import WrongCall
from recommit.storage.foreign_text import say, tell

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recommit.graphs.graph import CommitmentGraph
    from recommit.graphs.judge import Judge
    from recommit.graphs.rules import NamedRule

RULES = (
    "fixed-1",
    "fixed-2",
    "fixed-4",
    "fixed-8",
    "head",
    "head+memory",
    "confidence-product",
    "confidence-least",
    "confidence-entropy",
    "disagreement",
    "entropy-jump",
    "repetition",
    "reversal",
    "consecutive",
)


def build(
    run: Path,
    /,
    out: Path,
    every_state: bool = False,
    starts: int = 1024,
    length: tuple[int, ...] = (),
    split: Literal["test", "validation", "train"] = "test",
    task: str = "",
    limit: int = 4_000_000,
    features: bool = False,
    views: Literal[0, 1, 2, 4, 8] = 0,
    device: str = "auto",
    threads: int = 1,
    quiet: bool = False,
) -> int:
    """Look at every state that a policy's plans can lead to, and write down the graph of commitments.

    Args:
        run: A training run, or the folder of a policy inside one.
        out: The folder of the graph: new, or one that holds a graph, which is replaced.
        every_state: Start from all states there are; for sliding boards of up to ten cells.
        starts: Instances to start from.
        length: Shortest and longest length of the instances; as in the data if not said.
        split: Which split of the run's data the instances are from. Choose thresholds on validation, measure on test.
        task: Which puzzle of a run that has several: sliding, or sliding-3x3 with its size.
        limit: Nodes at most; a graph that needs more is cut and cannot be scored.
        features: Keep what the depth head reads of a look, so that other heads can be trained: recommit graph fit.
        views: Look at so many views of every picture; 0 for as many as the policy has. Not for sliding.
        device: cpu, cuda, or auto.
        threads: Threads of torch; 0 for as many as it likes.
        quiet: Print nothing while looking.
    """
    import numpy as np
    import torch

    from recommit.data.starts import held_out
    from recommit.graphs import build as building
    from recommit.graphs import files
    from recommit.policy.checkpoint import local_folder, weights_of
    from recommit.policy.policy import CommitPolicy
    from recommit.runs.directory import recipe_of
    from recommit.runs.ranks import find_device

    if threads:
        torch.set_num_threads(threads)
    try:
        spec = recipe_of(str(run), task)
        puzzle = spec.puzzle()
        folder = local_folder(run)
        if every_state:
            first, groups = building.every_state(puzzle), None
        else:
            first = np.ascontiguousarray(held_out.starts(spec, split, starts, length).states)
            groups = held_out.rooms(spec, first)
        policy = CommitPolicy.from_pretrained(folder, device=find_device(device)).eval()
        if views:
            policy.replace_views(views)
        source = {
            "policy": weights_of(folder),
            "starts": "every state" if every_state else f"{len(first)} of {split}",
            "set": held_out.name(first),
            "views": policy.vision.views(puzzle, puzzle.shape),
        }
        line = None if quiet else _Line()
        graph = building.build(
            policy, puzzle, first, groups, limit=limit, features=features, source=source, progress=line
        )
        manifest = files.write(graph, out)
    except ValueError as error:
        raise WrongCall(str(error)) from None
    tell(f"{manifest['nodes']:,} nodes in {out}, content {manifest['content'][:16]}")
    if not manifest["closed"]:
        say(f"recommit graph: cut at {limit:,} nodes: a higher --limit is needed before rules can be scored")
    return 0


class _Line:
    """How many states were looked at, on one line of a terminal, or now and then elsewhere."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._begin = self._last = time.monotonic()

    def __call__(self, looked: int, nodes: int) -> None:
        now = time.monotonic()
        if now - self._last < (0.2 if self._live else 20.0) and looked < nodes:
            return
        self._last = now
        rate = looked / max(now - self._begin, 1e-9)
        say(f"looked at {looked:,} of {nodes:,} states so far, {rate:,.0f} per second", over=self._live, end="\n")


def score(
    graph: Path,
    /,
    out: Path | None = None,
    choose_on: Path | None = None,
    rules: tuple[str, ...] = RULES,
    rule: Path | None = None,
    run_code: bool = False,
    table: Path | None = None,
    fitted: tuple[Path, ...] = (),
    budget: tuple[int, ...] = (),
    price_action: float = 0.01,
    price_look: tuple[float, ...] = (),
    json: bool = False,
    quiet: bool = False,
) -> int:
    """Say exactly what rules are worth on a policy's plans, and what they give away.

    Args:
        graph: A folder that recommit graph build wrote, or sliding-2x3, an example that comes with the package.
        out: A folder for scores.json, scores.md and page.html, on which the worst commitments can be watched.
        choose_on: A graph of the same policy from other starts: thresholds and constants are chosen there.
        rules: fixed-1 to fixed-8, head, confidence-product, confidence-least, confidence-entropy, disagreement,
            entropy-jump, repetition, reversal, consecutive; each also as NAME+memory.
        rule: A file of Python that defines `rule`, a recommit.horizon.Rule. It is run: see run-code.
        run_code: Yes, run the file.
        table: A .npy file with a depth for every node, in the order of the graph.
        fitted: Folders of heads that recommit graph fit wrote; the graph needs features.
        budget: Numbers of looks; those of the puzzle if not said.
        price_action: What an action costs where looks have a price too; reaching the goal is worth 1. With 0 there is
            no table over all prices of a look.
        price_look: What a look costs. Every budget is judged without prices first, then at each of these.
        json: Print scores.json instead of the tables.
        quiet: Print nothing while judging.
    """
    from recommit.graphs import files, own_rule, page
    from recommit.graphs import judge as judging
    from recommit.graphs import rules as by_name
    from recommit.graphs import score as scoring
    from recommit.graphs.share import over_prices
    from recommit.report.commitments import graph_page

    try:
        judged = files.read(graph)
        settings = _settings(judged, budget, price_action, price_look)
        entries = [by_name.named(name) for name in rules]
        entries += [own_rule.from_code(rule, trusted=run_code)] if rule else []
        entries += [own_rule.from_table(table)] if table else []
        entries += _heads(fitted)
        judge = judging.Judge(judged, settings)
        other = None if choose_on is None else judging.Judge(files.read(choose_on), settings)
        rows = scoring.score(judge, entries, other, None if quiet else lambda name: say(f"{name} ..."))
        budgets = dict.fromkeys(each.budget for each in settings) if price_action else ()
        means = [row for k in budgets for row in over_prices.mean_gains(judge, entries, k, price_action, other)]
        value = _values(judge, other or judge, entries, rows) | {"over_prices": [row.to_dict() for row in means]}
        text = page.scores(judge, rows, other) + ("\n" + page.over_prices(means) if means else "")
    except ValueError as error:
        raise WrongCall(str(error)) from None
    if out is not None:
        _write(out, value, text)
        graph_page.write(
            judge, rows, entries, page.about(judged, files.describe(judged)), out / "page.html", _title(graph)
        )
    tell(json_module.dumps(value, indent=2) if json else text, end="")
    return 0


def _heads(folders: Sequence[Path]) -> list[NamedRule]:
    if not folders:
        return []
    from recommit.rivals import fitted

    return [fitted.rule(fitted.read(folder), folder.name) for folder in folders]


def _settings(graph: CommitmentGraph, budget: Sequence[int], action: float, look: Sequence[float]) -> tuple[Any, ...]:
    from recommit.graphs.judge import Setting
    from recommit.play.commitments import Prices

    budgets = budget or tuple(graph.puzzle.usual.budgets.values())
    if wrong := [k for k in budgets if not 1 <= k <= 64]:
        raise ValueError(f"budget: expected numbers 1..64, got {wrong[0]}")
    return tuple(Setting(k, prices) for k in budgets for prices in (Prices(), *(Prices(action, each) for each in look)))


def _values(judge: Judge, chosen_on: Judge, entries: Sequence[NamedRule], rows: Sequence[Any]) -> dict[str, Any]:
    """Everything that was computed, as plain values."""
    from recommit.graphs import files, page
    from recommit.graphs import judge as judging

    first = judge.settings[0]
    by_name = {entry.name: entry for entry in entries}
    best = max((row for row in rows if row.under(first)), key=lambda row: row.value)
    episodes = judge.attributed(judge.bench.chooser(best.entry(by_name[best.rule])), first)
    return {
        "graph": files.content(judge.graph),
        "chosen_on": files.content(chosen_on.graph),
        "settings": [
            {
                "budget": each.budget,
                "price_action": each.prices.action,
                "price_look": each.prices.look,
                "ceiling": float(judge.ceiling(each).mean()),
                "constant": chosen_on.constant(each),
                "constant_value": float(judge.of_constant(each, chosen_on.constant(each)).mean()),
            }
            for each in judge.settings
        ],
        "rows": [row.to_dict() for row in rows],
        "curves": {
            f"{entry.name}, {each.label()}": judging.curve(judge, entry, each)
            for entry in entries
            if entry.swept
            for each in judge.settings
            if each.prices == first.prices
        },
        "worst": {"rule": best.rule, "commitments": page.described(judge.graph, episodes, page.worst(episodes))},
    }


def _write(out: Path, value: dict[str, Any], text: str) -> None:
    from recommit.storage import files

    work = files.Files()
    files.make_folders(work, out.absolute())
    files.replace(work, out / "scores.json", (json_module.dumps(value, indent=2, allow_nan=False) + "\n").encode())
    files.replace(work, out / "scores.md", text.encode())


def _title(graph: Path) -> str:
    return f"Commitments of {graph.name}"


def show(
    graph: Path,
    /,
    page: Path | None = None,
    rules: tuple[str, ...] = ("head", "fixed-1", "fixed-2", "fixed-4", "fixed-8"),
    budget: tuple[int, ...] = (),
    price_action: float = 0.01,
    price_look: tuple[float, ...] = (0.02,),
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
        price_look: For the page: what a look costs.
        json: Print the manifest as JSON.
    """
    from recommit.graphs import files
    from recommit.graphs import judge as judging
    from recommit.graphs import page as printed
    from recommit.graphs import rules as by_name
    from recommit.graphs import score as scoring

    content = files.read(graph)
    manifest = files.describe(content)
    text = printed.about(content, manifest)
    if page is not None:
        from recommit.report.commitments import graph_page

        try:
            judge = judging.Judge(content, _settings(content, budget, price_action, price_look))
            entries = [by_name.named(name) for name in rules]
            graph_page.write(judge, scoring.score(judge, entries), entries, text, page, _title(graph))
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
    from recommit.graphs import files, page
    from recommit.storage import hub as hubs

    manifest = files.describe(files.read(graph))
    place = graph if graph.exists() else files.EXAMPLES / graph
    upload = hubs.Upload(repo, "dataset", place.absolute(), {"README.md": page.card(manifest, repo)})
    tell(hubs.push(upload, hub, send))
    return 0


COMMANDS: dict[str, Callable[..., int]] = {
    "build": build,
    "compare": compare,
    "push": push,
    "score": score,
    "show": show,
}
