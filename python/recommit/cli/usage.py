"""What there is to call: the list of verbs, and the verb that somebody probably meant."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from recommit.cli.flags import Verb

#: How alike a word must be to be suggested, of 1.
ALIKE = 0.6
OPTIONS = ("--version", "--help")


def group(words: list[str], verbs: Collection[str]) -> list[str]:
    """The verbs of two words that begin with the first of ``words``."""
    return [verb for verb in verbs if words and verb.startswith(f"{words[0]} ")]


def text(first: str, verbs: Mapping[str, Verb]) -> str:
    """One line for each verb; those that begin with the word ``first`` if there is one."""
    listed = group([first], verbs) if first else list(verbs)
    head = f"{first} VERB" if first else "VERB"
    lines = [f"usage: recommit {head} [options]; recommit {head} --help says more", ""]
    lines += [f"  {verb:<18}{verbs[verb].about.split(chr(10))[0]}" for verb in listed]
    lines += [] if first else [f"  {'--version, -V':<18}Print the version."]
    return "\n".join(lines)


def suggestion(words: list[str], verbs: Collection[str]) -> str:
    """A question that names the nearest verb, or nothing where none is near."""
    typed = [word for word in words if not word.startswith("-")][:2]
    if seconds := [verb.split()[1] for verb in group(words, verbs)]:
        near = get_close_matches(typed[-1], seconds, n=1, cutoff=ALIKE)
        return f"; did you mean recommit {words[0]} {near[0]}?" if near else ""
    for attempt in [" ".join(typed), *typed[:1]] if typed else words[:1]:
        if near := get_close_matches(attempt, [*verbs, *OPTIONS], n=1, cutoff=ALIKE):
            return f"; did you mean recommit {near[0]}?"
    return ""
