"""Caps through the command, over HTTP: 32 workers, questions that take 60,000 tokens, and a start with a higher cap."""

from __future__ import annotations

import pytest
from tests.unit.zero_shot.servers import answer
from tests.unit.zero_shot.test_runner import play, read

#: What every question and its answer take, as the server counts them; at 5 and 15 per million that costs 0.3003.
TOKENS = (60_000, 20)
PRICES = {"price_in": 5.0, "price_out": 15.0}


@pytest.mark.parametrize(
    ("caps", "answers"),
    [
        ([{"max_tokens": 200_000}, {"max_tokens": 400_000}], [3, 6]),
        ([{"max_money": 1.0, **PRICES}, {"max_money": 1.6, **PRICES}], [3, 5]),
        ([{"max_tokens": 8_000}, {"max_tokens": 60_000}, {"max_tokens": 130_000}], [1, 1, 2]),
    ],
    ids=["tokens", "money", "less than one answer"],
)
def test_each_start_of_a_run_spends_at_most_its_cap(caps, answers, serve, tmp_path, capsys):
    server, sent = serve(answer(usage=TOKENS)), []
    for cap in caps:
        play(server.url, tmp_path, workers=32, instances=40, budget=4, answer_tokens=100, **cap)
        assert f"{next(iter(cap))}: " in capsys.readouterr().err
        sent.append(len(server.seen))
    assert sent == answers
    row = read(tmp_path)[2][0]
    assert (row["requests"], row["tokens_in"], row["tokens_out"]) == (sent[-1], sent[-1] * 60_000, sent[-1] * 20)
