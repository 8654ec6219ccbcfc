"""A family of runs: every variant with every seed, each a command of its own."""

from __future__ import annotations

import shlex

import pytest

pytest.importorskip("torch")

from recommit.cli import main
from recommit.train.families import member
from recommit.train.options import FamilyOptions, GrpoOptions

SOME = {"recipe": "laptop-sliding", "init": "run", "out": "family"}


def commands(**options):
    return [shlex.join(job.words) for job in FamilyOptions(**{**SOME, **options}).jobs_of_family()]


def test_every_variant_has_every_seed():
    made = commands(variants=("adaptive", "paper"), seeds=(0, 5), budgets=(4,), wandb="mine", set=("run.keep=3",))
    names = [command.partition(" --out ")[2].split()[0] for command in made]
    assert names == [f"family/{name}-k4-s{seed}" for seed in (0, 5) for name in ("adaptive", "paper")]
    assert made[0] == (
        "train grpo --recipe laptop-sliding --init run --set run.keep=3 --variant adaptive --budget 4 --seed 0 "
        "--out family/adaptive-k4-s0 --wandb mine"
    )


def test_a_variant_has_what_the_recipe_says_of_it():
    fixed, paper, own = (GrpoOptions("laptop-sliding", variant=name).config() for name in ("fixed-4", "paper", None))
    assert (fixed.variant, fixed.head, fixed.phases, fixed.optim.steps) == ("fixed-4", None, (), 70)
    assert (paper.variant, paper.advantage.estimator, own.variant) == ("adaptive", "state", "adaptive")
    changed = GrpoOptions("laptop-sliding", variant="fixed-4", set=("optim.steps=3",), budget=7).config()
    assert (changed.optim.steps, changed.rollout.budget) == (3, 7)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variants": ("fixed-17",)}, "variant: expected"),
        ({"variants": ("nothing",)}, "variant: expected"),
        ({"set": ("optim.rate=1",), "variants": ("adaptive",)}, "optim: expected fields of"),
        ({"steps": 3, "variants": ("adaptive",)}, "phases: expected optim.steps 3 in all, got 38"),
        ({"gpus": 2, "device": "cpu", "variants": ("random",)}, "gpus-per-run: expected 1 for random with engine.kind"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_anything_is(options, message):
    with pytest.raises(ValueError, match=message):
        commands(**options)


@pytest.mark.parametrize("name", ["../../x", "/tmp/x", "..", "a/b", "x" * 65])
def test_no_run_lies_outside_its_family(name, tmp_path):
    """A recipe names runs."""
    with pytest.raises(ValueError, match="variants: expected names of letters"):
        member(tmp_path, name, 0)


@pytest.mark.parametrize(
    "words",
    [
        ["--variant", "fixed-4", "--set", "phases=[{steps: 70, head_updates: 1}]"],
        ["--set", "advantage.estimator=state"],
        ["--steps", "3"],
    ],
)
def test_a_recipe_that_does_not_fit_is_refused_with_what_does(words, capsys):
    """Nothing of it is left out unseen."""
    call = ["train", "grpo", "--recipe", "laptop-sliding", "--show"]
    seen = set()
    while main([*call, *words]) == 2:
        said = capsys.readouterr().err
        more = shlex.split(said.partition("--set ")[2])[0]
        assert more not in seen, said
        seen.add(more)
        words = [*words, *([] if "--set" in words else ["--set"]), more]
        assert len(seen) < 4
    assert seen
