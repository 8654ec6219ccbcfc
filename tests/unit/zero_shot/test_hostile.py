"""F10: a server that does everything wrong costs bounded time, bytes and requests, and no other one learns the key."""

from __future__ import annotations

import gzip
import json
import urllib.request

import pytest
from tests.refusals import refused
from tests.unit.zero_shot.conftest import CANARY, SHORT
from tests.unit.zero_shot.servers import chat, drip, error, flood, hang_up, reply, silence
from tests.waiting import HANG, until

from recommit.zero_shot.client import GaveUp, Unusable
from recommit.zero_shot.game import Observation
from recommit.zero_shot.transport import LONGEST_WAIT

QUESTION, PLACE = Observation("rules", "which?", 1), {"instance": "task/0", "decision": 0}
JSON = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
BOMB = gzip.compress(b" " * 50_000_000)


#: What the server does, every time; how the request fails; what is raised in the end. A retry is made unless it is
#: hopeless.
HOSTILE = {
    "400": (error("400 Bad Request"), "http_400", GaveUp),
    "401": (error("401 Unauthorized"), "http_401", Unusable),
    "404": (error("404 Not Found"), "http_404", Unusable),
    "413": (error("413 Too Large"), "http_413", GaveUp),
    "429": (error("429 Too Many"), "http_429", GaveUp),
    "429, quota used up": (error("429 Too Many", code="insufficient_quota"), "http_429", Unusable),
    "429, absurd Retry-After": (error("429 Slow", headers=["Retry-After: 1e99"]), "http_429", GaveUp),
    "500": (error("500 Oops"), "http_500", GaveUp),
    "204": (b"HTTP/1.1 204 No Content\r\n\r\n", "http_204", GaveUp),
    "101": (b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", "disconnected", GaveUp),
    "never answers": (silence, "timeout", GaveUp),
    "headers drip": (drip(JSON.encode() * 9), "timeout", GaveUp),
    "body drips": (lambda c, e: (c.sendall(f"{JSON}\r\n".encode()), drip(b" " * 999)(c, e)), "timeout", GaveUp),
    "body never ends its promise": (f"{JSON}Content-Length: 99\r\n\r\n{{}}".encode(), "disconnected", GaveUp),
    "hangs up at once": (hang_up(), "disconnected", GaveUp),
    "hangs up mid-body": (hang_up(f"{JSON}Content-Length: 999\r\n\r\n{{".encode()), "disconnected", GaveUp),
    "chunks cut": (f"{JSON}Transfer-Encoding: chunked\r\n\r\n5\r\n{{".encode(), "disconnected", GaveUp),
    "chunks of no size": (f"{JSON}Transfer-Encoding: chunked\r\n\r\nzz\r\n{{".encode(), "disconnected", GaveUp),
    "gzip bomb": (reply(BOMB, headers=["Content-Encoding: gzip"]), "encoded", GaveUp),
    "gzip bomb that denies it": (reply(BOMB), "malformed", GaveUp),
    "wrong content type": (reply(json.dumps(chat()).encode(), kind="text/html"), "wrong_content_type", GaveUp),
    "infinite body": (flood(f"{JSON}\r\n".encode(), b" " * 65536), "too_large", GaveUp),
    "infinite headers": (flood(JSON.encode(), b"X: " + b"y" * 60000 + b"\r\n"), "disconnected", GaveUp),
    "infinite header": (flood(JSON.encode() + b"X: ", b"y" * 65536), "disconnected", GaveUp),
    "infinite 100 Continue": (flood(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 2000), "timeout", GaveUp),
    "negative length": (flood(f"{JSON}Content-Length: -1\r\n\r\n".encode(), b" " * 65536), "disconnected", GaveUp),
    "not HTTP": (b"SSH-2.0-OpenSSH_9.9\r\n", "disconnected", GaveUp),
    "nothing at all": (b"", "disconnected", GaveUp),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile(name, serve, client_of):
    """It ends, and by the bound that it should end by: what some of them send has no end, nor has the time that others
    take.
    """
    does, kind, raised = HOSTILE[name]
    server = serve(does)
    client = client_of(server.url, timeout=SHORT if kind == "timeout" else HANG)
    with pytest.raises(raised, match=kind) as caught:
        client.ask(QUESTION, PLACE)
    asked = 2 if raised is GaveUp and kind not in ("http_400", "http_413") else 1
    until(lambda: len(server.seen) >= asked)  # one that nobody waited for may still be on its way
    assert len(server.seen) == asked == client.ledger.requests
    assert all(0 < pause <= LONGEST_WAIT for pause in client.ledger.stop.slept)
    assert CANARY not in f"{caught.value!r} {client.ledger.log.records}"


@pytest.mark.parametrize(
    ("status", "target"),
    [
        (302, "http://{other}/v1/chat/completions"),
        (303, "//{other}/x"),
        (307, "http://{other}/x"),
        (302, "file:///etc/passwd"),
        (302, "/v1/chat/completions"),
    ],
)
def test_no_redirect_is_followed(status, target, serve, client_of):
    other = serve()
    server = serve(reply(b"", f"{status} Moved", [f"Location: {target.format(other=other.url[7:-3])}"]))
    ask = client_of(server.url).ask
    refused([(lambda: ask(QUESTION, PLACE), "redirect, which is never followed")], Unusable)
    assert (len(server.seen), other.connections) == (1, 0)


def test_a_client_that_follows_redirects_is_caught(serve):
    """The planted defect: the standard library's opener, which takes the key along."""
    other = serve()
    server = serve(reply(b"", "302 Found", [f"Location: {other.url}/x"]))
    request = urllib.request.Request(server.url, b"{}", {"Authorization": f"Bearer {CANARY}"})
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=HANG).close()
    assert other.connections == 1
    assert other.seen[0].headers["authorization"] == f"Bearer {CANARY}"
