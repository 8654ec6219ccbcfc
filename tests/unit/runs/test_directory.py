"""A run's folder: one run at a time, one configuration, digests of what does not change any more."""

from __future__ import annotations

import pytest
from tests.refusals import refused

from recommit.data import DataSpec, Difficulty
from recommit.runs.directory import RunDirectory, best_policy, recipe_of
from recommit.storage import verified
from recommit.storage.errors import Damaged, FolderBusy


def test_only_one_run_at_a_time(tmp_path):
    with RunDirectory(tmp_path / "run"), pytest.raises(FolderBusy), RunDirectory(tmp_path / "run"):
        pass


def test_another_configuration_is_refused(tmp_path):
    with RunDirectory(tmp_path / "run") as run:
        run.begin({"optim": {"lr": 0.1, "betas": (0.9, 0.95)}})
        run.begin({"optim": {"lr": 0.1, "betas": (0.9, 0.95)}})
        with pytest.raises(ValueError, match=r"optim\.lr was 0\.1, is 0\.2"):
            run.begin({"optim": {"lr": 0.2, "betas": (0.9, 0.95)}})
        assert run.read("versions.json")["numpy"]
        assert run.read("nothing.json") is None


def finished(folder):
    """A folder with the digests of a run that has taken its last step."""
    with RunDirectory(folder) as run:
        run.begin({"seed": 1})
        run.write("best.json", {"policy": "checkpoints/step-1/policy"})
        (folder / "metrics.jsonl").write_text('{"step": 1}\n')
        (folder / "checkpoints/step-1/policy").mkdir(parents=True)
        run.seal()
    return folder


def test_a_finished_run_notices_what_became_of_it(tmp_path):
    folder, other = finished(tmp_path / "run"), finished(tmp_path / "other")
    assert best_policy(folder) == folder / "checkpoints/step-1/policy"
    (folder / "best.json").write_text('{"policy": "checkpoints/step-2/policy"}')
    (folder / "metrics.jsonl").write_text('{"step": 2}\n')
    (other / "checkpoints/step-1/policy").rmdir()
    with RunDirectory(folder) as run, RunDirectory(other) as gone:
        refused(
            [
                (lambda: best_policy(tmp_path), "expected a run with a checkpoint, got none"),
                (lambda: best_policy(folder), "best.json: expected what was written there"),
                (lambda: run.begin({"seed": 1}), "metrics.jsonl: expected what was written"),
                (gone.seal, "expected the best policy of the run, got none"),
            ],
            ValueError,
            Damaged,
        )


def test_a_run_that_goes_on_has_no_digests_of_what_changes(tmp_path):
    folder = finished(tmp_path / "run")
    with RunDirectory(folder) as run:
        run.begin({"seed": 1})
        assert sorted(verified.digests(folder)) == ["config.json", "versions.json"]
        (folder / "elsewhere").mkdir()
        run.write("best.json", {"policy": "elsewhere"})
        assert run.read("best.json") == {"policy": "elsewhere"}
        run.seal()
    assert best_policy(folder) == folder / "elsewhere"


def test_a_run_that_was_interrupted_notices_another_configuration(tmp_path):
    with RunDirectory(tmp_path) as run:
        run.begin({"data": {"recipe": DataSpec("sliding", (2, 2), (Difficulty((1, 3)),), count=2).to_dict()}})
    assert recipe_of(tmp_path).seed == 0
    text = (tmp_path / "config.json").read_text()
    (tmp_path / "config.json").write_text(text.replace('"seed": 0', '"seed": 1'))
    with pytest.raises(ValueError, match=r"config\.json: expected what was written there"):
        recipe_of(tmp_path)
    (tmp_path / "config.json").unlink()
    with pytest.raises(ValueError, match=r"config\.json: expected a file, got none"), RunDirectory(tmp_path) as run:
        run.begin({"data": {"recipe": DataSpec("sliding", (2, 2), (Difficulty((1, 3)),), count=2, seed=1).to_dict()}})


def test_what_is_the_same_is_not_written_again(tmp_path):
    with RunDirectory(tmp_path / "run") as run:
        run.write("best.json", {"step": 1})
        before = (tmp_path / "run" / "best.json").stat()
        run.write("best.json", {"step": 1})
        assert (tmp_path / "run" / "best.json").stat() == before
