"""``recommit train world-model``: train a world model for a policy, with backbone and decoder frozen.

Labels are cheap: states are drawn on or near optimal plans from training starts, and the core computes their successors
and exact distances, without the backbone or episodes. A step takes milliseconds on small boards; on 10x10 levels with
four boxes a millisecond more per level, for its table. The resulting policy's depth head takes the depth after which
the predicted distance is smallest; a lost level counts as far.

A killed command resumes bitwise from one file:

    OUT/learning    a line about it with its own sha256, then the weights and the optimizer's moments (safetensors)

States are a function of the step number, so that nothing else needs saving. The file is removed once the policy is
written.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.nn.functional as F
from safetensors import SafetensorError
from safetensors.torch import load, save

from recommit import rng
from recommit.data import held_out
from recommit.data.assignment import learnable
from recommit.policy import augmentations
from recommit.policy.checkpoint import check_and_copy, local_folder
from recommit.policy.config import MOST_FAR, PLAN_LENGTH, HeadConfig, WorldModelConfig
from recommit.policy.policy import CommitPolicy
from recommit.policy.world_model import ACTIONS, WorldModel
from recommit.puzzles.solutions import UNKNOWN, UNSOLVABLE
from recommit.runs.directory import recipe_of
from recommit.runs.process import torch_settings
from recommit.storage import errors, files, ownership, safe_open, verified
from recommit.storage.lock import Lock
from recommit.storage.schema import refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from recommit.data.spec import DataSpec
    from recommit.graph.graph import States
    from recommit.puzzles.puzzle import Puzzle
    from recommit.train.options import WorldModelOptions


#: Most validation starts that a world model is evaluated on.
EVALUATED = 256
#: Number of evaluations, and saves, per training.
CHECKS = 8
#: Class of a state with unknown distance: torch's default ``ignore_index``.
NO_LABEL = -100
#: The file of an unfinished command, AdamW's moments per weight, and the fields of the file's first line.
NAME = "learning"
MOMENTS = ("exp_avg", "exp_avg_sq")
FIELDS = {"begun": dict, "curve": [{"step": verified.NUMBER}], "sha256": str}


@dataclass(frozen=True)
class WorldModelTraining:
    """Hyper-parameters of world-model training."""

    steps: int = 8000
    batch: int = 256
    lr: float = 2e-3
    #: Training starts.
    starts: int = 20_000
    #: Most random actions away from an optimal path.
    astray: int = 16
    seed: int = 0

    def __post_init__(self) -> None:
        refuse(*((getattr(self, n) < 1, n, "at least 1", getattr(self, n)) for n in ("steps", "batch", "starts")))


class TrainingStates:
    """Training states on and near optimal paths, by step number; deterministic given the seed."""

    def __init__(self, spec: DataSpec, starts: States, training: WorldModelTraining) -> None:
        self.spec, self.task, self.starts, self._training = spec, spec.puzzle(), starts, training
        solutions = self.task.solve(starts)
        self.length = solutions.length.clip(min=0).astype(np.int64)
        self._plans = np.zeros((len(starts), int(self.length.max(initial=1)) + PLAN_LENGTH), np.uint8)
        for row, begin, many in zip(self._plans, solutions.offsets[:-1], self.length, strict=True):
            row[:many] = solutions.actions[begin : begin + many]

    def states(self, step: int) -> States:
        """The states of a step: half on an optimal path, the others some random actions away from it."""
        training = self._training
        key = rng.derived_seed(training.seed, rng.Purpose.WORLD_MODEL, step)
        random = np.random.Generator(np.random.Philox(key=key))
        which = random.integers(0, len(self.starts), training.batch)
        along = (random.random(training.batch) * (self.length[which] + 1)).astype(np.int64)
        states = self._executed(self.starts[which], self._plans[which], along)
        away = random.integers(0, training.astray + 1, training.batch) * (random.random(training.batch) < 0.5)
        walk = random.integers(0, ACTIONS, (training.batch, training.astray + PLAN_LENGTH)).astype(np.uint8)
        return self._executed(states, walk, away)

    def _executed(self, states: States, actions: States, count: NDArray[np.int64]) -> States:
        """The states after the first ``count`` actions each; stops at the goal."""
        for begin in range(0, int(count.max(initial=0)), PLAN_LENGTH):
            who = np.flatnonzero(count > begin)
            part = np.ascontiguousarray(actions[who, begin : begin + PLAN_LENGTH])
            part = np.pad(part, ((0, 0), (0, PLAN_LENGTH - part.shape[1])))
            many = np.minimum(count[who] - begin, PLAN_LENGTH).astype(np.int32)
            states = states.copy()
            states[who] = self.task.execute(np.ascontiguousarray(states[who]), part, many).states
        return states


@torch_settings(1, inference=True)
def train_world_model(options: WorldModelOptions, tell: Callable[[str], None]) -> dict[str, Any]:
    """Train a world model for a run's best policy and save the policy; returns its accuracy on validation states."""
    ownership.refuse_foreign(options.out, (NAME, "config.json"), "a policy with a world model")
    spec = recipe_of(str(options.run), options.task)
    policy = CommitPolicy.from_pretrained(local_folder(options.run)).eval()
    policy.replace_augmentations(options.augmentations or policy.config.augmentations)
    policy.vision.augmentations(spec.puzzle(), spec.puzzle().shape)  # refuses what the puzzle has not
    training = WorldModelTraining(options.steps, starts=options.starts, seed=options.seed)
    with policy_folder(options.out) as folder:
        result = train(policy, spec, training, tell, folder, options.depths, options.unsure)
        policy.save_pretrained(folder)
        (folder / NAME).unlink(missing_ok=True)
    return result


