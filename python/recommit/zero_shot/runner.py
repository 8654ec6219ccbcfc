"""A run in its folder: workers that play, one journal, and figures whenever it ends, however it ends.

    decide    the picture of a state and the prompt (``player``, ``prompt``)
    ask       within the caps (``ledger``), with retries, over a bounded connection (``http/client``, ``http/wire``)
    read      the text: a commitment, or the one reason why it is none (``parser``)
    write     the answer into the journal; only then is it carried out, so that no kill asks a second time

Each worker thread does this for one episode at a time. A start of the command restores what earlier ones left, answers
and money spent, and plays the rest.

manifest.json      what decides the answers, and how the model was sampled; a folder holds one such spec
decisions.jsonl    the journal and the transcripts: one line per answered decision, on the disk before it is carried out
attempts.jsonl     every request before it was sent, every failure, and every parameter that was refused
episodes.jsonl     one line per episode
summary.json       the figures
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from recommit.storage import files, jsonl, reading
from recommit.storage.errors import DataError
from recommit.storage.jsonl import JsonLines
from recommit.storage.lock import Lock
from recommit.storage.terminal_text import say
from recommit.zero_shot import figures
from recommit.zero_shot.errors import GaveUp, StopRequested, Unusable
from recommit.zero_shot.http.cache import Cache
from recommit.zero_shot.http.client import Client, Service, StoppableClock
from recommit.zero_shot.http.parameters import Parameters, sampling
from recommit.zero_shot.ledger import Caps, Ledger
from recommit.zero_shot.player import Episode, ModelPlayer
from recommit.zero_shot.spec import MANIFEST, Named, keep

if TYPE_CHECKING:
    from pathlib import Path

    from recommit.puzzles.instances import Instances
    from recommit.zero_shot.spec import ZeroShotSpec

#: So many episodes in a row that get no answers mean that the server is gone.
STRIKES = 8


@dataclass(frozen=True)
class RunLimits:
    """What may change when a run goes on."""

    caps: Caps = field(default_factory=Caps)
    workers: int = 4
    cache: Path | None = None


def run(
    spec: ZeroShotSpec,
    starts: Instances,
    service: Service,
    parameters: Parameters,
    out: Path,
    limits: RunLimits,
    *,
    clock: StoppableClock | None = None,
    quiet: bool = False,
    player: type[ModelPlayer] = ModelPlayer,
) -> list[dict[str, Any]]:
    """Play what is left of a spec on its instances; the summary. Whatever ends it early, the folder can be gone on
    with."""
    disk = files.Files()
    files.make_folders(disk, out)
    with Lock(out, work="zero-shot run"):
        files.sweep(disk, out)
        keep(spec.manifest(starts), out)
        attempts, decisions = jsonl.read(out / "attempts.jsonl"), jsonl.read(out / "decisions.jsonl")
        with (
            JsonLines(out / "attempts.jsonl", disk, finite=True) as log,
            JsonLines(out / "decisions.jsonl", disk, finite=True) as journal,
        ):
            clock = clock or StoppableClock()
            answer_tokens = int(spec.parameters["answer_tokens"])
            ledger = Ledger(limits.caps, log, answer_tokens, clock.stop)
            client = Client(service, parameters, ledger, cache=Cache(limits.cache), clock=clock, seed=spec.seed)
            plays = player(
                spec.puzzle(),
                starts,
                client.ask,
                journal,
                budget=spec.budget,
                cell=spec.cell,
                lenient=spec.lenient,
                moves=spec.moves,
            )
            plays.restore(decisions)
            ledger.restore(attempts, decisions)
            parameters.restore(attempts)
            return _Run(spec, plays, client, starts, out, quiet=quiet).go(limits.workers)


class _Run:
    """The workers of one start."""

    def __init__(
        self, spec: ZeroShotSpec, player: ModelPlayer, client: Client, starts: Instances, out: Path, *, quiet: bool
    ) -> None:
        self.spec, self.player, self.client, self.out, self.quiet = spec, player, client, out, quiet
        self.stop = client.clock.stop
        self.episodes = [Episode(i, starts.ids[i], int(starts.length[i])) for i in range(len(starts))]
        self.rooms = starts.rooms if isinstance(starts, Named) else None
        self.waiting = deque(self.episodes)
        self.failure: BaseException | None = None
        self._playing, self._strikes, self._ended = 0, 0, 0
        self._done = threading.Event()
        self._lock = threading.Lock()

    def go(self, workers: int) -> list[dict[str, Any]]:
        """Play, and write the figures also if that ends early."""
        try:
            self._drive([threading.Thread(target=self._work, daemon=True) for _ in range(workers)])
        except BaseException:
            with contextlib.suppress(DataError):  # the first failure is what matters
                self._write()
            raise
        return self._write()

    def _drive(self, threads: list[threading.Thread]) -> None:
        self._playing = len(threads)
        for thread in threads:
            thread.start()
        try:
            self._wait()
        except KeyboardInterrupt:
            self.stop.set()
            self._say("interrupted: waiting for the answers that are under way; once more ends at once")
            self._wait()
            raise
        if self.failure is not None:
            raise self.failure

    def _wait(self) -> None:
        # Not join(), which takes a thread for ended if Ctrl-C comes meanwhile; with a limit, so that Ctrl-C is heard.
        while not self._done.wait(0.2):
            continue

    def _work(self) -> None:
        try:
            while not self.stop.is_set() and (episode := self._next()) is not None:
                self._play(episode)
        except StopRequested:
            pass
        except BaseException as error:  # noqa: BLE001  (the main thread raises it)
            self.failure = self.failure or error
            self.stop.set()
        with self._lock:
            self._playing -= 1
            if not self._playing:
                self._done.set()

    def _next(self) -> Episode | None:
        with self._lock:
            return self.waiting.popleft() if self.waiting else None

    def _play(self, episode: Episode) -> None:
        try:
            self.player.play(episode)
        except GaveUp as error:
            episode.infra = str(error)
        with self._lock:
            self._strikes = self._strikes + 1 if episode.infra else 0
            self._ended += 1
            strikes, ended = self._strikes, self._ended
        self._say(f"{ended} of {len(self.episodes)}: {episode.instance} {_ending(episode)}, {self._spent()}")
        if strikes >= STRIKES:
            raise Unusable(f"{strikes} episodes in a row got no answers, the last: {episode.infra}")

    def _spent(self) -> str:
        ledger = self.client.ledger
        tokens = ledger.spent.tokens_in + ledger.spent.tokens_out
        money = f", {ledger.money:.2f} spent" if ledger.caps.price_in or ledger.caps.price_out else ""
        return f"{ledger.spent.requests:,} requests, {tokens:,} tokens{money}"

    def _say(self, text: str) -> None:
        if not self.quiet:
            say(text)

    def _write(self) -> list[dict[str, Any]]:
        summary = figures.summary(self.spec, self.episodes, self.rooms)
        spent = self.client.ledger.spent
        for row in summary:
            row["requests"], row["tokens_in"], row["tokens_out"] = spent.requests, spent.tokens_in, spent.tokens_out
            row["money"], row["lessons"] = (
                self.client.ledger.money,
                [str(lesson) for lesson in self.client.parameters.lessons],
            )
        note(self.out, self.spec.parameters)
        episode_lines = "".join(json.dumps(row) + "\n" for row in figures.rows(self.episodes))
        disk = files.Files()
        files.replace(disk, self.out / "episodes.jsonl", episode_lines.encode())
        files.replace(disk, self.out / "summary.json", (json.dumps(summary, indent=2, allow_nan=False) + "\n").encode())
        return summary


def note(out: Path, parameters: dict[str, Any]) -> None:
    """Add to the manifest how the model was really sampled, over all starts of the run."""
    path = out / MANIFEST
    manifest = reading.values(out, MANIFEST)
    manifest["sampling"] = sampling(parameters, jsonl.read(out / "attempts.jsonl"), jsonl.read(out / "decisions.jsonl"))
    files.replace(files.Files(), path, (json.dumps(manifest, indent=2) + "\n").encode())


def _ending(episode: Episode) -> str:
    if episode.infra:
        return "infra error"
    return "solved" if episode.steps and episode.steps[-1].solved else "not solved"
