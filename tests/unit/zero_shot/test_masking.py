"""A key in foreign text is hidden whole, cut and encoded; ordinary text is left alone. Keys and encodings are drawn by
seed.
"""

from __future__ import annotations

import base64
import html
import json
import random
import re
import string
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from tests.effort import Meter
from tests.unit.zero_shot.called import zero_shot
from tests.unit.zero_shot.conftest import CANARY
from tests.unit.zero_shot.servers import answer, reply

from recommit.zero_shot.secret import HIDDEN, LAYERS, SHARED, Mask

#: How keys of well-known services begin; what follows is random.
BEGINNINGS = ("sk-", "sk-proj-", "sk-ant-api03-", "AIzaSy", "hf_", "gsk_", "")
LETTERS = string.ascii_letters + string.digits
ROOT = Path(__file__).resolve().parents[3]


def drawn(draw):
    """A key as services make them."""
    tail = "".join(draw.choice(f"{LETTERS}-_") for _ in range(draw.randrange(24, 100)))
    return draw.choice(BEGINNINGS) + tail


def cut(text, draw):
    """Without a few characters at either end."""
    return text[draw.randrange(4) : len(text) - draw.randrange(1, 8)]


def scattered(text, draw, between="\n"):
    """In lines of a few characters."""
    step = draw.randrange(1, 9)
    return between.join(text[i : i + step] for i in range(0, len(text), step))


#: What servers do to what they were sent.
ENCODINGS = {
    "as it is": lambda text, _: text,
    "cut": cut,
    "large": lambda text, _: text.upper(),
    "small": lambda text, _: text.lower(),
    "backwards": lambda text, _: text[::-1],
    "in lines": scattered,
    "with invisible spaces": lambda text, draw: scattered(text, draw, "\u200b"),
    "base64": lambda text, draw: base64.b64encode(b"Bearer "[draw.randrange(8) :] + text.encode()).decode(),
    "base64 for addresses": lambda text, _: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "base64 in lines": lambda text, _: base64.encodebytes(text.encode()).decode(),
    "cut base64": lambda text, draw: cut(base64.b64encode(text.encode()).decode(), draw),
    "hexadecimal": lambda text, _: text.encode().hex(),
    "hexadecimal with spaces": lambda text, _: text.encode().hex(" ").upper(),
    "percent": lambda text, _: "".join(f"%{ord(c):02x}" for c in text),
    "percent twice": lambda text, _: quote("".join(f"%{ord(c):02X}" for c in text)),
    "percent where needed": lambda text, _: text.replace("-", "%2D").replace("_", "%5F"),
    "HTML": lambda text, draw: "".join(draw.choice([c, f"&#{ord(c)};", f"&#x{ord(c):x};"]) for c in text),
    "HTML where needed": lambda text, _: text.replace("-", "&#45;").replace("_", "&lowbar;"),
    "JSON": lambda text, draw: "".join(draw.choice([c, f"\\u{ord(c):04x}"]) for c in text),
    "JSON in JSON": lambda text, _: json.dumps(json.dumps("".join(f"\\u{ord(c):04x}" for c in text))),
    "C": lambda text, draw: "".join(draw.choice([c, f"\\x{ord(c):02x}", f"\\{ord(c):03o}"]) for c in text),
}


