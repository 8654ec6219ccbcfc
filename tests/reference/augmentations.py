"""Symmetry augmentations in plain steps: the drawn picture is turned, and every copy decodes alone, one state at a
time."""

from __future__ import annotations

import numpy as np
import torch

from recommit.policy.backbones.transformer import Normalization, normalize, patches

#: What becomes of (row, column) in each view of a picture of these rows and columns, and of a step.
PLACES = [
    lambda r, c, _rows, _cols: (r, c),
    lambda r, c, _rows, cols: (r, cols - 1 - c),
    lambda r, c, rows, _cols: (rows - 1 - r, c),
    lambda r, c, rows, cols: (rows - 1 - r, cols - 1 - c),
    lambda r, c, _rows, _cols: (c, r),
    lambda r, c, _rows, cols: (c, cols - 1 - r),
    lambda r, c, rows, _cols: (rows - 1 - c, r),
    lambda r, c, rows, cols: (rows - 1 - c, cols - 1 - r),
]
STEPS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
NORMALIZATION = Normalization((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))


def picture_in(view, picture, cell):
    """The picture with every cell moved, pixels and all."""
    rows, cols = picture.shape[0] // cell, picture.shape[1] // cell
    result = np.empty_like(picture)
    for r in range(rows):
        for c in range(cols):
            to_row, to_col = PLACES[view](r, c, rows, cols)
            inside = picture[r * cell : (r + 1) * cell, c * cell : (c + 1) * cell]
            result[to_row * cell : (to_row + 1) * cell, to_col * cell : (to_col + 1) * cell] = inside
    return result


def action_in(view, action):
    """Where an action points in a view: a step between two cells of a picture of 3x3, turned."""
    row, col = list(STEPS.values())[action]
    begin, end = PLACES[view](1, 1, 3, 3), PLACES[view](1 + row, 1 + col, 3, 3)
    return list(STEPS.values()).index((end[0] - begin[0], end[1] - begin[1]))


def z_of(policy, task, state, view, cell):
    """What the backbone says of the turned picture alone."""
    picture = task.render(state[None], cell=cell, crop=task.ringed)[0]
    vision = policy.backbone.base.visual.config
    frame = torch.from_numpy(picture_in(view, picture, cell)[None])
    cut = patches(
        normalize(frame, NORMALIZATION), vision.patch_size, vision.spatial_merge_size, vision.temporal_patch_size
    )
    features = policy.backbone.features(cut, policy.vision.grid(task, state.shape))
    return policy.backbone.z(features, policy.prompts_cache.of(task, state.shape))


@torch.no_grad()
def plan(policy, task, state, copies, cell):
    """Eight actions, and the mean probabilities that they were chosen by."""
    index = policy.task_index(task)
    looks = [z_of(policy, task, state, view, cell) for view in range(copies)]
    actions, means = [], []
    for _ in range(8):
        total = [0.0] * 4
        for view, z in enumerate(looks):
            before = torch.tensor([[action_in(view, action) for action in actions]], dtype=torch.long)
            probs = policy.decoder(z, before, index)[0, -1].double().softmax(-1)
            for action in range(4):
                total[action] += float(probs[action_in(view, action)])
        means.append([value / copies for value in total])
        actions.append(max(range(4), key=means[-1].__getitem__))
    return actions, means
