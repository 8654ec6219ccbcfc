"""Caps: no request is sent that could break one, whoever else is under way, and whatever an earlier start has spent."""

from __future__ import annotations

import random
import threading

import pytest
from tests.unit.evaluate.zero_shot.conftest import Kept

from recommit.evaluate.zero_shot.errors import CapReached, Damaged, Stopped
from recommit.evaluate.zero_shot.ledger import QUESTION_TOKENS, Caps, Ledger


def ledger(caps=None, log=None):
    return Ledger(caps or Caps(), log or Kept(), 100, threading.Event())


@pytest.mark.parametrize(
    "caps", [Caps(requests=40), Caps(tokens=20_000), Caps(money=9.0, price_in=500.0, price_out=900.0)]
)
def test_many_workers_stay_within_the_caps(caps):
    shared, sent, reached = ledger(caps), [], []

    def work(seed):
        draw = random.Random(seed)
        try:
            while True:
                ticket = shared.begin({})
                sent.append(ticket.number)
                if draw.random() < 0.2:
                    shared.failed(ticket, draw.random() < 0.5, {})
                else:
                    shared.answered(ticket, draw.randrange(50, 200), draw.randrange(100))
        except CapReached as error:
            reached.append(str(error))

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(reached) == 8
    assert sorted(sent) == list(range(1, len(sent) + 1))
    spent = shared.spent
    assert spent.requests == len(sent) <= (caps.requests or len(sent))
    assert caps.tokens is None or spent.tokens_in + spent.tokens_out <= caps.tokens
    assert caps.money is None or shared.money <= caps.money
    assert len(sent) > 2


def test_one_that_may_fit_later_waits():
    shared = ledger(Caps(tokens=QUESTION_TOKENS + 100))
    first, second = shared.begin({}), []
    waiting = threading.Thread(target=lambda: second.append(shared.begin({})))
    waiting.start()
    waiting.join(0.2)
    assert not second
    shared.answered(first, 50, 10)
    waiting.join()
    assert second[0].reserved == (50, 100)


def test_a_stop_ends_the_wait():
    shared = ledger(Caps(tokens=QUESTION_TOKENS + 100))
    shared.begin({})
    shared.stop.set()
    with pytest.raises(Stopped):
        shared.begin({})


def test_what_was_lost_in_a_kill_is_charged():
    log = Kept()
    before = ledger(log=log)
    tickets = [before.begin({}) for _ in range(4)]
    charged = before.answered(tickets[0], 70, 7)
    before.failed(tickets[1], True, {"kind": "timeout"})
    before.failed(tickets[2], False, {"kind": "http_500"})
    decisions = [{"number": 1, "charged": list(charged)}, {"number": None, "charged": [0, 0]}]
    after = ledger()
    after.restore(log.records, decisions)
    assert (after.spent.requests, after.spent.tokens_in) == (4, 70 + 2 * QUESTION_TOKENS)
    assert after.spent.tokens_out == 7 + 2 * 100
    assert after.begin({}).number == 5


@pytest.mark.parametrize(
    "records",
    [
        [{}], [{"event": "sent"}], [{"event": "failed", "number": 1, "charged": [0, 0]}],
        [{"event": "sent", "number": 1, "reserved": [1]}], [{"event": "sent", "number": 1, "reserved": None}],
    ],
)  # fmt: skip
def test_a_foreign_log_is_named(records):
    with pytest.raises(Damaged, match=r"attempts.jsonl: expected one start"):
        ledger().restore(records, [])
