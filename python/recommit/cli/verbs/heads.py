"""Heads beside reinforcement, ``recommit graph fit|audit`` and ``recommit train world-model|stakes``: each command is a
function whose signature is its command line."""

from __future__ import annotations

import json as json_module
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from recommit.cli.flags import WrongCall
from recommit.storage.terminal_text import say, tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recommit.train.baselines.fitted import FittedHead
    from recommit.train.baselines.problem import HeadProblem


def fit(
    graph: Path,
    out: Path,
    method: Literal["exact", "paper", "episode", "branch", "ppo", "q", "hazard", "verifier"] = "exact",
    cpu_seconds: float = 0.0,
    updates: int = 0,
    seed: int = 0,
    tries: bool = True,
    held: float = 0.25,
    reads: Literal["z", "plan", "both", "views", "agreement"] = "both",
    depths: tuple[int, ...] = (),
    budget: tuple[int, ...] = (),
    price_action: float = 0.01,
    price_observation: float = 0.02,
    policy: Path | None = None,
    quiet: bool = False,
) -> int:
    """Train a head on a graph's frozen plans, without a simulator and without the policy.

    Args:
        graph: A folder that recommit graph build wrote with --features, from training starts.
        out: The folder of the head.
        method: exact: by the exact program, as ours. paper: one-step credit in groups of one state. episode: whole
            episodes. branch: continuations. ppo: sampled episodes with a value head. q: values of depths by temporal
            differences. hazard: a chance to stop after each depth, with a price per look. verifier: the distance after
            each prefix, without episodes.
        cpu_seconds: Processor time of the updates of each try.
        updates: Updates of each try instead, or at most.
        seed: Of weights and draws, and of which starts are held out.
        tries: Three tries with other values, the best on the held-out starts. Without: the first values alone.
        held: Share of the starts' groups that no update sees: the best check and the best try are chosen there.
        reads: What the head reads: what a look gave, how sure the plan is, or both; views: also how far views agree;
            agreement: the same without what the look gave.
        depths: Depths to choose from; those of the policy's own head if not said.
        budget: Numbers of looks, of equal parts of the episodes; those of the puzzle if not said.
        price_action: What an action costs; reaching the goal is worth 1.
        price_observation: What a look costs.
        policy: The run whose plans the graph has: it is also written with this head, as OUT/policy. That is a policy
            like any other; recommit evaluate RUN --agents adaptive@OUT/policy plays it.
        quiet: Print nothing while fitting.
    """
    from recommit.storage.ownership import refuse_foreign
    from recommit.train.baselines import fitted, fitting

    refuse_foreign(out, (fitted.WEIGHTS, fitted.ABOUT), "a fitted head")
    try:
        problem = _problem(graph, depths, budget, price_action, price_observation, reads)
        learn, away = fitting.divided(problem, held, seed)
        extent = fitting.Extent(updates, cpu_seconds)
        if tries:
            head = fitting.best_of(learn, away, method, seed, extent, _silent if quiet else say)
        else:
            head = fitting.fit(learn, away, method, seed, extent)
        fitted.write(head, out)
        if policy is not None:
            _save(policy, head, graph, out / "policy")
    except ValueError as error:
        raise WrongCall(str(error)) from None
    record = head.record
    tell(f"{method}: {100 * record['value']:.1f} on held-out starts after {record['updates']:,} updates, in {out}")
    return 0


