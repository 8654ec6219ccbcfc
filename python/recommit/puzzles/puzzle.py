"""The interface of all puzzles, through which the rest of the package uses them."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

import numpy as np

from recommit import checks
from recommit.puzzles.frames import Drawn
from recommit.puzzles.solutions import Limits, Solutions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray
    from typing_extensions import Self

    from recommit.checks import Grids, Numbers

    States = NDArray[np.uint8]


@dataclass(frozen=True)
class Usual:
    """A puzzle's default size, length and budgets."""

    size: tuple[int, int]
    length: tuple[int, int]
    #: Decisions per episode, by name of the budget; ``Puzzle.budgets`` may override them for a size.
    budgets: dict[str, int]


@dataclass(frozen=True)
class Outcome:
    """Result of open-loop execution for a batch of states.

    ``executed`` counts actions up to the goal or the end of the commitment; ``moved`` of them changed the state, the
    others were blocked.
    """

    states: NDArray[np.uint8]
    executed: NDArray[np.int32]
    solved: NDArray[np.bool_]
    moved: NDArray[np.int32]

    def single(self) -> Outcome:
        """The outcome of the first state, without the batch axis."""
        return Outcome(self.states[0], self.executed[0, ...], self.solved[0, ...], self.moved[0, ...])


@dataclass(frozen=True)
class Instance:
    """One start state with its id and its optimal length (or ``UNKNOWN``)."""

    id: str
    state: NDArray[np.uint8]
    length: int


@dataclass(frozen=True)
class Instances:
    """Consecutive generated instances, from number ``start`` on, of (task, size name, seed)."""

    task: str
    size_name: str
    seed: int
    start: int
    states: NDArray[np.uint8]
    #: Optimal length of each instance, ``UNKNOWN`` where it was not computed.
    length: NDArray[np.int32]

    @property
    def ids(self) -> list[str]:
        """One id per instance; equal ids of equal ``length`` mean equal bytes, on every machine."""
        return [f"{self.task}/{self.size_name}/{self.seed}/{i}" for i in range(self.start, self.start + len(self))]

    def __len__(self) -> int:
        return len(self.states)

    def __iter__(self) -> Iterator[Instance]:
        return (self[i] for i in range(len(self)))

    @overload
    def __getitem__(self, key: int) -> Instance: ...
    @overload
    def __getitem__(self, key: slice) -> Instances: ...
    def __getitem__(self, key: int | slice) -> Instance | Instances:
        if isinstance(key, slice):
            first, _, step = key.indices(len(self))
            if step != 1:
                raise ValueError(f"key: expected a slice with step 1, got step {step}")
            return replace(self, start=self.start + first, states=self.states[key], length=self.length[key])
        index = range(len(self))[key]
        instance = f"{self.task}/{self.size_name}/{self.seed}/{self.start + index}"
        return Instance(instance, self.states[index], int(self.length[index]))


