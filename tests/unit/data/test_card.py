"""A data set, opened with the tools that its card names."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings

import numpy as np
import pytest

import recommit.data
from recommit.data import rows
from recommit.data.spec import DataSpec, Difficulty

PLAN = DataSpec("sokoban", (6, 6), (Difficulty((2, 9), 1),), 30, validation=4, perturbed=1, shard=20)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("set") / "set"
    recommit.data.build(PLAN, folder)
    return recommit.data.open(folder)


def load_dataset(*arguments, **settings):
    """`datasets.load_dataset`, whose warnings about itself are no business of ours."""
    datasets = pytest.importorskip("datasets")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return datasets.load_dataset(*arguments, **settings)


def test_a_stranger_opens_the_folder(data, tmp_path):
    """As a local repository (the card says where the splits are), and as plain Parquet."""
    content, ids = data.columns(), data.ids(data.columns())
    for loaded in (
        load_dataset(str(data.folder), split="train", cache_dir=str(tmp_path / "a")),
        load_dataset("parquet", data_dir=str(data.folder / "data"), split="train", cache_dir=str(tmp_path / "b")),
    ):
        assert loaded.num_rows == len(data)
        for i in range(0, len(data), 17):
            row = loaded[i]
            grid = np.frombuffer(row["state"], np.uint8).reshape(row["rows"], row["cols"])
            assert np.array_equal(grid, content.states[i])
            assert row["actions"] == content.actions[i].view(np.int8).tolist()
            assert (row["distance"], row["dead"]) == (content.distance[i], content.distance[i] < 0)
            best = np.flatnonzero(rows.masks(content.optimal[i : i + 1])[0]).tolist()
            assert [a for a in range(4) if row["optimal"] >> a & 1] == best
            assert (row["split"], row["id"]) == ("train", ids[i])


def test_the_code_of_the_card_makes_batches_of_the_folder_itself(data, monkeypatch, tmp_path):
    torch = pytest.importorskip("torch")
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path))
    card = (data.folder / "README.md").read_text(encoding="utf-8")
    (code,) = [each for each in re.findall(r"```python\n(.*?)```", card, re.DOTALL) if "DataLoader" in each]
    names = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(code.replace("FOLDER", str(data.folder)), names)  # noqa: S102  (our own card)
    content, first = data.columns(), 0
    for batch in names["batches"]:
        part = content[first : first + len(batch["distance"])]
        assert batch["actions"].dtype == torch.int64
        assert np.array_equal(batch["actions"].numpy(), part.actions.view(np.int8))
        first += len(part)
    assert first == len(content)
    assert min(content.count) < 8  # else nothing was padded


def test_looking_at_the_package_needs_no_extra():
    """The command line lists its verbs without pyarrow; using one says what to install."""
    script = (
        "import sys; sys.modules['pyarrow'] = None; sys.modules['torch'] = None\n"
        "import recommit.cli.verbs.data, recommit.data as d\n"
        "d.DataSpec\n"
        "try:\n    d.open('x')\n"
        "except ImportError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "pyarrow is not installed; in a clone of recommit: pip install '.[data]'"
