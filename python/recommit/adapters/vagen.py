"""VAGEN's ``GymImageEnv`` for our puzzles, for its ``env_registry.yaml``: ``recommit.adapters.vagen.Puzzle``."""

from __future__ import annotations

from typing import Any

from recommit.adapters.text_game import TextGame


class Puzzle:
    """The four methods that VAGEN calls; ``env_config`` holds the arguments of ``TextGame``."""

    def __init__(self, env_config: dict[str, Any]) -> None:
        self.play = TextGame(**env_config)

    async def system_prompt(self) -> dict[str, Any]:
        return {"obs_str": self.play.prompt}

    async def reset(self, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
        self.play.reset(seed)
        return self._shown(), self.play.info

    async def step(self, action_str: str) -> tuple[dict[str, Any], float, bool, dict[str, Any]]:
        turn = self.play.step(action_str)
        return self._shown(), turn.reward, turn.terminated or turn.truncated, turn.info

    async def close(self) -> None:
        """Nothing to close."""

    def _shown(self) -> dict[str, Any]:
        if self.play.spec.view == "text":
            return {"obs_str": self.play.observation}
        from PIL import Image

        picture = Image.fromarray(self.play.game.picture)
        return {"obs_str": f"<image>\n{self.play.observation}", "multi_modal_input": {"<image>": [picture]}}