class Puzzle(Drawn, ABC):
    """A puzzle: stateless, batched over ``uint8[N, rows, columns]``, with results independent of ``threads``."""

    #: Name of the puzzle in files, flags and tables.
    task: ClassVar[str]
    #: Smallest and largest number of rows and columns of generated states.
    sides: ClassVar[tuple[int, int]]
    #: Most boxes of an instance; 0 for a puzzle without boxes.
    most_boxes: ClassVar[int] = 0
    #: True if states have a constant outer ring, which a policy's pictures may crop.
    ringed: ClassVar[bool] = True
    #: True if mirrored and rotated states have the same distance to the goal.
    turns: ClassVar[bool] = True
    #: Supported values of ``DataSpec.disjoint``.
    splits: ClassVar[tuple[str, ...]] = ("starts",)
    #: Generators of instances, the default first. With several, ``generate`` takes ``generator=``.
    generators: ClassVar[tuple[str, ...]] = ("usual",)
    #: Published level sets that data sets can also be built from, see ``recommit.data.boxoban``.
    level_sets: ClassVar[tuple[str, ...]] = ()
    usual: ClassVar[Usual]
    #: Cell codes, and rules, as text of a sentence or two each.
    codes: ClassVar[str]
    rules: ClassVar[str]
    #: True if a commitment stops at the goal; see ``to_the_end``.
    stops: bool = True
    #: Size of generated states.
    rows: int
    cols: int

    @classmethod
    def of(cls, size: tuple[int, int], boxes: int) -> Puzzle:  # noqa: ARG003
        """The puzzle that generates instances of this size, and with ``boxes`` boxes where applicable."""
        return cls(size)  # type: ignore[call-arg]

    @classmethod
    def of_states(cls, shape: tuple[int, int]) -> Puzzle:  # noqa: ARG003
        """The puzzle for states of this shape."""
        return cls()

    @classmethod
    def budgets(cls, shape: tuple[int, ...]) -> dict[str, int]:  # noqa: ARG003
        """Budgets (decisions per episode) by name, for states of this shape."""
        return cls.usual.budgets

    @property
    def size_name(self) -> str:
        """Size, and further difficulty if any, of generated instances, as one word."""
        return f"{self.rows}x{self.cols}"

    def named(self, generator: str) -> str:
        """``size_name``, with the generator if not the default: equal names mean equal instances."""
        return self.size_name if generator == self.generators[0] else f"{self.size_name}-{generator}"

    def options(self, generator: str) -> dict[str, Any]:
        """Keyword arguments of ``generate`` for this generator; none for the default or an empty name."""
        checks.choice("generator", generator or self.generators[0], self.generators)
        return {"generator": generator} if generator not in ("", self.generators[0]) else {}

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of generated states, an outer ring included."""
        return self.rows, self.cols

    @property
    @abstractmethod
    def highest(self) -> int:
        """The largest cell code of a state."""

    @property
    def counts_by_length(self) -> list[int] | None:
        """Number of states by optimal length, from 0 on; None where they cannot be counted."""
        return None

    def population(self) -> tuple[States, NDArray[np.int32]]:
        """All solvable, unsolved states, nearest first, with their lengths; raises for puzzles with too many."""
        raise ValueError(f"population: expected a puzzle whose states can be listed, got {self!r}")

    @abstractmethod
    def generate(
        self,
        count: int,
        *,
        seed: int = 0,
        length: int | tuple[int, int] | None = None,
        start: int = 0,
        threads: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Instances:
        """``count`` solvable instances; instance i depends on (task, seed, length, start + i) alone.

        ``length`` is an exact optimal length, or a window (shortest, longest).
        """

    @abstractmethod
    def legend(self) -> tuple[States, NDArray[np.intp]]:
        """States that show every cell code, and the index of each code in their flattened cells."""

    @classmethod
    def images(cls, states: States) -> Iterator[States]:
        """The images of states under the puzzle's symmetries, the identity first: here reflections and, where they keep
        the shape, quarter turns."""
        square = states.shape[1] == states.shape[2]
        for image in (states, states.transpose(0, 2, 1)) if square else (states,):
            for rows in (image, image[:, ::-1]):
                yield rows
                yield rows[:, :, ::-1]

    @classmethod
    def digests(cls, states: States, threads: int | None = None) -> NDArray[np.uint64] | None:  # noqa: ARG003
        """A 64-bit hash per state, invariant under symmetry, if the core computes one; None: use ``images``."""
        return None

    @classmethod
    def layouts(cls, states: States) -> States:
        """The part of each state that actions cannot change; for puzzles whose ``splits`` include layouts."""
        raise NotImplementedError(f"{cls.task} has no layouts")

    def prepare(
        self,
        database: Literal["small", "large"] = "small",
        *,
        threads: int | None = None,  # noqa: ARG002
        progress: Callable[[int, int], None] | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        """Load or compute the tables that all states of this shape share; returns their sizes. Most have none."""
        checks.choice("database", database, ("small",))
        return {}

    def pushes(self, states: States) -> list[bool]:
        """For each pair of consecutive states, True if anything but the player moved."""
        return [False] * (len(states) - 1)

    def check(self, states: States, name: str = "states") -> States:  # noqa: ARG002
        """Check that states fit this puzzle, and return them; ``name`` is the argument in error messages."""
        return states

    def step(self, states: Grids, actions: Numbers, *, threads: int | None = None) -> States:
        """States after one action each, or one for all; a blocked action counts, but leaves the state unchanged.

        Here and below ``states`` may also be a single state ``[rows, columns]``, for a single result, or a list.
        """
        batch, one = checks.grids(states)
        result: States = self.core.step(self.check(batch), checks.column(actions, batch), threads=threads)
        return result[0] if one else result

    def to_the_end(self) -> Self:
        """A copy whose ``execute`` does not stop at the goal: a commitment is solved only if it ends there."""
        other = copy.copy(self)
        other.stops = False
        return other

    def execute(
        self,
        states: Grids,
        actions: Numbers,
        depths: NDArray[np.integer] | Sequence[int] | int,
        *,
        threads: int | None = None,
    ) -> Outcome:
        """Execute row i of ``actions`` open loop for up to ``depths[i]`` actions, stopping at the goal."""
        batch, one = checks.grids(states)
        rows, counts = checks.rows(actions, one), checks.column(depths, batch)
        outcome = Outcome(*self.core.execute(self.check(batch), rows, counts, stop=self.stops, threads=threads))
        return outcome.single() if one else outcome

    def is_solved(self, states: Grids, *, threads: int | None = None) -> NDArray[np.bool_]:
        """True for goal states."""
        batch, one = checks.grids(states)
        result: NDArray[np.bool_] = self.core.is_solved(self.check(batch), threads=threads)
        return result[0, ...] if one else result

    def action_masks(self, states: Grids, *, threads: int | None = None) -> NDArray[np.bool_]:
        """``bool[N, 4]``: True for actions that would change the state."""
        batch, one = checks.grids(states)
        result: NDArray[np.bool_] = self.core.action_masks(self.check(batch), threads=threads)
        return result[0] if one else result

    def distance(
        self,
        states: Grids,
        limit: Limits | None = None,
        *,
        threads: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> NDArray[np.int32]:
        """Exact distance to the goal in actions; UNSOLVABLE for dead states, UNKNOWN only where a limit was hit.

        ``progress``, if given, is called periodically with the number of states done.
        """
        limits, (batch, one) = Limits.of(limit), checks.grids(states)
        result: NDArray[np.int32] = self.core.distance(self.check(batch), **limits, threads=threads, progress=progress)
        return result[0, ...] if one else result

    def optimal_actions(
        self,
        states: Grids,
        limit: Limits | None = None,
        *,
        threads: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> NDArray[np.bool_]:
        """``bool[N, 4]``: True for actions that lower the distance by one.

        All False for solved and unsolvable states (distance 0 and -1), and where a limit was hit.
        """
        limits, (batch, one) = Limits.of(limit), checks.grids(states)
        result: NDArray[np.bool_] = self.core.optimal_actions(
            self.check(batch), **limits, threads=threads, progress=progress
        )
        return result[0] if one else result

    def solve(
        self,
        states: Grids,
        limit: Limits | None = None,
        *,
        ties: Literal["first", "random"] = "first",
        seed: int = 0,
        threads: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Solutions:
        """An optimal plan for each state; ``solutions[0]`` for a single state.

        Among equally short plans, ``first`` takes the lexicographically first in the order up, down, left, right;
        ``random`` draws uniformly among the optimal actions at every step, by ``seed`` and the state's index in the
        batch. In Sokoban levels too large for a table, ``first`` is the first plan only where the search can prove it
        within its limits, and ``random`` is whichever optimal plan it met.
        """
        checks.choice("ties", ties, ("first", "random"))
        seed = checks.integer("seed", seed, 0, checks.MAX_SEED)
        limits, (batch, _) = Limits.of(limit), checks.grids(states)
        return Solutions(
            *self.core.solve(
                self.check(batch), random=ties == "random", seed=seed, **limits, threads=threads, progress=progress
            )
        )

    def __repr__(self) -> str:
        return f"<{self.task} {self.size_name}>"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.task, self.size_name))
