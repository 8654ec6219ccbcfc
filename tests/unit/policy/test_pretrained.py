"""The policies of the package are what their cards say, and are read by their names wherever a folder is taken."""

from __future__ import annotations

import json

import pytest

torch = pytest.importorskip("torch")

import numpy as np
from bench.pages.pretrained import save_compact

import recommit
from recommit.cli import main
from recommit.evaluate import EvaluateOptions, evaluate
from recommit.policy import pretrained
from recommit.policy.checkpoint import local_folder, weights_of
from recommit.runs.directory import recipe_of
from recommit.storage import verified

NAMES = pretrained.names()


@pytest.mark.parametrize("name", NAMES)
def test_its_files_are_those_of_its_card_and_small(name):
    folder = pretrained.FOLDER / name
    verified.verify(folder)
    card = pretrained.card(name)
    assert weights_of(local_folder(name)) == card["weights"]
    # Of 10x10 boards z reads 225 cells around its place, and a world model is as large again.
    assert sum(path.stat().st_size for path in folder.rglob("*")) < (5e6 if "10x10" in name else 3e6)


@pytest.mark.parametrize("name", NAMES)
def test_it_plays_as_its_card_says(name, tmp_path):
    """On another processor sums may round otherwise and turn a plan; a policy that lost its training solves nothing."""
    check = pretrained.card(name)["check"]
    rows = evaluate(EvaluateOptions(name, tmp_path, ("adaptive",), instances=check["instances"]))
    for row, kept in zip(rows, check["rows"], strict=True):
        assert (row["agent"], row["budget"]) == (kept["agent"], kept["budget"])
        assert abs(row["solved"] - kept["solved"]) <= 2
        assert row["actions_per_episode"] == pytest.approx(kept["actions_per_episode"], rel=0.05)


@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_one_is_noticed_by_the_figures(name):
    """The defect that the test above is for: weights that load and are others."""
    policy = recommit.CommitPolicy.from_pretrained(name)
    check = pretrained.card(name)["check"]
    task = recipe_of(name).puzzle()
    output = policy.decoder.outputs[policy.task_index(task)]
    with torch.no_grad():
        output.weight.copy_(output.weight.flip(0))
    states = task.generate(check["instances"], seed=0, length=(8, 16)).states
    honest = recommit.CommitPolicy.from_pretrained(name).act(task, states)[1][:, 0]
    spoiled = policy.act(task, states)[1][:, 0]
    optimal = task.optimal_actions(states)
    rows = np.arange(len(states))
    assert optimal[rows, honest].mean() > 0.8 > optimal[rows, spoiled].mean()


def test_what_is_saved_in_half_precision_is_the_policy_to_the_bit(tmp_path):
    policy = recommit.CommitPolicy.from_pretrained(NAMES[0])
    with torch.no_grad():
        policy.decoder.outputs[0].weight.mul_(1 / 3)
    save_compact(policy, tmp_path / "policy")
    again = recommit.CommitPolicy.from_pretrained(tmp_path / "policy")
    for (name, here), there in zip(policy.named_parameters(), again.parameters(), strict=True):
        assert here.dtype == there.dtype == torch.float32, name
        assert torch.equal(here, there), name


def test_a_folder_that_is_called_so_goes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / NAMES[0]).mkdir()
    assert local_folder(NAMES[0]) == tmp_path.joinpath(NAMES[0]).relative_to(tmp_path)


def test_the_verb_prints_the_cards(capsys):
    assert main(["policies"]) == 0
    table = capsys.readouterr().out
    assert main(["policies", "--json"]) == 0
    cards = json.loads(capsys.readouterr().out)
    assert sorted(cards) == NAMES
    for name, card in cards.items():
        rate = next(r["solve_rate"] for r in card["figures"] if (r["agent"], r["budget"]) == ("adaptive", "loose"))
        line = next(line for line in table.splitlines() if line.startswith(f"| {name} "))
        assert f"{100 * rate:.1f}" in line
