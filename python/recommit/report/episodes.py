"""Episodes for the viewer of all pages: a compact packing of a letter or two per commitment, and the choice of the
instances of an evaluation that are shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.evaluate.agent_names import PRIVILEGED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from recommit.report.reading import Agent, Folder
    from recommit.rollout.decision_rows import DecisionRows

    #: Regret, best depth and cause (-1 where there is none) of every commitment.
    Costs = tuple[Sequence[float], Sequence[int], Sequence[int]]

#: Most characters of packed episodes on a page.
ROOM = 2_000_000
#: Index of the kind that the first agent solves and the best fixed depth does not; the viewer opens with one of these.
AHEAD = 3


def shown_beside(folder: Folder) -> Agent | None:
    """Second agent to show: the best fixed depth of the same plans, else the best fixed depth, else the next agent."""
    best = folder.best_fixed(folder.widest)
    next_agents = [agent for agent in folder.agents[1:] if folder.decisions(agent)]
    wanted = [folder.constant(folder.widest), best[0] if best else None, *next_agents[:1]]
    return next((agent for agent in wanted if agent is not None and agent is not folder.first), None)


def strata(folder: Folder) -> tuple[list[str], NDArray[np.int64]]:
    """Kinds of instances, by which agents solve them under the largest budget: names, and one number per instance."""
    budget, first = folder.widest, folder.first
    solved = {a: folder.values(a, budget, "solved") for a in folder.agents}
    mine = solved[first] > 0.5
    policies = [solved[a] for a in folder.agents if a.base not in PRIVILEGED]
    best = folder.best_fixed(budget)
    rival = solved[best[0]] > 0.5 if best else mine
    rules = [
        (f"lost by {first.words}", folder.values(first, budget, "lost") > 0.5),
        ("solved by no policy", np.all([p == 0 for p in policies], axis=0)),
        (f"{first.words} fails where another solves", ~mine),
        (f"{first.words} solves where {best[0].words if best else 'nobody'} fails", mine & ~rival),
        (f"{first.words} solves, others differ", ~np.all([p == 1 for p in policies], axis=0)),
        ("solved by every policy", np.ones(len(mine), np.bool_)),
    ]
    kinds = np.select([rule for _, rule in rules], range(len(rules)))
    return [name for name, _ in rules], kinds.astype(np.int64)


def choose(kinds: NDArray[np.int64], count: int) -> list[int]:
    """Draw instances to show at random, equally many of every kind as long as there are some."""
    order = np.random.default_rng(0).permutation(len(kinds))
    turn = np.zeros(len(kinds), np.int64)
    for kind in np.unique(kinds):
        members = order[kinds[order] == kind]
        turn[members] = np.arange(len(members))
    return sorted(np.lexsort((kinds, turn))[:count].tolist())


def pack(folder: Folder, count: int, *, room: int = ROOM) -> dict[str, Any] | None:
    """Packed episodes of up to ``count`` instances, fewer if they do not fit; None if no decisions were stored."""
    played = [(agent, rows[0], len(rows)) for agent in folder.agents if (rows := folder.decisions(agent))]
    if not played or folder.shape is None:
        return None
    names, kinds = strata(folder)
    while True:
        chosen = choose(kinds, count)
        packed = _packed(folder, played, names, kinds, chosen)
        size = len(json.dumps(packed, separators=(",", ":")))
        if size <= room or count <= 1:
            return packed
        count = max(1, min(count - 1, int(0.95 * len(chosen) * room / size)))


def _packed(
    folder: Folder,
    played: Sequence[tuple[Agent, DecisionRows, int]],
    names: list[str],
    kinds: NDArray[np.int64],
    chosen: list[int],
) -> dict[str, Any]:
    columns, shape = folder.instances, folder.shape or (0, 0)
    depths = possible_depths([rows for _, rows, _ in played])
    other = shown_beside(folder)
    beside = (i for i, (agent, _, _) in enumerate(played) if agent is other)
    return {
        "task": folder.task,
        "rows": shape[0],
        "cols": shape[1],
        "budgets": folder.budgets,
        "budget": folder.widest,
        "of": len(kinds),
        "depths": depths,
        "kinds": names,
        "other": next(beside, min(1, len(played) - 1)),
        "open": next((place for place, i in enumerate(chosen) if kinds[i] == AHEAD), 0),
        "agents": [{"label": a.label, "words": a.words, "depth": a.depth, "seeds": seeds} for a, _, seeds in played],
        "instances": [
            {"n": i, "id": str(columns["id"][i]), "kind": int(kinds[i]), "state": columns["state"][i].hex()}
            for i in chosen
        ],
        "played": [
            episodes(rows, chosen, columns["length"], depths, head=not agent.depth) for agent, rows, _ in played
        ],
    }


def possible_depths(every: Sequence[DecisionRows]) -> list[int]:
    """Depths to which some depth head gave any probability."""
    seen = np.concatenate([rows.head_probs() for rows in every]).any(axis=0)
    return (np.flatnonzero(seen) + 1).tolist()


def episodes(
    rows: DecisionRows, chosen: list[int], length: list[int], depths: list[int], *, head: bool = True
) -> list[dict[str, Any]]:
    """Packed episodes of the ``chosen`` instances, see ``pack_episode``; without ``head``, no depth probabilities."""
    probs = rows.head_probs()
    order = np.lexsort((rows.turn, rows.instance))
    begin = np.searchsorted(rows.instance[order], chosen, "left")
    end = np.searchsorted(rows.instance[order], chosen, "right")
    packed = []
    for instance, a, b in zip(chosen, begin, end, strict=True):
        mine = order[a:b]
        plans = zip(rows.actions[mine].tolist(), rows.executed[mine].tolist(), strict=True)
        packed.append(
            pack_episode(
                rows.depth[mine].tolist(),
                rows.executed[mine].tolist(),
                [length[instance], *rows.after[mine]],
                (word >> (2 * i) & 3 for word, count in plans for i in range(count)),  # two bits each, the first lowest
                solved=bool(rows.solved[mine].any() or length[instance] == 0),
                chances=probs[mine][:, np.array(depths) - 1].tobytes() if head and probs[mine].any() else b"",
            )
        )
    return packed


def letters(numbers: Iterable[int]) -> str:
    """Numbers of 0 to 35 as a letter each, in base 36."""
    return "".join("0123456789abcdefghijklmnopqrstuvwxyz"[number] for number in numbers)


def pack_episode(
    depths: Sequence[int],
    executed: Sequence[int],
    distances: Iterable[int],
    actions: Iterable[int],
    *,
    solved: bool,
    whole: bool = False,
    chances: bytes = b"",
    costs: Costs | None = None,
) -> dict[str, Any]:
    """``h`` and ``x``: depths and executed actions of the commitments; ``d``: distances before and after; ``a``: the
    executed actions, or ``w``: all of the ``whole`` plans; ``p``: 255ths of the depth head's probabilities; ``r``,
    ``b``, ``c``: regret in thousandths of a solved episode, best depth, and cause, 0 where there is none."""
    result: dict[str, Any] = {
        "h": letters(depths),
        "x": letters(executed),
        "d": [int(each) for each in distances],
        "solved": bool(solved),
        "w" if whole else "a": "".join(map(str, actions)),
    }
    if chances:
        result["p"] = chances.hex()
    if costs is not None:
        regret, best, cause = costs
        result["r"] = [round(1000 * float(each)) for each in regret]
        result["b"] = letters(best)
        result["c"] = "".join(str(each + 1) for each in cause)
    return result


def in_255ths(logits: Any) -> bytes:
    """Softmax of logits [N, depths] in 255ths, row by row."""
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return bytes(np.rint(255 * weights / weights.sum(axis=-1, keepdims=True)).astype(np.uint8).tobytes())
