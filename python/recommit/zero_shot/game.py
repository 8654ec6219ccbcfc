"""One game: a start, a budget of observations, and the step of every answer. Each adapter plays through this class, so
that all figures compare: the prompts, the parser and the outcomes are those of ``recommit zero-shot``.

    game = Game(recommit.Sliding(3), state, budget=10)
    while not game.over:
        shown = game.observe()          # shown.system, shown.text, shown.png
        game.commit(answer(shown))      # a model's text, or words such as ["up", "left"]
    game.score()
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from recommit import checks
from recommit.data import held_out
from recommit.data.spec import SPLITS, DataSpec, Difficulty
from recommit.graph.values import solver_values
from recommit.policy.prompt import read_prompt
from recommit.prices import Prices
from recommit.puzzles import levels, registry
from recommit.puzzles.frames import MAX_CELL, MIN_CELL, encode_png
from recommit.puzzles.solutions import UNSOLVABLE
from recommit.zero_shot import parser
from recommit.zero_shot.parser import AnswerOutcome, Commitment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recommit.data.sampling import Starts
    from recommit.policy.prompt import Prompt
    from recommit.puzzles.puzzle import Puzzle

    State = NDArray[np.uint8]

#: Default pixels per cell of a picture.
CELL = 56
#: Version of the prompts. A published file never changes; a new wording is a new file.
PROMPT_VERSION = "v1"
#: Piece that moves in the direction of a sliding puzzle's action: the blank, or the tile that changes places with it.
MOVES = ("blank", "tile")
#: Forms of the board: a picture, or the rows of a level file.
VIEWS = ("image", "text")


@lru_cache  # a game is made in less time than its prompts are read
def prompts(task: str, moves: str = MOVES[0], view: str = VIEWS[0]) -> tuple[Prompt, Prompt]:
    """The system prompt, and the prompt beside the picture or above the rows; named and hashed in manifests."""
    if moves != MOVES[0] and (moves not in MOVES or task != "sliding"):
        raise ValueError(f"moves: expected {MOVES[0]}, or {MOVES[1]} for sliding, got {moves} for {task}")
    if view not in VIEWS:
        raise ValueError(f"view: expected one of {', '.join(VIEWS)}, got {view!r}")
    folder, before = files("recommit.zero_shot") / "prompts", "" if view == VIEWS[0] else f"{view}-"
    names = ("system", task if moves == MOVES[0] else f"{task}-{moves}")
    system, question = (read_prompt(folder, f"{before}{name}-{PROMPT_VERSION}") for name in names)
    return system, question


@dataclass(frozen=True)
class Step:
    """One executed decision. An answer that is no commitment has depth 0 and changes nothing."""

    outcome: str
    depth: int
    executed: int
    solved: bool
    moved: int = 0  #: of the executed actions; the others were blocked

    @property
    def text(self) -> str:
        """Feedback for the player."""
        return f"{self.executed} actions carried out, {self.moved} moved." if self.depth else f"{self.outcome}."


@dataclass(frozen=True)
class Observation:
    """Observation of a player: prompts, and the board as a picture or in the text."""

    system: str
    text: str
    remaining: int  #: observations, this one among them
    picture: NDArray[np.uint8] | None = None  #: [height, width, 3], unless the board stands in the text

    @cached_property
    def png(self) -> bytes | None:
        """The picture as a PNG file; None without one."""
        return None if self.picture is None else encode_png(self.picture)


@dataclass(frozen=True)
class Score:
    """Score of a game, so far or in the end."""

    solved: bool
    lost: bool  #: it cannot be solved any more
    decisions: int
    actions: int  #: executed
    blocked: int
    spl: float  #: solved, weighted by the share of necessary actions
    regret: float  #: sum of the decisions' losses against optimal play, see ``Game.regrets``


class Game:
    """A start state, played within a budget of observations."""

    def __init__(
        self,
        task: Puzzle,
        state: State,
        budget: int,
        *,
        view: str = VIEWS[0],
        cell: int = CELL,
        moves: str = MOVES[0],
        prices: Prices | None = None,
    ) -> None:
        if budget < 1:
            raise ValueError(f"budget: expected at least 1, got {budget}")
        self.task, self.budget = task, budget
        self.view, self.cell, self.moves, self.prices = view, cell, moves, prices or Prices()
        self.prompts = prompts(task.task, moves, view)
        #: If a word is the tile's direction, the blank moves in the opposite one, whose code differs in the last bit.
        self.turned = int(moves != MOVES[0])
        self.state: State = task.check(np.ascontiguousarray(state)[None])[0]
        self.solved = bool(task.is_solved(self.state[None], threads=1)[0])
        self.steps: list[Step] = []
        self._trail = [self.state]
        self._distances: list[int] = []

    @property
    def remaining(self) -> int:
        """Observations that remain."""
        return self.budget - len(self.steps)

    @property
    def over(self) -> bool:
        """True if the game is solved or out of observations."""
        return self.solved or self.remaining <= 0

    @property
    def distance(self) -> int:
        """Exact number of actions to the goal, ``UNSOLVABLE`` where there is no way."""
        return self.distances[-1]

    @property
    def distances(self) -> list[int]:
        """Distances of the start and of the state after each decision."""
        fresh = np.stack(self._trail[len(self._distances) :]) if len(self._distances) < len(self._trail) else None
        if fresh is not None:
            self._distances += self.task.distance(fresh, threads=1).tolist()
        return list(self._distances)

    @property
    def rows(self) -> str:
        """The state in the notation of level files."""
        return levels.format_levels(self.state[None], task=self.task.task).strip("\n")

    def observe(self) -> Observation:
        """The player's observation of the present state."""
        system, text = (each.text for each in self.prompts)
        if self.view == "text":
            return Observation(system, f"{self.rows}\n\n{text}", self.remaining)
        return Observation(system, text, self.remaining, self.picture)

    @property
    def picture(self) -> NDArray[np.uint8]:
        """The state as pixels, [height, width, 3]."""
        return self.task.render(self.state[None], cell=self.cell, threads=1)[0]

    def read(
        self, answer: str | Sequence[str] | Commitment, *, refused: bool = False, cut_off: bool = False
    ) -> Commitment:
        """Parse a model's text or a list of words into a commitment, with its actions in the puzzle's codes.

        A ``Commitment`` is returned unchanged. ``refused`` and ``cut_off``: see ``parser.parse``.
        """
        if isinstance(answer, Commitment):
            return answer
        if isinstance(answer, str):
            commitment = parser.parse(answer, refused=refused, cut_off=cut_off)
        elif not isinstance(answer, (list, tuple)):  # a tool may be called with anything
            commitment = Commitment(AnswerOutcome.WRONG_FIELDS)
        else:
            commitment = parser.judged({"h": len(answer), "actions": list(answer)})
        actions = tuple(action ^ self.turned for action in commitment.actions)
        return Commitment(commitment.outcome, commitment.depth, actions)

    def words(self, commitment: Commitment) -> list[str]:
        """Actions of a commitment in the words of the prompt."""
        return [parser.ACTIONS[action ^ self.turned] for action in commitment.actions]

    def commit(self, answer: str | Sequence[str] | Commitment) -> Step:
        """Execute an answer; one that is no commitment costs an observation and does nothing."""
        if self.over:
            raise ValueError(f"commit: expected a game that goes on, got one over after {len(self.steps)} decisions")
        commitment = self.read(answer)
        step = self._carried_out(commitment) if commitment.depth else Step(commitment.outcome.value, 0, 0, False)
        self.steps.append(step)
        self._trail.append(self.state)
        self.solved = step.solved
        return step

    def _carried_out(self, commitment: Commitment) -> Step:
        actions = np.zeros((1, parser.DEPTHS[-1]), np.uint8)
        actions[0, : commitment.depth] = commitment.actions
        depth = np.array([commitment.depth], np.int32)
        outcome = self.task.execute(self.state[None], actions, depth, threads=1)
        self.state = outcome.states[0]
        return Step(
            commitment.outcome.value,
            commitment.depth,
            int(outcome.executed[0]),
            bool(outcome.solved[0]),
            int(outcome.moved[0]),
        )

    def optimal(self) -> Commitment | None:
        """A commitment of optimal play: the next eight actions, or the least depth that ends at the goal.

        None if the game is solved or cannot be solved. A commitment ends at the goal, so that the padding of its last
        places is never executed.
        """
        if self.distance <= 0:
            return None
        plan = [int(action) for action in self.task.solve(self.state[None], threads=1)[0]]
        depth = next((depth for depth in parser.DEPTHS if depth >= len(plan)), parser.DEPTHS[-1])
        return Commitment(AnswerOutcome.OK, depth, tuple((plan + plan[-1:] * depth)[:depth]))

    def regrets(self) -> list[float]:
        """Loss of each decision against optimal play, in solved games and at this game's prices.

        Their sum is the value of the start, less that of the state at the end, plus the prices paid.
        """
        distance = np.array(self.distances)
        value = solver_values(distance, parser.DEPTHS, self.budget, self.prices)
        executed = np.array([step.executed for step in self.steps], np.int64)
        remaining = self.budget - np.arange(len(self.steps))
        row = np.arange(len(self.steps))
        lost = value[remaining, row] - (value[remaining - 1, row + 1] - self.prices.cost(executed))
        return lost.tolist()

    def score(self) -> Score:
        """Score of the game so far."""
        executed = sum(step.executed for step in self.steps)
        return Score(
            self.solved,
            self.distance == UNSOLVABLE,
            len(self.steps),
            executed,
            executed - sum(step.moved for step in self.steps),
            spl(self.distances[0], executed, self.solved),
            sum(self.regrets()),
        )


