"""``transformers serve`` itself, also where torchvision was compiled for another torch than the one that is installed.

python serve.py FOLDER PORT serves the model of a folder until it is killed. Qwen2.5-VL's processor imports torchvision,
whose compiled half cannot be loaded beside a torch for CPUs alone: then pictures are decoded by Pillow, and two
operators that nobody calls have names only.
"""

from __future__ import annotations

import io
import sys

import torch


def without_compiled_half():
    """Give torchvision what its Python half asks for; the library must live as long as the process."""
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    import torchvision.io

    torchvision.io.decode_image = decode
    return library


def decode(data, mode=None, **_):
    """As torchvision.io.decode_image, for pictures in RGB."""
    import numpy as np
    from PIL import Image

    assert str(mode).endswith("RGB"), mode
    picture = Image.open(io.BytesIO(data.numpy().tobytes())).convert("RGB")
    return torch.from_numpy(np.array(picture)).permute(2, 0, 1).contiguous()


if __name__ == "__main__":
    kept = None
    try:
        import torchvision.io

        torchvision.io.image._assert_has_image_ops()
    except RuntimeError:
        for module in [name for name in sys.modules if name.startswith("torchvision")]:
            del sys.modules[module]
        kept = without_compiled_half()
    from transformers.cli.transformers import main

    torch.set_num_threads(1)
    sys.argv = ["transformers", "serve", sys.argv[1], "--device", "cpu", "--port", sys.argv[2]]
    main()
