"""What there is to call: the list of verbs, the verb that somebody probably meant, and completion in a shell."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any, Union

from recommit.cli.flags import WrongCall

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from recommit.cli.flags import Verb

#: How alike a word must be to be suggested, of 1.
ALIKE = 0.6
COMPLETION = "--tyro-print-completion"
OPTIONS = {
    "--version, -V": "Print the version.",
    COMPLETION: "Print what bash or zsh needs to complete all of this.",
}


def group(words: list[str], verbs: Collection[str]) -> list[str]:
    """The verbs of two words that begin with the first of ``words``."""
    return [verb for verb in verbs if words and verb.startswith(f"{words[0]} ")]


def text(first: str, verbs: Mapping[str, Verb]) -> str:
    """One line for each verb; those that begin with the word ``first`` if there is one."""
    listed = group([first], verbs) if first else list(verbs)
    head = f"{first} VERB" if first else "VERB"
    lines = [f"usage: recommit {head} [options]; recommit {head} --help says more", ""]
    lines += [f"  {verb:<18}{verbs[verb].about.split(chr(10))[0]}" for verb in listed]
    lines += [] if first else [f"  {option:<18} {about}" for option, about in OPTIONS.items()]
    return "\n".join(lines)


def suggestion(words: list[str], verbs: Collection[str]) -> str:
    """A question that names the nearest verb, or nothing where none is near."""
    typed = [word for word in words if not word.startswith("-")][:2]
    if seconds := [verb.split()[1] for verb in group(words, verbs)]:
        near = get_close_matches(typed[-1], seconds, n=1, cutoff=ALIKE)
        return f"; did you mean recommit {words[0]} {near[0]}?" if near else ""
    for attempt in [" ".join(typed), *typed[:1]] if typed else words[:1]:
        if near := get_close_matches(attempt, [*verbs, "--version", "--help"], n=1, cutoff=ALIKE):
            return f"; did you mean recommit {near[0]}?"
    return ""


def complete(words: Sequence[str], verbs: Mapping[str, Verb]) -> None:
    """Let tyro print what a shell needs, for all verbs together; ends the process."""
    import tyro

    if list(words[1:]) not in (["bash"], ["zsh"]):
        raise WrongCall(f"{COMPLETION}: expected bash or zsh behind it, got {' '.join(words[1:]) or 'nothing'}")

    def parser(name: str, constructor: Any, about: str = "") -> Any:
        return Annotated[Any, tyro.conf.subcommand(name=name, constructor=constructor, description=about)]

    groups: dict[str, list[Any]] = {}
    for name, verb in verbs.items():
        first, _, second = name.partition(" ")
        groups.setdefault(first, []).append(parser(second or first, verb.shown(), verb.about))
    kinds = [
        each[0] if first in verbs else parser(first, Union[tuple(each)])  # noqa: UP007  (made of a list)
        for first, each in groups.items()
    ]
    whole: Any = Union[tuple(kinds)]  # noqa: UP007
    tyro.cli(whole, prog="recommit", args=words, config=(tyro.conf.FlagCreatePairsOff,))
