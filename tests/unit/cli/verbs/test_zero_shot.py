"""``recommit zero-shot``: which calls are refused, before anything is made or sent."""

from __future__ import annotations

from tests.refusals import refused
from tests.unit.zero_shot.called import zero_shot

from recommit.data import build
from recommit.data.spec import DataSpec, Difficulty


def test_wrong_calls_leave_no_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-somebodys-secret")
    for empty in ("RECOMMIT_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(empty, "")
    data = tmp_path / "data"
    data.mkdir()
    (data / "recipe.json").write_text(DataSpec("sliding", (2, 3), (Difficulty((4, 14)),), count=10, seed=3).to_json())
    local = {"endpoint": "custom", "base_url": "http://127.0.0.1:9/v1"}
    rows = [
        ({"instances": 0}, "instances: expected 1..1048576, got 0"),
        ({"budget": 0}, "budget: expected 1..64, got 0"),
        ({"workers": 0}, "workers: expected 1..256, got 0"),
        ({"extra": '{"model": "x"}'}, "extra: expected a JSON object without max_completion_tokens"),
        ({"size": (2, 3, 4)}, "size: expected one or two numbers, got 3"),
        ({"task": "chess"}, "task: expected one of sliding, sokoban, "),
        ({"data": data, "task": "sokoban"}, "task: expected sliding, that of the data, got sokoban"),
        ({"data": data, "size": (3,)}, "size: expected none beside data, which decides it, got (3,)"),
        ({"data": data, "instances": 100}, "expected 100 distinct instances"),
        ({"data": tmp_path}, "expected a recipe file, found none"),
        ({"endpoint": "nowhere"}, "endpoint: expected one of openai, "),
        ({"base_url": None}, "base_url: expected an address for the endpoint custom, got none"),
        ({"endpoint": "gemini", "base_url": None}, "key_variable: expected a key in GEMINI_API_KEY, got an empty"),
        (
            {"endpoint": "openai", "base_url": "https://proxy.example/v1"},
            "so that proxy.example gets the key of openai",
        ),
        (
            {"base_url": "http://gpu01.example:8000/v1", "key_variable": "OPENAI_API_KEY"},
            "base_url: expected https, since OPENAI_API_KEY holds a key, got http",
        ),
    ]
    out = tmp_path / "out"
    refused([(lambda flags=flags: zero_shot("tiny", out, **local | flags), words) for flags, words in rows])
    assert not out.exists()


def test_a_recipe_that_is_not_the_manifest_s_is_noticed(tmp_path, capsys):
    """One bit of it, and other instances would be paid for."""
    build(DataSpec("sliding", (2, 3), (Difficulty((4, 14)),), count=10, test=4, seed=3), tmp_path / "data")
    path = tmp_path / "data" / "recipe.json"
    path.write_text(path.read_text().replace('"seed": 3', '"seed": 2'))
    flags = {"endpoint": "custom", "base_url": "http://127.0.0.1:9/v1", "data": tmp_path / "data"}
    assert zero_shot("tiny", tmp_path / "out", **flags) == 1
    assert f"{path}: expected the recipe in manifest.json, got another" in capsys.readouterr().err