def audit(
    graph: Path,
    fitted: Path | None = None,
    out: Path | None = None,
    credits: tuple[str, ...] = ("exact", "branch", "episode", "episode-scaled", "state", "ppo-gae", "q"),
    episodes: tuple[int, ...] = (16, 64, 256, 1024),
    repeats: int = 8,
    seed: int = 0,
    depths: tuple[int, ...] = (),
    budget: tuple[int, ...] = (),
    price_action: float = 0.01,
    price_observation: float = 0.02,
    json: bool = False,
) -> int:
    """Compare the gradient that each credit gives a head with the exact one.

    Args:
        graph: A folder that recommit graph build wrote with --features.
        fitted: The head whose gradients are compared, from recommit graph fit; one that has learned nothing if not
            said.
        out: A folder for audit.json, audit.md and, where matplotlib is there, audit.svg.
        credits: Which: exact, branch, episode, episode-scaled, state, ppo-gae, q.
        episodes: Episodes of an estimate.
        repeats: Estimates of each size.
        seed: Of draws.
        depths: Depths to choose from; those of the policy's own head if not said.
        budget: Numbers of looks, of equal parts of the episodes; those of the puzzle if not said.
        price_action: What an action costs; reaching the goal is worth 1.
        price_observation: What a look costs.
        json: Print audit.json instead of the table.
    """
    from recommit.storage.ownership import refuse_foreign
    from recommit.train.baselines import audit as auditing
    from recommit.train.baselines import audit_page
    from recommit.train.baselines import fitted as heads
    from recommit.train.baselines.network import Net

    if out is not None:
        refuse_foreign(out, ("audit.json",), "an audit")
    try:
        problem = _problem(graph, depths, budget, price_action, price_observation, "both")
        net = Net(problem, len(problem.depths), 64, seed)
        if fitted is not None:
            net.load(heads.read(fitted).weights)
        if wrong := [name for name in credits if name not in auditing.CREDITS]:
            raise ValueError(f"credits: expected some of {', '.join(auditing.CREDITS)}, got {wrong[0]}")
        rows = auditing.Audit(problem, net, seed=seed).run(credits, episodes, repeats)
    except ValueError as error:
        raise WrongCall(str(error)) from None
    text = audit_page.table(rows)
    if out is not None:
        audit_page.write(out, rows, text)
    tell(json_module.dumps(audit_page.plain(rows), indent=2) if json else text, end="\n" if json else "")
    return 0


def foresight(
    run: Path,
    out: Path,
    task: str = "",
    views: Literal[0, 1, 2, 4, 8] = 0,
    steps: int = 8000,
    starts: int = 20_000,
    seed: int = 0,
    threads: int = 1,
    quiet: bool = False,
) -> int:
    """Teach a run's policy where its plans lead, by exact distances of training states, without a look.

    Args:
        run: A training run: its best policy, and the data whose training starts are used.
        out: The folder of the policy with foresight, which recommit evaluate RUN --agents adaptive@OUT plays. The same
            command goes on where it was interrupted.
        task: Which puzzle of a run that has several: foresight is of one puzzle and size.
        views: Plans of so many views of every picture; 0 for as many as the policy has. Not for sliding.
        steps: Steps of 256 states.
        starts: Training starts on whose optimal ways, and beside them, states are drawn.
        seed: Of weights and states.
        threads: Threads of torch; 0 for as many as it likes.
        quiet: Print nothing while training.
    """

    from recommit.policy.checkpoint import local_folder
    from recommit.policy.policy import CommitPolicy
    from recommit.runs.directory import recipe_of
    from recommit.runs.process import settle_to_look
    from recommit.storage.ownership import refuse_foreign
    from recommit.train.world_model import teaching
    from recommit.train.world_model.learning_file import NAME

    settle_to_look(threads)
    refuse_foreign(out, (NAME, "config.json"), "a policy with foresight")
    try:
        spec = recipe_of(str(run), task)
        policy = CommitPolicy.from_pretrained(local_folder(run)).eval()
        policy.replace_views(views or policy.config.views)
        training = teaching.ForesightTraining(steps, starts=starts, seed=seed)
        with _held(out):
            result = teaching.train(policy, spec, training, _silent if quiet else say, out)
            policy.save_pretrained(out)
            (out / NAME).unlink(missing_ok=True)
    except ValueError as error:
        raise WrongCall(str(error)) from None
    share, pictures = 100 * result["exact"], 100 * result["pictures"]
    tell(f"{share:.1f} % of distances exact, {pictures:.1f} % of pictures right after an action, in {out}")
    return 0


