"""Runs a sweep: reads the answers that are known, plays the missing episodes, and writes the card.

OUT/sweep.json       the settings and hashes of the sweep: any other sweep is refused in this folder
OUT/episodes.jsonl   every answer in order of arrival, each with its sha256
OUT/card.json        the card, the same bytes for any number of processes and interruptions
OUT/table.md         its table, with the measured time per query
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from recommit.horizon.actions import Fixed
from recommit.horizon.sweep import card as cards
from recommit.horizon.sweep import programs, table
from recommit.horizon.sweep.rules import described, fixed_depths
from recommit.horizon.sweep.worker import Players
from recommit.storage import errors, files, jsonl, ownership, verified
from recommit.storage.lock import Lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from recommit.horizon.sweep.options import SweepOptions
    from recommit.storage.children import Reply, Request

    Ask = Callable[[Sequence[Request]], Iterator[tuple[int, Reply]]]
    Progress = Callable[[int, int, str], None]
    #: The answers to requests, in order; the second argument is called with each request once it is answered.
    Get = Callable[[Sequence[Request], Callable[[Request], None]], list[Reply]]

MARK, LOG, TABLE, FIGURES = "sweep.json", "episodes.jsonl", "table.md", ("figure.svg", "figure.png")
#: Options that do not change a card, or are elsewhere in it.
ELSEWHERE = ("out", "jobs", "env", "policy", "lerobot", "files", "wandb", "trackio")


def run(
    options: SweepOptions,
    *,
    env: Callable[[], Any] | None = None,
    policy: Any = None,
    progress: Progress = lambda _done, _total, _what: None,
) -> dict[str, Any]:
    """Run a sweep, or resume one that was interrupted; writes the card and returns it.

    Args:
        options: of the sweep.
        env: makes the environment, in the place of ``options.env``. It and ``policy`` stay in this process.
        policy: an object with ``predict``, in the place of ``options.policy``.
        progress: called with the episodes done, all episodes, and the present row.
    """
    about = made_from(options, env, policy)
    ownership.refuse_foreign(options.out, (MARK, LOG), "a sweep")
    files.make_folders(files.Files(), options.out.absolute())
    with Lock(options.out, work="sweep"), Players(options, env, policy) as players:
        files.sweep(files.Files(), options.out)
        if begun := verified.exists(options.out, MARK):
            ownership.check(options.out, verified.values(options.out, MARK), about)

        def ask(requests: Sequence[Request]) -> Iterator[tuple[int, Reply]]:
            nonlocal begun
            for answer in players.ask(requests):
                if not begun and requests[answer[0]]["ask"] != "look":  # a refused call leaves no sweep behind
                    mark = (json.dumps(about, sort_keys=True) + "\n").encode()
                    files.replace(files.Files(), options.out / MARK, mark)
                    begun = True
                yield answer

        with jsonl.JsonLines(options.out / LOG, durable=False) as log:
            answers = Answers(ask, log, options.batch)
            card = cards.made({**about, **content(options, answers.get, progress)})
        written = {cards.CARD: cards.text(card), TABLE: table.text(card, answers.milliseconds)}
        for name, text in written.items():
            files.replace(files.Files(), options.out / name, text.encode())
    return card


def made_from(options: SweepOptions, env: Callable[[], Any] | None, policy: Any) -> dict[str, Any]:
    """Environment, policy, files, code and settings of a sweep, as plain values with hashes; nothing of it is run."""
    settings = {name: value for name, value in asdict(options).items() if name not in ELSEWHERE}
    return {
        "env": programs.source("env", options.env) if env is None else programs.of_object(env),
        "policy": programs.source("policy", options.policy) if policy is None else programs.of_object(policy),
        "files": programs.tree(options.files),
        "code": programs.code(),
        "settings": {**settings, "depths": list(options.depths)},
    }


class Answers:
    """Answers to requests: from the log, or new ones, which are logged in order of arrival."""

    def __init__(self, ask: Ask, log: jsonl.JsonLines, batch: int) -> None:
        self._ask, self._log, self.batch = ask, log, batch
        self._known: dict[str, Reply] = {}
        self._checked = {"rules"}
        self._new: list[dict[str, Any]] = []
        for record in jsonl.read(log.path):
            key, reply = record.get("key"), record.get("reply")
            if record.get("sha256") != _digest([key, reply]) or not isinstance(key, str) or not isinstance(reply, dict):
                raise errors.Damaged(f"{log.path}: expected answers as they were written, got another; remove the file")
            self._known[key] = reply
        self.seconds, self.queries = 0.0, 0

    def get(self, requests: Sequence[Request], heard: Callable[[Request], None]) -> list[Reply]:
        """Answers to requests, in order; calls ``heard`` with each request once it is answered."""
        keys = [_digest(request) for request in requests]
        missing = [i for i, key in enumerate(keys) if key not in self._known]
        for i, request in enumerate(requests):
            if keys[i] in self._known:
                self._again(request, self._known[keys[i]])
                heard(request)
        for i, reply in self._ask([requests[i] for i in missing]) if missing else ():
            key = keys[missing[i]]
            self._new.append({"key": key, "reply": reply, "sha256": _digest([key, reply])})
            if requests[missing[i]]["ask"] != "look":  # the folder now belongs to this sweep
                for record in self._new:
                    self._log.add(record)
                self._new.clear()
            self._known[key] = reply
            self._checked.add(requests[missing[i]]["ask"])
            heard(requests[missing[i]])
        replies = [self._known[key] for key in keys]
        self.seconds += sum(reply.get("seconds", 0.0) for reply in replies)
        self.queries += sum(sum(reply["outcomes"]["queries"]) for reply in replies if "outcomes" in reply)
        return replies

    def _again(self, request: Request, known: Reply) -> None:
        """Repeat the first known request of each kind and compare the answers: hashes of programs do not cover all that
        a policy or an environment depends on, such as weights that it reads."""
        if request["ask"] in self._checked:
            return
        self._checked.add(request["ask"])
        ((_, now),) = self._ask([request])
        before, after = (each.get("outcomes", each) for each in (known, json.loads(json.dumps(now))))
        if before != after:
            name = next(name for name in {**before, **after} if before.get(name) != after.get(name))
            what = {"state": "weights of the policy"}.get(name, name)
            raise ValueError(
                f"out: expected the policy and the environment that {self._log.path} has answers of, got others "
                f"({what}: {before.get(name)!s:.80} then, {after.get(name)!s:.80} now); choose another folder, or "
                "remove this one (a sweep of a policy or an environment that draws without a seed cannot go on)"
            )

    @property
    def milliseconds(self) -> float:
        """Measured milliseconds per query."""
        return 1000 * self.seconds / max(self.queries, 1)


def _digest(value: Any) -> str:
    return files.sha256(json.dumps(value, sort_keys=True).encode())


def content(options: SweepOptions, get: Get, progress: Progress) -> dict[str, Any]:
    """Content of a card: look at the policy, try depths and thresholds on validation episodes, play test episodes.

    Args:
        options: of the sweep.
        get: function that gives the answers.
        progress: as in ``run``.
    """
    done = total = 0

    def ask(what: str, arguments: dict[str, Any]) -> Reply:
        progress(done, total, what)
        (reply,) = get([{"ask": what, "with": arguments}], lambda _: None)
        return reply

    def played(split: str, name: str, rule: dict[str, Any]) -> dict[str, Any]:
        """Outcomes of all episodes of a split under a rule, as lists by field."""

        def heard(request: Request) -> None:
            nonlocal done
            done += len(request["with"]["seeds"])
            progress(done, total, f"{name}, {split}")

        replies = get(blocks(rule, seeds[split], look["batch"]), heard)
        return {"name": name, "rule": rule, "outcomes": cards.merged([reply["outcomes"] for reply in replies])}

    seeds = options.seeds
    look = ask("look", {"seed": seeds["validation"][0]})
    every = range(look["allowed"][0], look["allowed"][1] + 1)
    depths, allowed = fixed_depths(options.depths, every), list(options.depths or every)
    tries = {f"fixed-{depth}": [described(Fixed(depth))] for depth in depths}
    found: dict[str, Any] = {"rules": {}, "left_out": {}}
    if options.thresholds:
        asked = {"seeds": seeds["validation"], "depth": depths[len(depths) // 2], "depths": allowed}
        found = ask("rules", asked)
    tries |= found["rules"]
    total = sum(len(each) for each in tries.values()) * options.validation + len(tries) * options.episodes
    validation = [played("validation", name, rule) for name, each in tries.items() for rule in each]
    kind = cards.score_kind([row["outcomes"] for row in validation], options.success)
    chosen = cards.chosen(validation, kind, cards.choice_price(validation, kind, options.price))
    rows = [played("test", name, rule) for name, rule in chosen.items()]
    figures = {"score": kind, "left_out": found["left_out"], "seeds": seeds, "validation": validation, "rows": rows}
    return {**look, **figures}


def blocks(rule: dict[str, Any], seeds: Sequence[int], batch: int) -> list[Request]:
    """Requests for batches of episodes; they alone decide which episodes are played together."""
    parts = [list(seeds[i : i + batch]) for i in range(0, len(seeds), batch)]
    return [{"ask": "play", "with": {"rule": rule, "seeds": part}} for part in parts]
