"""Draws docs/assets/looks.gif: one policy on one puzzle, once observing before every action and once adaptive.

python docs/figures/looks.py RUN      # a run of train grpo on sliding puzzles
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

import recommit
from recommit.data import held_out
from recommit.policy.checkpoint import local_folder
from recommit.report import animation
from recommit.report.animation import PlayedEpisode
from recommit.runs.directory import recipe_of

ASSETS = Path(__file__).resolve().parents[1] / "assets"
CELL, MARGIN, HEAD = 56, 20, 86
ACTION, OBSERVE, END = 220, 520, 2600  # milliseconds that a picture stays
BACK, INK, PALE, BLUE = "#ffffff", "#1f2430", "#8b93a3", "#2f6fde"


def play(
    policy: recommit.CommitPolicy, task: recommit.Puzzle, start: NDArray[np.uint8], depth: int | None
) -> PlayedEpisode:
    """Until the puzzle is solved, or 24 observations are spent."""
    return recommit.episode(lambda states, _: policy.act(task, states, depth=depth), start, 24, task=task)


def pair(
    policy: recommit.CommitPolicy, task: recommit.Puzzle, starts: NDArray[np.uint8]
) -> tuple[PlayedEpisode, PlayedEpisode]:
    """Of the starts that both solve in sixteen actions, the one where adaptive depth needs the fewest observations."""
    both = [(play(policy, task, start, 1), play(policy, task, start, None)) for start in starts]
    both = [each for each in both if all(len(one) == 16 and one.solved for one in each)]
    if not both:
        raise SystemExit("no start is solved in sixteen actions by both")
    return min(both, key=lambda each: len(each[1].depths))


def moments(episode: PlayedEpisode) -> list[tuple[int, int, int, bool]]:
    """(milliseconds, state, observations so far, whether this is one): an observation, then its actions."""
    shown, at = [], 0
    for number, actions in enumerate(episode.executed, 1):
        shown.append((OBSERVE, at, number, True))
        for _ in range(actions):
            at += 1
            shown.append((ACTION, at, number, False))
    return shown


def draw(task: recommit.Puzzle, panels: list[tuple[str, NDArray[np.uint8], int, bool, bool]]) -> Image.Image:
    """One picture of both episodes."""
    side = task.render(panels[0][1][None], cell=CELL)[0].shape[0]
    picture = Image.new("RGB", (2 * side + 3 * MARGIN, side + HEAD + MARGIN), BACK)
    pen, large, small = ImageDraw.Draw(picture), ImageFont.load_default(20), ImageFont.load_default(14)
    for place, (title, state, seen, observing, over) in enumerate(panels):
        left = MARGIN + place * (side + MARGIN)
        pen.text((left, 12), title, INK, small)
        words = f"{seen} observation{'s' * (seen != 1)}"
        pen.text((left, 36), words, BLUE if observing else INK, large)
        note = "solved" if over else "observes and decides" if observing else "acts open loop"
        pen.text((left, 63), note, BLUE if observing else PALE, small)
        picture.paste(Image.fromarray(task.render(state[None], cell=CELL)[0]), (left, HEAD))
        if observing:
            pen.rectangle((left - 4, HEAD - 4, left + side + 3, HEAD + side + 3), outline=BLUE, width=4)
    return picture


def frames(task: recommit.Puzzle, episodes: list[tuple[str, PlayedEpisode]]) -> tuple[list[Image.Image], list[int]]:
    """Both at once, each at its own pace; a new picture where either changes."""
    lines = []
    for _, episode in episodes:
        begin, line = 0, []
        for time, at, seen, observing in moments(episode):
            line.append((begin, at, seen, observing))
            begin += time
        lines.append([*line, (begin, len(episode.states) - 1, len(episode.depths), False)])
    times = sorted({each[0] for line in lines for each in line})
    pictures = []
    for time in times:
        panels = []
        for (title, episode), line in zip(episodes, lines, strict=True):
            _, at, seen, observing = [each for each in line if each[0] <= time][-1]
            panels.append((title, episode.states[at], seen, observing, time >= line[-1][0]))
        pictures.append(draw(task, panels))
    return pictures, [*np.diff(times).tolist(), END]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--out", type=Path, default=ASSETS / "looks.gif")
    arguments = parser.parse_args()
    data = recipe_of(str(arguments.run), None)
    task, policy = data.puzzle(), recommit.CommitPolicy.from_pretrained(str(local_folder(str(arguments.run))))
    starts = held_out.starts(data, "validation", 128, (16, 16)).states
    many, few = pair(policy, task, starts)
    pictures, times = frames(
        task, [("fixed depth 1", many), (f"adaptive depth: {', '.join(map(str, few.depths))}", few)]
    )
    animation.save_pictures(arguments.out, pictures, times)
    print(f"{arguments.out}: {len(pictures)} pictures, {arguments.out.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