def config_of(policy: CommitPolicy, task: Puzzle, longest: int = 0) -> WorldModelConfig:
    """World-model sizes for a policy's pictures of a puzzle. A plan of eight may lead eight actions beyond starts that
    are ``longest`` from the goal; if the default range is shorter, extend it to that, and count a lost level as one
    plan more, so that distant states do not look lost."""
    rows, cols = policy.vision.cells(task, task.shape)
    usual, plan = WorldModelConfig(task.task, rows, cols, task.highest + 1), PLAN_LENGTH
    far = min(longest + plan, MOST_FAR)
    return usual if far <= usual.far else replace(usual, far=far, lost=far + plan)


def train(
    policy: CommitPolicy,
    spec: DataSpec,
    training: WorldModelTraining,
    tell: Callable[[str], None],
    folder: Path | None = None,
    depths: tuple[int, ...] = (),
    unsure: tuple[float, float] = HeadConfig.unsure,
) -> dict[str, Any]:
    """Add a world model to a policy, and a depth head over ``depths`` that uses it (``replace_head``); returns the
    accuracy on validation states. An interrupted training resumes from ``folder``."""
    task = spec.puzzle()
    config = config_of(policy, task, max((each.length[1] for each in spec.difficulties), default=0))
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(training.seed)
        net = WorldModel(config)
    replace_head(policy, net, depths, unsure)
    net.requires_grad_(True)
    cut = slice(1, -1) if policy.vision.crops(task) else slice(None)
    starts = held_out.starts(spec, "train", training.starts, (), name="starts").states
    learn = TrainingStates(spec, np.ascontiguousarray(starts), training)
    starts = held_out.starts(spec, "validation", min(spec.validation, EVALUATED) or EVALUATED, ()).states
    validation = TrainingStates(spec, np.ascontiguousarray(starts), replace(training, batch=1024))
    optimizer = torch.optim.AdamW(net.parameters(), lr=training.lr, weight_decay=0.01)
    begun = {"training": asdict(training), "net": asdict(config), "data": spec.to_dict()}
    state = None if folder is None else LearningFile(folder, begun)
    curve = [] if state is None else state.resume(net, optimizer)
    for step in range(int(curve[-1]["step"]) if curve else 0, training.steps):
        for group in optimizer.param_groups:
            group["lr"] = training.lr * min(1.0, (step + 1) / 100) * (1.0 - step / training.steps)
        loss = _loss(net, learn, step, cut)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        if (step + 1) % max(training.steps // CHECKS, 1) == 0 or step + 1 == training.steps:
            curve.append({"step": step + 1, **evaluate(net, validation, cut)})
            if state is not None:
                state.write(net, optimizer, curve)
            tell(", ".join(f"{name} {value:g}" for name, value in curve[-1].items()))
    net.requires_grad_(False)
    return curve[-1] | {"curve": curve}


def replace_head(
    policy: CommitPolicy,
    net: WorldModel,
    depths: tuple[int, ...] = (),
    unsure: tuple[float, float] = HeadConfig.unsure,
) -> None:
    """Install a world model, and a depth head that picks the depth, among ``depths`` (default: the policy's), after
    which the predicted distance is smallest; for ``unsure`` see ``HeadConfig``."""
    policy.world_model = net.requires_grad_(False)
    policy.config = policy.vision.config = replace(policy.config, world_model=net.config)
    policy.replace_head(HeadConfig("world-model", unsure=unsure), depths=depths)
    with torch.no_grad():
        for choice in range(len(policy.config.depths)):
            policy.depth_head.weight[choice, 1 + choice] = -1.0


def _loss(net: WorldModel, source: TrainingStates, step: int, cut: slice) -> torch.Tensor:
    """Cross-entropy of the distances, plus that of the pictures after one action; a solved picture does not change."""
    states = source.states(step)
    states = states[learnable(source.spec, states)]
    cells = _cells(states, cut)
    symmetries = augmentations.count(8 if source.task.turns else 1, *cells.shape[1:])  # not those averaged at inference
    order = augmentations.cell_order(*cells.shape[1:], step % symmetries)
    turned = cells.flatten(1)[:, order].view_as(cells)
    distance = F.cross_entropy(net.scores(turned), _labels(net, source.task, states))
    actions, after = _moved(source.task, states, step)
    return distance + F.cross_entropy(net.next_scores(cells, actions), _cells(after, cut))


def evaluate(net: WorldModel, source: TrainingStates, cut: slice) -> dict[str, float]:
    """Accuracy on held-out states: share of exact distances, and of pictures predicted without error after an
    action."""
    states = source.states(0)
    cells, (actions, after) = _cells(states, cut), _moved(source.task, states, 0)
    with torch.no_grad():
        probs = net.probs(cells)
        drawn = net.next_scores(cells, actions).argmax(dim=1)
    labels = _labels(net, source.task, states)
    exact = (probs.argmax(-1) == labels)[labels != NO_LABEL].float().mean()
    right = (drawn == _cells(after, cut)).flatten(1).all(dim=1).float().mean()
    return {"exact": round(float(exact), 4), "pictures": round(float(right), 4)}


def _cells(states: States, cut: slice) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(states[:, cut, cut])).long()


