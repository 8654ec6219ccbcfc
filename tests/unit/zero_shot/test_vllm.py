"""vLLM's dialect, as its documentation and its users show it: replies with more fields, and three shapes of errors."""

from __future__ import annotations

import pytest
from tests.unit.zero_shot.called import zero_shot
from tests.unit.zero_shot.servers import GOOD, reply

from recommit.storage import jsonl

NAME = "Qwen/Qwen2.5-VL-7B-Instruct"
#: So many tokens has a picture and the rules; a server was started with --max-model-len.
QUESTION, MODEL_LENGTH = 1300, 4096


class Vllm:
    """What ``vllm serve`` does with a chat completion, but for the model."""

    def __init__(self, *, old=False):
        self.old = old

    def __call__(self, request, _):
        body, wrong = request.body, None
        if not request.line.startswith("POST /v1/chat/completions "):
            return reply({"detail": "Not Found"}, "404 Not Found")
        if body["model"] != NAME:
            wrong = "404 Not Found", "NotFoundError", f"The model `{body['model']}` does not exist."
        pictures = [part for part in body["messages"][-1]["content"] if part["type"] == "image_url"]
        if len(pictures) != 1 or not pictures[0]["image_url"]["url"].startswith("data:image/png;base64,"):
            wrong = "400 Bad Request", "BadRequestError", "At most 1 image(s) may be provided in one prompt."
        if QUESTION + body["max_tokens"] > MODEL_LENGTH:
            words = (
                f"This model's maximum context length is {MODEL_LENGTH} tokens. However, you requested "
                f"{QUESTION + body['max_tokens']} tokens ({QUESTION} in the messages, {body['max_tokens']} in the "
                "completion). "
                "Please reduce the length of the messages or completion. (parameter=max_tokens)"
            )
            wrong = "400 Bad Request", "BadRequestError", words
        return self.error(*wrong) if wrong else reply(self.answer())

    def error(self, status, kind, message):
        inner = {"message": message, "type": kind, "param": None, "code": int(status[:3])}
        return reply({"object": "error", **inner} if self.old else {"error": inner}, status)

    def answer(self):
        message = {"role": "assistant", "reasoning_content": None, "content": GOOD, "tool_calls": [], "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop", "stop_reason": None}
        usage = {
            "prompt_tokens": QUESTION,
            "total_tokens": QUESTION + 12,
            "completion_tokens": 12,
            "prompt_tokens_details": None,
        }
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": NAME,
            "choices": [choice],
            "service_tier": None,
            "system_fingerprint": None,
            "usage": usage,
            "prompt_logprobs": None,
            "kv_transfer_params": None,
        }


def play(server, out, model=NAME, **more):
    flags = {
        "size": (2, 3),
        "length": (4, 12),
        "budget": 2,
        "instances": 2,
        "workers": 1,
        "quiet": True,
        "answer_tokens": 256,
    }
    return zero_shot(model, out, endpoint="vllm", base_url=server.url, **(flags | more))


def said(out):
    return [line["said"] for line in jsonl.read(out / "attempts.jsonl") if line["event"] == "failed"]


def test_it_is_played(serve, tmp_path):
    assert play(serve(script=Vllm()), tmp_path) == 0
    decisions = jsonl.read(tmp_path / "decisions.jsonl")
    assert [one["outcome"] for one in decisions] == ["ok"] * 4
    assert {(one["tokens_in"], one["tokens_out"], one["model"]) for one in decisions} == {(QUESTION, 12, NAME)}
    assert said(tmp_path) == []


@pytest.mark.parametrize("old", [False, True])
def test_a_context_that_is_too_short_is_said_and_asked_for_once(old, serve, tmp_path):
    server = serve(script=Vllm(old=old))
    assert play(server, tmp_path, answer_tokens=4096) == 1
    assert len(server.seen) == 2, "each of two episodes once: no other name of the parameter helps"
    assert all("maximum context length is 4096 tokens" in words for words in said(tmp_path))
    (first, _) = jsonl.read(tmp_path / "episodes.jsonl")
    assert "However, you requested 5396 tokens" in first["infra_error"]


@pytest.mark.parametrize("old", [False, True])
def test_a_model_that_is_not_served_ends_the_run(old, serve, tmp_path, capsys):
    server = serve(script=Vllm(old=old))
    assert play(server, tmp_path, model="Qwen/Qwen3-VL-8B-Instruct") == 1
    assert len(server.seen) == 1
    assert "The model `Qwen/Qwen3-VL-8B-Instruct` does not exist." in capsys.readouterr().err
