"""``recommit zero-shot``: which calls are refused, before anything is made or sent."""

from __future__ import annotations

import json
import re

import pytest
from tests.unit.zero_shot.called import zero_shot

from recommit.data import build
from recommit.data.spec import DataSpec, Difficulty
from recommit.zero_shot import client
from recommit.zero_shot.endpoints import ENDPOINTS


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    for endpoint in ENDPOINTS.values():
        monkeypatch.delenv(endpoint.key_variable, raising=False)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"instances": 0}, "instances: expected 1..1048576, got 0"),
        ({"timeout": float("nan")}, "timeout: expected 0..3600, got nan"),
        ({"extra": '{"model": "x"}'}, "extra: expected a JSON object without max_completion_tokens"),
        ({"size": (2, 3, 4)}, "size: expected rows, or rows and columns, got 3 numbers"),
        ({"task": "chess"}, "task: expected one of sliding, sokoban, "),
        ({"cell": 3}, "cell: expected 4..112, got 3"),
        ({"task": "sokoban", "moves": "tile"}, "moves: expected blank, or tile for sliding, got tile for sokoban"),
    ],
)
def test_wrong_calls_leave_no_folder(changed, said, tmp_path):
    flags = {"endpoint": "custom", "base_url": "http://127.0.0.1:9/v1"} | changed
    with pytest.raises(ValueError, match=re.escape(said)):
        zero_shot("tiny", tmp_path / "out", **flags)
    assert not (tmp_path / "out").exists()


def test_the_endpoint_must_be_known_and_its_key_there(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="base_url: expected an address for the endpoint custom, got none"):
        zero_shot("m", tmp_path, endpoint="custom")
    with pytest.raises(ValueError, match="key_variable: expected a key in OPENAI_API_KEY, got an empty variable"):
        zero_shot("gpt-5.5-2026-04-23", tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-somebodys-secret")
    with pytest.raises(ValueError, match=r"expected --key-variable OPENAI_API_KEY .* proxy\.example gets the key"):
        zero_shot("gpt-5.5-2026-04-23", tmp_path, base_url="https://proxy.example/v1")
    monkeypatch.setenv("RECOMMIT_API_KEY", "sk-somebodys-secret")
    with pytest.raises(ValueError, match="base_url: expected https, since RECOMMIT_API_KEY holds a key, got http"):
        zero_shot("m", tmp_path, endpoint="custom", base_url="http://gpu01.example:8000/v1")


def test_an_endpoint_that_is_not_there_is_no_wrong_call(tmp_path, capsys, monkeypatch):
    """The whole command: nobody listens at that port, so no episode gets its answers."""
    monkeypatch.setattr(client, "RETRIES", 0)
    flags = {"endpoint": "vllm", "base_url": "http://127.0.0.1:9/v1", "instances": 2, "length": (4, 8)}
    assert zero_shot("tiny", tmp_path / "out", json=True, **flags) == 1
    said = capsys.readouterr()
    assert json.loads(said.out)[0]["infra_errors"] == 2
    assert "infra error" in said.err


def test_a_recipe_that_is_not_the_manifest_s_is_refused(tmp_path, capsys):
    """One bit of it, and other instances would be paid for."""
    build(DataSpec("sliding", (2, 3), (Difficulty((4, 14)),), count=10, test=4, seed=3), tmp_path / "data")
    path = tmp_path / "data" / "recipe.json"
    path.write_text(path.read_text().replace('"seed": 3', '"seed": 2'))
    flags = {"endpoint": "custom", "base_url": "http://127.0.0.1:9/v1", "data": tmp_path / "data"}
    assert zero_shot("tiny", tmp_path / "out", **flags) == 1
    assert f"{path}: expected the recipe in manifest.json, got another" in capsys.readouterr().err


def test_data_decide_what_is_played(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "recipe.json").write_text(DataSpec("sliding", (2, 3), (Difficulty((4, 14)),), count=10, seed=3).to_json())
    flags = {"endpoint": "custom", "base_url": "http://127.0.0.1:9/v1", "data": data}
    for changed, said in (
        ({"task": "sokoban"}, "task: expected sliding, that of the data, got sokoban"),
        ({"size": (3,)}, "size: expected none beside data, which decides it, got (3,)"),
        ({"instances": 100}, "expected 100 distinct instances"),
        ({"data": tmp_path}, "expected a recipe file, found none"),
    ):
        with pytest.raises(ValueError, match=re.escape(said)):
            zero_shot("tiny", tmp_path / "out", **flags | changed)
    assert not (tmp_path / "out").exists()
