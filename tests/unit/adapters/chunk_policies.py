"""Policies with the signatures of LeRobot's and openpi's abstract classes, which number all that they predict."""

from __future__ import annotations

import numpy as np

CHUNK = 6


class Numbers:
    """Counts chunks and remembers which rows asked."""

    def __init__(self):
        self.count = 0
        self.asked = []
        self.resets = 0

    def chunks(self, ids):
        """[B, CHUNK, 2] actions (id, number), never the same number twice."""
        self.asked.append([int(each) for each in ids])
        numbers = self.count + np.arange(len(ids) * CHUNK, dtype=np.float32).reshape(len(ids), CHUNK)
        self.count += numbers.size
        return np.stack([np.broadcast_to(np.asarray(ids, np.float32)[:, None], numbers.shape), numbers], axis=2)


class OpenpiPolicy(Numbers):
    """``openpi_client.base_policy.BasePolicy``."""

    def infer(self, obs: dict) -> dict:
        """Actions [CHUNK, 2], a timing and an array of another length."""
        chunk = self.chunks([obs["id"]])[0]
        return {"actions": chunk, "timing": {"infer_ms": 1.5, "places": np.arange(CHUNK)}, "state": np.zeros(4)}

    def reset(self) -> None:
        self.resets += 1


def lerobot_policy():
    """``lerobot.policies.pretrained.PreTrainedPolicy``: its abstract methods, as in 0.4 and 0.6."""
    import torch
    from torch import Tensor, nn

    class Policy(nn.Module, Numbers):
        name = "numbers"

        def __init__(self):
            nn.Module.__init__(self)
            Numbers.__init__(self)
            self.weight = nn.Parameter(torch.ones(1))

        def get_optim_params(self) -> dict:
            return {"weight": self.weight}

        def reset(self):
            self.resets += 1

        def forward(self, batch: dict[str, Tensor]) -> tuple[Tensor, dict | None]:  # noqa: ARG002
            return self.weight.sum(), None

        def predict_action_chunk(self, batch: dict[str, Tensor], **kwargs) -> Tensor:  # noqa: ARG002
            assert len(batch["task"]) == len(batch["id"])
            return torch.from_numpy(self.chunks(batch["id"].tolist())).double()

        def select_action(self, batch: dict[str, Tensor], **kwargs) -> Tensor:  # noqa: ARG002
            raise AssertionError("its own queue is not used")

    return Policy()
