"""DeepSpeed at ZeRO 1, 2 and 3 on one device, with LoRA and both tasks, against plain PyTorch; what it saves, loads."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("deepspeed", reason="needs the deepspeed extra")
yaml = pytest.importorskip("yaml")

from tests.gpu.plans import DECODER, RUN, SHAPE
from tests.invariant import rank_jobs
from tests.unit.train.runs import lines

import recommit
from recommit.policy.policy import CommitPolicy
from recommit.runs.directory import best_policy

#: By loss, over six steps: DeepSpeed divides and adds in another order.
LIMIT = 2e-4


def recipe(device):
    policy = {"prompts": ["bare-v1", "bare-v1"], "decoder": DECODER, "lora": {"dropout": 0.0}}
    return {
        "sft": {
            "model": {"backbone": "random:small", "shape": SHAPE, "policy": policy},
            "optim": {"steps": 6, "batch": 16, "micro_batch": 4, "warmup": 2, "lr": 1e-3, "decoder_lr": 1e-3},
            "validation": {"instances": 8, "every": 6, "budget": 3},
            "run": {**RUN, "save_every": 6, "device": device.type},
        }
    }


def run(place, data, device, stage):
    """Losses of a run in ``place / stage``; DeepSpeed's in a process of its own."""
    (place / "plan.yaml").write_text(yaml.safe_dump(recipe(device)))
    zero = [] if stage.startswith("plain") else ["engine.kind=deepspeed", f"engine.stage={stage}"]
    job = rank_jobs.Job("sft", str(place / "plan.yaml"), str(data), str(place / stage), zero)
    if zero:
        rank_jobs.well(rank_jobs.run([job], 1, place))
    else:
        assert rank_jobs.train(job) == 0
    return [line["loss"] for line in lines(place / stage)]


def played(place, stage, device):
    """What the saved policy decides."""
    policy = CommitPolicy.from_pretrained(best_policy(place / stage)).eval().to(device)
    task = recommit.Sliding(2, 3)
    with torch.no_grad():
        return policy.encode(task, task.generate(8, seed=5).states)


def check(place, data, device, stage):
    plain, staged = run(place, data, device, "plain"), run(place, data, device, stage)
    assert len(plain) == 6
    assert max(abs(a - b) / b for a, b in zip(staged, plain, strict=True)) <= LIMIT, (staged, plain)
    torch.testing.assert_close(*(played(place, each, device) for each in (stage, "plain")), rtol=1e-2, atol=1e-2)


@pytest.mark.nightly
@pytest.mark.parametrize("stage", ["1", "2", "3"])
def test_a_stage_equals_plain(device, data, tmp_path, stage):
    check(tmp_path, data, device, stage)


def test_another_learning_rate_is_noticed(data, tmp_path, monkeypatch):
    made, calls = recipe(torch.device("cpu")), []

    def other(_device):
        calls.append(None)
        made["sft"]["optim"]["lr"] = 1e-3 / len(calls)
        return made

    monkeypatch.setitem(globals(), "recipe", other)
    with pytest.raises(AssertionError):
        check(tmp_path, data, torch.device("cpu"), "plain again")
