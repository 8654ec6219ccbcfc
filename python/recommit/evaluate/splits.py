"""Which instances an evaluation plays, and which its choices are made on.

A fresh split is one that nobody has looked at: a folder of results has one, and each of its policies is judged by it
once. ``fresh.json`` of that folder, which holds evaluations side by side, says which seed it is of and who was judged.
Whoever samples another, or judges again, must say so, and that is written down too.
"""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit.data import held_out
from recommit.storage import files, verified
from recommit.storage.errors import FolderBusy
from recommit.storage.lock import Lock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from recommit.data.sampling import Starts
    from recommit.data.spec import DataSpec
    from recommit.evaluate.options import EvaluateOptions

NAME = "fresh.json"
#: Evaluations of several seeds begin together; each holds the folder for milliseconds of an idle machine.
_PATIENCE = 300.0


def played(options: EvaluateOptions, data: DataSpec) -> Starts:
    """Those that figures are of."""
    if options.fresh:
        return held_out.fresh(data, options.fresh, options.instances, options.length)
    if options.split == "validation":
        return _validation(options, data).where(slice(None, options.instances))
    return held_out.starts(data, options.split, options.instances, options.length)


def chosen_on(options: EvaluateOptions, data: DataSpec) -> NDArray[np.uint8]:
    """Validation instances for choices; none of them is played."""
    if options.split != "validation":
        return np.ascontiguousarray(held_out.starts(data, "validation", options.validation, options.length).states)
    return np.ascontiguousarray(_validation(options, data).states[options.instances :])


def _validation(options: EvaluateOptions, data: DataSpec) -> Starts:
    return held_out.starts(data, "validation", options.instances + options.validation, options.length)


def judge(options: EvaluateOptions, evaluation: Path, test_set: str, policies: dict[str, str]) -> None:
    """Note that the run is judged by the fresh split of the folder of results; nothing without one."""
    if not options.fresh:
        return
    split = {"seed": options.fresh, "instances": options.instances, "length": options.length, "test_set": test_set}
    with _held(evaluation.parent):
        claim(evaluation, split, options.run.name, policies.get(str(options.run), ""), again=options.again)


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Wait for whoever writes down another evaluation."""
    give_up = time.monotonic() + _PATIENCE
    while True:
        try:
            lock = Lock(folder, work="evaluation by a fresh split").__enter__()
        except FolderBusy:
            if time.monotonic() > give_up:
                raise
            time.sleep(0.02)
        else:
            break
    try:
        yield
    finally:
        lock.__exit__(None, None, None)


def claim(evaluation: Path, split: dict[str, Any], run: str, policy: str, *, again: bool) -> None:
    """Note that an evaluation judges a run's policy (a digest) by a split; the same evaluation may go on.

    Refused without ``again``: another split than the folder has, a policy that another evaluation has judged, and a
    run that was judged and then changed.
    """
    folder = evaluation.parent
    split = json.loads(json.dumps(split))  # as it reads again
    before: dict[str, Any] = {"split": split, "reads": [], "again": []}
    if verified.exists(folder, NAME):
        before = _read(folder)
    now = {"evaluation": evaluation.name, "run": run, "policy": policy}
    wrong = _another_split(before["split"], split) or _judged_before(before["reads"], now)
    if wrong and not again:
        raise ValueError(f"fresh: {wrong} in {folder / NAME}; --again does it all the same and notes it there")
    reads = before["reads"] if now in before["reads"] else [*before["reads"], now]
    noted = [*before["again"], {**now, "why": wrong, "split": split}] if wrong else before["again"]
    whole = {"split": before["split"], "reads": reads, "again": noted}
    text = json.dumps({**whole, "sha256": verified.digest(whole)}, indent=2) + "\n"
    files.replace(files.Files(), folder / NAME, text.encode())


def _read(folder: Path) -> dict[str, Any]:
    """What is written down in a folder of results, which has no other digests."""
    fields = {"split": dict, "reads": list, "again": list}
    return verified.record(folder / NAME, verified.content(folder, NAME), fields)


def _another_split(before: dict[str, Any], now: dict[str, Any]) -> str:
    differing = [name for name in now if before.get(name) != now[name]]
    expected = ", ".join(f"{name} {before.get(name)}" for name in differing)
    return f"expected the split of {expected}, got {', '.join(str(now[n]) for n in differing)}" if differing else ""


def _judged_before(reads: list[dict[str, str]], now: dict[str, str]) -> str:
    for read in reads:
        if read != now and (read["policy"] == now["policy"] or read["evaluation"] == now["evaluation"]):
            return (
                f"expected a policy that was not judged yet, got {now['run']}, since {read['evaluation']} judged "
                f"{read['run']}"
            )
    return ""
