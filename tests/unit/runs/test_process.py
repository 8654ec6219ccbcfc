"""Fast products are products, whoever multiplies; a run without them leaves torch as it was; memory goes back."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
from recommit.runs import process
from recommit.runs.process import settle, settle_to_look

#: Many blocks below the size that is mapped alone, every other one kept: what is freed lies between what is not.
PROGRAM = """
import ctypes, sys
from recommit.runs import process
own = ctypes.CDLL(None)
own.malloc.restype, own.free.argtypes, size = ctypes.c_void_p, [ctypes.c_void_p], 65536
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
blocks = [own.malloc(ctypes.c_size_t(size)) for _ in range(2000)]
for block in blocks:
    ctypes.memset(block, 1, size)
for block in blocks[::2]:
    own.free(block)
before = resident()
if "trim" in sys.argv:
    process.trim()
print(before - resident())
"""

#: A block that is large enough to be mapped alone; what goes back when it is freed.
LARGE = """
import ctypes, sys
from recommit.runs import process
own = ctypes.CDLL(None)
own.malloc.restype, own.free.argtypes, size = ctypes.c_void_p, [ctypes.c_void_p], 64 << 20
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
if "keep" in sys.argv:
    process.settle_to_look(0)
block = own.malloc(ctypes.c_size_t(size))
ctypes.memset(block, 1, size)
before = resident()
own.free(block)
print(before - resident())
"""


@pytest.fixture(autouse=True)
def _as_before():
    threads = torch.get_num_threads()
    yield
    settle(threads, "default", "cpu")


def settings():
    return torch.backends.mkldnn.matmul.fp32_precision, torch.backends.cuda.flash_sdp_enabled()


def test_fast_products_are_asked_for_and_given_up_again():
    settle(0, "default", "cpu")
    before = settings()
    settle(1, "onednn", "cpu")
    assert settings() != before
    assert torch.get_num_threads() == 1
    settle(0, "default", "cpu")
    assert settings() == before
    assert torch.get_num_threads() == 1


def test_fast_products_stay_within_bfloat16_of_exact_ones():
    generator = torch.Generator().manual_seed(3)
    a, b = (torch.randn(shape, generator=generator) for shape in ((96, 80), (80, 112)))
    exact = a.double() @ b.double()
    settle(1, "onednn", "cpu")
    q, k, v = (torch.randn((2, 2, 9, 16), generator=generator) for _ in range(3))
    attended = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    fast = a @ b
    settle(1, "default", "cpu")
    usual = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert (fast.double() - exact).abs().max() <= 80 * 2.0**-8 * a.abs().max() * b.abs().max()
    assert torch.allclose(attended, usual, atol=0.1)


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="the C library is not glibc")
def test_what_lies_between_blocks_goes_back():
    back = {
        word: int(subprocess.run([sys.executable, "-c", PROGRAM, word], capture_output=True, check=True).stdout)
        for word in ("trim", "nothing")
    }
    assert back["trim"] > 900 * 65536
    assert back["nothing"] < 10 * 65536


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="the C library is not glibc")
def test_what_looks_free_does_not_go_back():
    back = {
        word: int(subprocess.run([sys.executable, "-c", LARGE, word], capture_output=True, check=True).stdout)
        for word in ("keep", "nothing")
    }
    assert back["keep"] < 1 << 20
    assert back["nothing"] > 60 << 20


def test_looks_take_the_threads_that_are_asked_for():
    threads = torch.get_num_threads()
    settle_to_look(threads + 1)
    assert torch.get_num_threads() == threads + 1
    settle_to_look(0)
    assert torch.get_num_threads() == threads + 1


def test_another_library_is_left_alone(monkeypatch):
    monkeypatch.setattr(process, "_library", lambda: None)
    process.trim()
    settle_to_look(0)


def test_other_work_in_the_process_finds_it_as_it_was():
    threads, flash = torch.get_num_threads(), torch.backends.cuda.flash_sdp_enabled()
    precision = torch.backends.mkldnn.matmul.fp32_precision
    with process.unsettled():
        settle(threads + 1, "onednn", "cpu")
        assert torch.get_num_threads() == threads + 1
        assert torch.backends.mkldnn.matmul.fp32_precision == "bf16"
    assert torch.get_num_threads() == threads
    assert torch.backends.mkldnn.matmul.fp32_precision == precision
    assert torch.backends.cuda.flash_sdp_enabled() == flash
