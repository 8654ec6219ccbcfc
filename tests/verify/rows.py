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
    Row("L1", "every state of 2x2, 2x3, 2x4 and 3x3, by table and by search, against plain search", "quick",
        "100% equal", Harness("sliding_distances", ("all",))),
    Row("L1", "layers of the complete tables; search equals tables", "quick", "golden counts",
        Ctest("test_sliding_table")),
    Row("L2", "every 4x4 board within 17 actions", "nightly", "100%", Harness("sliding_distances", ("near",))),
    Row("L2", "random 4x4 boards: plan replayed, parity, bound, neighbours", "nightly", "100%",
        Harness("sliding_distances", ("far",))),
    Row("L3", "every state of random Sokoban levels against plain search", "quick", "100% equal, 20 k states",
        Pytest(("tests/property/test_sokoban_distance.py",))),
    Row("L3", "the same on 5,000 levels of up to 8x8 and three boxes", "nightly", "100% equal, 1 M states",
        Harness("sokoban_distances")),
    Row("L4", "every dead verdict of every pruning rule alone, against enumeration", "nightly",
        "0 false dead in 5 M states", Harness("searches", ("sokoban",))),
    Row("L5", "each rule, bound, table and view switched off: the same lengths and plans", "quick", "identical",
        Ctest("test_sliding_solver")),
    Row("L5", "the same on forty times the states of up to nine cells", "nightly", "identical on 20 k states",
        Harness("searches", ("sliding",))),
    Row("L5", "the same for the Sokoban search", "quick", "identical, 5,000 searches", Ctest("test_sokoban_search")),
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
    Row("M4", "the interpreter goes on during a search; four threads solve at once", "quick", "no gap, right answers",
        Pytest(("tests/invariant/test_solver_process.py",))),
    Row("M6", "memory over 100,000 solved states", "nightly", "< 1 MB growth",
        Pytest(("tests/invariant/test_solver_process.py::test_solving_keeps_nothing",), marks="nightly")),
    Row("M6", "memory over a million pools", "nightly", "< 1 MB growth",
        Pytest(("tests/unit/envs/test_lifetime.py::test_nothing_leaks", "tests/unit/envs/test_lifetime.py::test_a_million_pools_do_not_leak"), marks="nightly")),
    Row("M7", "Ctrl-C during generate, search and solve", "quick", "75 of 75 within 0.5 s of CPU time",
        Pytest(("tests/invariant/test_interrupt.py",))),
    Row("M8", "exits with a live pool and open environments", "quick", "clean, 100 repeats",
        Pytest(("tests/unit/envs/test_lifetime.py::test_a_hundred_exits_with_a_live_pool", "tests/unit/envs/test_lifetime.py::test_exit_with_environments_open"))),
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
    Row("C10", "two processes build one solver table", "quick", "both right, one whole file",
        Harness("builders", ("8",))),
    Row("C10", "the same, 50 times", "nightly", "50 of 50", Harness("builders", ("50",))),
    Row("F1", "saved inputs of every parser", "quick", "zero crashes", Ctest("test_fuzz_corpus")),
    Row("F1", "libFuzzer on every parser, 10 million inputs each", "nightly", "zero crash, hang > 1 s",
        Harness("fuzzing")),
    Row("F2", "level files that are valid but nasty, or malformed", "quick", "exact error, or accepted as specified",
        Pytest(("tests/unit/test_levels.py",))),
    Row("F3", "oversize requests under RLIMIT_AS", "quick", "refused before allocation, < 1 s, < 200 MB",
        Harness("oversize")),
    Row("F4", "hard levels under limits of 64 and 16 MB", "nightly", "peak <= limit + 10%, UNKNOWN with a bound",
        Harness("memory")),
    Row("F5", "parse(write(x)) == x", "quick", "zero", Pytest(("tests/property/test_level_text.py",))),
    Row("K1", "wheel and sdist: built clean, installed offline, removed without trace, reproducible", "nightly",
        "two builds byte-identical, nothing left behind", Harness("package")),
    Row("K3", "symbols and hardening of the extension", "nightly", "pass", Harness("symbols")),
    Row("K5", "import without extras", "quick", "< 0.3 s, clear message", Harness("imports")),
)  # fmt: skip
