"""Configuration files of DeepSpeed: what of them arrives, and what cannot be asked."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch")

from recommit.train.config import EngineConfig, OptimConfig
from recommit.train.engine.deepspeed_config import changes, merged, names, settings


def told(name):
    """What DeepSpeed is told in the end."""
    found = {path.removeprefix("engine."): value for path, value in changes(name).items()}
    return settings(EngineConfig(**found), OptimConfig(batch=64, clip=0.5), 4, 2)


def written(folder, values):
    path = folder / "file.json"
    path.write_text(values if isinstance(values, str) else json.dumps(values))
    return str(path)


def test_the_package_has_every_stage_with_and_without_offload():
    assert names() == [f"zero{stage}{more}" for stage in (1, 2, 3) for more in ("", "-offload")]


@pytest.mark.parametrize("name", names())
def test_the_files_of_the_package_arrive_whole(name):
    found, zero = told(name), told(name)["zero_optimization"]
    assert found["bf16"] == {"enabled": True}
    assert zero["stage"] == int(name[4])
    assert zero["overlap_comm"] is True
    assert ("offload_optimizer" in zero) == name.endswith("-offload")
    if name.endswith("-offload"):
        assert zero["offload_optimizer"] == {"device": "cpu", "pin_memory": True}
        assert ("offload_param" in zero) == (name[4] == "3")
    assert found["gradient_clipping"] == 0.5
    assert found["train_micro_batch_size_per_gpu"] * found["gradient_accumulation_steps"] * 2 == 64
    assert zero.get("stage3_param_persistence_threshold", 0) == 0


def test_deepspeed_itself_reads_them():
    pytest.importorskip("deepspeed")
    from deepspeed.runtime.config import DeepSpeedConfig

    for name in names():
        values = {k: v for k, v in told(name).items() if k != "train_micro_batch_size_per_gpu"}
        read = DeepSpeedConfig({**values, "train_batch_size": values["gradient_accumulation_steps"]})
        assert read.zero_optimization_stage == int(name[4])
        assert read.zero_config.reduce_bucket_size == 200_000_000


def test_what_a_run_decides_may_only_be_auto(tmp_path):
    values = {"train_batch_size": "auto", "zero_optimization": {"stage": 2, "reduce_bucket_size": "auto"}}
    assert changes(written(tmp_path, values)) == {
        "engine.kind": "deepspeed",
        "engine.stage": 2,
        "engine.bf16": False,
        "engine.offload": False,
        "engine.settings": {},
    }


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"optimizer": {"type": "Adam"}}, r"expected no optimizer in .* \(the recipe decides it\)"),
        (
            {"zero_optimization": {"stage3_param_persistence_threshold": 9}},
            "expected no zero_optimization.stage3_param",
        ),
        ({"fp16": {"enabled": True}}, "expected none of fp16, .* got fp16"),
        ({"zero_optimization": {"stage": 3, "offload_param": {"device": "nvme"}}}, "offload_param.device cpu or none"),
        ({"zero_optimization": {"stage": 3, "offload_param": {"device": "cpu"}}}, "expected all of offload_optimizer"),
        ({"zero_optimization": {"stage": 2, "offload_param": {"device": "cpu"}}}, "got offload_param"),
        ("[1]", "expected DeepSpeed's configuration"),
        ("{", "expected JSON"),
    ],
)
def test_what_cannot_be_asked_says_so(values, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        changes(written(tmp_path, values))


def test_fp16_switched_off_is_fine(tmp_path):
    assert changes(written(tmp_path, {"fp16": {"enabled": False}}))["engine.settings"] == {}


def test_our_own_values_win_and_details_of_no_offload_are_dropped():
    own = {"a": 1, "zero": {"stage": 1}}
    more = {"a": 2, "b": 3, "zero": {"stage": 3, "offload_optimizer": {"pin_memory": True}, "bucket": 5}}
    assert merged(own, more) == {"a": 1, "b": 3, "zero": {"stage": 1, "bucket": 5}}


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ({"csv_monitor": {"enabled": True, "output_path": "/"}}, "csv_monitor"),
        ({"wandb": {"enabled": True}}, "wandb"),
        ({"flops_profiler": {"enabled": True, "output_file": "/etc/profile"}}, "flops_profiler.output_file"),
        ({"zero_optimization": {"offload_param": {"nvme_path": "/"}}}, "zero_optimization.offload_param.nvme_path"),
        ({"autotuning": {"enabled": True, "results_dir": "x"}}, "autotuning"),
    ],
)
def test_a_recipe_writes_and_sends_nothing_beside_the_run(more, name):
    """It may be a stranger's."""
    engine = EngineConfig(kind="deepspeed", settings=more)
    with pytest.raises(ValueError, match=rf"engine\.settings\.{name}: expected nothing that writes or sends"):
        settings(engine, OptimConfig(), 1, 1)


def test_what_is_switched_off_is_fine():
    off = {"tensorboard": {"enabled": False}, "flops_profiler": {"enabled": True, "output_file": None}}
    assert settings(EngineConfig(kind="deepspeed", settings=off), OptimConfig(), 1, 1)["flops_profiler"]["enabled"]


def made(**engine):
    return settings(EngineConfig(kind="deepspeed", **engine), OptimConfig(batch=64), 4, 2)


def test_parts_and_ranks_make_a_batch():
    found = made(stage=3, bf16=True)
    assert found["train_micro_batch_size_per_gpu"] * found["gradient_accumulation_steps"] * 2 == 64
    assert found["zero_optimization"]["stage"] == 3
    assert found["bf16"]["enabled"]


def test_offload_keeps_our_optimizer():
    found = made(stage=3, offload=True)
    assert found["zero_optimization"]["offload_param"] == {"device": "cpu"}
    assert found["zero_force_ds_cpu_optimizer"] is False


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stage": 0, "bf16": True}, r"engine\.stage: expected 1, 2 or 3 with engine\.bf16, got 0"),
        ({"stage": 0, "offload": True}, r"engine\.offload: expected stage 1, 2 or 3, got 0"),
    ],
)
def test_traps_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        made(**options)


def test_the_plain_engine_has_no_such_options():
    with pytest.raises(ValueError, match=r"engine\.kind: expected deepspeed with"):
        EngineConfig(bf16=True)
    with pytest.raises(ValueError, match=r"engine\.stage: expected 0, 1, 2 or 3, got 4"):
        EngineConfig(stage=4)
