"""How a model was sampled: the paper's way where its endpoint takes that, and what it refuses is written down in its
words.
"""

from __future__ import annotations

import json

import pytest
from tests.unit.zero_shot.called import zero_shot
from tests.unit.zero_shot.servers import answer, chat, error, reply

from recommit.storage import jsonl
from recommit.zero_shot.endpoints import MODELS

PAPER = {"temperature": 0.7, "top_p": 0.9}
NOT_BOTH = "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
ONLY_ONE = (
    "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) value is supported."
)
NO_TOP_P = "Unsupported parameter: 'top_p' is not supported with this model."


def play(url, out, model, **more):
    flags = {"size": (2, 3), "length": (4, 12), "budget": 2, "instances": 3, "workers": 1, "quiet": True} | more
    return zero_shot(model, out, base_url=url, **flags)


def sampling(out):
    return json.loads((out / "manifest.json").read_text())["sampling"]


def takes_everything(model):
    def script(request, _):
        assert {name: request.body[name] for name in PAPER} == PAPER
        return said(request, model)

    return script


def said(request, model):
    """An answer in the dialect of the request."""
    if "system" not in request.body:
        return answer(model=model)
    content = [{"type": "text", "text": chat()["choices"][0]["message"]["content"]}]
    return reply({"model": model, "content": content, "stop_reason": "end_turn", "usage": {}})


def takes_no_sampling(request, _):
    """As OpenAI's reasoning models say it."""
    for name, words in (("temperature", ONLY_ONE), ("top_p", NO_TOP_P)):
        if name in request.body:
            return error("400 Bad Request", words, param=name, type="invalid_request_error", code="unsupported_value")
    return said(request, "gpt-5.5-2026-04-23")


def takes_one_sampler(request, _):
    """As Anthropic's models say it."""
    if request.body.keys() >= PAPER.keys():
        return error("400 Bad Request", NOT_BOTH, type="invalid_request_error")
    return said(request, "claude-sonnet-4-6")


@pytest.mark.parametrize("model", MODELS)
def test_every_model_is_asked_as_the_paper_says(model, serve, tmp_path):
    server = serve(script=takes_everything(model))
    assert play(server.url, tmp_path, model) == 0
    noted = sampling(tmp_path)
    assert noted["refused"] == []
    assert noted["asked"].items() >= PAPER.items()
    (sent,) = noted["sent"]
    assert sent["decisions"] == 6 == len(server.seen)
    assert sent["parameters"].items() >= PAPER.items()


def test_what_is_refused_is_left_out_once_and_written_down(serve, tmp_path):
    server = serve(script=takes_no_sampling)
    assert play(server.url, tmp_path, "gpt-5.5-2026-04-23", workers=3) == 0
    noted = sampling(tmp_path)
    assert noted["asked"] == {**PAPER, "answer_tokens": 16384}
    assert noted["sent"] == [{"parameters": {"max_completion_tokens": 16384}, "decisions": 6}]
    assert noted["refused"] == [
        {"parameter": "temperature", "instead": None, "said": ONLY_ONE},
        {"parameter": "top_p", "instead": None, "said": NO_TOP_P},
    ]
    assert json.loads((tmp_path / "summary.json").read_text())[0]["refused_parameters"] == [
        "without temperature",
        "without top_p",
    ]


def test_a_model_that_takes_one_sampler_keeps_its_temperature(serve, tmp_path):
    server = serve(script=takes_one_sampler)
    assert play(server.url, tmp_path, "claude-sonnet-4-6") == 0
    noted = sampling(tmp_path)
    assert noted["sent"] == [{"parameters": {"max_tokens": 4096, "temperature": 0.7}, "decisions": 6}]
    assert noted["refused"] == [{"parameter": "top_p", "instead": None, "said": NOT_BOTH}]
    assert len(server.seen) == 7


def test_a_run_that_goes_on_knows_what_was_refused(serve, tmp_path):
    server = serve(script=takes_no_sampling)
    assert play(server.url, tmp_path, "gpt-5.5-2026-04-23", max_requests=4) == 1
    before = sampling(tmp_path)
    assert before["sent"] == [{"parameters": {"max_completion_tokens": 16384}, "decisions": 2}]
    assert play(server.url, tmp_path, "gpt-5.5-2026-04-23") == 0
    assert len(server.seen) == 8, "only the first start was refused anything"
    after = sampling(tmp_path)
    assert after["refused"] == before["refused"]
    assert after["sent"][0]["decisions"] == 6
    assert len([line for line in jsonl.read(tmp_path / "attempts.jsonl") if line["event"] == "refused"]) == 2


def test_a_parameter_may_be_left_out_from_the_start(serve, tmp_path):
    server = serve(script=takes_one_sampler)
    assert play(server.url, tmp_path, "claude-sonnet-4-6", without=("top_p",)) == 0
    noted = sampling(tmp_path)
    assert noted["asked"] == {"temperature": 0.7, "answer_tokens": 4096}
    assert noted["refused"] == []
    assert len(server.seen) == 6
    with pytest.raises(ValueError, match=r"belongs to another run: parameters\.top_p was unset, is"):
        play(server.url, tmp_path, "claude-sonnet-4-6")
    with pytest.raises(ValueError, match="without: expected temperature or top_p, got answer_tokens"):
        play(server.url, tmp_path / "other", "claude-sonnet-4-6", without=("answer_tokens",))
