"""A run leaves torch as it was; memory goes back."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
from recommit.runs import process

#: Bytes that go back: of many small blocks, every other one of which is kept; of those with ``trim``; of a
#: large block that is freed, before and within ``torch_settings``.
PROGRAM = """
import ctypes
from recommit.runs import process
own = ctypes.CDLL(None)
own.malloc.restype, own.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
def took(size):
    block = own.malloc(ctypes.c_size_t(size))
    ctypes.memset(block, 1, size)
    return block
def back(call):
    before = resident()
    call()
    return before - resident()
blocks = [took(65536) for _ in range(2000)]
small = back(lambda: [own.free(block) for block in blocks[::2]])
trimmed = back(process.trim)
block = took(64 << 20)
large = back(lambda: own.free(block))
with process.torch_settings(inference=True):
    block = took(64 << 20)
    print(small, trimmed, large, back(lambda: own.free(block)))
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="the C library is not glibc")
def test_what_goes_back_to_the_system():
    said = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=True).stdout
    small, trimmed, large, kept = map(int, said.split())
    assert small < 10 * 65536
    assert trimmed > 900 * 65536
    assert large > 60 << 20
    assert kept < 1 << 20


def test_other_work_finds_the_streams_of_gpus_as_they_were(monkeypatch):
    streams = ["of the first", "of the second"]
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_rng_state_all", lambda: list(streams))
    monkeypatch.setattr(torch.cuda, "set_rng_state_all", lambda states: streams.__setitem__(slice(None), states))
    with process.torch_settings():
        streams[:] = ["drawn from", "drawn from"]
    assert streams == ["of the first", "of the second"]


def test_other_work_in_the_process_finds_it_as_it_was():
    threads = torch.get_num_threads()
    with process.torch_settings(threads + 1):
        assert torch.get_num_threads() == threads + 1
    assert torch.get_num_threads() == threads
