"""An environment for VAGEN's trainer, by the methods of its ``GymImageEnv``: VAGEN itself is not imported.

In its ``env_registry.yaml``: ``VagenPuzzle: recommit.adapters.vagen.VagenPuzzle``. The values of ``env_config`` are the
fields of ``recommit.zero_shot.game_spec.GameSpec``, and ``split``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recommit.zero_shot.game_spec import GameSpec

if TYPE_CHECKING:
    from recommit.zero_shot.game import Game

#: Stands in a text where the picture belongs.
IMAGE = "<image>"


class VagenPuzzle:
    """One game after another; the seed of a reset is the number of its instance."""

    def __init__(self, env_config: dict[str, Any]) -> None:
        fields = dict(env_config)
        self.split = str(fields.pop("split", "train"))
        self.spec = GameSpec(**fields)
        self.game: Game | None = None

    async def system_prompt(self) -> dict[str, Any]:
        """What stands before the first look."""
        return {"obs_str": self.spec.of_state(self.spec.starts(self.split).states[0]).observe().system}

    async def reset(self, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """The first look, and nothing more to say."""
        self.game = self.spec.game(self.split, seed % self.spec.count)
        return self._shown(self.game), {}

    async def step(self, action_str: str) -> tuple[dict[str, Any], float, bool, dict[str, Any]]:
        """Carry out a model's answer: the next look, the reward, whether it is over, and figures."""
        game = self.game
        if game is None:
            raise RuntimeError("reset: expected before step")
        step = game.commit(action_str)
        score = game.score()
        turn = {"action_is_valid": step.depth > 0, "action_is_effective": step.moved > 0, "depth": step.depth}
        trajectory = {"success": score.solved, "lost": score.lost, "actions": score.actions, "spl": score.spl}
        metrics = {"turn_metrics": turn, "traj_metrics": {**trajectory, "regret": score.regret}}
        return self._shown(game), float(game.solved), game.over, {"success": game.solved, "metrics": metrics}

    async def close(self) -> None:
        """Forget the game."""
        self.game = None

    @staticmethod
    def _shown(game: Game) -> dict[str, Any]:
        look = game.observe()
        if look.picture is None:
            return {"obs_str": look.text}
        from PIL import Image

        return {"obs_str": f"{IMAGE}\n{look.text}", "multi_modal_input": {IMAGE: [Image.fromarray(look.picture)]}}
