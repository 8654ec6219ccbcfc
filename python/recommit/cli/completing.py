"""Completion of the whole command: a script for a shell, written from the verbs' signatures."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, get_type_hints

from recommit.cli.flags import choices

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: Words of the first two places, the flags of a verb, and what may stand behind a flag; otherwise files.
_BASH = r"""# recommit: source <(recommit completion {shell})
{first}_recommit() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" verb="${{COMP_WORDS[1]}}" words=""
  case "$verb" in
    {groups}) [ "$COMP_CWORD" -gt 2 ] && verb="$verb ${{COMP_WORDS[2]}}" ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="{starts}"
  else
    case "$verb" in
{verbs}
    esac
    case "$verb $before" in
{values}
    esac
  fi
  COMPREPLY=( $(compgen -W "$words" -- "$word") )
}}
complete -o default -F _recommit recommit
"""
_FIRST = {"bash": "", "zsh": "autoload -U +X bashcompinit && bashcompinit\n"}


def script(shell: str, verbs: Mapping[str, Callable[..., Any]]) -> str:
    """What the shell reads; a zsh runs the code of bash."""
    groups = {verb.split()[0]: None for verb in verbs if " " in verb}
    seconds = {first: " ".join(v.split()[1] for v in verbs if v.startswith(f"{first} ")) for first in groups}
    starts = [*dict.fromkeys(verb.split()[0] for verb in verbs), "help", "--help", "--version"]
    lines = [f'      {_quoted(first)}) words="{words}" ;;' for first, words in seconds.items()]
    lines += [f'      {_quoted(verb)}) words="{" ".join(flags(command))}" ;;' for verb, command in verbs.items()]
    values = [
        f'      {_quoted(f"{verb} {flag}")}) words="{" ".join(names)}" ;;'
        for verb, command in verbs.items()
        for flag, names in flags(command).items()
        if names
    ]
    return _BASH.format(
        shell=shell,
        first=_FIRST[shell],
        groups="|".join(groups),
        starts=" ".join(starts),
        verbs="\n".join(lines),
        values="\n".join(values),
    )


def flags(command: Callable[..., Any]) -> dict[str, tuple[str, ...]]:
    """Flag -> the words that may stand behind it; none where any word may."""
    hints = get_type_hints(command)
    named = [each for each in inspect.signature(command).parameters.values() if each.kind is not each.POSITIONAL_ONLY]
    return {f"--{each.name.replace('_', '-')}": choices(hints[each.name]) for each in named} | {"--help": ()}


def _quoted(text: str) -> str:
    return f'"{text}"'
