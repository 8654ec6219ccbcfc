"""Caps: no request is sent that could break one, whoever else is under way, and whatever an earlier start has spent."""

from __future__ import annotations

import random
import threading

import pytest
from tests.refusals import refused
from tests.unit.zero_shot.conftest import Kept
from tests.waiting import until

from recommit.storage.errors import Damaged
from recommit.zero_shot.client import QUESTION_TOKENS, CapReached, Ledger, StopRequested

#: What one question and its answer take, where the ledger was never told.
LARGE = (60_000, 100)
#: Caps that hold three of them, and some change.
THREE = 200_000


def ledger(tokens=None, log=None, kind=Ledger, requests=None):
    return kind(requests, tokens, log or Kept(), 100, threading.Event())


@pytest.mark.parametrize("caps", [{"requests": 40}, {"tokens": 20_000}])
def test_many_workers_stay_within_the_caps(caps):
    shared, sent, reached = ledger(**caps), [], []

    def work(seed):
        draw = random.Random(seed)
        try:
            while True:
                shared.begin({})
                sent.append(seed)
                if draw.random() < 0.2:
                    shared.failed(draw.random() < 0.5, {})
                else:
                    shared.answered(200, draw.randrange(100))
        except CapReached as error:
            reached.append(str(error))

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(reached) == 8
    assert 2 < shared.requests == len(sent) <= caps.get("requests", len(sent))
    assert "tokens" not in caps or shared.tokens_in + shared.tokens_out <= caps["tokens"]


class Naive(Ledger):
    """The planted defect: everybody starts at once, with 4,096 tokens reserved for each question."""

    def _must_wait(self):
        return False


def crowd(shared, workers=32):
    """The worst that so many workers can do: all that are let in ask before the first answer comes. Requests sent."""
    sent = under_way = 0
    try:
        while True:
            while under_way < workers and shared.admit({}):
                sent, under_way = sent + 1, under_way + 1
            while under_way:
                shared.answered(*LARGE)
                under_way -= 1
    except CapReached:
        for _ in range(under_way):
            shared.answered(*LARGE)
        return sent


def overrun(shared):
    """By how many answers a cap is exceeded."""
    return (shared.tokens_in + shared.tokens_out - shared.most_tokens) / sum(LARGE)


def test_thirty_two_workers_with_huge_questions_stay_within_the_caps():
    shared = ledger(THREE)
    assert crowd(shared) == 3
    assert overrun(shared) <= 0
    naive = ledger(THREE, kind=Naive)
    crowd(naive)
    assert overrun(naive) > 25


def test_what_is_too_small_for_the_first_answer_is_exceeded_by_that_one_alone():
    shared = ledger(5_000)
    assert crowd(shared) == 1
    assert 0 < overrun(shared) <= 1


def test_a_start_with_a_higher_cap_remembers_how_large_questions_are():
    log = Kept()
    crowd(ledger(THREE, log))
    after = ledger(320_000)
    told = {"charged": list(LARGE), "tokens_in": LARGE[0], "tokens_out": LARGE[1]}
    after.restore(log.records, [{"number": n, **told} for n in (1, 2, 3)])
    assert (after.tokens_in, after.requests) == (180_000, 3)
    assert crowd(after) == 2
    assert overrun(after) <= 0


def test_one_request_is_under_way_until_a_server_says_what_it_took():
    shared = ledger(100_000)
    assert shared.admit({})
    assert not shared.admit({})
    shared.answered(None, None)
    assert shared.admit({})
    assert not shared.admit({})
    shared.answered(50, 10)
    assert all(shared.admit({}) for _ in range(9))


def test_one_that_may_fit_later_waits_and_a_stop_ends_the_wait():
    shared = ledger(QUESTION_TOKENS + 100)
    shared.begin({})
    waiting = threading.Thread(target=lambda: shared.begin({}))
    waiting.start()
    until(lambda: shared._changed._waiters)
    assert shared.requests == 1
    shared.answered(50, 10)
    waiting.join()
    assert (shared.requests, shared.reserved) == (2, (50, 100))
    shared.stop.set()
    with pytest.raises(StopRequested):
        shared.begin({})


def test_what_was_lost_in_a_kill_is_charged():
    log = Kept()
    before = ledger(log=log)
    for _ in range(4):
        before.begin({})
    before.failed(True, {"kind": "timeout"})
    before.failed(False, {"kind": "http_500"})
    charged = before.answered(7000, 7)
    after = ledger()
    after.restore(log.records, [{"charged": list(charged), "tokens_in": 7000, "tokens_out": 7}])
    assert (after.requests, after.tokens_in) == (4, 7000 + QUESTION_TOKENS + 7000)
    assert after.tokens_out == 7 + 2 * 100


def test_a_foreign_log_is_named():
    sent, negative = {"event": "sent", "number": 1}, {"event": "failed", "number": 1, "charged": [0, -(10**12)]}
    foreign = [
        [{}],
        [{"event": "failed", "number": 1, "charged": [0, 0]}],
        [sent, negative | {"charged": [1]}],
        [sent, negative],  # which would lift every cap of whoever goes on
    ]
    words = "attempts.jsonl: expected one start"
    refused([(lambda records=records: ledger().restore(records, []), words) for records in foreign], Damaged)
