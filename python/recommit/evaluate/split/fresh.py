"""A test split that nobody has looked at: a results folder has one, and each of its policies is judged by it once.

``fresh.json`` of the results folder, which holds evaluations side by side, says which seed it is of and who was judged.
Whoever draws another, or judges again, must say so, and that is written down too.
"""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recommit.storage import files, verified
from recommit.storage.errors import FolderBusy
from recommit.storage.lock import Lock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recommit.evaluate.spec import EvaluationSpec

NAME = "fresh.json"
#: Evaluations of several seeds begin together; each holds the folder for milliseconds
#: of an idle machine.
_PATIENCE = 300.0


def judge(spec: EvaluationSpec, evaluation: Path, test_set: str, policies: dict[str, str], *, again: bool) -> None:
    """Judge a run by the fresh split of the results folder, once; nothing without one."""
    if not spec.fresh:
        return
    split = {"seed": spec.fresh, "instances": spec.instances, "length": spec.length, "test_set": test_set}
    with _held(evaluation.parent):
        claim(evaluation, split, Path(spec.run).name, policies.get(spec.run, ""), again=again)


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

    Refused without ``again``: another split than the results folder has, a policy that another evaluation has judged,
    and a run that was judged and then changed.
    """
    folder = evaluation.parent
    split = json.loads(json.dumps(split))  # as it reads again
    before: dict[str, Any] = {"split": split, "reads": [], "again": []}
    if verified.exists(folder, NAME):
        before = verified.values(folder, NAME, {"split": dict, "reads": list, "again": list})
    now = {"evaluation": evaluation.name, "run": run, "policy": policy}
    wrong = _another_split(before["split"], split) or _second_look(before["reads"], now)
    if wrong and not again:
        raise ValueError(f"fresh: {wrong} in {folder / NAME}; --again does it all the same and notes it there")
    reads = before["reads"] if now in before["reads"] else [*before["reads"], now]
    noted = [*before["again"], {**now, "why": wrong, "split": split}] if wrong else before["again"]
    whole = {"split": before["split"], "reads": reads, "again": noted}
    files.replace(files.Files(), folder / NAME, (json.dumps(whole, indent=2) + "\n").encode())


def _another_split(before: dict[str, Any], now: dict[str, Any]) -> str:
    differing = [name for name in now if before.get(name) != now[name]]
    expected = (f"{name} {before.get(name)}" for name in differing)
    return f"expected the split of {', '.join(expected)}, got {', '.join(str(now[n]) for n in differing)}" * bool(
        differing
    )


def _second_look(reads: list[dict[str, str]], now: dict[str, str]) -> str:
    for read in reads:
        same = [read[name] == now[name] for name in ("evaluation", "run", "policy")]
        if not all(same) and (same[2] or same[0]):
            return (
                f"expected a policy that was not judged yet, got {now['run']}, since {read['evaluation']} judged "
                f"{read['run']}"
            )
    return ""
