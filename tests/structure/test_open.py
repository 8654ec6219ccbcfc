"""Files are opened in one place, ``recommit.storage.opening``: nothing is written through a link, nobody waits for a
pipe.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import recommit

PACKAGE = Path(recommit.__file__).parent
HERE = "storage/opening.py"
#: Methods of paths and arrays that write, wherever they are.
WRITERS = {"write_text", "write_bytes", "touch", "symlink_to", "hardlink_to", "tofile", "mkstemp", "NamedTemporaryFile"}
#: What reads of a path that a person names, of what the package brings, or of the system.
READERS = {
    "estimate/options.py": "presets of the package",
    "storage/lock.py": "/proc",
    "policy/prompt.py": "prompts of the package",
    "reproduce/preset.py": "presets of the package, or named in the call",
    "report/axes.py": "assets of the package",
    "report/page.py": "assets of the package",
    "train/recipe.py": "recipes of the package, or named in the call",
    "train/engine/deepspeed_config.py": "settings of the package, or named in the call",
    "train/family/launch.py": "a list of machines that is named in the call",
}


def calls(source):
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]


def name_of(call):
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def words(call):
    """Every text among the arguments, and every name of a flag."""
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    nodes = [node for argument in arguments for node in ast.walk(argument)]
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return texts + [node.attr for node in nodes if isinstance(node, ast.Attribute)]


def writes(call):
    name = name_of(call)
    elsewhere = any(keyword.arg == "fileobj" for keyword in call.keywords) or "devnull" in words(call)
    if name == "open" and not elsewhere:
        modes = [text for text in words(call) if 0 < len(text) <= 3 and set(text) <= set("rwaxbt+U")]
        return any(set(mode) & set("wax+") for mode in modes) or bool(
            {"O_CREAT", "O_WRONLY", "O_RDWR", "O_APPEND", "O_TRUNC"} & set(words(call))
        )
    return name in WRITERS


def reads(call):
    return name_of(call) in ("read_text", "read_bytes") or (name_of(call) == "open" and "rb" in words(call))


def sites(judge, source):
    return [call.lineno for call in calls(source) if judge(call)]


def of_package(judge, but):
    every = {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
    found = {name: sites(judge, source) for name, source in every.items() if name not in but}
    return {name: lines for name, lines in found.items() if lines}


def test_files_are_written_in_one_place():
    assert of_package(writes, {HERE}) == {}


def test_files_are_read_in_one_place():
    assert of_package(reads, {HERE, *READERS}) == {}
    assert set(of_package(reads, {HERE})) == set(READERS)


@pytest.mark.parametrize(
    "planted",
    [
        'open(path, "w")',
        'path.open("ab")',
        'open(path, mode="x")',
        'io.open(path, "r+")',
        'path.write_text("x")',
        "path.write_bytes(b'')",
        "os.open(path, os.O_RDWR | os.O_CREAT)",
        "os.open(path, flags | os.O_WRONLY)",
        "array.tofile(path)",
        "tempfile.NamedTemporaryFile()",
        "path.touch()",
    ],
)
def test_the_scan_sees_planted_writers(planted):
    assert sites(writes, f"x = 1\n{planted}") == [2]


@pytest.mark.parametrize("harmless", ["open(path)", 'path.open("rb")', "os.open(path, os.O_RDONLY)", "envs.open()"])
def test_the_scan_sees_no_writers_where_none_are(harmless):
    assert sites(writes, harmless) == []


@pytest.mark.parametrize("planted", ["path.read_text('utf-8')", "path.read_bytes()", "path.open('rb')"])
def test_the_scan_sees_planted_readers(planted):
    assert sites(reads, planted) == [1]
