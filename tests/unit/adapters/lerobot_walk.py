"""The commands of docs/guides/sweep.md from demonstrations to a depth, each in little."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from lerobot.scripts import lerobot_eval, lerobot_train

from recommit.cli import main

ROOT = Path(__file__).resolve().parents[3]
#: What makes a command small; the last mention of a flag counts.
LITTLE = {
    "python": ["--episodes=2"],
    "lerobot-train": ["--steps=2"],
    "recommit": shlex.split("--batch 2 --episodes 2 --validation 1 --thresholds 0 --max-steps 40 --quiet"),
    "lerobot-eval": ["--eval.n_episodes=1", "--env.episode_length=40"],
}

sys.path.insert(0, str(ROOT / "docs" / "examples"))
os.environ["PYTHONPATH"] = sys.path[0]
guide = (ROOT / "docs" / "guides" / "sweep.md").read_text()
(block,) = re.findall(r"^```console\nexport PYTHONPATH=docs/examples\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
said = []
for line in block.replace("\\\n", "").splitlines():
    name, *words = shlex.split(line)
    sys.argv = [name, *words, *LITTLE[name]]
    if name == "recommit":
        assert main(sys.argv[1:]) == 0
    elif name == "python":
        subprocess.run([sys.executable, str(ROOT / words[0]), *words[1:], *LITTLE[name]], check=True)
    else:
        {"lerobot-train": lerobot_train, "lerobot-eval": lerobot_eval}[name].main()
    said.append(name)
card = json.loads(Path("push-sweep", "card.json").read_text())
assert [row["name"] for row in card["rows"]] == [f"fixed-{depth}" for depth in (1, 2, 4, 8, 16, 32)]
assert card["score"] == "success"
assert card["horizon"] == 32
print("walked:", *said)
