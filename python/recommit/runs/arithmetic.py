"""How torch computes in this process: its threads, and who multiplies matrices on a CPU."""

from __future__ import annotations

import torch


def settle(threads: int, products: str, device: str = "auto") -> None:
    """Take so many threads (0: as torch likes), and ``fast`` or ``usual`` products of float32 matrices.

    Fast ones are oneDNN's instead of MKL's, which does not use the wide registers of AMD processors. oneDNN is asked by
    saying that bfloat16 would do; it takes that up on processors with AMX alone. Attention is then one product for all
    pictures: torch's fused one multiplies block by block, and oneDNN prepares each block anew, for longer than it
    takes. On a GPU nothing changes.
    """
    if threads:
        torch.set_num_threads(threads)
    fast = products == "fast" and (device == "cpu" or not torch.cuda.is_available())
    torch.backends.mkldnn.matmul.fp32_precision = "bf16" if fast else "none"
    torch.backends.cuda.enable_flash_sdp(not fast)
