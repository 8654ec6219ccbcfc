"""The commands of a page, run from top to bottom in one folder.

What is not run stands in ``NOT_RUN`` with the reason; what is run smaller than shown, in ``MOST`` and ``SMALLER``. No
command may change what belongs to the whole process.
"""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.invariant.test_global_state import libraries, watched
from tests.structure.commands import ROOT, Command, Wrong, call, commands

from recommit.cli import command_line
from recommit.train.config import section

#: Commands that are checked but not run: what matches, and why.
NOT_RUN = {
    r"^bash scripts/": "builds a virtual environment and then runs for minutes; CI is itself `bash scripts/test`",
    r"^pip install": "changes the environment that the tests run in; its extras are checked",
    r"^(cmake|ctest|git ls-files|mkdocs|pytest|python -m tests\.)": "a step of scripts/test and scripts/verify",
    r"^python -m bench\.pages": "writes into docs/assets, from runs; test_pages.py makes the tables again and compares",
    r"^(python -m bench\.robots|recommit graph score robots)": (
        "needs Meta-World; tests/unit/adapters/test_robots_bench.py runs it in little, nightly"
    ),
    r"^python bench/": "times the machine for minutes; asserts its answers",
    r"^python -c .*prepare\('large'": "builds a table for minutes",
    r"^(deepspeed|torchrun|srun|sbatch) ": (
        "needs a launcher and its nodes; tests/invariant/test_zero_lora.py runs two ranks"
    ),
    r"^recommit reproduce .*--gpus": "needs GPUs; tests/invariant/test_launchers.py launches two ranks on processors",
    r"^recommit train .*--recipe (paper|qwen7b)-": "needs a GPU and gigabytes of weights",
    r"^(git clone|recommit (data import boxoban|data build .*--generator unfiltered|train sft --recipe boxoban|"
    r"train world-model run --augmentations 8 --steps 6000|reproduce --preset boxoban)) ": (
        "needs 170 MB of published levels; tests/unit/data/test_boxoban.py imports a few of its own"
    ),
    r"^recommit zero-shot .*--data OUT/": "needs the data and runs of preset paper",
    r"^recommit score zs ": "needs a model's answers to all levels; tests/unit/evaluate/test_transcripts.py reads some",
    r"^recommit sweep .*--lerobot |^lerobot-|metaworld_positions.py": "needs LeRobot; tests/unit/adapters, nightly",
    r"^recommit (play|watch)\b": "plays until a key ends it; tests/unit/cli/verbs/test_watch.py presses keys",
    r"^ray ": "starts a cluster; tests/unit/data builds with a local one",
    r"--engine ray": "needs that cluster",
    r"^export ": "sets a variable",
}

#: The most that a number after a flag may be when a page is run.
MOST = {"--count": 64, "--validation": 4, "--test": 8, "--instances": 4, "--starts": 16, "--steps": 1, "--workers": 1}
MOST |= {"--episodes": 2, "--jobs": 1, "--updates": 2}
_VALIDATION = "'validation={instances: 4, every: 1, budget: 3, length: [6, 14]}' run.tensorboard=false optim.batch=16"
#: What a verb gets in addition.
SMALLER = {
    "train sft": f"--steps 1 --set {_VALIDATION} 'model.policy.decoder={{width: 32, layers: 1, heads: 2, ffn: 64}}'",
    "train grpo": (
        f"--steps 1 --set {_VALIDATION} rollout.instances=4 rollout.budget=3 rollout.states=64 by_task={{}} phases=[]"
    ),
    "train world-model": "--steps 1 --starts 16",
    "evaluate": "--instances 4 --validation 2",
    "reproduce": "--jobs 1",
    "sweep": "--episodes 2 --validation 1 --thresholds 1 --depths 3 8",
    "estimate": "--set model.backbone=random:tiny",
}
#: ... and, by the kind of its backbone, a warm start besides.
SHAPES = {
    "conv": "model.shape={width: 8, blocks: 1, z: 16, reach: 1}",
    "random": (
        "model.shape={width: 32, layers: 2, heads: 2, kv_heads: 2, ffn: 64, vision_width: 16, vision_heads: 1, "
        "vision_ffn: 32}"
    ),
}

#: What a page takes for granted: commands of the pages before it.
_DATA = "recommit data build --task sliding --size 3 --length 8 24 --count 64 --validation 16 --test 32 --out data"
_RUN = "recommit train sft --recipe laptop-sliding --data data --out run"
_RL = "recommit train grpo --recipe laptop-sliding --init run --out "
_FAMILY = [f"{_RL}family/{name}-s0 --variant {name}" for name in ("adaptive", "fixed-4")]


