"""A folder goes on with what began it, or says whose it is."""

from __future__ import annotations

import pytest

from recommit.storage import ownership
from recommit.storage.errors import WrongFolder

BEGUN = {"optim": {"lr": 0.1, "betas": [0.9, 0.95]}, "seed": 1}


def test_the_same_goes_on(tmp_path):
    ownership.check(tmp_path, BEGUN, {"seed": 1, "optim": dict(BEGUN["optim"]), "later": None})


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
        ownership.check(tmp_path, BEGUN, now)
    remedy = "; take another --out, or the flags of before"
    assert str(refused.value) == f"{tmp_path}: the folder belongs to another run: {sentence}{remedy}"


def test_of_many_differences_some_are_named_and_long_values_begin(tmp_path):
    before, now = ({str(i): word * 99 for i in range(9)} for word in "ab")
    with pytest.raises(WrongFolder, match=r"another run: 0 was 'a{59}\.\.\., is 'b{59}\.\.\., 1 was .* and 5 more;"):
        ownership.check(tmp_path, before, now)
    before, now = ({"hash": "c" * 99 + word} for word in "ab")
    with pytest.raises(WrongFolder, match=r"hash was 'c{99}a', is 'c{99}b';"):
        ownership.check(tmp_path, before, now)


def test_a_file_is_no_folder_of_ours(tmp_path):
    (tmp_path / "out").touch()
    with pytest.raises(WrongFolder, match="out: expected a folder or nothing there, got a file"):
        ownership.refuse_foreign(tmp_path / "out", ("mine.json",), "a thing")


def test_what_a_command_that_was_killed_has_written_is_no_strangers(tmp_path):
    for name in (".lock", "DIGESTS"):
        (tmp_path / name).touch()
    ownership.refuse_foreign(tmp_path, ("mine.json",), "a thing")
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(WrongFolder, match=r"or that of a thing; got one with thesis\.tex"):
        ownership.refuse_foreign(tmp_path, ("mine.json",), "a thing")
