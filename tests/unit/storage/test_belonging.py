"""A folder goes on with what began it, or says whose it is."""

from __future__ import annotations

import pytest

from recommit.storage import belonging
from recommit.storage.errors import WrongFolder

BEGUN = {"optim": {"lr": 0.1, "betas": [0.9, 0.95]}, "seed": 1}


def test_the_same_goes_on(tmp_path):
    belonging.check(tmp_path, BEGUN, {"seed": 1, "optim": dict(BEGUN["optim"]), "later": None})


@pytest.mark.parametrize(
    ("now", "sentence"),
    [
        ({**BEGUN, "seed": 2}, "seed was 1, is 2"),
        ({**BEGUN, "later": "x"}, "later was unset, is 'x'"),
        ({"optim": BEGUN["optim"]}, "seed was 1, is unset"),
        ({"optim": {"lr": 0.1}, "seed": 2}, "optim.betas was [0.9, 0.95], is unset, seed was 1, is 2"),
        ({"optim": 3, "seed": 1}, "optim was {'lr': 0.1, 'betas': [0.9, 0.95]}, is 3"),
    ],
)
def test_another_is_refused_with_the_folder_the_field_and_both_values(now, sentence, tmp_path):
    with pytest.raises(WrongFolder) as refused:
        belonging.check(tmp_path, BEGUN, now)
    assert str(refused.value) == f"{tmp_path}: the folder belongs to another run: {sentence}"