def spl(length: int, executed: int, solved: bool) -> float:
    """Success weighted by the share of necessary actions."""
    return length / max(executed, length, 1) if solved else 0.0


#: Default number of instances of a split.
COUNT = 256
#: Most observations of a game.
MOST_OBSERVATIONS = 64


@dataclass(frozen=True)
class GameSpec:
    """Specification of games; equal specs give equal games. Test games are those of ``recommit evaluate`` on such data.

    Empty values of ``size``, ``length`` and ``budget`` are the puzzle's usual ones, with the loose budget. Each split
    has ``count`` instances.
    """

    task: str = "sliding"
    size: tuple[int, ...] = ()
    boxes: int = 0
    length: tuple[int, ...] = ()
    budget: int = 0
    count: int = COUNT
    seed: int = 0
    view: str = VIEWS[0]
    cell: int = CELL
    moves: str = MOVES[0]

    def __post_init__(self) -> None:
        puzzle = registry.puzzle(self.task)
        self._fill("size", self._pair("size", self.size) or puzzle.usual.size)
        self._fill("length", self._pair("length", self.length) or puzzle.usual.length)
        self._fill("budget", self.budget or puzzle.budgets(self.size)["loose"])
        if puzzle.most_boxes:
            self._fill("boxes", self.boxes or 2)
        if not 1 <= self.budget <= MOST_OBSERVATIONS:
            raise ValueError(f"budget: expected 1..{MOST_OBSERVATIONS}, got {self.budget}")
        if self.count < 1:
            raise ValueError(f"count: expected at least 1, got {self.count}")
        checks.integer("cell", self.cell, MIN_CELL, MAX_CELL)
        prompts(self.task, self.moves, self.view)

    def _fill(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @staticmethod
    def _pair(name: str, value: Any) -> tuple[int, ...]:
        """Two numbers; one stands for both, alone or in a list: other projects' configurations have both forms."""
        numbers = tuple(int(number) for number in ((value,) if isinstance(value, int) else value))
        if len(numbers) > 2:
            raise ValueError(f"{name}: expected one or two numbers, got {len(numbers)}")
        return (numbers[0], numbers[-1]) if numbers else ()

    @cached_property
    def puzzle(self) -> Puzzle:
        """The puzzle of this size."""
        return registry.puzzle(self.task).of((self.size[0], self.size[1]), self.boxes)

    @cached_property
    def data(self) -> DataSpec:
        """Recipe of the data set with these instances."""
        difficulty = Difficulty((self.length[0], self.length[1]), self.boxes)
        size, many = (self.size[0], self.size[1]), self.count
        return DataSpec(self.task, size, (difficulty,), many, validation=many, test=many, seed=self.seed)

    def starts(self, split: str) -> Starts:
        """Instances of a split, generated once per process."""
        if split not in SPLITS:
            raise ValueError(f"split: expected one of {', '.join(SPLITS)}, got {split!r}")
        return _starts(self.data, split, self.count)

    def ids(self, split: str) -> list[str]:
        """Names of the instances, as in data sets and evaluations."""
        starts = self.starts(split)
        return self.data.ids(starts.difficulty.tolist(), starts.number.tolist())

    def game(self, split: str, index: int) -> Game:
        """A new game of an instance."""
        if not 0 <= index < self.count:
            raise IndexError(f"index: expected 0..{self.count - 1}, got {index}")
        return self.of_state(self.starts(split).states[index])

    def of_state(self, state: NDArray[np.uint8] | list[list[int]]) -> Game:
        """A new game from any start, which may have another size."""
        cells = np.asarray(state)
        if cells.ndim != 2:
            raise ValueError(f"state: expected rows of cells, got {cells.ndim} dimensions")
        if cells.dtype.kind not in "iu" or (cells.size and not 0 <= cells.min() <= cells.max() <= 255):
            raise ValueError(f"state: expected cells 0..255, got {cells.dtype} {cells.tolist()[0]}")
        start = cells.astype(np.uint8)
        fits = start.shape == tuple(self.size)
        puzzle = self.puzzle if fits else registry.puzzle(self.task).of_states((start.shape[0], start.shape[1]))
        how: dict[str, Any] = {"view": self.view, "cell": self.cell, "moves": self.moves}
        return Game(puzzle, start, self.budget, **how)


@lru_cache(maxsize=64)
def _starts(spec: DataSpec, split: str, count: int) -> Starts:
    return held_out.starts(spec, split, count, ())