def _python(code: str) -> str:
    return f"python -c {shlex.quote(code)}"


_POLICY = _python(
    "import re; from pathlib import Path; from tests.structure.commands import ROOT; "
    "text = (ROOT / 'docs/guides/sweep.md').read_text('utf-8'); "
    "Path('policy.py').write_text(re.search('```py\\n(.*?)```', text, re.DOTALL)[1])"
)
_LEVELS = "import recommit; recommit.write_levels('levels.txt', recommit.Sliding(3).generate(4, length=9).states)"
_AGENT = """
from pathlib import Path; import json
agent = "lambda boards, remaining: (np.full(len(boards), 8), np.zeros((len(boards), 8), np.uint8))"
Path("agent.py").write_text(f"import numpy as np; agent = {agent}")
every = [{"budget": k, "level": i, "commitments": []} for k in (10, 15) for i in range(1024)]
Path("moves.jsonl").write_text("\\n".join(map(json.dumps, every)))
"""
_WRITE = "from pathlib import Path; Path('{}').write_text('{}')"
_RULE = _WRITE.format("sure.py", "from recommit.horizon import Fixed; rule = Fixed(3)")
_REWARD = _WRITE.format("mine.py", "def reward(spans): return spans.solved - 0.01 * spans.decisions")
_VISITED = "import numpy, recommit; numpy.save('visited', recommit.Sokoban(8).generate(5, seed=0).states)"
BEFORE = {
    **{f"docs/guides/{name}.md": [_POLICY] for name in ("chunks", "sweep", "command-line")},
    "docs/guides/evaluation.md": [_DATA, _RUN, f"{_RL}rl", f"{_RL}rl-fixed-4 --variant fixed-4", *_FAMILY],
    "docs/guides/reinforcement.md": [_DATA],
    "docs/guides/graphs.md": [_python(_RULE), _python(_LEVELS)],
    "docs/guides/change-one-thing.md": [_python(_REWARD)],
    "docs/leaderboard.md": [_python(_AGENT)],
    "docs/guides/data.md": [_python(_VISITED)],
}
#: Pages whose blocks are experiments of their own, each in a folder of its own.
SEPARATE = {"docs/results.md", *(f"docs/results/{puzzle}.md" for puzzle in ("sliding", "sokoban", "boxoban"))}

#: `recommit reproduce --preset NAME` runs this instead.
SMALL_PRESET = """
- for: {task: sliding, size: 2 3}
  do: &small
    - >-
      data build --task {task} --size {size} --length 6 14 --count 60 --validation 8 --test 12 --ties random
      --out {task}/data
    - >-
      train sft --recipe laptop-{task} --data {task}/data --set SFT --out {task}/sft
    - >-
      train grpo --recipe laptop-{task} --init {task}/sft --set GRPO --out {task}/family/adaptive-s0
    - >-
      evaluate {task}/family --paper --instances 4 --validation 2 --budgets 2 --out {task}/eval-s0
    - report {task}/eval-s0 --out {task}/report.html
- for: {task: sokoban, size: 6}
  do: *small
"""


def reason(command: Command) -> str | None:
    """Why it is not run; None if it is."""
    plain = shlex.join(command.words) if command.words[0] != "python" else " ".join(command.words)
    return next((why for pattern, why in NOT_RUN.items() if re.search(pattern, plain)), None)


def scaled(words: list[str], server: str) -> list[str]:
    """The same command with less work in it; words after ``recommit``."""
    verb = next(verb for verb in command_line.VERBS if words[: len(verb.split())] == verb.split())
    small = [_least(words[i - 1], word) for i, word in enumerate(words)]
    if verb == "zero-shot":
        small = _without(_without(small, "--endpoint"), "--base-url")
        small += ["--endpoint", "custom", "--base-url", server]
    own = {"estimate": "model.backbone=", "train grpo": "phases="}.get(verb)  # what is set smaller instead
    small = [word for word in small if own is None or not word.startswith(own)]
    if verb == "reproduce":
        small = [*_without(small, "--preset"), "--preset", "small.yaml"]
    if "--seeds" in small:
        small = _without(small, "--seeds")
    for flag, values in _flags(shlex.split(SMALLER.get(verb, ""))):
        if flag == "--set" and verb == "train sft":
            values.append(_shape(_after(small, "--recipe"), _after(small, "--backbone")))
        if flag == "--set" and flag in small:
            small[small.index(flag) + 1 : small.index(flag) + 1] = values
        elif flag not in small:
            small += [flag, *values]
    return small


