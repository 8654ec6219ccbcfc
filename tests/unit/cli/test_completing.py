"""The script that completes a command line, run in the shell."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from recommit.cli import command_line, completing

pytest.importorskip("tyro")

#: Line -> words that are offered; the last word is what has been typed of it.
LINES = {
    "recommit eva": ["evaluate"],
    "recommit train ": ["sft", "grpo", "family", "world-model", "stakes"],
    "recommit train sft --rec": ["--recipe"],
    "recommit levels check levels.txt --so": ["--solution"],
    "recommit solve --task s": ["sliding", "sokoban"],
    "recommit data build --ties ": ["first", "random"],
    "recommit zero-shot --nothing-like-this": [],
}


def offered(shell: str) -> list[list[str]]:
    """What a shell offers for each of ``LINES``, from one process."""
    calls = []
    for line in LINES:
        words = " ".join(f"'{word}'" for word in line.split(" "))
        calls.append(
            f'COMP_WORDS=({words}); COMP_CWORD={line.count(" ")}; COMPREPLY=(); _recommit; echo "${{COMPREPLY[*]}}"'
        )
    script = completing.script("bash", command_line.VERBS) + "\n".join(calls)
    ran = subprocess.run([shell, "-c", script], capture_output=True, text=True, check=True)
    assert not ran.stderr
    return [line.split() for line in ran.stdout.splitlines()]


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_verbs_flags_and_choices_are_offered() -> None:
    assert offered("bash") == list(LINES.values())


def test_the_script_of_zsh_takes_that_of_bash_in() -> None:
    bash, zsh = (completing.script(shell, command_line.VERBS).splitlines()[1:] for shell in ("bash", "zsh"))
    assert zsh == ["autoload -U +X bashcompinit && bashcompinit", *bash]


def test_every_verb_has_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["completion", "bash"]) == 0
    said = capsys.readouterr().out
    assert all(f'"{verb}") words="' in said for verb in command_line.VERBS)
    assert completing.flags(command_line.VERBS["solve"])["--ties"] == ("first", "random")
    assert "--file" not in completing.flags(command_line.VERBS["solve"])
