"""Meta-World's tasks with episodes that their seeds decide: its own ``reset(seed=...)`` ignores the seed."""

from __future__ import annotations

from typing import Any

import gymnasium


class Seeded(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A task whose ``reset(seed=...)`` draws object and goal from the seed."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        if seed is not None:
            self.env.unwrapped.seed(seed)
        return self.env.reset(options=options)


def make(task: str = "push-v3") -> gymnasium.Env[Any, Any]:
    """A task by its name, such as push-v3, with the goal in its observations; it ends after 500 ticks."""
    from metaworld.env_dict import ALL_V3_ENVIRONMENTS

    if task not in ALL_V3_ENVIRONMENTS:
        raise ValueError(f"task: expected one of {', '.join(sorted(ALL_V3_ENVIRONMENTS))}, got {task}")
    env = ALL_V3_ENVIRONMENTS[task]()
    env._partially_observable = False
    env.__dict__.pop("sawyer_observation_space", None)  # made while the goal was hidden
    env._freeze_rand_vec, env.seeded_rand_vec, env._set_task_called = False, True, True
    return Seeded(env)
