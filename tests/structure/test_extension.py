"""What the built extension is, beside what it does."""

from __future__ import annotations

import shutil
import sys

import pytest
from tests.verify import symbols
from tests.verify.harness import Finding

needs_elf = pytest.mark.skipif(
    sys.platform != "linux" or not all(map(shutil.which, ("nm", "readelf"))),
    reason="expected an ELF file, and nm and readelf of binutils to read it",
)


@needs_elf
def test_it_is_hardened_and_says_nothing_of_the_machine_that_built_it():
    properties, _ = symbols.check(plant=False)
    assert properties == 10


@needs_elf
@pytest.mark.skipif(not shutil.which("cc"), reason="expected a C compiler for a careless library")
def test_a_careless_library_is_noticed():
    with pytest.raises(Finding, match="exported symbols"):
        symbols.check(plant=True)


@pytest.mark.parametrize("path", [b"/tmp/build-env-x1/include/pybind11/cast.h", b"/home/a b/cpp/core/text/pack.cpp"])
def test_paths_of_sources_are_seen(path):
    assert symbols.SOURCE.findall(b"\0" + path + b"\0") == [path]


@pytest.mark.parametrize(
    "path", [b"recommit/cpp/core/text/pack.cpp", b"include/pybind11/cast.h", b"/lib64/libstdc++.so.6"]
)
def test_other_names_are_none(path):
    assert symbols.SOURCE.findall(b"\0" + path + b"\0") == []