def _after(words: list[str], flag: str) -> str:
    return words[words.index(flag) + 1] if flag in words else ""


def _shape(recipe: str, backbone: str = "") -> str:
    """A smaller shape of the backbone that is named, or of the recipe's."""
    named = backbone or str(section(recipe, "sft").get("model", {}).get("backbone", "random"))
    return SHAPES[named.partition(":")[0]]


def _least(flag: str, word: str) -> str:
    return str(min(int(word), MOST[flag])) if flag in MOST else word


def _flags(words: Any) -> list[tuple[str, list[str]]]:
    """Each flag with its values."""
    found: list[tuple[str, list[str]]] = []
    for word in words:
        if word.startswith("--"):
            found.append((word, []))
        else:
            found[-1][1].append(word)
    return found


def _without(words: list[str], flag: str) -> list[str]:
    """Without a flag and its values."""
    if flag not in words:
        return words
    first = words.index(flag)
    last = next((i for i in range(first + 1, len(words)) if words[i].startswith("--")), len(words))
    return words[:first] + words[last:]


#: What a command has made, by its words, where what an earlier one has made counts as the words of that. A page whose
#: commands differ in what ``scaled`` takes away, or that begins like another one, goes on from a copy.
#: The example in little.
#: By program of ``docs/examples``, what makes it small.
EXAMPLES = {
    "depth_head.py": ["--demonstrations=4", "--steps=20", "--episodes=8", "--validation=4", "--test=8"],
    "ppo_sokoban.py": ["--minutes=0.001", "--bank=512"],
}
_MADE: dict[tuple[Any, ...], Path] = {}
_WORDS: dict[Path, tuple[Any, ...]] = {}


def _make(words: list[str]) -> tuple[int, str]:
    out = Path(words[words.index("--out") + 1]).absolute()
    key = tuple(_WORDS.get(Path(word).absolute(), word) for word in _without(words, "--out"))
    if out.exists() or key not in _MADE:
        fresh = not out.exists()
        status, said = call(words)
        if fresh and not status and out.is_dir():
            _MADE[key], _WORDS[out] = shutil.copytree(out, out.with_name(f"{out.name}-as-made")), key
        return status, said
    shutil.copytree(_MADE[key], out)
    _WORDS[out] = key
    return 0, ""


def run(command: Command, server: str) -> None:
    """Run it here and now."""
    words, changed = command.words, dict[str, list[str]]()
    if words[0] == "recommit":
        libraries()
        small = words[1:] if words[1].startswith("--") else scaled(words[1:], server)
        with watched(str(command), changed):
            status, said = _make(small) if "--out" in small and "--show" not in small else call(small)
        if status or changed:
            raise Wrong(f"{command}: exit status {status}: {said} {changed or ''}")
    elif words[:2] == ["python", "-c"]:
        exec(words[2], {})  # noqa: S102  (our own documents)
    else:
        more = EXAMPLES.get(Path(words[1]).name, [])
        with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
            patch.setattr(sys, "argv", [*words[1:], *more])
            patch.setattr(sys, "path", [str((ROOT / words[1]).parent), *sys.path])
            runpy.run_path(str(ROOT / words[1]), run_name="__main__")


def small_preset() -> str:
    """What ``small.yaml`` says."""
    sft, grpo = (["optim.steps=1", *shlex.split(SMALLER[verb])[3:]] for verb in ("train sft", "train grpo"))
    sft.append(_shape("laptop-sliding"))
    return SMALL_PRESET.replace("SFT", shlex.join(sft)).replace("GRPO", shlex.join(grpo))


def run_page(page: Path, folder: Path, server: str) -> int:
    """Run every command of a page, in order; how many."""
    name, count = page.relative_to(ROOT).as_posix() if ROOT in page.parents else page.name, 0
    before = [Command(f"before {name}", 0, -1, text) for text in BEFORE.get(name, ())]
    for command in [*before, *commands(page)]:
        if reason(command) is None:
            place = folder / str(command.block) if name in SEPARATE else folder
            place.mkdir(exist_ok=True)
            (place / "small.yaml").write_text(small_preset(), encoding="utf-8")
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(place)
                run(command, server)
            count += 1
    return count
