"""Cost of a computation: FLOPs, kernels, and peak bytes of its tensors.

Counted by a dispatch mode over every operation, on real or on meta tensors. The formulas are those of torch's
``FlopCounterMode``, which gives the same totals; it is not used itself because its module hooks keep recomputed
activations alive.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry, sdpa_backward_flop_count, sdpa_flop_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torch import Tensor


@dataclass(frozen=True)
class Cost:
    """Cost of one pass."""

    #: Floating-point operations of matrix products and attention.
    flops: int
    #: Peak bytes beyond those that were allocated before.
    peak: int
    #: ATen operations that write, without views and allocations.
    kernels: int
    #: Kernel launches if every compilable region is one launch: kernels outside of regions, plus one per region.
    launches: int


class Watch(TorchDispatchMode):
    """Dispatch mode that counts operations and the bytes of live tensors: those passed in, and those made inside it."""

    def __init__(self, there: Iterable[Tensor] = ()) -> None:
        super().__init__()
        self.flops = self.kernels = self.launches = self.now = self.peak = 0
        self._inside = False
        self._sizes: dict[int, int] = {}
        for tensor in there:
            self._take(tensor)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        formula = FORMULAS.get(func._overloadpacket)
        if formula is not None:
            self.flops += int(formula(*args, **(kwargs or {}), out_val=result))
        given, made = (_storages(each) for each in ((args, kwargs), result))
        kernel = func._schema.is_mutable or (bool(made - given) and func._overloadpacket not in ALLOCATIONS)
        self.kernels += kernel
        self.launches += kernel and not self._inside
        for leaf in tree_leaves(result):
            if isinstance(leaf, torch.Tensor):
                self._take(leaf)
        return result

    def piece(self, *_: Any, begins: bool) -> None:
        """Mark the beginning or end of a compilable region."""
        self._inside, self.launches = begins, self.launches + begins

    def _take(self, tensor: Tensor) -> None:
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key in self._sizes:
            return  # a view
        self._sizes[key] = storage.nbytes()
        self.now += storage.nbytes()
        self.peak = max(self.peak, self.now)
        weakref.finalize(storage, self._drop, key)

    def _drop(self, key: int) -> None:
        self.now -= self._sizes.pop(key)


def cost(work: Callable[[], Any], watch: Watch) -> Cost:
    """Run ``work`` and return its cost; its result is dropped."""
    before, flops, kernels, launches = watch.now, watch.flops, watch.kernels, watch.launches
    watch.peak = before
    with watch:
        work()
    return Cost(watch.flops - flops, watch.peak - before, watch.kernels - kernels, watch.launches - launches)


def _storages(values: Any) -> set[int]:
    """Storages of all tensors among ``values``."""
    return {leaf.untyped_storage()._cdata for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor)}


def attention(query: Any, key: Any, value: Any, *_rest: Any) -> int:
    """FLOPs of attention, from the shapes of its inputs."""
    return int(sdpa_flop_count(query, *_every_head(query, key, value)))


def attention_backward(grad: Any, query: Any, key: Any, value: Any, *_rest: Any) -> int:
    """FLOPs of attention's backward pass."""
    return int(sdpa_backward_flop_count(grad, query, *_every_head(query, key, value)))


def _every_head(query: Any, *shared: Any) -> list[tuple[int, ...]]:
    """Shapes of keys and values with grouped heads expanded: torch 2.11's formulas do not support grouped-query
    attention."""
    return [(batch, query[1], *rest) for batch, _, *rest in shared]


def _of_tensors(formula: Callable[..., int]) -> Callable[..., int]:
    return lambda *tensors, **_named: formula(*(t.shape for t in tensors if isinstance(t, torch.Tensor)))


#: Operations that allocate a tensor without writing to it.
ALLOCATIONS = {getattr(torch.ops.aten, name) for name in ("empty", "empty_like", "empty_strided", "new_empty")}
#: FLOP formula per operation; torch's registry lacks the CPU attention kernels.
FORMULAS: dict[Any, Callable[..., int]] = {
    **flop_registry,
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: _of_tensors(attention),
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward: _of_tensors(attention_backward),
}
