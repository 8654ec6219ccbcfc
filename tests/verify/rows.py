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
    Row("C1", "data sets: kill -9 at random moments, and at every operation that changes the disk", "quick",
        "nothing lost, doubled or torn; the tree of an undisturbed build",
        Pytest(("tests/crash/test_kills.py",))),
    Row("C1", "data sets: 2,000 kills; a million rows killed 100 times, against 1, 2, 4 workers and Ray", "nightly",
        "the same",
        Pytest(("tests/crash/test_kills.py::test_two_thousand_kills", "tests/crash/test_kills.py::test_a_million_rows_killed_a_hundred_times"), marks="nightly")),
    Row("C2", "data sets: killed within 50 ms of a restart, three deep", "nightly", "the same",
        Pytest(("tests/crash/test_kills.py::test_kills_during_recovery",), marks="nightly")),
    Row("C6", "data sets: power loss at any write, un-flushed data and renames dropped", "quick",
        "every image is finished into the undisturbed tree",
        Pytest(("tests/crash/test_faults.py::test_power_loss", "tests/crash/test_faults.py::test_power_loss_sees_a_writer_that_does_not_flush"))),
    Row("C6", "the same with 1,500 images", "nightly", "the same",
        Pytest(("tests/crash/test_faults.py::test_power_loss",), marks="nightly")),
    Row("C7", "data sets: operation number n on the disk fails, once and for ever, for every n", "quick",
        "typed error, shards intact, a rerun finishes",
        Pytest(("tests/crash/test_faults.py::test_operation_number_n_fails",))),
    Row("C7", "data sets: allocation number n fails", "nightly", "typed error, shards intact, a rerun finishes",
        Pytest(("tests/crash/test_memory.py",), marks="nightly")),
    Row("C8", "data sets: full disk (tmpfs), size limit of files; then room again", "quick",
        "shards intact, a rerun finishes",
        Pytest(("tests/crash/test_faults.py::test_full_disk", "tests/crash/test_faults.py::test_size_limit_of_files"))),
    Row("C9", "data sets: no folder, no permission, a folder that vanishes, somebody else's files", "quick",
        "typed error, exit status 2, nothing written",
        Pytest(("tests/crash/test_faults.py::test_not_a_folder", "tests/crash/test_faults.py::test_no_permission", "tests/crash/test_faults.py::test_folder_vanishes", "tests/crash/test_faults.py::test_another_recipe"))),
    Row("C10", "data sets: two and three builders in one folder, 75 times; stale locks", "quick", "exactly one proceeds",
        Pytest(("tests/crash/test_faults.py::test_two_writers", "tests/crash/test_faults.py::test_started_at_the_same_moment", "tests/crash/test_faults.py::test_stale_locks", "tests/crash/test_faults.py::test_second_opinion_without_working_locks"))),
    Row("C11", "data sets: clocks that jump", "quick", "byte-identical",
        Pytest(("tests/crash/test_same_bytes.py::test_clock_jumps",))),
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
    Row("L3", "every state of random icy caves against plain search", "quick", "100% equal",
        Pytest(("tests/property/test_ice_distance.py",))),
    Row("L3", "the same on 7,000 caves", "nightly", "100% equal",
        Pytest(("tests/property/test_ice_distance.py",), marks="nightly")),
    Row("L4", "every dead verdict of every pruning rule alone, against enumeration", "nightly",
        "0 false dead in 5 M states", Harness("searches", ("sokoban",))),
    Row("L5", "each rule, bound, table and view switched off: the same lengths and plans", "quick", "identical",
        Ctest("test_sliding_solver")),
    Row("L5", "the same on forty times the states of up to nine cells", "nightly", "identical on 20 k states",
        Harness("searches", ("sliding",))),
    Row("L5", "the same for the Sokoban search", "quick", "identical, 5,000 searches", Ctest("test_sokoban_search")),
    Row("L6", "distances change as they must along moves", "quick", "zero violations",
        Pytest(("tests/property/test_sokoban_distance.py",))),
    Row("L7", "every row of two data sets of 10,000 instances replays, is solved again, and their number is N(L)", "quick",
        "100% of the rows",
        Pytest(("tests/unit/data/test_build.py::test_ten_thousand_instances", "tests/unit/data/test_build.py::test_verification_sees_planted_errors"))),
    Row("L8", "both simulators against their plain-Python twins, in lockstep", "quick", "bitwise equal, 1 M steps",
        Pytest(("tests/unit/puzzles/test_lockstep.py",))),
    Row("L8", "the simulator of icy caves against its plain-Python twin", "quick", "bitwise equal",
        Pytest(("tests/unit/puzzles/test_ice.py",))),
    Row("L9", "decode(render(s)) == s; golden frames", "quick", "100%", Pytest(("tests/unit/test_render.py",))),
    Row("L10", "signature: one number each for what every part computes", "quick", "equal to the committed ones",
        Harness("signature")),
    Row("M1", "C++ tests and fuzz corpus under ASan, UBSan and LSan", "quick", "zero", Harness("sanitizers")),
    Row("M1", "the same, and unit tests through Python", "nightly", "zero", Harness("sanitizers", ("--nightly",))),
    Row("M2", "every C++ test under TSan, and 20 minutes of stress of pool, simulators and generators", "nightly", "zero, no suppressions",
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
    Row("D1", "data sets: the same bytes for any threads and workers", "quick", "byte-identical",
        Pytest(("tests/crash/test_same_bytes.py::test_workers_and_threads",))),
    Row("D2", "data sets: shards finished in any order, with delays, by processes and by Ray", "quick", "byte-identical",
        Pytest(("tests/crash/test_same_bytes.py::test_order_of_shards", "tests/crash/test_same_bytes.py::test_ray"))),
    Row("D3", "data sets: the same bytes whatever cwd, TZ, LANG, PYTHONHASHSEED and umask", "quick", "byte-identical",
        Pytest(("tests/crash/test_same_bytes.py::test_other_worlds",))),
    Row("D4", "g++ and clang, -O0 and -O3 -march=native, aarch64 and big-endian s390x", "nightly",
        "identical signatures", Harness("platforms")),
    Row("D5", "one seed, two processes: sft and grpo straight and interrupted; another seed, an order nobody decided", "quick",
        "bitwise, and the others seen", Pytest(("tests/invariant/test_same_seed.py",))),
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
    Row("F1", "recipes, manifests, journals, locks, shards and given states, mutated", "quick",
        "typed errors only, < 1 s each, < 256 MB",
        Pytest(("tests/unit/data/test_mutations.py",))),
    Row("F1", "the same for longer", "nightly", "typed errors only, < 1 s each, < 256 MB",
        Pytest(("tests/unit/data/test_mutations.py",), marks="nightly")),
    Row("F2", "level files that are valid but nasty, or malformed", "quick", "exact error, or accepted as specified",
        Pytest(("tests/unit/test_levels.py",))),
    Row("F3", "oversize requests under RLIMIT_AS", "quick", "refused before allocation, < 1 s, < 200 MB",
        Harness("oversize")),
    Row("F4", "hard levels under limits of 64 and 16 MB", "nightly", "peak <= limit + 10%, UNKNOWN with a bound",
        Harness("memory")),
    Row("F5", "parse(write(x)) == x", "quick", "zero", Pytest(("tests/property/test_level_text.py",))),
    Row("F6", "names in a foreign manifest that lead out of the folder, 40 and more; the package unpacks no archive", "quick",
        "all refused",
        Pytest(("tests/unit/data/test_files.py::test_hostile_names", "tests/unit/data/test_files.py::test_the_package_unpacks_nothing", "tests/unit/data/test_files.py::test_links_out_of_the_folder"))),
    Row("F7", "no pickle, marshal, eval, unsafe yaml, torch or numpy loading in the package; a payload", "quick",
        "0 sites, the payload never runs",
        Pytest(("tests/unit/data/test_files.py::test_no_unsafe_reading_in_the_package", "tests/unit/data/test_files.py::test_the_scan_sees_planted_sites", "tests/unit/data/test_files.py::test_planted_pickle_is_never_run"))),
    Row("F8", "weights and configurations of policies that do not fit", "quick", "typed error, no partial load",
        Pytest(("tests/unit/policy/test_checkpoint.py",))),
    Row("T2", "one pass per state has the gradient of one pass per sample", "quick", "relative 1e-5",
        Pytest(("tests/unit/train/test_losses.py",))),
    Row("T4", "LoRA and two tasks on two ranks at ZeRO 0 to 3, bfloat16, offload; what is saved loads and plays", "quick",
        "2e-6 of one process, 2e-5 at ZeRO 3", Pytest(("tests/invariant/test_zero_lora.py",))),
    Row("C5", "a rank is killed; ranks that fail, or all fail alike; a run goes on with other ranks, stages, engines", "quick",
        "the others end with a sentence; bitwise, 2e-6 over ranks",
        Pytest(("tests/invariant/test_zero_lora.py::test_a_rank_that_is_killed_ends_the_others_and_the_run_goes_on",
                "tests/invariant/test_zero_lora.py::test_an_interrupted_run_goes_on_to_the_bit",
                "tests/invariant/test_zero_lora.py::test_a_run_goes_on_with_another_number_of_ranks",
                "tests/unit/train/test_peers.py"))),
    Row("C5", "runs of two ranks killed a dozen times each; over three and two ranks and three stages", "nightly",
        "bitwise, 2e-6 over ranks", Pytest(("tests/invariant/test_zero_lora.py",), marks="nightly")),
    Row("T4", "two ranks at ZeRO 0, 1, 2 and 3 against one process, 20 steps; resumed; with unequal rows", "nightly",
        "1e-6, bitwise, no hang", Pytest(("tests/invariant/test_zero.py",), marks="nightly")),
    Row("T4", "our recipe, state and exact credit on two ranks at ZeRO 2 and 3 against one process; planted omissions", "quick",
        "2e-6 (ZeRO 3: 2e-5), no state seen twice", Pytest(("tests/invariant/test_zero_credit.py",))),
    Row("T4", "every credit, variant and finish on two and four ranks at ZeRO 0, 1, 2 and 3; resumed; weights put in", "nightly",
        "2e-6 (ZeRO 3: 2e-5), no state seen twice, bitwise", Pytest(("tests/invariant/test_zero_credit.py",), marks="nightly")),
    Row("F9", "answers of zero-shot models: 20,000 mutated texts, recorded shapes, 10 MB", "quick",
        "one counted outcome each, < 50 ms", Pytest(("tests/unit/evaluate/zero_shot/test_parser.py",))),
    Row("F10", "hostile servers: 54 behaviours, redirects, echoes of the key", "quick",
        "bounded time and bytes, typed error, the key stays", Pytest(("tests/unit/evaluate/zero_shot/test_hostile.py",))),
    Row("F11", "zero-shot runs killed and resumed, against a counting server", "quick",
        "each decision answered once in the journal", Pytest(("tests/unit/evaluate/zero_shot/test_kills.py",))),
    Row("F11", "the same, killed 200 times", "nightly", "the same; repeated calls <= kills x workers",
        Pytest(("tests/unit/evaluate/zero_shot/test_kills.py",), marks="nightly")),
    Row("F12", "a planted key, through every command and failure", "quick", "0 occurrences",
        Pytest(("tests/unit/evaluate/zero_shot/test_secrets.py",))),
    Row("T1", "GRPO: rewards, advantages, loss and exact values against plain Python in float64; 10,000 groups", "quick",
        "relative 1e-6, no NaN",
        Pytest(("tests/unit/train/test_credit.py", "tests/unit/train/test_exact.py"))),
    Row("T2", "gradcheck of the loss; ratios of the first update are exactly 1", "quick", "pass",
        Pytest(("tests/unit/train/test_objective.py",))),
    Row("T3", "frozen is frozen, fixed is fixed, resumed is the same; NaN moves nothing", "quick", "bitwise",
        Pytest(("tests/unit/train/test_grpo.py", "tests/unit/train/test_rollout.py", "tests/unit/train/test_finish.py"))),
    Row("T5", "NaN, infinity and overflow in losses, gradients, rewards and the depth head's own moves, at random steps", "quick",
        "nothing moves or the run ends; logged, never judged, best or kept", Pytest(("tests/unit/train/test_not_finite.py",))),
    Row("T6", "a policy learns 2x3 sliding by imitation, and reinforcement keeps it: three seeds, all 359 boards", "nightly",
        ">= 95 % solved; at most 2 points fewer", Pytest(("tests/invariant/test_learns.py",), marks="nightly")),
    Row("G1", "waits for the device: two at the end of a step, one per pass of a rollout; nine planted ways to wait", "quick",
        "no other", Pytest(("tests/gpu/test_waits.py",))),
    Row("G2", "what a GPU is asked to prove, with the CPU in its place; wrong weights, lost moments, thawed pictures", "quick",
        "within tolerance, defects noticed",
        Pytest(("tests/gpu/test_equal.py", "tests/gpu/test_runs.py", "tests/gpu/test_stages.py"))),
    Row("G3", "a visit to a GPU in small: every part reports a figure; parts that fail, hang or say nothing", "quick",
        "reported, and the others go on", Pytest(("tests/unit/train/test_gpu_benches.py",))),
    Row("T8", "time outside the model: every kind of step on two ranks, with a stand-in for the model", "nightly",
        "each second counted once", Pytest(("tests/unit/train/test_outside.py",), marks="nightly or not nightly")),
    Row("T7", "the paper's theory: what holds, what does not, against enumeration", "quick", "all assertions",
        Pytest(("tests/unit/test_theory.py", "tests/unit/test_theorems.py"))),
    Row("C12", "an evaluation that lost files, or was interrupted, is completed", "quick", "byte-identical",
        Pytest(("tests/unit/evaluate/test_evaluation.py",))),
    Row("S1", "a 7B checkpoint in a hub's layout, read by one process and by two at once", "release",
        "peak < weights + 2 GB; one copy of the weights", Harness("true_shapes", ("read",))),
    Row("S2", "7B in bfloat16: the paper's warm start, stopped and resumed, its reinforcement, an episode, a look", "release",
        "every stage < 18 GiB, bfloat16 throughout", Harness("true_shapes", ("paper",))),
    Row("S3", "checkpoints of Qwen3-VL-8B and InternVL3-8B: made in shards, then one look", "release", "made in < 1 GiB, seen in < 18 GiB", Harness("true_shapes", ("others",))),
    Row("C13", "launched runs: one fails, Ctrl-C, the command is killed", "quick",
        "what runs beside ends well or saves itself; no rank outlives the command",
        Pytest(("tests/unit/train/test_launch.py", "tests/unit/train/test_processes.py"))),
    Row("C14", "two ranks by DeepSpeed's launcher, a hostfile of two machines and srun (programs stand in for ssh and SLURM)", "quick",
        "every run finished once", Pytest(("tests/invariant/test_launchers.py",))),
    Row("C15", "every table of the paper in one command, in small: LoRA, two ranks, ZeRO 2 and 3, killed three times", "nightly",
        "the bytes of runs and tables left alone; every policy loads", Pytest(("tests/crash/test_paper_preset.py",), marks="nightly")),
    Row("K1", "wheel and sdist: built clean, installed offline, removed without trace, reproducible", "nightly",
        "two builds byte-identical, nothing left behind", Harness("package")),
    Row("K3", "symbols and hardening of the extension", "nightly", "pass", Harness("symbols")),
    Row("K5", "import without extras", "quick", "< 0.3 s, clear message", Harness("imports")),
)  # fmt: skip
