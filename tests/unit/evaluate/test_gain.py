"""Gain shares of an evaluation's agents against plain Python."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.reference import metrics as slow

from recommit.evaluate import summaries
from recommit.evaluate.agent_names import AgentName
from recommit.evaluate.metrics import EpisodeRows
from recommit.prices import Prices

COUNT = 60
RATES = {"adaptive": 0.6, "random": 0.5, "fixed-1": 0.4, "fixed-8": 0.45, "oracle-dp": 0.9}
OTHERS = {"fixed-4-sampled": 0.5, "solver": 1.0, "adaptive@there": 0.7, "fixed-4@there": 0.2}
#: On validation instances; on those of the test depth 8 looks better.
VALIDATED = {"fixed-1": 0.5, "fixed-8": 0.5}


def episodes(rate, rng):
    """One that is solved as often as that."""
    nothing = {f.name: np.zeros(COUNT, np.int64) for f in dataclasses.fields(EpisodeRows)}
    return EpisodeRows(**{**nothing, "solved": rng.random(COUNT) < rate})


def evaluated(rates):
    rng = np.random.default_rng(7)
    played = {(name, "5"): [episodes(r, rng) for _ in range(AgentName.parse(name).seeds)] for name, r in rates.items()}
    summary = [
        {"agent": name, "budget": "5", **({"validation_solve_rate": VALIDATED[name]} if name in VALIDATED else {})}
        for name in rates
    ]
    return summary, played


def test_shares_equal_plain_python():
    summary, played = evaluated(RATES | OTHERS)
    summaries.add_gain_shares(summary, summaries.table(summaries.episode_columns(played)))
    rows = {row["agent"]: row for row in summary}
    solved = {name: np.mean([one.solved for one in each], axis=0).tolist() for (name, _), each in played.items()}
    chosen = slow.constant({1: VALIDATED["fixed-1"], 8: VALIDATED["fixed-8"]})
    for name in RATES:
        assert rows[name]["gain_fixed"] == f"fixed-{chosen}"
        wanted = slow.share(solved[name], solved[f"fixed-{chosen}"], solved["oracle-dp"])
        assert rows[name]["gain"] == pytest.approx(wanted)
        assert rows[name]["gain_low"] <= rows[name]["gain"] <= rows[name]["gain_high"]
    on_test = slow.share(solved["adaptive"], solved["fixed-8"], solved["oracle-dp"])
    assert rows["adaptive"]["gain"] != pytest.approx(on_test), "a planted defect: the constant of the test instances"
    assert (rows["fixed-1"]["gain"], rows["oracle-dp"]["gain"]) == (0.0, 1.0)
    assert not any("gain" in rows[name] for name in OTHERS), "other plans, or no ceiling of theirs"


def test_heads_on_the_same_plans_share_their_ends():
    rates = RATES | {"adaptive@head": 0.7, "adaptive@there": 0.8, "fixed-8@head": 0.45}
    summary, played = evaluated(rates)
    summary[-1]["validation_solve_rate"] = 0.5
    summaries.add_gain_shares(
        summary, summaries.table(summaries.episode_columns(played)), plans={"": "one", "head": "one", "there": "other"}
    )
    rows = {row["agent"]: row for row in summary}
    assert (rows["adaptive@head"]["gain_fixed"], rows["adaptive@head"]["gain_oracle"]) == ("fixed-1", "oracle-dp")
    solved = {name: played[name, "5"][0].solved.mean() for name in ("adaptive@head", "fixed-1", "oracle-dp")}
    head, constant, ceiling = solved.values()
    assert rows["adaptive@head"]["gain"] == pytest.approx((head - constant) / (ceiling - constant))
    assert "gain" not in rows["adaptive@there"]


def test_at_prices_shares_are_of_values():
    summary, played = evaluated(RATES)
    prices, looks = Prices(observation=0.1), {"adaptive": 2, "random": 3, "fixed-1": 8, "fixed-8": 1, "oracle-dp": 1}
    played = {
        key: [dataclasses.replace(one, decisions=np.full(COUNT, looks[key[0]])) for one in each]
        for key, each in played.items()
    }
    for row in summary:
        if row["agent"] in VALIDATED:
            row["validation_value"] = VALIDATED[row["agent"]] - prices.observation * looks[row["agent"]]
    summaries.add_gain_shares(summary, summaries.table(summaries.episode_columns(played), prices=prices), priced=True)
    worth = {name: np.mean([one.solved for one in each]) - 0.1 * looks[name] for (name, _), each in played.items()}
    for row in summary:
        assert row["gain_fixed"] == "fixed-8", "by solved instances alone it is the shallower"
        wanted = (worth[row["agent"]] - worth["fixed-8"]) / (worth["oracle-dp"] - worth["fixed-8"])
        assert row["gain"] == pytest.approx(wanted)
