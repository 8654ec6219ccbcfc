"""The table of what is verified beside the suite: one entry per row and tier. A new row is one more entry here.

What every commit must pass is the suite itself; quick rows are what no test can see from inside, and run with it.
A row runs in its tier and in every later one: quick, nightly, release.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.verify import (
    determinism,
    distances,
    fuzzing,
    limits,
    network,
    orders,
    package,
    sanitizers,
    signature,
    versions,
)

if TYPE_CHECKING:
    from tests.verify.harness import Check

TIERS = ("quick", "nightly", "release")


@dataclass(frozen=True)
class Pytest:
    """Tests below some paths that are marked as nightly."""

    paths: tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """One line of the table of figures: tests, or a check that must also find its planted defect."""

    id: str
    what: str
    tier: str
    target: str
    check: Pytest | Check


def _tests(*paths: str) -> Pytest:
    return Pytest(tuple(f"tests/{path}" for path in paths))


ROWS = (
    Row("L2", "random 4x4 boards: plan replayed, parity, bound, neighbours", "nightly", "100%",
        distances.far),
    Row("L3", "every state of 5,000 Sokoban levels of up to 8x8 and three boxes and of 7,000 icy caves, against plain "
        "search; level files: written and read, damaged", "nightly", "100% equal, 1 M states; zero",
        _tests("property")),
    Row("L4", "every dead verdict of every pruning rule alone, against enumeration", "nightly",
        "0 false dead in 5 M states", distances.rules),
    Row("L5", "sliding searches with each rule, bound, table and view switched off", "nightly",
        "identical on 20 k states", distances.switches),
    Row("L8", "simulators against plain-Python twins, in lockstep, for longer", "nightly", "bitwise equal",
        _tests("unit/puzzles")),
    Row("D2", "an evaluation by two processes at once", "nightly", "the bytes of one", _tests("unit/graph")),
    Row("D4", "g++ and clang, -O0 and -O3 -march=native, aarch64 and big-endian s390x", "nightly",
        "identical signatures", signature.platforms),
    Row("M1", "C++ tests of parsers, pictures, episodes, buffers and icy caves, fuzz corpus: ASan, UBSan and LSan",
        "quick", "zero", sanitizers.memory),
    Row("M1", "every C++ test and the fuzz corpus, and unit tests through Python", "nightly", "zero",
        sanitizers.every),
    Row("M2", "every C++ test under TSan, and 20 minutes of stress of pool, simulators and generators", "nightly",
        "zero, no suppressions", sanitizers.races),
    Row("M3", "every C++ case under valgrind's memcheck, ten seconds of CPU time each", "nightly",
        "no read of unwritten memory, nothing lost", sanitizers.memcheck),
    Row("M6", "memory over 100,000 solved states and environments; Ctrl-C at 25 moments of each call", "nightly",
        "< 1 MB growth; within 600 units of effort",
        _tests("invariant/test_solver_process.py", "invariant/test_interrupt.py", "unit/envs")),
    Row("C1", "data sets: killed before, in and after every operation that changes the disk, and in recovery; a "
        "million rows killed 100 times, against 1, 2, 4 workers and Ray", "nightly",
        "nothing lost, doubled or torn; the tree of an undisturbed build",
        _tests("crash/test_kills.py")),
    Row("C3", "imitation and reinforcement, each ended 100 times at random moments by SIGKILL, SIGTERM and Ctrl-C",
        "nightly", "bitwise equal, each step logged once",
        _tests("crash/test_moments.py::test_training", "crash/test_moments.py::test_what_is_not_whole_is_seen")),
    Row("C6", "data sets: power loss in 1,500 images; every operation on the disk fails once and for ever", "nightly",
        "typed error, shards intact, a rerun finishes", _tests("crash/test_faults.py")),
    Row("C10", "two processes build one solver table", "quick", "both right, one whole file",
        determinism.builders),
    Row("C12", "evaluations ended 100 times at random moments, in the same ways", "nightly",
        "the bytes of one left alone", _tests("crash/test_moments.py::test_evaluations")),
    Row("C13", "commitment graphs, fitted heads, world models, conditioned heads and a reproduction, each ended 50 "
        "times at random moments", "nightly", "the bytes of one left alone",
        _tests("crash/test_moments.py::test_graphs_and_heads", "crash/test_moments.py::test_a_reproduction")),
    Row("C14", "ranks by torchrun and in a SLURM job; a preset from nothing",
        "nightly", "every run finished once", _tests("invariant/test_launchers.py", "unit/cli")),
    Row("C16", "every command at every change of the disk: full disk, no permission, killed", "nightly",
        "the same command ends in the same bytes", _tests("crash/test_commands.py")),
    Row("F1", "libFuzzer on every parser, ten million inputs each, on from the inputs of earlier nights", "nightly",
        "zero crash, hang > 10 s", fuzzing.parsers),
    Row("F1", "recipes, presets, answers of endpoints, JSON of policies and graphs, files of data sets, "
        "mutated where they mean something", "nightly",
        "success or a typed error, < 4,000 units of effort (some 2 s) each, < 256 MB",
        _tests("damage/test_inputs.py")),
    Row("F3", "oversize requests under RLIMIT_AS", "quick", "refused before allocation, at once, < 200 MB",
        limits.oversize),
    Row("F4", "hard levels under limits of 64 and 16 MB", "nightly", "peak <= limit + 10%, UNKNOWN with a bound",
        limits.memory),
    Row("F11", "zero-shot runs ended 200 times by SIGKILL, SIGTERM and Ctrl-C, by one worker and by four; transformers "
        "serve itself", "nightly",
        "each decision answered once; played to the end, nothing refused", _tests("unit/zero_shot")),
    Row("F14", "every unit, property and structure test where there is no network, every connection noted", "nightly",
        "pass; no other address, no name server", network.suite),
    Row("F16", "one bit of a finished file of any kind flips, 10,000 times; every text of every file leads elsewhere",
        "nightly", "noticed by name, or the same result to the bit; nothing reached beyond the folders",
        _tests("damage/test_folders.py")),
    Row("T4", "two and four ranks at ZeRO 0 to 3 against one process: imitation, every credit, LoRA, offload, "
        "bfloat16; killed, resumed, over other numbers of ranks", "nightly", "2e-6 (ZeRO 3: 2e-5), bitwise, no hang",
        _tests("invariant/test_zero_credit.py", "invariant/test_zero_lora.py", "unit/train/engine")),
    Row("T6", "a policy learns 2x3 sliding by imitation, and reinforcement keeps it: three seeds, all 359 boards",
        "nightly", ">= 95 % solved; at most 2 points fewer", _tests("invariant/test_learns.py")),
    Row("T8", "training at every change of the disk; time outside the model; scripts that wait for a GPU", "nightly",
        "the same bytes; each second counted once; a figure of each", _tests("unit/train")),
    Row("T9", "plans: every stage of the paper's recipes counted anew, and seven kinds of step against what they say",
        "nightly", "what is kept; 5 %", _tests("unit/estimate", "unit/reproduce")),
    Row("A12", "adapters, each with the package that it is for, and the programs of their guides", "nightly",
        "equal to what is beneath; solved, valid, carried out", _tests("unit/adapters")),
    Row("W1", "sweeps of a chunk policy, each ended 50 times at random moments", "nightly",
        "the bytes of one left alone", _tests("crash/test_moments.py::test_sweeps")),
    Row("W2", "ten tasks of Meta-World go back to a moment of an episode; the bench on them, in little", "nightly",
        "bit for bit", _tests("unit/adapters/test_metaworld.py", "unit/adapters/test_robots_bench.py")),
    Row("G2", "ZeRO 1, 2 and 3 of DeepSpeed against plain steps, with the CPU in the GPU's place", "nightly",
        "losses within 2e-4", _tests("gpu")),
    Row("G4", "every benchmark's answer is spoiled; mypy's stubtest of the core", "nightly", "every benchmark fails",
        _tests("structure")),
    Row("K1", "wheel and sdist: built clean, installed offline, removed without trace, reproducible", "nightly",
        "two builds byte-identical, nothing left behind", package.wheel),
    Row("K5", "import without extras", "quick", "< 1,000 units of effort (0.1 s are 200), clear message",
        limits.imports),
    Row("V1", "unit tests and the dry run of a GPU's visit, with the lowest versions that pyproject.toml allows, all "
        "installed from nothing", "nightly", "no failure", versions.lowest),
    Row("V1", "unit tests with the newest versions that pip finds, installed from nothing", "nightly", "no failure",
        versions.newest),
    Row("R1", "the suite in five random orders, with and without CI set, by one and four workers, beside busy "
        "programs; without AVX-512; on a slow disk", "nightly", "no failure", orders.shuffled),
)  # fmt: skip
