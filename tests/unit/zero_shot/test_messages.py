"""Bodies of requests and replies, endpoints and addresses."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import numpy as np
import pytest
from tests.refusals import refused
from tests.unit.zero_shot.servers import chat

from recommit.puzzles import registry
from recommit.zero_shot import game, messages
from recommit.zero_shot.messages import Malformed, complaint
from recommit.zero_shot.options import ENDPOINTS, MODELS, ZeroShotOptions
from recommit.zero_shot.transport import Address

SHOWN = game.Observation("rules", "which?", 1, np.zeros((4, 4, 3), np.uint8))


def find(model, endpoint=None):
    return ZeroShotOptions(model, Path("unused"), endpoint=endpoint).server


def test_the_models_of_the_paper_are_ready():
    assert len(MODELS) == 10
    for model in MODELS:
        Address.parse(find(model).base)
    assert find("gpt-5.5-2026-04-23").answer_tokens > ENDPOINTS["openai"].answer_tokens
    # At another place than its own, nothing is known about a model.
    assert find("gpt-5.5-2026-04-23", "custom") == ENDPOINTS["custom"]


def test_bodies():
    written = messages.write("tiny", SHOWN, {"max_tokens": 5, "temperature": 0.7})
    assert written == messages.write("tiny", SHOWN, {"temperature": 0.7, "max_tokens": 5})
    picture = {"url": f"data:image/png;base64,{base64.b64encode(SHOWN.png).decode()}"}
    parts = [{"type": "image_url", "image_url": picture}, {"type": "text", "text": "which?"}]
    assert json.loads(written) == {
        "model": "tiny",
        "temperature": 0.7,
        "max_tokens": 5,
        "messages": [{"role": "system", "content": "rules"}, {"role": "user", "content": parts}],
    }


def test_answers():
    def read(**more):
        return messages.read(json.dumps(chat(**more)).encode())

    said = read(text="hello")
    assert (said.text, said.finish, said.tokens_in, said.tokens_out, said.model) == ("hello", "stop", 100, 20, "tiny")
    assert read(text=[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]).text == "ab"
    assert read(text=None, refusal="no").refused
    assert read(finish="content_filter").refused
    assert read(finish="length").cut_off
    assert read(usage=None).tokens_in is None
    assert read(usage=(-1, 10**12)).tokens_out is None
    assert read(usage=(60_000.0, 2.5)).tokens_in == 60_000
    zero = read(usage=(0, 0))  # no question has none: such a server does not count, and no cap would be reached
    assert (zero.tokens_in, zero.tokens_out) == (None, 0)
    hidden = chat() | {"usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 1015}}
    assert messages.read(json.dumps(hidden).encode()).tokens_out == 1005


def test_what_is_no_answer_is_said_to_be_none():
    bodies = [
        b"",
        b"[]",
        b"\xff\xfe",
        '{"choices": []}'.encode("utf-16"),
        b'{"choices": {}}',
        b'{"choices": []}',
        b'{"choices": [3]}',
        b'{"choices": [{"message": "x"}]}',
        b'{"choices": [{"message": {"content": 3}}]}',
        b'{"choices": [{"message": {"content": [{"text": 3}]}}]}',
        b'{"error": "x", "choices": []}',
        b'{"a":' * 100_000,
        b'{"id": ' + b"9" * 100_000 + b"}",
        b'{"choices": []}{"choices": []}',
    ]
    refused([(lambda body=body: messages.read(body), "the ") for body in bodies], Malformed)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b'{"error": {"message": "m", "param": "p", "code": "c"}}', ("m", "c")),
        (b'[{"error": {"message": "m", "code": 400}}]', ("m", "400")),
        (b'{"error": "m"}', ("m", "")),
        (b'{"detail": [{"msg": "m"}]}', ('{"detail": [{"msg": "m"}]}', "")),
        (b'{"object": "error", "message": "m", "type": "t", "code": null}', ("m", "t")),
        (b"\xffplain", ("\ufffdplain", "")),
        (b'{"error": {"message": ["x"]}}', ('{"error": {"message": ["x"]}}', "")),
    ],
)
def test_complaints(body, found):
    assert complaint(body) == found


def test_prompts_say_the_interface():
    for task in registry.TASKS:
        system, question = game.prompts(task)
        assert (system.name, question.name) == ("system-v1", f"{task}-v1")
        assert all(f'"{word}"' in system.text for word in ("up", "down", "left", "right", "h", "actions"))


def test_addresses_that_are_none():
    texts = [
        "file:///etc/passwd",
        "host",
        "http://",
        "http://u:sk-x@host/v1",
        "http://host/v1?key=sk-x",
        "http://host:99999",
        "http://host:0",
        "http://host/a\r\nX: y",
        "http://h\u00f6st/",
        "http://[::1",
        "http://host\\@other/",
        "http://host;id",
        "http://$(id)/v1",
        "https://--key-from/v1",
        "http://[::1%25lo]/v1",
        "",
    ]
    refused([(lambda text=text: Address.parse(text), "base_url: expected") for text in texts])


@pytest.mark.parametrize(
    ("text", "shown", "local"),
    [
        ("https://api.openai.com/v1/", "https://api.openai.com/v1", False),
        ("http://[::1]:8000", "http://[::1]:8000", True),
        ("http://localhost", "http://localhost", True),
        ("http://localhost.evil.example/v1", "http://localhost.evil.example/v1", False),
        ("http://10.0.0.7:80/v1", "http://10.0.0.7/v1", False),
    ],
)
def test_addresses(text, shown, local):
    address = Address.parse(text)
    assert (str(address), address.local) == (shown, local)
