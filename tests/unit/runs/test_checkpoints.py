"""C4: a checkpoint that was cut, changed, mixed up or half removed is never loaded."""

from __future__ import annotations

import shutil

import pytest

from recommit.runs.checkpoints import Checkpoints, seal, verify
from recommit.storage import files, verified
from recommit.storage.errors import Damaged

BLOCK = 4096


def write(folder, tag):
    (folder / "policy").mkdir()
    (folder / "policy" / "heads.bin").write_bytes(tag * (3 * BLOCK + 7))
    (folder / "engine.bin").write_bytes(tag * 5000)
    (folder / "state.json").write_bytes(b"{}" + tag)


@pytest.fixture
def kept(tmp_path):
    made = Checkpoints(tmp_path / "checkpoints")
    for step, tag in ((10, b"a"), (20, b"b")):
        made.save(step, lambda folder, tag=tag: write(folder, tag))
    return made


def newest(checkpoints):
    said = []
    return checkpoints.newest(said.append), said


def test_the_newest_is_found(kept):
    found, said = newest(kept)
    assert found.step == 20
    assert said == []


def damages_of(name, good, other):
    """Every cut at a block, a flipped bit in three places, the file of another step, and no file."""
    content = (good / name).read_bytes()
    for at in range(0, len(content), BLOCK):
        yield content[:at]
    for at in {0, len(content) // 2, len(content) - 2}:
        changed = bytearray(content)
        changed[at] ^= 1
        yield bytes(changed)
    yield (other / name).read_bytes()
    yield None


def test_every_kind_of_damage_is_noticed_and_the_one_before_is_taken(kept):
    good, other = kept.folder / "step-00000020", kept.folder / "step-00000010"
    spare = shutil.copytree(good, kept.folder.parent / "spare")
    count = 0
    for name in [p.relative_to(spare).as_posix() for p in sorted(spare.rglob("*")) if p.is_file()]:
        for damaged in list(damages_of(name, good, other)):
            if damaged is None:
                (good / name).unlink()
            else:
                (good / name).write_bytes(damaged)
            with pytest.raises(Damaged, match="step-00000020"):
                verify(good)
            found, said = newest(kept)
            assert found.step == 10
            assert len(said) == 1
            count += 1
            shutil.copy(spare / name, good / name)
    assert count > 20
    assert newest(kept)[0].step == 20


@pytest.mark.parametrize("text", ["[]", "{", '{"a": 1}', "{}", "[" * 100_000])
def test_digests_of_something_else_are_a_torn_checkpoint(kept, text):
    (kept.folder / "step-00000030").mkdir()
    (kept.folder / "step-00000030" / verified.DIGESTS).write_bytes(verified.checkable(text))
    found, said = newest(kept)
    assert found.step == 20
    assert "step-00000030" in said[0]


def test_a_link_in_a_checkpoint_is_refused(kept, tmp_path):
    (tmp_path / "mine").mkdir()
    (kept.folder / "step-00000020" / "more").symlink_to(tmp_path / "mine")
    found, said = newest(kept)
    assert (found.step, len(said)) == (10, 1)
    assert "step-00000020: expected files, got a link: more" in said[0]


def test_digits_of_another_script_are_no_step(kept):
    (kept.folder / "step-\u00b2").mkdir()
    kept.prune(5, set())
    (kept.folder / "step-\u00b2" / "a").write_text("a")
    seal(kept.folder / "step-\u00b2")
    assert newest(kept)[0].step == 20


def test_what_a_crash_leaves_does_not_count(kept):
    def fail(folder):
        write(folder, b"c")
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        kept.save(30, fail)
    assert newest(kept)[0].step == 20
    assert list(kept.folder.glob(".*.tmp"))
    files.sweep(files.Files(), kept.folder)
    assert not list(kept.folder.glob(".*.tmp"))


def test_a_damaged_one_does_not_cost_those_that_come_after_it(kept):
    (kept.folder / "step-00000020" / "state.json").write_bytes(b"{}")
    found, said = newest(kept)
    assert (found.step, len(said)) == (10, 1)
    kept.remove_after(found.step)
    kept.save(15, lambda folder: write(folder, b"x"))
    kept.prune(1, set())
    assert newest(kept)[0].step == 15


def test_old_ones_go_and_the_best_stays(kept):
    for step in (30, 40):
        kept.save(step, lambda folder: write(folder, b"x"))
    kept.prune(2, {10})
    assert [p.name[-2:] for p in sorted(kept.folder.glob("step-*"))] == ["10", "30", "40"]
    assert all((p / verified.DIGESTS).exists() for p in kept.folder.glob("step-*"))
