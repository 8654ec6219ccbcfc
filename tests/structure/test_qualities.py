"""The graphs of three qualities: the commands on the page, as they stand there, give the hashes beside them."""

from __future__ import annotations

import re

import pytest
from tests.structure.commands import ROOT, call, commands

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("pyarrow")

PAGE = ROOT / "docs" / "guides" / "graphs.md"
ROW = re.compile(r"^\| `(graph-\S+)` \| `([0-9a-f]{16})` \| ([\d,]+) ", re.MULTILINE)
WHERE = re.compile(r"With torch (\S+) on (\S+) \(")


def hashes(text):
    return {name: (content, nodes) for name, content, nodes in ROW.findall(text)}


def test_every_graph_of_the_page_has_a_hash():
    built = [each for each in commands(PAGE) if "graph build" in each.text and "graph-" in each.text]
    names = {each.words[each.words.index("--out") + 1] for each in built}
    assert len(hashes(PAGE.read_text())) == 6
    assert hashes(PAGE.read_text()).keys() <= names


@pytest.mark.nightly
@pytest.mark.parametrize("first", ["boards", "rooms"])
def test_the_commands_give_the_hashes(first, tmp_path, monkeypatch):
    version, processor = WHERE.search(PAGE.read_text()).groups()
    if (torch.__version__, torch.backends.cpu.get_cpu_capability()) != (version, processor):
        pytest.skip(f"the hashes of the page are of torch {version} on {processor}")
    monkeypatch.chdir(tmp_path)
    block = next(each.block for each in commands(PAGE) if each.words[-2:] == ["--out", "boards"])
    sokoban, printed = False, {}
    for command in [each for each in commands(PAGE) if each.block == block]:
        sokoban = sokoban or "sokoban" in command.words
        if sokoban == (first == "rooms"):
            status, text = call(command.words[1:])
            assert status == 0, text
            for nodes, name, content in re.findall(r"([\d,]+) nodes in (\S+), content (\w{16})", text):
                printed[name] = content, nodes
    expected = {
        name: each for name, each in hashes(PAGE.read_text()).items() if ("rooms" in name) == (first == "rooms")
    }
    assert len(expected) == 3
    assert printed == expected
