"""How fast Jumanji steps on a processor: ``python bench/peers/jumanji_steps.py sokoban|slide [--slots 1024]``.

Pinned, in an environment of its own:  pip install jumanji==1.1.2 jax==0.10.2
``step`` is one compiled call per step of all slots; ``scan`` runs 32 steps inside one call and hands out no
observations. Compilation is not counted. Sokoban plays Jumanji's own toy levels, so that nothing is downloaded;
``--levels FILE.npy`` (uint8[n, 10, 10, 2], its format) takes others. The sliding puzzle is its default, 5x5.
"""

from __future__ import annotations

import argparse
import os
from importlib.metadata import version

os.environ.update(JAX_PLATFORMS="cpu", XLA_FLAGS="--xla_cpu_multi_thread_eigen=false")

import jax
import jax.numpy as jnp
import numpy as np
from jumanji.environments import SlidingTilePuzzle, Sokoban
from jumanji.environments.routing.sokoban.generator import Generator, ToyGenerator
from jumanji.environments.routing.sokoban.types import State
from jumanji.wrappers import VmapAutoResetWrapper
from rates import report

STEPS = 32


class Levels(Generator):
    """Boxoban levels of a file, drawn at random."""

    def __init__(self, path: str) -> None:
        self.fixed, self.variable = (jnp.asarray(each, jnp.uint8) for each in np.moveaxis(np.load(path), -1, 0))

    def __call__(self, key: jax.Array) -> State:
        key, draw = jax.random.split(key)
        index = jax.random.randint(draw, (), 0, len(self.fixed))
        grid = self.variable[index]
        return State(
            key=key,
            fixed_grid=self.fixed[index],
            variable_grid=grid,
            agent_location=self.get_agent_coordinates(grid),
            step_count=jnp.array(0, jnp.int32),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=["sokoban", "slide"])
    parser.add_argument("--slots", type=int, default=1024)
    parser.add_argument("--levels", help="an .npy file of Boxoban levels, as Jumanji packs them")
    arguments = parser.parse_args()
    generator = Levels(arguments.levels) if arguments.levels else ToyGenerator()
    env = VmapAutoResetWrapper(Sokoban(generator=generator) if arguments.what == "sokoban" else SlidingTilePuzzle())
    name = f"Jumanji {version('jumanji')}, JAX {version('jax')}, {arguments.what}, {arguments.slots} environments"
    state, _ = jax.jit(env.reset)(jax.random.split(jax.random.PRNGKey(0), arguments.slots))
    actions = jax.random.randint(jax.random.PRNGKey(1), (STEPS, arguments.slots), 0, 4)
    one = jax.jit(env.step)

    @jax.jit
    def many(first: State) -> tuple[State, jax.Array]:
        def body(each: State, chosen: jax.Array) -> tuple[State, jax.Array]:
            after, timestep = env.step(each, chosen)
            return after, timestep.reward.sum()

        return jax.lax.scan(body, first, actions)

    def step(call: int) -> None:
        nonlocal state
        state, timestep = one(state, actions[call % STEPS])
        jax.block_until_ready(timestep.reward)

    def scan(_call: int) -> None:
        nonlocal state
        state, rewards = many(state)
        jax.block_until_ready(rewards)

    report(f"{name}, step", step, arguments.slots)
    report(f"{name}, scan", scan, arguments.slots * STEPS)


if __name__ == "__main__":
    main()