def readings(text):
    """The slow twin: what the standard library makes of a text, also of that, and so on."""
    level, every = {text}, {text}
    for _ in range(LAYERS):
        level = {
            read(each)
            for each in level
            for read in (
                unquote,
                html.unescape,
                lambda t: re.sub(r"\\+u(.{4})", lambda m: chr(int(m[1], 16)), t),
                lambda t: re.sub(r"\\+x(..)", lambda m: chr(int(m[1], 16)), t),
                lambda t: re.sub(r"\\+([0-7]{3})", lambda m: chr(int(m[1], 8)), t),
            )
        } - every
        every |= level
    tokens = {word for each in every for word in re.findall(r"[\w+/=-]{9,}", each.replace("\n", ""))}
    padded = (word[i:].rstrip("=") for word in tokens for i in range(4))
    every |= {base64.b64decode(word[: len(word) // 4 * 4], "-_").decode("latin-1") for word in padded}
    digits = [re.sub(r"[\s]", "", each) for each in every]
    every |= {
        bytes.fromhex(run).decode("latin-1") for each in digits for run in re.findall(r"(?:[0-9a-fA-F]{2})+", each)
    }
    return every


def shares(text, key):
    """Does any reading of ``text`` show so many letters in a row of the key?"""
    letters = "".join(c for c in key.lower() if c in LETTERS)
    rows = {way[i : i + SHARED] for way in (letters, letters[::-1]) for i in range(len(way) - SHARED + 1)}
    shown = ("".join(c for c in each.lower() if c in LETTERS) for each in readings(text))
    return any(each[i : i + SHARED] in rows for each in shown for i in range(len(each) - SHARED + 1))


def leaks(over, name, seed, count=12):
    """How many of so many random echoes are still seen, and how many were seen before."""
    draw, before, after = random.Random(f"{name} {seed}"), 0, 0
    for _ in range(count):
        key = drawn(draw)
        echo = f"the key {ENCODINGS[name](key, draw)} is wrong"
        masked = over(key)(echo)
        assert masked.startswith("the ")
        assert masked.endswith(" wrong"), "all but the neighbours is as it was"
        before += shares(echo, key)
        after += shares(masked, key)
    return before, after


@pytest.mark.parametrize("name", ENCODINGS)
def test_no_encoding_of_a_key_is_shown(name):
    before, after = leaks(lambda key: Mask(key).over, name, seed=20)
    assert (before, after) == (12, 0), "seed 20"


@pytest.mark.parametrize("name", [name for name in ENCODINGS if name not in ("as it is", "percent where needed")])
def test_a_mask_that_only_sees_the_key_as_it_is_is_caught(name):
    """The planted defect. A key without a sign to escape is the same with it escaped, hence the exception."""
    _, after = leaks(lambda key: lambda text: text.replace(key, HIDDEN), name, seed=20)
    assert after > 0


#: Where an echo may stand: the body of an error, JSON that breaks off, an answer.
REPLIES = (
    lambda echo: reply({"error": {"message": f"wrong key {echo}."}}, "500 Oops"),
    lambda echo: reply(f'{{"choices": "{echo}"'.encode()),
    lambda echo: answer(f"Your key is {echo}."),
)


@pytest.mark.parametrize("where", range(len(REPLIES)), ids=["error", "broken JSON", "answer"])
def test_no_file_and_no_screen_shows_an_encoded_key(where, serve, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("RECOMMIT_API_KEY", CANARY)
    draw = random.Random(20)
    echoes = [encode(CANARY, draw) for encode in ENCODINGS.values()]
    # Every other answer is good: eight failures in a row would end the run.
    server = serve(script=lambda _, n: REPLIES[where](echoes[n // 2 % len(echoes)]) if n % 2 else answer())
    flags = {"size": (2, 3), "length": (4, 8), "budget": 1, "instances": 2 * len(echoes), "retries": 0, "workers": 1}
    assert zero_shot("tiny", tmp_path, endpoint="custom", base_url=server.url, **flags) == 0
    assert len(server.seen) == 2 * len(echoes)
    shown = capsys.readouterr()
    texts = [shown.out, shown.err, *(path.read_text() for path in tmp_path.glob("*.json*"))]
    assert sum(text.count(HIDDEN) for text in texts) >= len(echoes)
    assert not any(shares(line, CANARY) for text in texts for line in text.splitlines() if HIDDEN in line)
    assert not any(CANARY[:12] in text for text in texts)


def test_ordinary_text_is_left_alone():
    draw = random.Random(20)
    pages = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs" / "guides").glob("*.md"))]
    pages += [
        json.dumps({"h": 8, "actions": ["up", "down", "left", "right"] * 2}),
        "data:image/png;base64,iVBORw0KGgo=",
    ]
    pages += ["Größe 3x3, 日本 &amp; %41 \\u0041 \ud800", ""]
    assert len(pages) > 10
    for page in pages:
        assert Mask(drawn(draw)).over(page) == page


def test_only_what_is_shared_goes():
    mask = Mask("sk-canary-9f8e7d6c5b4a3210")
    assert mask.over("a canary-9f8e, b") == f"a {HIDDEN}, b"
    assert mask.over("a k canary-9, b") == f"a {HIDDEN}, b"
    assert mask.over("a canary-9, b") == "a canary-9, b"
    assert mask.over("sk-canary-9f8e7d6c5b4a3210" * 2) == HIDDEN * 2
    assert Mask("--------!--").over("a --------!-- b") == f"a {HIDDEN} b", "a key without letters, as it is"
    assert "9f8e" not in repr(mask)


@pytest.mark.parametrize("piece", ["a", "%41", "&#65;", "9f"])
def test_a_long_text_takes_bounded_time(piece):
    with Meter() as meter:
        Mask("sk-canary-9f8e7d6c5b4a3210").over(piece * ((1 << 18) // len(piece)))
    assert meter.cheaper(20_000)
