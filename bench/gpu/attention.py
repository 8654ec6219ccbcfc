"""Which kernel takes each attention of a pass at the shapes of Qwen2.5-VL-7B, random weights: pictures, text, what each
state has behind it, the last token; forward, and the way back of a pass that learns.

    python bench/gpu/attention.py --out OUT
    python bench/gpu/attention.py --preset tiny --device cpu     # checks the script itself, without a GPU

It fails where the language model's attention on a GPU keeps the scores, as torch's ``math`` does.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from sft_7b import Figures, arguments, build, puzzles
from torch.utils._python_dispatch import TorchDispatchMode

#: Kernels by a part of their operation's name, the way back included; a softmax of its own is what ``math`` is made of.
KERNELS = ("flash", "efficient_attention", "cudnn_attention", "softmax")


class Kernels(TorchDispatchMode):  # type: ignore[misc] # torch's class has no types
    """How often each was called, by (operation, shape of what it was given first)."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: Counter[tuple[str, tuple[int, ...]]] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func._overloadpacket.__name__
        if any(kernel in name for kernel in KERNELS):
            self.calls[name, tuple(args[0].shape)] += 1
        return func(*args, **(kwargs or {}))


def passes(policy: Any, task: Any) -> dict[str, dict[str, int]]:
    """The calls of the pictures, and of a pass that learns from their features."""
    states = task.generate(4, seed=1, length=(8, 20)).states
    found = {}
    for name in ("pictures", "language model"):
        with Kernels() as kernels:
            if name == "pictures":
                policy.vision.features(task, states, frozen=True)
            else:
                policy.encode(task, states).float().sum().backward()
        found[name] = {f"{kernel} of {list(shape)}": count for (kernel, shape), count in kernels.calls.items()}
    return found


def main() -> None:
    options = arguments(__doc__).parse_args()
    policy, figures = build(options.preset, options.device).eval(), Figures("attention", options)
    for name, task in puzzles(options.size).items():
        row = passes(policy, task)
        figures.add(name, row)
        kept = [what for what in row["language model"] if "softmax" in what]
        assert not kept or options.device == "cpu", f"attention that keeps scores: {kept}"


if __name__ == "__main__":
    main()
