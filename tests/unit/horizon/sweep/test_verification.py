"""A card with anything else in it than what was played is rejected, and the message says what."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("gymnasium")
from tests.refusals import refused
from tests.unit.horizon.sweep import toy

from recommit.cli import command_line
from recommit.horizon.sweep import (
    Rejected,
    SweepOptions,
    VerifyOptions,
    programs,
    run,
    verification,
    verify,
    worker,
)
from recommit.horizon.sweep import card as cards
from recommit.storage import verified

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAM = Path(toy.__file__).read_text(encoding="utf-8")


class Made:
    """A card, and the programs and files it was made with."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.program, self.weights = folder, folder / "toy.py", folder / "weights"
        self.program.write_text(PROGRAM)
        self.weights.mkdir()
        (self.weights / "w.bin").write_bytes(b"weights")
        names = {"env": f"{self.program}:make", "policy": f"{self.program}:Policy"}
        self.names = {**names, "files": (self.weights,)}
        self.path = folder / "out" / "card.json"
        given = {"episodes": 4, "validation": 2, "thresholds": 1, "depths": (1, 3), "latency": 1}
        self.options = SweepOptions(out=self.path.parent, **self.names, **given)
        self.given = {"files": (self.weights,)}
        self.card = run(self.options, env=toy.make, policy=toy.Policy())

    def verify(self, card: dict[str, Any] | None = None, **given: Any) -> int:
        path = self.path if card is None else self.folder / "other.json"
        if card is not None:
            path.write_text(cards.text(card))
        return verify(VerifyOptions(card=path, **given), env=toy.make, policy=toy.Policy())

    def forged(self, change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        """Another card whose digest, summary and choices fit again."""
        card = json.loads(self.path.read_text())
        change(card)
        rest = {name: value for name, value in card.items() if name not in ("digest", "summary", "best_fixed")}
        return cards.made(rest)


def at(*path: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    """Another value at a place of a card."""

    def change(card: Any) -> None:
        for each in path[:-1]:
            card = card[each]
        card[path[-1]] = value

    return change


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("verify"))


def test_a_card_is_accepted(made: Made) -> None:
    every = len(made.card["rows"]) * 4 + len(made.card["validation"]) * 2
    assert made.verify(**made.given, episodes=10_000) == every
    assert made.verify(**made.given, episodes=0) == 0
    assert 3 <= made.verify(**made.given, episodes=3) < every
    folder = VerifyOptions(card=made.path.parent, **made.given, episodes=0)
    assert verify(folder, env=toy.make, policy=toy.Policy()) == 0


def test_a_changed_byte_anywhere_is_rejected(made: Made) -> None:
    data, other = made.path.read_bytes(), made.folder / "changed.json"
    places = {data.index(b'"' + name.encode() + b'": ') + len(name) + 4 for name in made.card}
    for place in [*places, *range(0, len(data), 97), len(data) - 1]:
        for value in (data[place] ^ 1, ord(" ")):
            other.write_bytes(data[:place] + bytes([value]) + data[place + 1 :])
            if value != data[place]:
                with pytest.raises((Rejected, ValueError)):
                    verify(VerifyOptions(card=other, episodes=0), env=toy.make, policy=toy.Policy())
    other.write_bytes(data + b"\n")
    with pytest.raises(Rejected, match="its digest does not fit"):
        verify(VerifyOptions(card=other, episodes=0), env=toy.make, policy=toy.Policy())


@pytest.mark.parametrize(("field", "value"), [("queries", 1), ("total", 1e6), ("total", -1e6)])
def test_an_extreme_episode_is_always_played_again(made: Made, field: str, value: float) -> None:
    """One of thousands moves a mean by much."""
    card = made.forged(at("rows", 1, "outcomes", field, 3, value=value))
    if field == "total":
        card = cards.made({**card, "score": "return"})
    places = [{(row["name"], first) for row, first, _ in verification.sample(card, 1, seed)} for seed in range(9)]
    assert all(("fixed-3", 3) in each for each in places)


def played(made: Made, rule: dict[str, Any], seeds: list[int]) -> dict[str, list[Any]]:
    """What episodes of these seeds come to."""
    seat = worker.Seat(made.options, toy.make, toy.Policy())
    asked = [seat.answer({"ask": "play", "with": {"rule": rule, "seeds": [seed]}})["outcomes"] for seed in seeds]
    return cards.merged(asked)


def same_seeds(made: Made, card: dict[str, Any]) -> None:
    """One good episode, as often as it takes."""
    card["seeds"]["test"] = [card["seeds"]["test"][0]] * 4
    for row in card["rows"]:
        row["outcomes"] = played(made, row["rule"], card["seeds"]["test"])


def without(name: str) -> Callable[[dict[str, Any]], None]:
    """A card without what shows another row in a worse light."""

    def change(card: dict[str, Any]) -> None:
        for part in ("rows", "validation"):
            card[part] = [row for row in card[part] if row["name"] != name]
        card["left_out"][name] = "there was no time"

    return change


def test_a_card_has_what_its_sweep_has(made: Made) -> None:
    """Every episode of such a card may have been played, and yet it says something else than a sweep would; others have
    episodes that are impossible, or end otherwise when they are played again."""
    outcomes = ("rows", 0, "outcomes")
    changes = [
        (lambda card: same_seeds(made, card), "seeds: expected"),
        (without("fixed-3"), 'rows: expected {"depth": 3, "rule": "Fixed"}, which a sweep of this policy has'),
        (without("repetition"), '"rule": "Repetition"'),
        (at("batch", value=2), "batch: expected 2"),
        (at("note", value="the best there is"), "note: expected the best"),
        (at("policy", "name", value="Best"), "policy: expected Best"),
        (at("settings", "files", value=["/etc/passwd"]), "settings: expected"),
        (at("settings", "thresholds", value=10**9), "settings: thresholds: expected 0..1000"),
        (at("settings", "success", value=[]), "settings: success: expected str"),
        (at("settings", "env_kwargs", value='{"xml_file": "/x"}'), "arguments of the environment (--env-kwargs): "),
        (at(*outcomes, "queries", 0, value=-3000), "1 <= queries <= ticks"),
        (at(*outcomes, "ticks", 0, value=10**9), "<= ticks <= 10000"),
        (at(*outcomes, "success", 0, value=2), "success.0: expected"),
        (at(*outcomes, "total", 0, value=10**400), "total.0: expected a finite number"),
        (at("versions", "numpy", value="\x1b[2J"), "versions: expected names and versions"),
    ]
    for field in ("success", "total", "ticks", "queries"):
        was = made.card["rows"][0]["outcomes"][field][2]
        value = not was if field == "success" else was + (-1 if field == "queries" else 1)
        changes.append((at(*outcomes, field, 2, value=value), f"fixed-1, episode of seed 2: {field}: the card has"))
    checked = [(made.forged(change), what) for change, what in changes]
    for change, what in [  # a digest that fits, and a summary or a choice that does not
        (at("summary", 0, "score", 0, value=0.123), "summary: expected what follows"),
        (at("best_fixed", value="fixed-9"), "best_fixed: expected what follows"),
        (at("rows", -1, "rule", "tolerance", value=9.0), "rows: expected what follows"),
        (at("seeds", "test", value=[0, 1, 2]), "rows, fixed-1: expected an episode for each seed"),
    ]:
        card = json.loads(made.path.read_text())
        change(card)
        checked.append(({**card, "digest": verified.digest(card, "digest")}, what))
    verify_one = lambda card: lambda: made.verify(card, **made.given, episodes=10_000)
    refused([(verify_one(card), what) for card, what in checked], Rejected)


def test_thresholds_may_round_otherwise(made: Made) -> None:
    def change(card: dict[str, Any]) -> None:
        for row in [*card["validation"], *card["rows"]]:
            if "tolerance" in row["rule"]:
                row["rule"]["tolerance"] *= 1 + factor

    factor = 1e-12
    assert made.forged(change)["rows"] != made.card["rows"]
    assert made.verify(made.forged(change), **made.given, episodes=3) >= 3
    factor = 1e-3
    with pytest.raises(Rejected, match="rows: expected"):
        made.verify(made.forged(change), **made.given, episodes=3)


def test_nobody_knows_which_episodes_are_played_again(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever makes a card up need play honestly only those that are looked at, if he knows them."""
    drawn = []
    monkeypatch.setattr(verification, "sample", lambda _card, _episodes, seed: drawn.append(seed) or [])
    for _ in range(2):
        made.verify(**made.given)
    assert drawn[0] != drawn[1]


def test_another_program_file_or_code_is_named(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    checked = lambda **given: lambda: made.verify(episodes=0, **given)
    other = lambda env, policy: lambda: verify(VerifyOptions(card=made.path, **made.given), env=env, policy=policy)
    rows = [
        (checked(), "file weights/w.bin: expected "),
        (other(toy.make, Made), "policy: expected Policy, as the card has it, got Made"),
        (other(lambda: None, toy.Policy()), "env: expected make, as the card has it, got "),
    ]
    refused(rows, Rejected)
    with monkeypatch.context() as patch:
        patch.setattr(programs, "code", lambda: "other")
        refused([(checked(**made.given), "code of recommit.horizon: expected ")], Rejected)
    (made.weights / "w.bin").write_bytes(b"other")
    refused([(checked(**made.given), "file weights/w.bin has changed since the card was written")], Rejected)
    (made.weights / "w.bin").write_bytes(b"weights")


def test_the_command_rejects_other_programs_and_runs_none_that_a_card_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tyro")
    program = tmp_path / "toy.py"
    program.write_text(PROGRAM)
    names = {"env": f"{program}:make", "policy": f"{program}:Policy"}
    run(SweepOptions(out=tmp_path / "out", episodes=2, validation=1, thresholds=0, depths=(2,), **names))
    words = ["sweep", "verify", str(tmp_path / "out" / "card.json"), "--quiet"]
    given = [each for name, value in names.items() for each in (f"--{name}", value)]
    assert command_line.main([*words, *given]) == 0
    assert "accepted; 3 of its episodes were played again and ended alike" in capsys.readouterr().out
    assert command_line.main(words) == 2
    assert "policy: expected --policy with the program that the card calls toy.py:Policy" in capsys.readouterr().err
    assert command_line.main([*words, *given[2:]]) == 2
    assert "env: expected --env" in capsys.readouterr().err
    was, now = (hashlib.sha256(text.encode()).hexdigest()[:12] for text in (PROGRAM, PROGRAM + "\n"))
    program.write_text(PROGRAM + "\n")
    assert command_line.main([*words, *given]) == 1
    said = capsys.readouterr().err
    assert f"policy: toy.py has changed since the card was written: sha256 {was} then, {now} now" in said


@pytest.mark.parametrize("thresholds", [0, 2])
def test_a_policy_that_draws_without_a_seed_is_told_why(thresholds: int, tmp_path: Path) -> None:
    class Draws(toy.Policy):
        def __init__(self) -> None:
            super().__init__()
            self.generator = np.random.default_rng(0)

        def predict(self, observations: Any) -> Any:
            chunk = super().predict(observations)
            return chunk + self.generator.integers(0, 2, chunk.shape)

    policy = Draws()
    given = SweepOptions(out=tmp_path, episodes=3, validation=3, thresholds=thresholds, depths=(2, 3))
    run(given, env=toy.make, policy=policy)
    with pytest.raises(Rejected, match="; a policy or an environment that draws without a seed cannot be verified"):
        verify(VerifyOptions(card=tmp_path, episodes=100), env=toy.make, policy=policy)
