"""F12: a key in the environment is found in no file, on no screen and in no traceback, whatever the server does with
it.
"""

from __future__ import annotations

import copy
import os
import pickle
import traceback

import pytest
from tests.unit.zero_shot.called import zero_shot
from tests.unit.zero_shot.conftest import CANARY, SHORT
from tests.unit.zero_shot.servers import answer, chat, hang_up, reply, silence
from tests.waiting import HANG, until

from recommit.zero_shot import transport
from recommit.zero_shot.client import ZeroShotError, clean
from recommit.zero_shot.game import Observation
from recommit.zero_shot.transport import HIDDEN, Key

ECHO = f"your key is {CANARY}, Bearer {CANARY}"
GOOD = '{"h": 1, "actions": ["up"]} '
#: What a server does with the key that it was sent.
ECHOES = {
    "in an answer": answer(GOOD + ECHO),
    "in every field": reply(chat(GOOD, model="tiny", finish=ECHO) | {"id": ECHO}),
    "behind a long name": reply(chat(GOOD) | {"id": "x" * (200 - 10) + CANARY}),
    "in the model's name": answer(model=ECHO),
    "in a refusal of the key": reply({"error": {"message": ECHO}}, "401 Unauthorized"),
    "in a refusal of the question": reply({"error": {"message": "max " * 48 + ECHO, "param": CANARY}}, "400 Bad"),
    "in a failure": reply({"error": ECHO}, "500 Oops"),
    "in a failure that is no JSON": reply(ECHO.encode(), "503 Busy", [f"Retry-After: {CANARY}"], "text/html"),
    "in a reason": reply({}, f"500 {ECHO}"),
    "in a malformed answer": reply({"choices": CANARY}),
    "in a redirect": reply(b"", "302 Found", [f"Location: http://127.0.0.1:9/{CANARY}"]),
    "in no HTTP": ECHO.encode(),
    "in a header": reply(chat(GOOD), headers=[f"{CANARY}: {CANARY}"] * 101),
    "nothing": silence,
    "hangs up": hang_up(ECHO.encode()),
}


def files_with(canary, folder):
    return [path for path in folder.rglob("*") if path.is_file() and canary.encode() in path.read_bytes()]


@pytest.mark.usefixtures("no_retries")
@pytest.mark.parametrize("name", ECHOES)
def test_no_trace_of_the_key(name, serve, tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("RECOMMIT_API_KEY", CANARY)
    server = serve(ECHOES[name])
    out = tmp_path / "out"
    flags = {
        "size": (2, 3),
        "length": (4, 8),
        "budget": 2,
        "instances": 2,
    }
    monkeypatch.setattr(transport, "SECONDS", SHORT if name == "nothing" else HANG)
    status = zero_shot("tiny", out, endpoint="custom", base_url=server.url, **flags)
    assert status in (0, 1)
    until(lambda: server.seen)  # after a silence it may still be on its way
    assert any(request.headers["authorization"] == f"Bearer {CANARY}" for request in server.seen)
    said = capfd.readouterr()
    assert said.err
    assert CANARY not in said.out + said.err
    assert files_with(CANARY, tmp_path) == []
    # No part of it either, where a text was cut.
    assert files_with(CANARY[:12], tmp_path) == []


@pytest.mark.parametrize("name", ECHOES)
def test_no_traceback_shows_it_even_with_all_variables(name, serve, client_of):
    server = serve(ECHOES[name])
    client = client_of(server.url, timeout=SHORT if name == "nothing" else HANG, retries=0)
    try:
        shown = repr(client.ask(Observation("rules", "which?", 1), {"instance": "task/0", "decision": 0}))
    except ZeroShotError as error:
        frames = traceback.TracebackException.from_exception(error, capture_locals=True)
        shown = "".join(frames.format()) + repr(error) + repr(error.args)
        assert "self = " in shown  # variables are in it
    assert CANARY not in shown


def test_keys_in_the_wrong_place_are_refused_without_repeating_them(tmp_path, monkeypatch):
    def call(place="127.0.0.1:9/v1", key=CANARY):
        monkeypatch.setattr(os, "environ", {**os.environ, "RECOMMIT_API_KEY": key})
        return zero_shot("m", tmp_path / "out", endpoint="custom", base_url=f"http://{place}")

    for place in (f"{CANARY}@127.0.0.1:9/v1", f"127.0.0.1:9/v1?key={CANARY}"):
        with pytest.raises(ValueError, match="base_url: expected ") as caught:
            call(place)
        assert CANARY not in str(caught.value)
    for key in ("sk-x\r\nHost: evil", "sk x y z", "sk-\u00e4", "sk-\x00"):  # which would break the header
        with pytest.raises(ValueError, match="RECOMMIT_API_KEY: expected a key of printable characters") as caught:
            call(key=key)
        assert key not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_key_hides_itself():
    key = Key(CANARY, "CANARY")
    assert f"{key} {key!r} {[key]} {vars(Key)}".count(CANARY) == 0
    assert not hasattr(key, "__dict__")
    for copier in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="a key is not pickled"):
            copier(key)
    assert not Key("", "X")
    assert clean(f"\x1b[31m{CANARY}\n" + "x" * 999, key) == "[31m[key] " + "x" * 190 + "..."
    assert key.redact(f"{CANARY.upper()}{CANARY}, \ud800") == f"{HIDDEN}{HIDDEN}, \ud800"
    # A placeholder of a local server is an ordinary word.
    assert Key("EMPTY", "X").redact("EMPTY") == "EMPTY"


def test_a_run_that_does_not_redact_is_caught(serve, tmp_path, monkeypatch):
    """The planted defect."""
    monkeypatch.setenv("RECOMMIT_API_KEY", CANARY)
    monkeypatch.setattr(Key, "redact", lambda _, text: text)
    server = serve(ECHOES["in an answer"])
    flags = {"size": (2, 3), "length": (4, 8), "budget": 1, "instances": 1, "quiet": True}
    zero_shot("tiny", tmp_path, endpoint="custom", base_url=server.url, **flags)
    assert files_with(CANARY, tmp_path) == [tmp_path / "decisions.jsonl"]
