"""The page that a saved policy shows on a model hub."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from recommit.policy.backbones.backbone import LISTED
from recommit.puzzles import registry
from recommit.storage import verified
from recommit.storage.files import file_sha256
from recommit.storage.hub import Upload
from recommit.storage.terminal_text import cell

_TEXT = """---
library_name: recommit
license: apache-2.0
pipeline_tag: robotics
tags:
- recommit
- commitment-depth
- vision-language
{head}---

# {title}

A policy that observes a picture of a puzzle, decides how many actions to commit to ({depths}), and which.
Trained on: {trained}. {parts}

```python
policy = recommit.CommitPolicy.from_pretrained("{name}")
task = recommit.{example}
depths, actions = policy.act(task, task.generate(4, seed=0).states)
```

Files are JSON and safetensors only. `config.json` names the backbone with a fingerprint of its weights; loading on any
other is an error.
{hashes}"""


def card(about: dict[str, Any], name: str, hashes: dict[str, str]) -> str:
    """Markdown with the metadata that hubs read; ``about`` is the policy's config.json, ``hashes`` are of its files."""
    config, source, commit = about["policy"], about["backbone"]["source"], about["backbone"].get("revision")
    adapted = config["lora"] is not None
    head = f"base_model: {source}\nbase_model_relation: adapter\n" if adapted and source in LISTED else ""
    if adapted:
        lora = config["lora"]
        base = f"`{source}`, commit `{commit}`" if commit else f"`{source}`" if head else "a backbone of your own"
        parts = f"LoRA (rank {lora['rank']}, alpha {lora['alpha']}) on {base}; the picture encoder is frozen."
    else:
        parts = "The backbone was trained whole and is in `backbone/`."
    trained = config["trained"] or config["tasks"]
    return _TEXT.format(
        head=head,
        title=name.rsplit("/", 1)[-1],
        depths=", ".join(map(str, config["depths"])),
        trained=", ".join(map(cell, trained)),
        example=_example(trained[0]),
        parts=parts,
        name=name,
        hashes="".join(["\n", *(f"- `{file}`: sha256 `{digest}`\n" for file, digest in hashes.items())]),
    )


def _example(name: str) -> str:
    """The expression for a puzzle that a policy was trained on, by a name such as sliding-3x3, or sliding."""
    task, _, size = name.partition("-")
    kind = registry.puzzle(task)
    rows, cols = map(int, size.split("x")) if size else kind.usual.size
    boxes = ", boxes=1" if kind.most_boxes else ""
    return f"{kind.__name__}({rows}{boxes})" if rows == cols else f"{kind.__name__}.of(({rows}, {cols}), boxes=1)"


def upload(folder: Path, repo: str) -> Upload:
    """The upload of a saved policy: its files, and its page."""
    weights = sorted(folder.glob("*.safetensors"))
    hashes = {path.name: file_sha256(path) for path in weights}
    return Upload(repo, "model", folder, {"README.md": card(verified.values(folder, "config.json"), repo, hashes)})
