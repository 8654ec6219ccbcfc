"""Records of capabilities, bodies in both dialects, and what is learned from refusals."""

from __future__ import annotations

import base64
import json

import pytest
from tests.unit.zero_shot.servers import chat

from recommit.policy.prompt import read_prompt
from recommit.puzzles import registry
from recommit.zero_shot import game, messages
from recommit.zero_shot.endpoints import ENDPOINTS, MODELS, SamplingParameters, find
from recommit.zero_shot.messages import Complaint, Malformed, Question, complaint, same_model
from recommit.zero_shot.transport import Address

LOOK = Question("rules", "look", b"PNG")
PICTURE = base64.b64encode(b"PNG").decode()


def test_the_models_of_the_paper_are_ready():
    assert len(MODELS) == 10
    for model in MODELS:
        found = find(model, None)
        Address.parse(found.base)
        asked = {"temperature": 0.7, "top_p": 0.9}  # the paper's, of every model
        parameters = SamplingParameters(found, {**asked, "answer_tokens": found.answer_tokens}).current()
        assert parameters == {**asked, found.token_parameter: found.answer_tokens}
    assert find("gpt-5.5-2026-04-23", None).answer_tokens > ENDPOINTS["openai"].answer_tokens
    # At another place than its own, nothing is known about a model.
    assert find("gpt-5.5-2026-04-23", "custom") == ENDPOINTS["custom"]


@pytest.mark.parametrize(("model", "endpoint"), [("unknown", None), ("m", "nowhere")])
def test_an_unknown_endpoint_is_named(model, endpoint):
    with pytest.raises(ValueError, match=r"endpoint: expected one of openai, .*, got (none, and unknown|nowhere)"):
        find(model, endpoint)


@pytest.mark.parametrize("name", ENDPOINTS)
def test_bodies(name):
    endpoint = ENDPOINTS[name]
    written = messages.write(endpoint, "tiny", LOOK, {endpoint.token_parameter: 5, "temperature": 0.7})
    assert written == messages.write(endpoint, "tiny", LOOK, {"temperature": 0.7, endpoint.token_parameter: 5})
    body = json.loads(written)
    user = body["messages"][-1]
    assert (body["model"], body["temperature"], body[endpoint.token_parameter]) == ("tiny", 0.7, 5)
    assert user["content"][1] == {"type": "text", "text": "look"}
    if name == "anthropic":
        assert body["system"] == "rules"
        source = {"type": "base64", "media_type": "image/png", "data": PICTURE}
        assert user["content"][0] == {"type": "image", "source": source}
    else:
        assert body["messages"][0] == {"role": "system", "content": "rules"}
        url = {"url": f"data:image/png;base64,{PICTURE}"}
        assert user["content"][0] == {"type": "image_url", "image_url": url}


def test_answers_in_the_chat_dialect():
    def read(**more):
        return messages.read(ENDPOINTS["openai"], json.dumps(chat(**more)).encode())

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
    hidden = chat()
    hidden["usage"] = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 1015}
    assert messages.read(ENDPOINTS["gemini"], json.dumps(hidden).encode()).tokens_out == 1005


def test_answers_in_the_messages_dialect():
    reply = {
        "id": "msg",
        "model": "claude",
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 7, "output_tokens": 3},
        "content": [
            {"type": "thinking", "thinking": "x"},
            {"type": "text", "text": "a"},
            {"type": "text", "text": "b"},
        ],
    }
    said = messages.read(ENDPOINTS["anthropic"], json.dumps(reply).encode())
    assert (said.text, said.tokens_in, said.tokens_out, said.refused, said.cut_off) == ("ab", 7, 3, False, False)
    usage = {"input_tokens": 7, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 50}
    assert messages.read(ENDPOINTS["anthropic"], json.dumps(reply | {"usage": usage}).encode()).tokens_in == 957
    for reason, refused, cut_off in (("refusal", True, False), ("max_tokens", False, True)):
        said = messages.read(ENDPOINTS["anthropic"], json.dumps(reply | {"stop_reason": reason}).encode())
        assert (said.refused, said.cut_off) == (refused, cut_off)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"3",
        b"null",
        b"\xff\xfe",
        '{"choices": []}'.encode("utf-16"),
        b"{}",
        b'{"choices": {}}',
        b'{"choices": []}',
        b'{"choices": [3]}',
        b'{"choices": [{}]}',
        b'{"choices": [{"message": "x"}]}',
        b'{"choices": [{"message": {"content": 3}}]}',
        b'{"choices": [{"message": {"content": [3]}}]}',
        b'{"choices": [{"message": {"content": [{"text": 3}]}}]}',
        b'{"error": "x", "choices": []}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"id": ' + b"9" * 100_000 + b"}",
        b'{"choices": []}{"choices": []}',
    ],
)
def test_what_is_no_answer_is_said_to_be_none(body):
    for name in ("openai", "anthropic"):
        with pytest.raises(Malformed):
            messages.read(ENDPOINTS[name], body)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b'{"error": {"message": "m", "param": "p", "code": "c"}}', Complaint("m", "p", "c")),
        (b'{"type": "error", "error": {"type": "t", "message": "m"}}', Complaint("m", None, "t")),
        (b'[{"error": {"message": "m", "code": 400}}]', Complaint("m", None, "400")),
        (b'{"error": "m"}', Complaint("m")),
        (b'{"detail": "m"}', Complaint("m")),
        (b'{"detail": [{"loc": ["body"], "msg": "m"}]}', Complaint('{"detail": [{"loc": ["body"], "msg": "m"}]}')),
        (b'{"object": "error", "message": "m", "type": "t", "param": null, "code": 400}', Complaint("m", None, "400")),
        (b"\xffplain", Complaint("\ufffdplain")),
        (b"", Complaint("")),
        (b"[]", Complaint("[]")),
        (b'{"error": {"message": ["x"], "param": 3}}', Complaint('{"error": {"message": ["x"], "param": 3}}')),
    ],
)
def test_complaints(body, found):
    assert complaint(body) == found


