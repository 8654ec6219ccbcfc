"""One puzzle in several sizes: ordinary data sets, a list of them that is checked, and commands that take all."""

from __future__ import annotations

import shutil

import pytest

import recommit.data
from recommit.cli import main
from recommit.data.builder import build_all
from recommit.data.loading import even_weights
from recommit.storage import errors

TEXT = """
task: sliding
difficulties:
- {size: [2, 3], length: [3, 9]}
- {size: [2, 4], length: [4, 12]}
- {size: [2, 3], length: [10, 14]}
count: 10
validation: 4
ties: random
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sizes")
    (folder / "recipe.yaml").write_text(TEXT)
    assert (
        main(["data", "build", "--recipe", str(folder / "recipe.yaml"), "--seed", "3", "--out", str(folder / "set")])
        == 0
    )
    return folder / "set"


def test_each_size_is_an_ordinary_data_set(built, tmp_path):
    every = recommit.data.open_all(built)
    assert [dataset.folder.name for dataset in every] == ["sliding-2x3", "sliding-2x4"]
    assert [dataset.spec.count for dataset in every] == [6, 4], "spread evenly over three difficulties"
    assert [dataset.spec.validation for dataset in every] == [2, 2]
    assert even_weights([dataset.spec for dataset in every]) == (2, 1)
    alone = recommit.data.build(every[0].spec, tmp_path / "alone")
    assert alone.to_json() == every[0].manifest.to_json()
    one = recommit.data.open_all(built / "sliding-2x4", "validation")
    assert [dataset.spec.size for dataset in one] == [(2, 4)]


def test_commands_take_all_of_them(built, capsys, tmp_path):
    assert main(["data", "show", str(built), "--verify", "--labels"]) == 0
    total = sum(len(dataset) for dataset in recommit.data.open_all(built, None))
    assert f"{total:,} rows" in capsys.readouterr().out
    assert main(["data", "show", str(built)]) == 0
    assert [line.split(",")[0] for line in capsys.readouterr().out.splitlines() if line.startswith("sliding")] == [
        "sliding 2x3",
        "sliding 2x4",
    ]
    assert main(["data", "export", str(built), "--out", str(tmp_path / "out")]) == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["sliding-2x3", "sliding-2x4"]


def test_one_data_set_is_not_meant(built):
    with pytest.raises(errors.WrongFolder, match="expected a data set of one size, got several"):
        recommit.data.open(built)


def test_an_interrupted_build_goes_on(built, tmp_path):
    begun = tmp_path / "set"
    shutil.copytree(built / "sliding-2x3", begun / "sliding-2x3")
    with pytest.raises(errors.WrongFolder):
        recommit.data.open_all(begun)
    plans = [dataset.spec for dataset in recommit.data.open_all(built)]
    build_all(plans, begun)
    assert (begun / "sizes.json").read_bytes() == (built / "sizes.json").read_bytes()


@pytest.mark.parametrize("change", ["list", "set", "check"])
def test_damage_is_seen(built, tmp_path, change):
    folder = shutil.copytree(built, tmp_path / "set")
    if change == "set":
        plan = recommit.data.open(folder / "sliding-2x4").spec
        shutil.rmtree(folder / "sliding-2x4")
        recommit.data.build(plan.changed(seed=4), folder / "sliding-2x4")
    elif change == "list":
        (folder / "sizes.json").write_text("[]")
    else:
        text = (folder / "sizes.json").read_text()
        (folder / "sizes.json").write_text(text.replace("sliding-2x4", "sliding-2x5"))
    with pytest.raises(errors.Damaged):
        recommit.data.open_all(folder)


def test_wrong_calls(built, capsys, tmp_path):
    recipe = built.parent / "recipe.yaml"
    for words, message in [
        (["--length", "3", "5"], "expected none of --size --boxes --length with the sizes of"),
        (["--count", "-1"], "count: expected 0..1099511627776, got -1"),
    ]:
        assert main(["data", "build", "--recipe", str(recipe), "--out", str(tmp_path / "set"), *words]) == 2
        assert message in capsys.readouterr().err
    (tmp_path / "wrong.yaml").write_text(TEXT.replace("size: [2, 4],", "size: [2, 3, 4],"))
    assert main(["data", "build", "--recipe", str(tmp_path / "wrong.yaml"), "--out", str(tmp_path / "set")]) == 2
    assert "difficulties.size: expected rows and columns" in capsys.readouterr().err
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "mine.txt").write_text("")
    assert main(["data", "build", "--recipe", str(recipe), "--out", str(tmp_path / "set")]) == 2
    assert "got mine.txt" in capsys.readouterr().err
