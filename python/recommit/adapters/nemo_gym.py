"""NeMo-Gym's ``GymnasiumServer`` for our puzzles and its ``gymnasium_agent``; the ``app.py`` of a resources server:

    from recommit.adapters.nemo_gym import Puzzle
    Puzzle.run_webserver()

A row has a ``seed``, and in ``game`` the arguments of ``TextGame``. Observations are text, as NeMo-Gym has no pictures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from resources_servers.gymnasium import GymnasiumServer, extract_text

from recommit.adapters.text_game import TextGame

if TYPE_CHECKING:
    from nemo_gym.openai_utils import NeMoGymResponse


class Puzzle(GymnasiumServer):
    """One game per session."""

    async def reset(self, metadata: dict[str, Any], session_id: str | None = None) -> tuple[str, dict[str, Any]]:
        play = self.session_state[session_id] = TextGame(**{**metadata.get("game", {}), "view": "text"})
        play.reset(metadata["seed"])
        return f"{play.prompt}\n\n{play.observation}", play.info

    async def step(
        self, action: NeMoGymResponse, _metadata: dict[str, Any], session_id: str | None = None
    ) -> tuple[str, float, bool, bool, dict[str, Any]]:
        play = self.session_state[session_id]
        turn = play.step(extract_text(action))
        return play.observation, *turn
