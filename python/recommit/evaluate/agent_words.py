"""What an agent does, in words: ``fixed-8@fixed-8-s0`` is "plans trained for depth 8, always 8"."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recommit.evaluate.agent_names import AgentName

_WORDS = {
    "adaptive": "adaptive depth",
    "adaptive-memory": "adaptive depth with a memory",
    "sampled": "adaptive depth, drawn",
    "random": "depths drawn evenly",
    "shuffled": "adaptive's depths, shuffled",
    "mixture": "best mixture that ignores the state",
    "oracle-dp": "exact ceiling",
    "oracle-delta": "depth of most progress",
    "oracle-rate": "depth of most progress per action",
    "solver": "optimal plans",
    "random-actions": "random actions",
    "confidence-product": "as deep as the whole plan is sure",
    "confidence-least": "as deep as every action is sure",
    "confidence-entropy": "as deep as entropies add up to little",
    "disagreement": "as deep as no action is much more doubtful than the first",
    "entropy-jump": "up to the largest rise of entropy",
    "repetition": "as long as the first action repeats",
    "reversal": "up to the first action taken back",
    "consecutive": "as deep as the last plan agrees",
}
_TRAINED = {
    "adaptive": "another seed's plans",
    "random": "plans trained under random depths",
    "depth-only": "plans of the warm start, the depth head trained alone",
    "paper": "the paper's recipe",
    "foresight": "the plans that foresight goes by",
    "stakes": "the plans that foresight goes by",
}
#: Heads that were taught on the plans of a run; the folder says which.
_HEADS = {"foresight": "depth by foresight", "stakes": "depth by foresight and stakes"}


def readable(agent: AgentName) -> str:
    """Say whose plans, and how deep. Unknown names stay as they are."""
    if agent.base == "adaptive" and (taught := _HEADS.get(_head(agent.run))):
        return taught
    depth = _rule(agent) if agent.rule else _WORDS.get(agent.base, agent.base)
    if agent.depth:
        depth = f"always {agent.depth}" + (", actions drawn" if agent.draws_actions else "")
    if agent.views:
        depth += f", {agent.views} views" if agent.views > 1 else ", one view"
    if agent.run:
        return f"{_whose_plans(agent.run)}, {depth}"
    return f"the same plans, {depth}" if agent.depth else depth


def _rule(agent: AgentName) -> str:
    """With what is special about its threshold and its memory."""
    name = agent.rule.partition("+")[0]
    threshold = ", one threshold for all budgets" if agent.shared else ""
    return _WORDS[name] + threshold + (", with a memory" if agent.rule != name else "")


def _head(run: str) -> str:
    """The name of a folder without its seed."""
    return re.sub(r"-s\d+$", "", PurePath(run).name)


def _whose_plans(run: str) -> str:
    """By the name of the run's folder, as ``recommit train family`` gives it, with its seed or without."""
    trained = re.fullmatch(r"(?:.*/)?(fixed-([1-8])|adaptive|random|depth-only|paper|foresight|stakes)(?:-s\d+)?", run)
    if not trained:
        return f"plans of {'the warm start' if PurePath(run).name == 'init' else run}"
    return f"plans trained for depth {trained[2]}" if trained[2] else _TRAINED[trained[1]]


#: The same in a word or two, for figures.
_BRIEF = {
    "adaptive": "adaptive",
    "adaptive-memory": "with a memory",
    "sampled": "drawn depths",
    "random": "random depths",
    "shuffled": "shuffled",
    "mixture": "best mixture",
    "oracle-dp": "perfect depths",
    "oracle-delta": "most progress",
    "oracle-rate": "most per action",
}
_BRIEF_RUNS = {"init": "warm start"}


def brief(agent: AgentName) -> str:
    """Say the same in a few letters, for a place beside a mark: "trained for 8"."""
    if agent.base == "adaptive" and _head(agent.run) in _HEADS:
        return _head(agent.run)
    depth = f"always {agent.depth}" if agent.depth else _BRIEF.get(agent.base, agent.base.replace("-", " "))
    depth += ", drawn" if agent.draws_actions else ""
    depth += f", {agent.views} views" if agent.views else ""
    if not agent.run:
        return depth
    folder = PurePath(agent.run).name
    trained, seed = re.fullmatch(r"fixed-([1-8])(?:-s\d+)?", folder), re.fullmatch(r"adaptive-s(\d+)", folder)
    whose = f"trained for {trained[1]}" if trained else f"seed {seed[1]}" if seed else _BRIEF_RUNS.get(folder, folder)
    usual = f"always {trained[1]}" if trained else "adaptive"
    return f"{whose}, {depth}" if depth.removeprefix(usual) == depth else whose + depth.removeprefix(usual)
