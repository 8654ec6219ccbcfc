"""One episode as the viewers of all pages take it: a letter or two per commitment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    #: Regret, best depth and cause (-1 where there is none) of every commitment.
    Costs = tuple[Sequence[float], Sequence[int], Sequence[int]]


def letters(numbers: Iterable[int]) -> str:
    """Numbers of 0 to 35 as a letter each, in base 36."""
    return "".join("0123456789abcdefghijklmnopqrstuvwxyz"[number] for number in numbers)


def packed(
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
    """Probabilities of logits [N, depths], row by row."""
    import numpy as np

    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return bytes(np.rint(255 * weights / weights.sum(axis=-1, keepdims=True)).astype(np.uint8).tobytes())
