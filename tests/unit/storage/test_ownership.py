"""A folder goes on with what began it, or says whose it is."""

from __future__ import annotations

from tests.refusals import refused

from recommit.storage import ownership
from recommit.storage.errors import WrongFolder

BEGUN = {"optim": {"lr": 0.1, "betas": [0.9, 0.95]}, "seed": 1}
OTHERS = [
    ({**BEGUN, "seed": 2}, "seed was 1, is 2"),
    ({**BEGUN, "later": "x"}, "later was unset, is 'x'"),
    ({"optim": BEGUN["optim"]}, "seed was 1, is unset"),
    ({"optim": {"lr": 0.1}, "seed": 2}, "optim.betas was [0.9, 0.95], is unset, seed was 1, is 2"),
    ({"optim": 3, "seed": 1}, "optim was {'lr': 0.1, 'betas': [0.9, 0.95]}, is 3"),
]


def test_another_folder_is_refused_with_the_field_and_both_values(tmp_path):
    ownership.check(tmp_path, BEGUN, {"seed": 1, "optim": dict(BEGUN["optim"]), "later": None})
    front = f"{tmp_path}: the folder belongs to another run: "
    rows = [(lambda now=now: ownership.check(tmp_path, BEGUN, now), f"{front}{words};") for now, words in OTHERS]
    many, long = ({str(i): word * 99 for i in range(9)} for word in "ab"), ({"hash": "c" * 99 + w} for w in "ab")
    rows.append((lambda: ownership.check(tmp_path, *many), f"{front}0 was 'a{'a' * 58}..., is 'b{'b' * 58}..., 1 was "))
    rows.append((lambda: ownership.check(tmp_path, *long), f"hash was '{'c' * 99}a', is '{'c' * 99}b';"))
    for name in (".lock", "DIGESTS"):  # all that a command that was killed has written
        (tmp_path / name).touch()
    ownership.refuse_foreign(tmp_path, ("mine.json",), "a thing")
    (tmp_path / "thesis.tex").touch()
    foreign = lambda folder: ownership.refuse_foreign(folder, ("mine.json",), "a thing")
    rows.append((lambda: foreign(tmp_path), "or that of a thing; got one with thesis.tex"))
    rows.append((lambda: foreign(tmp_path / "thesis.tex"), "tex: expected a folder or nothing there, got a file"))
    refused(rows, WrongFolder)