def stakes(
    policy: Path,
    graph: Path,
    out: Path,
    budget: tuple[int, ...] = (),
    price_action: float = 0.01,
    price_observation: float = 0.01,
    one_price: bool = False,
    z: bool = False,
    hidden: int = 64,
    updates: int = 80,
    held: float = 0.25,
    seed: int = 0,
    views: Literal[0, 1, 2, 4, 8] = 0,
    threads: int = 1,
    quiet: bool = False,
) -> int:
    """Give a policy with foresight one head for all prices and budgets: it reads what is at stake.

    Args:
        policy: The folder that recommit train world-model wrote.
        graph: The plans of the same policy, from recommit graph build with as many views and training starts.
        out: The folder of the policy with the head. recommit evaluate RUN --agents adaptive@OUT --price-action 0.01
            --price-observation 0.02 plays it for these prices.
        budget: Numbers of looks, of equal parts of the episodes; those of the puzzle if not said.
        price_action: What an action costs where nobody says a price; it learns under many.
        price_observation: What a look costs where nobody says a price.
        one_price: Learn under these two prices alone, to compare.
        z: Read z too, what a look gave; the graph then needs --features.
        hidden: Width of the hidden layer.
        updates: Updates, each under prices of its own.
        held: Share of the starts' groups that no update sees: the best of eight checks is chosen there.
        seed: Of weights, prices and draws, and of which starts are held out.
        views: Plans of so many views of every picture; 0 for as many as the policy has. Not for sliding.
        threads: Threads of torch; 0 for as many as it likes.
        quiet: Print nothing while fitting.
    """

    from recommit.graph import files
    from recommit.graph.prices import Prices
    from recommit.policy.policy import CommitPolicy
    from recommit.runs.process import settle_to_look
    from recommit.storage.ownership import refuse_foreign
    from recommit.train.baselines import fitting
    from recommit.train.baselines import stakes as at_stake
    from recommit.train.baselines.problem import HeadProblem

    settle_to_look(threads)
    refuse_foreign(out, ("heads.safetensors", "config.json"), "a policy")
    try:
        source, own = files.read(graph), CommitPolicy.from_pretrained(policy).eval()
        own.replace_views(views or own.config.views)
        budgets = budget or tuple(source.puzzle.usual.budgets.values())
        problem = HeadProblem.of(source, own.config.depths, budgets, Prices(), "plan").within_reach()
        learn, away = fitting.divided(problem, held, seed)
        prices = Prices(price_action, price_observation) if one_price else None
        config = at_stake.StakesConfig(updates, hidden=hidden, seed=seed, prices=prices, z=z)
        result = at_stake.fit(own, source.puzzle, learn, away, config, _silent if quiet else say)
        own.replace_prices(price_action, price_observation)
        with _held(out):
            own.save_pretrained(out)
    except ValueError as error:
        raise WrongCall(str(error)) from None
    where = "under its prices" if one_price else "over all prices"
    tell(f"{100 * result['value']:.1f} on held-out starts {where} after {result['updates']} updates, in {out}")
    return 0


@contextmanager
def _held(out: Path) -> Iterator[None]:
    """The folder of a policy, locked, without what an interrupted command left half written."""
    from recommit.storage import files
    from recommit.storage.lock import Lock

    out.mkdir(parents=True, exist_ok=True)
    with Lock(out, work="train"):
        files.sweep_files(files.Files(), out)
        yield


def _save(run: Path, head: FittedHead, graph: Path, folder: Path) -> None:
    from recommit.graph import files
    from recommit.train.baselines import into_policy

    source = files.read(graph).source
    into_policy.save(run, head, int(source.get("views", 1)), source.get("policy", ""), folder)


def _problem(
    graph: Path, depths: tuple[int, ...], budget: tuple[int, ...], action: float, look: float, reads: str
) -> HeadProblem:
    from recommit.graph import files
    from recommit.graph.prices import Prices
    from recommit.train.baselines.problem import HeadProblem

    source = files.read(graph)
    budgets = budget or tuple(source.puzzle.usual.budgets.values())
    return HeadProblem.of(source, depths or source.head_depths, budgets, Prices(action, look), reads)


def _silent(line: str) -> None:
    del line


COMMANDS: dict[str, Callable[..., int]] = {"fit": fit, "audit": audit}
