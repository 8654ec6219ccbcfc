"""Whom a preset may ask, and with which key: nothing that a file says is enough."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("torch")  # runs are configured in its terms

import yaml
from tests.unit.zero_shot.servers import Server

from recommit.cli import main
from recommit.reproduce import preset
from recommit.reproduce.options import ReproduceOptions
from recommit.reproduce.questions import questions
from recommit.zero_shot import client

#: What a machine of a researcher has in its environment.
KEYS = {
    "OPENAI_API_KEY": "sk-openai-1234567890",
    "AWS_SECRET_ACCESS_KEY": "aws-secret-1234567890",
    "RECOMMIT_API_KEY": "sk-own-1234567890",
    "VLLM_API_KEY": "sk-vllm-1234567890",
}
PAID = {"model": "gpt-5.5-2026-04-23", "max_money": 5.0, "price_in": 2, "price_out": 8}
LOCAL = {"model": "tiny", "endpoint": "custom", "base_url": "http://127.0.0.1:9/v1"}
FOREIGN = {"model": "other", "endpoint": "openai", "base_url": "https://api.openai.com.example.org/v1"}


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    for variable, text in KEYS.items():
        monkeypatch.setenv(variable, text)


def asked(*wishes, **flags):
    whole = preset.load("paper-small", ["sliding.sizes=[3]"])
    whole["tasks"]["sliding"]["zero_shot"] = list(wishes)
    preset.check(whole)
    return questions(preset.entries(whole, Path("OUT")), ReproduceOptions(Path("OUT"), **flags))["sliding"]


def key_of(wish):
    return client.Server.of(wish).key.reveal()


@pytest.mark.parametrize(
    ("wish", "place"),
    [(PAID, "api.openai.com"), (LOCAL, "127.0.0.1:9"), (FOREIGN, "api.openai.com.example.org")],
)
def test_a_preset_alone_asks_nobody(wish, place):
    with pytest.raises(ValueError, match=f"to: expected --to {re.escape(place)}, .*got none:") as caught:
        asked(wish)
    assert wish["model"] in str(caught.value)
    assert ("at most 5.0 of money" if wish is PAID else "no cap on") in str(caught.value)
    with pytest.raises(ValueError, match=r"got api\.openai\.co:"):
        asked(wish, to=("api.openai.co",))


def test_a_key_goes_to_the_host_that_it_belongs_to():
    """Only that of the endpoint, and only to its own address; others where the command line says so."""
    own, local, foreign = asked(
        PAID, LOCAL, FOREIGN, to=("api.openai.com", "127.0.0.1:9", "api.openai.com.example.org")
    )
    assert key_of(own) == KEYS["OPENAI_API_KEY"]
    assert key_of(local) == key_of(foreign) == ""
    (vllm,) = asked({"model": "tiny", "endpoint": "vllm"}, to=("127.0.0.1:8000",))
    assert key_of(vllm) == KEYS["VLLM_API_KEY"]
    (other_port,) = asked(LOCAL | {"endpoint": "vllm"}, to=("127.0.0.1:9",))
    assert key_of(other_port) == ""
    (local,) = asked(LOCAL, to=("127.0.0.1:9",), key_from="RECOMMIT_API_KEY")
    assert key_of(local) == KEYS["RECOMMIT_API_KEY"]


def test_a_key_that_is_named_goes_to_one_host():
    with pytest.raises(ValueError, match=r"key_from: expected one host in --to, .* got none"):
        asked(LOCAL, key_from="RECOMMIT_API_KEY")
    with pytest.raises(ValueError, match=r"key_from: .* got 127.0.0.1:9 api.openai.com"):
        asked(PAID, LOCAL, to=("127.0.0.1:9", "api.openai.com"), key_from="RECOMMIT_API_KEY")
    with pytest.raises(ValueError, match=r"to: expected --to api.openai.com 127.0.0.1:9, .* got 127.0.0.1:9:"):
        asked(PAID, LOCAL, to=("127.0.0.1:9",), key_from="RECOMMIT_API_KEY")


@pytest.mark.parametrize("key", ["key_variable", "out", "data"])
def test_a_preset_names_no_variable_and_no_folder(key):
    with pytest.raises(ValueError, match=f"tasks.sliding.zero_shot: expected keys of model, .* got {key}"):
        asked(LOCAL | {key: "AWS_SECRET_ACCESS_KEY"}, to=("127.0.0.1:9",))


def test_a_missing_key_is_missed_before_anything_is_trained(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ValueError, match="key_variable: expected a key in OPENAI_API_KEY, got an empty variable"):
        asked(PAID, to=("api.openai.com",))


@pytest.mark.parametrize("wish", [{"key_variable": "AWS_SECRET_ACCESS_KEY"}, {}])
def test_the_whole_command_sends_nothing(wish, tmp_path, capsys):
    """As a stranger would have it: a preset that asks a server of the stranger's before it trains anything."""
    server = Server()
    try:
        wish = {"model": "tiny", "endpoint": "custom", "base_url": server.url, **wish}
        entry = {"data": {"task": "sliding"}, "recipe": "laptop-sliding", "variants": ["adaptive"], "seeds": [0]}
        (tmp_path / "preset.yaml").write_text(yaml.safe_dump({"tasks": {"sliding": {**entry, "zero_shot": [wish]}}}))
        assert main(["reproduce", "--preset", str(tmp_path / "preset.yaml"), "--out", str(tmp_path / "out")]) == 2
        assert "expected" in capsys.readouterr().err
        assert (server.connections, (tmp_path / "out").exists()) == (0, False)
    finally:
        server.close()