@pytest.mark.parametrize(
    ("asked", "reported", "same"),
    [
        ("gpt-5.5", "gpt-5.5-2026-04-23", True),
        ("gpt-5", "gpt-5-mini", False),
        ("gpt-5.5", "gpt-4o", False),
        ("claude-sonnet-4-6", "claude-sonnet-4-6-20260101", True),
        ("gemini-3.1-pro-preview", "models/gemini-3.1-pro-preview", True),
        ("Qwen/Qwen3-VL-8B-Instruct", "qwen3-vl-8b-instruct", True),
        ("Qwen/Qwen3-VL-8B-Instruct", "Qwen/Qwen3-VL-32B-Instruct", False),
        ("/models/tiny", "/models/tiny@main", True),
        ("llava", "llava:latest", True),
        ("tiny", "", True),
    ],
)
def test_names_of_models(asked, reported, same):
    assert same_model(asked, reported) == same


ASKED = {"temperature": 0.7, "top_p": 0.9, "answer_tokens": 64}
REFUSALS = {
    "max_tokens": (
        "Unsupported parameter: 'max_tokens' is not supported here. Use 'max_completion_tokens' instead.",
        "max_completion_tokens for max_tokens",
    ),
    "top_p": (
        "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
        "without top_p",
    ),
    "temperature": ("Unsupported value: 'temperature' does not support 0.7 with this model.", "without temperature"),
}


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("refused", REFUSALS)
def test_a_refused_parameter_is_dropped_or_renamed_once(refused, named):
    parameters = SamplingParameters(ENDPOINTS["vllm"], ASKED)
    said, words = REFUSALS[refused]
    sent = parameters.current()
    again, lesson = parameters.adapt(sent, said, refused if named else None)
    assert again
    assert (str(lesson), lesson.parameter, lesson.message) == (words, refused, said)
    assert parameters.refused == [lesson]
    assert refused not in parameters.current()
    # Another worker asked before that: it only has to ask again.
    assert parameters.adapt(sent, said, refused) == (True, None)
    assert parameters.refused == [lesson]
    once_more = parameters.adapt(parameters.current(), said if refused != "top_p" else "no top_p", refused)
    assert once_more == (False, None)


def test_learning_ends():
    parameters = SamplingParameters(ENDPOINTS["openai"], ASKED)
    everything, rounds = "max_tokens max_completion_tokens temperature top_p", 0
    while parameters.adapt(parameters.current(), everything, None)[0]:
        rounds += 1
    assert rounds == 3
    assert parameters.current() == {"max_tokens": 64}
    assert parameters.adapt(parameters.current(), "messages: too long", "messages") == (False, None)


def test_prompts_say_the_interface():
    for task in registry.TASKS:
        system, look = game.prompts(task)
        assert (system.name, look.name) == ("system-v1", f"{task}-v1")
        assert len(system.sha256) == 64
        assert all(f'"{word}"' in system.text for word in ("up", "down", "left", "right", "h", "actions"))
        assert "K" not in look.text.split()
    with pytest.raises(ValueError, match=r"prompt: expected one of .*sokoban-v1, system-v1.*, got system-v9"):
        read_prompt(game.files("recommit.zero_shot") / "prompts", "system-v9")


@pytest.mark.parametrize(
    "text",
    [
        "ftp://host/v1",
        "file:///etc/passwd",
        "host",
        "http://",
        "http://user@host",
        "http://u:sk-x@host/v1",
        "http://host/v1?key=sk-x",
        "http://host/#x",
        "http://host:99999",
        "http://host:0",
        "http://host:port",
        "http://ho st/",
        "http://host/a\r\nX: y",
        "http://h\u00f6st/",
        "http://[::1",
        "http://host\\@other/",
        "",
    ],
)
def test_addresses_that_are_none(text):
    with pytest.raises(ValueError, match="base_url: expected") as caught:
        Address.parse(text)
    assert "sk-x" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "shown", "local"),
    [
        ("https://api.openai.com/v1/", "https://api.openai.com/v1", False),
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1", True),
        ("http://[::1]:8000", "http://[::1]:8000", True),
        ("http://localhost", "http://localhost", True),
        ("http://localhost.evil.example/v1", "http://localhost.evil.example/v1", False),
        ("http://10.0.0.7:80/v1", "http://10.0.0.7/v1", False),
    ],
)
def test_addresses(text, shown, local):
    address = Address.parse(text)
    assert (str(address), address.local) == (shown, local)
