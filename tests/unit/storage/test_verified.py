"""Finished files: what does not hold what was written there is one sentence that names it, and nothing waits."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import pytest
from tests.refusals import refused

from recommit.data.parquet import parsed
from recommit.storage import verified
from recommit.storage.errors import Damaged
from recommit.storage.files import Files, file_sha256, sha256


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "plan.json").write_text('{"run": "here", "instances": 3, "rate": 1, "none": null}')
    (tmp_path / "rows.json").write_text('[{"agent": "a"}, {"agent": "b"}]')
    (tmp_path / "lines.jsonl").write_text('{"step": 1}\n{"step": 2}\n')
    return tmp_path


def listed(folder):
    verified.seal(Files(), folder, ["plan.json", "rows.json", "lines.jsonl"])
    return folder


def test_digests_are_of_the_bytes(folder):
    assert verified.digests(folder) == {}
    assert verified.verify(folder) == 0
    assert verified.digests(listed(folder))["plan.json"] == sha256((folder / "plan.json").read_bytes())
    assert verified.verify(folder) == 3


@pytest.mark.parametrize("name", ["plan.json", "rows.json", "lines.jsonl"])
def test_another_byte_is_noticed_by_whoever_reads_it(folder, name):
    listed(folder)
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data.replace(b'"', b"'", 1))
    uses = (lambda: verified.content(folder, name), lambda: verified.verify(folder))
    words = f"{name}: expected what was written there, got other bytes; if it was changed on purpose, remove DIGESTS"
    refused([(use, words) for use in uses], Damaged)
    (folder / name).write_bytes(data)
    assert verified.verify(folder) == 3
    (folder / verified.DIGESTS).unlink()
    assert verified.content(folder, name) == data


def test_every_flipped_bit_of_the_list_is_noticed(folder):
    whole = (listed(folder) / verified.DIGESTS).read_bytes()
    for bit in range(8 * len(whole)):
        data = bytearray(whole)
        data[bit >> 3] ^= 1 << (bit & 7)
        (folder / verified.DIGESTS).write_bytes(data)
        try:
            same = verified.digests(folder)
        except Damaged as error:
            assert verified.DIGESTS in str(error)  # noqa: PT017
        else:
            (folder / verified.DIGESTS).write_bytes(whole)
            assert same == verified.digests(folder)


def test_a_hash_is_computed_again_when_a_file_changes(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"one")
    os.utime(path, (1e9, 1e9))  # long ago, so that it is remembered
    assert file_sha256(path) == file_sha256(path) == sha256(b"one")
    path.write_bytes(b"two")
    assert file_sha256(path) == sha256(b"two")


BOUNDED = {"n": verified.within(1, 9), ...: ()}


WRONG = [
    ({"seed": int}, {}, "seed: expected a whole number, got no such field"),
    ({"run": int}, {"run": "here"}, "run: expected a whole number, got text"),
    ({"n": int}, {"n": True}, "n: expected a whole number, got true or false"),
    ({"n": dict}, {"n": None}, "n: expected an object, got nothing"),
    ({"n": verified.PERHAPS}, {}, "n: expected a whole number or a number or nothing, got no such field"),
    ([{"agent": str}], [{"agent": "a"}, 3], "1: expected an object, got a whole number"),
    ({"a": {"b": [int]}}, {"a": {"b": [1, 2.0]}}, "a.b.1: expected a whole number, got a number"),
    ({...: str}, {"x": "", "y": 1}, "y: expected text, got a whole number"),
    (BOUNDED, {"n": 10}, "n: expected 1..9, got 10"),
    (BOUNDED, {"n": 9, "m": 1}, "m: expected no such field, got a whole number"),
    (verified.within(0), -1, "expected 0 or more, got -1"),
    (verified.exactly("format 1"), "format 2", "expected 'format 1', got 'format 2'"),
    *[({"n": verified.NUMBER}, {"n": wrong}, "n: expected a finite number, got") for wrong in (1e999, 10**400)],
]


def test_what_is_not_as_wanted_is_named(folder):
    check = lambda wanted, value: verified.expect(Path("plan.json"), value, wanted)
    refused([(lambda row=row: check(*row[:2]), f"plan.json: {row[2]}") for row in WRONG], Damaged)
    for text, words in (("[", "JSON"), ("[" * 100_000, "JSON"), ("\xff", "JSON"), ("3", "a whole number"),
                        ("null", "nothing"), ('"x"', "text")):  # fmt: skip
        for name, reader in (("plan.json", verified.values), ("rows.json", verified.rows)):
            (folder / name).write_bytes(text.encode("latin-1"))
            refused([(lambda name=name, reader=reader: reader(folder, name), f"{name}: ")], Damaged)
            refused([(lambda name=name, reader=reader: reader(folder, name), words)], Damaged)
    for text in ('{"step": 1\n{"step": 2}\n', '{"step": 1}\n[]\n', "x\n"):
        (folder / "lines.jsonl").write_text(text)
        refused([(lambda: verified.lines(folder, "lines.jsonl"), "lines.jsonl")], Damaged)
    for text in ("[]", '{"plan.json": 3}', "{", "[" * 100_000):  # a list that fits itself
        (folder / verified.DIGESTS).write_bytes(verified.checkable(text))
        refused([(lambda: verified.content(folder, "plan.json"), "DIGESTS: ")], Damaged)
    refused([(lambda: parsed(folder / "x.parquet", b"PAR1"), "x.parquet: cannot be read")], Damaged)


def test_what_is_as_wanted_passes(folder):
    wanted = {"run": str, "rate": verified.NUMBER, "none": verified.PERHAPS, "instances": verified.within(3, 3)}
    assert verified.values(folder, "plan.json", wanted)["instances"] == 3
    assert [row["agent"] for row in verified.rows(folder, "rows.json", {"agent": str})] == ["a", "b"]


def test_a_record_is_that_of_its_digest():
    values = {"a": 1, "b": [0.1]}
    values["sha256"] = verified.digest(values)
    read = lambda values, text=None: verified.record(Path("x"), json.dumps(values).encode(), {"a": int}, text)
    assert read(values) == read(values, json.dumps) == values
    rows = [(lambda v=v: read(v), "its sha256 does not fit") for v in ({**values, "a": 2}, {**values, "c": 1})]
    rows.append((lambda: read({"a": 1, "b": [0.1]}), "sha256: expected text"))
    rows.append((lambda: read(values, lambda each: json.dumps(each, indent=1)), "its sha256 does not fit"))
    refused(rows, Damaged)


@pytest.mark.parametrize(
    ("text", "steps"), [("", []), ('{"step": 1}\n{"st', [1]), ('{"step": 1}\n{"step": 2}', [1, 2]), ("\n\n", [])]
)
def test_lines_up_to_one_that_is_being_written(folder, text, steps):
    (folder / "lines.jsonl").write_text(text)
    assert [line["step"] for line in verified.lines(folder, "lines.jsonl")] == steps


IN_THE_WAY = {
    "none": lambda _: None,
    "a pipe": os.mkfifo,
    "a folder": os.mkdir,
    "a link": lambda path: path.symlink_to(path),
    "a link to nowhere": lambda path: path.symlink_to("nowhere"),
    "a device": lambda path: path.symlink_to("/dev/zero"),
}


@pytest.mark.parametrize("listing", [False, True])
@pytest.mark.parametrize("what", IN_THE_WAY)
def test_what_is_no_file(folder, what, listing):
    if listing:
        listed(folder)
    words = f"{what}|symbolic link|expected a file, got none|No such file"
    for name in ("plan.json", *([verified.DIGESTS] if listing else [])):
        (folder / name).unlink()
        IN_THE_WAY[what](folder / name)
        if name == "plan.json" or os.path.lexists(folder / name):
            with pytest.raises(Damaged, match=rf"{name}: .*({words})"):
                verified.values(folder, "plan.json")
        (folder / name).rmdir() if (folder / name).is_dir() else (folder / name).unlink(missing_ok=True)
        (folder / name).write_text(json.dumps({}))


def test_figures_of_another_processor_are_alike():
    same = [(0.8849072265624999, 0.8849072265625001), ({"a": [1, 0.1 + 0.2]}, {"a": [1, 0.3]}), (math.nan, math.nan)]
    other = [(0.8849, 0.8850), (1, 1.0), (True, 1), ({"a": 1}, {"b": 1}), ([1, 2], [1, 2, 3]), (math.inf, 1e300)]
    assert [verified.alike(*pair) for pair in (*same, *other)] == [True] * len(same) + [False] * len(other)
