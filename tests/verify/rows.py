"""The table of what is verified: one entry per row and tier. A new row is one more entry here.

Row ids and targets are those of the reliability plan (``docs/reliability.md``). A row runs in its tier and in every
later one: quick (each commit), nightly, release. The same id may appear twice, with a deeper run in a later tier.
"""

from __future__ import annotations

from dataclasses import dataclass

TIERS = ("quick", "nightly", "release")


@dataclass(frozen=True)
class Pytest:
    """pytest: every test below these paths (a file, a folder, or file::name); `marks` as for pytest -m."""

    paths: tuple[str, ...]
    marks: str = "not nightly and not gpu"


@dataclass(frozen=True)
class Ctest:
    """Cases of the C++ tests, in the release build, by a regular expression."""

    pattern: str


@dataclass(frozen=True)
class Harness:
    """``python -m tests.verify.MODULE ARGUMENTS``; it must also find its planted defect."""

    module: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """One line of the table of figures."""

    id: str
    what: str
    tier: str
    target: str
    check: Pytest | Ctest | Harness


ROWS = (
    Row("L6", "distances change as they must along moves", "quick", "zero violations",
        Pytest(("tests/property/test_sokoban_distance.py",))),
    Row("L8", "both simulators against their plain-Python twins, in lockstep", "quick", "bitwise equal, 1 M steps",
        Pytest(("tests/unit/puzzles/test_lockstep.py",))),
    Row("L9", "decode(render(s)) == s; golden frames", "quick", "100%", Pytest(("tests/unit/test_render.py",))),
    Row("L10", "signature: one number each for what every part computes", "quick", "equal to the committed ones",
        Harness("signature")),
    Row("M1", "C++ tests, fuzz corpus and unit tests under ASan, UBSan and LSan", "quick", "zero",
        Harness("sanitizers")),
    Row("M2", "stress of pool, simulators and generators under TSan, 20 s", "quick", "zero, no suppressions",
        Harness("sanitizers", ("--races",))),
    Row("M2", "the same for 20 minutes, and every C++ test", "nightly", "zero, no suppressions",
        Harness("sanitizers", ("--races", "--nightly"))),
    Row("M4", "the interpreter goes on during a call; two threads on one environment", "quick", "no crash, no gap",
        Pytest(("tests/unit/envs/test_lifetime.py::test_the_interpreter_runs_during_a_step", "tests/unit/envs/test_lifetime.py::test_two_threads_on_one_environment"))),
    Row("M5", "200 forks with a live pool; workers of every kind", "quick", "no hang, equal results",
        Pytest(("tests/unit/envs/test_lifetime.py::test_two_hundred_forks_with_a_live_pool", "tests/unit/envs/test_lifetime.py::test_workers_of_every_kind"))),
    Row("M6", "memory over a million pools", "nightly", "< 1 MB growth",
        Pytest(("tests/unit/envs/test_lifetime.py::test_nothing_leaks", "tests/unit/envs/test_lifetime.py::test_a_million_pools_do_not_leak"), marks="nightly")),
    Row("M7", "Ctrl-C during generate and solve", "quick", "50 of 50 within 0.5 s of CPU time",
        Pytest(("tests/invariant/test_interrupt.py",))),
    Row("M8", "exits with a live pool and open environments", "quick", "clean, 100 repeats",
        Pytest(("tests/unit/envs/test_lifetime.py::test_a_hundred_exits_with_a_live_pool", "tests/unit/envs/test_lifetime.py::test_exit_with_environments_open"))),
    Row("C3", "training killed before, in and after every stage of saving, then resumed", "quick",
        "bitwise equal, each step logged once", Pytest(("tests/unit/train/test_sft.py",))),
    Row("C3", "training killed at 50 random moments, then resumed", "nightly", "bitwise equal, each step logged once",
        Pytest(("tests/crash/test_train_kills.py",), marks="nightly")),
    Row("C4", "checkpoints cut at every block, flipped, mixed up, half removed", "quick", "100% noticed",
        Pytest(("tests/unit/train/test_checkpoints.py",))),
    Row("D1", "the same bytes for 1, 2, 3 and 8 threads", "quick", "byte-identical", Harness("determinism", ("threads",))),
    Row("D2", "the same bytes from 1, 2 and 4 processes in shuffled order", "quick", "byte-identical",
        Harness("determinism", ("processes",))),
    Row("D3", "the same bytes whatever cwd, TZ, LANG, PYTHONHASHSEED and umask", "quick", "byte-identical",
        Harness("determinism", ("environment",))),
    Row("D4", "g++ and clang, -O0 and -O3 -march=native, aarch64 and big-endian s390x", "nightly",
        "identical signatures", Harness("platforms")),
    Row("D6", "Gymnasium's checker with warnings as errors; seeds; 10,000 steps twice", "quick", "pass, bitwise",
        Pytest(("tests/unit/envs/test_single.py",))),
    Row("D7", "a slot of a vector is the single environment with its seed, in every autoreset mode", "quick", "bitwise",
        Pytest(("tests/unit/envs/test_vector.py",))),
    Row("F1", "saved inputs of every parser", "quick", "zero crashes", Ctest("test_fuzz_corpus")),
    Row("F1", "libFuzzer on every parser, 10 million inputs each", "nightly", "zero crash, hang > 1 s",
        Harness("fuzzing")),
    Row("F2", "level files that are valid but nasty, or malformed", "quick", "exact error, or accepted as specified",
        Pytest(("tests/unit/test_levels.py",))),
    Row("F3", "oversize requests under RLIMIT_AS", "quick", "refused before allocation, < 1 s, < 200 MB",
        Harness("oversize")),
    Row("F5", "parse(write(x)) == x", "quick", "zero", Pytest(("tests/property/test_level_text.py",))),
    Row("F8", "weights and configurations of policies that do not fit", "quick", "typed error, no partial load",
        Pytest(("tests/unit/policy/test_checkpoint.py",))),
    Row("T2", "one pass per state has the gradient of one pass per sample", "quick", "relative 1e-5",
        Pytest(("tests/unit/train/test_losses.py",))),
    Row("T4", "two ranks at ZeRO 0, 1, 2 and 3 against one process, 20 steps; resumed; with unequal rows", "nightly",
        "1e-6, bitwise, no hang", Pytest(("tests/invariant/test_zero.py",), marks="nightly")),
    Row("K1", "wheel and sdist: built clean, installed offline, removed without trace, reproducible", "nightly",
        "two builds byte-identical, nothing left behind", Harness("package")),
    Row("K3", "symbols and hardening of the extension", "nightly", "pass", Harness("symbols")),
    Row("K5", "import without extras", "quick", "< 0.3 s, clear message", Harness("imports")),
)  # fmt: skip
