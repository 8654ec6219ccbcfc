"""Run with Inspect itself: its mock model answers what a solver says about the pictures that it is sent."""

from __future__ import annotations

import base64
import json
import tempfile

import numpy as np
from inspect_ai import eval as evaluated
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from tests.unit.zero_shot.servers import pixels

import recommit
from recommit.adapters.inspect_task import commitments

PUZZLE, SHAPES = recommit.Sliding(3), []


def expert(messages, *_):
    picture = np.ascontiguousarray(pixels(base64.b64decode(messages[-1].content[0].image.split(",")[1])))
    SHAPES.append(picture.shape)
    plan = PUZZLE.solve(PUZZLE.decode(picture[None], cell=28)).actions[:8]
    depth = max(h for h in (1, 2, 4, 8) if h <= len(plan))
    answer = {"h": depth, "actions": [recommit.ACTIONS[a] for a in plan[:depth]]}
    output = ModelOutput.from_content("mockllm/model", json.dumps(answer))
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # else it loads a tokenizer
    return output


def main():
    task = commitments(task="sliding", size=3, length=[8, 12], count=4, cell=28)
    with tempfile.TemporaryDirectory() as folder:
        model = get_model("mockllm/model", custom_outputs=expert)
        (log,) = evaluated(task, model=model, log_dir=folder, display="none")
    figures = {score.name: score.metrics["mean"].value for score in log.results.scores}
    shown = {"status": log.status, "solved": figures["solved"], "regret": figures["regret"]}
    print(json.dumps({**shown, "pictures": set(SHAPES) == {(84, 84, 3)}}))


main()
