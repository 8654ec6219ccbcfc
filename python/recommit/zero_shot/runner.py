"""A run in its folder: workers that play, one journal, and figures whenever it ends, however it ends.

    decide    the picture of a state and the prompt (``player``, ``game``)
    ask       within the caps (``ledger``), with retries, over a bounded connection (``client``, ``transport``)
    read      the text: a commitment, or the one reason why it is none (``parser``)
    write     the answer into the journal; only then is it carried out, so that no kill asks a second time

Each worker thread does this for one episode at a time. A start of the command restores what earlier ones left, answers
and money spent, and plays the rest.

manifest.json      what decides the answers; a folder holds one such spec
decisions.jsonl    the journal and the transcripts: one line per answered decision, on the disk before it is carried out
attempts.jsonl     every request before it was sent, and every failure
episodes.jsonl     one line per episode
summary.json       the figures
DIGESTS            sha256 of all of these once everything is played, checked where they are read
"""

from __future__ import annotations

import contextlib
import json
import threading
from typing import TYPE_CHECKING, Any

from recommit.storage import files, jsonl, verified
from recommit.storage.errors import DataError
from recommit.storage.jsonl import JsonLines
from recommit.storage.lock import Lock
from recommit.storage.terminal_text import say
from recommit.zero_shot import player, spec, summary
from recommit.zero_shot.client import Client, Server
from recommit.zero_shot.ledger import GaveUp, Ledger, StopRequested, Unusable

if TYPE_CHECKING:
    from recommit.puzzles.puzzle import Instances
    from recommit.zero_shot.options import ZeroShotOptions
    from recommit.zero_shot.player import Episode, ModelPlayer

#: This many episodes in a row without answers mean that the server is gone.
STRIKES = 8
SEALED = (spec.MANIFEST, "decisions.jsonl", "attempts.jsonl", "episodes.jsonl", "summary.json")


class ZeroShotRun:
    """A run that may begin: once this is made, a ``ValueError`` has named whatever is wrong with ``options``, and
    nothing has been written or sent."""

    def __init__(self, options: ZeroShotOptions) -> None:
        self.options, self.server = options, Server.of(options)
        self.spec = spec.ZeroShotSpec.of(options)
        self.starts = self.spec.starts()

    def run(self, *, quiet: bool = False) -> list[dict[str, Any]]:
        """Play what is left; the summary. Whatever ends it early, the folder can be gone on with."""
        options, out, disk = self.options, self.options.out, files.Files()
        files.make_folders(disk, out)
        with Lock(out, work="zero-shot run"):
            files.sweep(disk, out)
            if verified.verify(out):
                verified.write_digests(disk, out, {})
            spec.keep(self.spec.manifest(self.starts), out)
            attempts, decisions = jsonl.read(out / "attempts.jsonl"), jsonl.read(out / "decisions.jsonl")
            with (
                JsonLines(out / "attempts.jsonl", disk, finite=True) as log,
                JsonLines(out / "decisions.jsonl", disk, finite=True) as journal,
            ):
                most = self.server.endpoint.answer_tokens
                ledger = Ledger(options.max_requests, options.max_tokens, log, most, threading.Event())
                plays = player.ModelPlayer(self.spec, self.starts, Client(options, self.server, ledger).ask, journal)
                plays.restore(decisions)
                ledger.restore(attempts, decisions)
                rows = _Workers(self, plays, ledger, quiet=quiet).go(options.workers)
            if not rows[0]["infra_errors"]:
                verified.seal(disk, out, SEALED)
            return rows


def zero_shot(options: ZeroShotOptions, *, quiet: bool = True) -> list[dict[str, Any]]:
    """Let a vision-language model play through an API, or go on with such a run; the rows of ``summary.json``."""
    return ZeroShotRun(options).run(quiet=quiet)


class _Workers:
    """The workers of one start: threads, and none of an executor, which would be waited for where a second Ctrl-C ends
    everything at once."""

    def __init__(self, run: ZeroShotRun, plays: ModelPlayer, ledger: Ledger, *, quiet: bool) -> None:
        self.run, self.player, self.ledger, self.quiet = run, plays, ledger, quiet
        starts: Instances = run.starts
        self.episodes = [player.Episode(i, starts.ids[i], int(starts.length[i])) for i in range(len(starts))]
        self.waiting = iter(self.episodes)
        self.failure: BaseException | None = None
        self._playing, self._strikes, self._ended = 0, 0, 0
        self._done = threading.Event()
        self._lock = threading.Lock()

    def go(self, workers: int) -> list[dict[str, Any]]:
        """Play, and write the figures also if that ends early."""
        self._playing = workers
        for _ in range(workers):
            threading.Thread(target=self._work, daemon=True).start()
        try:
            self._wait_for_all()
        except BaseException:
            with contextlib.suppress(DataError):  # the first failure is what matters
                self._write()
            raise
        return self._write()

    def _wait_for_all(self) -> None:
        try:
            self._wait()
        except KeyboardInterrupt:
            self.ledger.stop.set()
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
            while not self.ledger.stop.is_set() and (episode := next(self.waiting, None)) is not None:
                self._play(episode)
        except StopRequested:
            pass
        except BaseException as error:  # noqa: BLE001  (the main thread raises it)
            self.failure = self.failure or error
            self.ledger.stop.set()
        with self._lock:
            self._playing -= 1
            if not self._playing:
                self._done.set()

    def _play(self, episode: Episode) -> None:
        try:
            self.player.play(episode)
        except GaveUp as error:
            episode.infra = str(error)
        with self._lock:
            self._strikes = self._strikes + 1 if episode.infra else 0
            self._ended += 1
            strikes, ended = self._strikes, self._ended
        ledger, ending = self.ledger, "solved" if episode.steps and episode.steps[-1].solved else "not solved"
        spent = f"{ledger.requests:,} requests, {ledger.tokens_in + ledger.tokens_out:,} tokens"
        ending = "infra error" if episode.infra else ending
        self._say(f"{ended} of {len(self.episodes)}: {episode.instance} {ending}, {spent}")
        if strikes >= STRIKES:
            raise Unusable(f"{strikes} episodes in a row got no answers, the last: {episode.infra}")

    def _say(self, text: str) -> None:
        if not self.quiet:
            say(text)

    def _write(self) -> list[dict[str, Any]]:
        out, disk = self.run.options.out, files.Files()
        rooms = self.run.starts.rooms if isinstance(self.run.starts, spec.HeldOutInstances) else None
        spent = {name: getattr(self.ledger, name) for name in ("requests", "tokens_in", "tokens_out")}
        rows = [row | spent for row in summary.rows(self.run.spec, self.episodes, rooms)]
        lines = "".join(json.dumps(row) + "\n" for row in summary.episode_rows(self.episodes))
        files.replace(disk, out / "episodes.jsonl", lines.encode())
        files.replace(disk, out / "summary.json", (json.dumps(rows, indent=2, allow_nan=False) + "\n").encode())
        return rows
