"""The cap of a run: no request is sent beyond it, whoever else is under way, and whatever an earlier start has sent."""

from __future__ import annotations

import threading

import pytest
from tests.unit.zero_shot.conftest import Kept

from recommit.zero_shot.client import CapReached, Ledger


def test_many_workers_stay_within_the_cap():
    shared, sent, reached = Ledger(40, Kept(), threading.Event()), [], []

    def work():
        try:
            while True:
                shared.begin({})
                sent.append(1)
                shared.answered(200, None)
        except CapReached as error:
            reached.append(str(error))

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert (len(reached), shared.requests, len(sent)) == (8, 40, 40)
    assert [record["number"] for record in shared.log.records] == [*range(1, 41)]
    assert (shared.tokens_in, shared.tokens_out) == (8000, 0)


def test_what_was_lost_in_a_kill_counts_too():
    log, told = Kept(), {"tokens_in": 7000, "tokens_out": 7}
    before = Ledger(4, log, threading.Event())
    for _ in range(4):
        before.begin({})
    after = Ledger(5, Kept(), threading.Event())
    after.restore([*log.records, {"event": "failed"}], [told])
    assert (after.requests, after.tokens_in, after.tokens_out) == (4, 7000, 7)
    after.begin({})
    with pytest.raises(CapReached, match="max_requests: 5 allowed, 5 sent"):
        after.begin({})