def _labels(net: WorldModel, task: Puzzle, states: States) -> torch.Tensor:
    """The distance class of each state; ``NO_LABEL`` where the solver gave up."""
    distance, far = task.distance(states), net.config.far
    labels = np.where(distance == UNSOLVABLE, far + 1, np.minimum(distance, far))
    return torch.from_numpy(np.where(distance == UNKNOWN, NO_LABEL, labels)).long()


def _moved(task: Puzzle, states: States, step: int) -> tuple[torch.Tensor, States]:
    """One action per state, and the states after it."""
    actions = ((np.arange(len(states)) + step) % ACTIONS).astype(np.uint8)
    after = np.where(task.is_solved(states)[:, None, None], states, task.step(states, actions))
    return torch.from_numpy(actions).long(), after


class LearningFile:
    """The resume file in a folder, of a command that was ``begun`` with these values."""

    def __init__(self, folder: Path, begun: Mapping[str, Any]) -> None:
        #: Round trip through JSON, which turns tuples into lists.
        self.path, self.begun = folder / NAME, json.loads(json.dumps(begun))

    def write(self, net: WorldModel, optimizer: torch.optim.Optimizer, curve: list[dict[str, float]]) -> None:
        """Replace the file by the state after the last step of ``curve``."""
        data = save(_tensors(net, optimizer))
        about = {"begun": self.begun, "curve": curve, "sha256": files.sha256(data)}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        files.replace(files.Files(), self.path, verified.checkable(json.dumps(about)) + data)

    def resume(self, net: WorldModel, optimizer: torch.optim.Optimizer) -> list[dict[str, float]]:
        """Restore network and optimizer; returns the saved curve, empty if there is no file."""
        if not self.path.is_file():
            return []
        line, _, data = safe_open.content(self.path).partition(b"\n")
        text = verified.checked(line)
        about = None if text is None else verified.parsed(self.path, text)
        if about is not None:
            verified.expect(self.path, about, FIELDS)
        if about is None or files.sha256(data) != about["sha256"] or not about["curve"]:
            raise errors.Damaged(f"{self.path}: expected what was written there, got other bytes; remove it")
        ownership.check(self.path.parent, about["begun"], self.begun)
        curve: list[dict[str, float]] = about["curve"]
        for parameter in net.parameters():
            moments = {name: torch.zeros_like(parameter) for name in MOMENTS}
            optimizer.state[parameter] = {"step": torch.tensor(float(curve[-1]["step"])), **moments}
        try:
            check_and_copy(_tensors(net, optimizer), load(data), self.path)
        except SafetensorError as error:
            raise errors.Damaged(f"{self.path}: expected weights, got {error}") from None
        return curve


def _tensors(net: WorldModel, optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    """Weights and moments by name, without copying."""
    named = {f"net.{name}": weight.detach() for name, weight in net.named_parameters()}
    for name, weight in net.named_parameters():
        named |= {f"{moment}.{name}": optimizer.state[weight][moment] for moment in MOMENTS}
    return named


@contextmanager
def policy_folder(out: Path) -> Iterator[Path]:
    """Create and lock the folder of a policy, and remove partial files of an interrupted command."""
    out.mkdir(parents=True, exist_ok=True)
    with Lock(out, work="train"):
        files.sweep_files(files.Files(), out)
        yield out
