from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("torch", reason="training needs the train extra")
pytest.importorskip("transformers", reason="training needs the train extra")
pytest.importorskip("pyarrow", reason="training needs the data extra")


@pytest.fixture(autouse=True)
def one_thread():
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """A small data set of 2x3 boards."""
    from recommit.data import Recipe, Variant, build

    folder = tmp_path_factory.mktemp("data") / "sliding"
    build(Recipe("sliding", (2, 3), (Variant((4, 14)),), count=60, ties="random"), folder)
    return folder


@pytest.fixture(scope="session")
def plan():
    """The configuration of a short run of a model that takes milliseconds per step."""
    from recommit.train.config import SftConfig, parse

    shape = {"width": 32, "layers": 2, "heads": 2, "kv_heads": 2, "ffn": 64}
    vision = {"vision_width": 16, "vision_heads": 1, "vision_ffn": 32}
    decoder = {"width": 32, "layers": 1, "heads": 2, "ffn": 64}
    return parse(
        SftConfig,
        {
            "model": {
                "backbone": "random:small",
                "shape": {**shape, **vision},
                "policy": {"lora": None, "prompts": ["bare-v1", "bare-v1"], "decoder": decoder},
            },
            "optim": {"steps": 8, "batch": 16, "warmup": 2, "lr": 1e-3, "head_lr": 1e-3},
            "validation": {"instances": 8, "every": 4, "budget": 5},
            "run": {"save_every": 2, "log_every": 1, "threads": 1, "tensorboard": False},
        },
    )


@pytest.fixture(scope="session")
def init(plan, data, tmp_path_factory):
    """A warm start that plays a little."""
    from recommit.train import sft

    out = tmp_path_factory.mktemp("init") / "run"
    longer = replace(plan, optim=replace(plan.optim, steps=40, batch=32, lr=3e-3, head_lr=3e-3))
    assert sft.train(replace(longer, run=replace(longer.run, save_every=40)), data, out, quiet=True) == 0
    return out
