"""How a verb's signature becomes flags: choices in a fixed order without None, and defaults as they really are.

A flag whose default is None takes its value from elsewhere, mostly a recipe. ``usual`` notes from where, for the help.
"""

from __future__ import annotations

import functools
import inspect
import types
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from recommit.cli.requests import WrongCall

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = TypeVar("Command", bound=Callable[..., Any])

#: What the help calls values of these types.
_WORDS = {int: "INT", float: "FLOAT", str: "STR", Path: "PATH"}


def usual(**words: str) -> Callable[[Command], Command]:
    """Note what is taken where a flag of a command is not set, for its help."""

    def noted(command: Command) -> Command:
        vars(command)["usual"] = words
        return command

    return noted


def takes(options: type[Any], *positional: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a command of a function of a dataclass of options: its flags are the fields, and the function's further
    parameters; ``positional`` names those that are words. The help is that of the dataclass and of those that it
    extends; what they refuse is a wrong call."""

    def taking(function: Callable[..., Any]) -> Callable[..., Any]:
        def command(*arguments: Any, **values: Any) -> Any:
            further = {each.name: values.pop(each.name) for each in own if each.name in values}
            try:
                given = options(*arguments, **values)
            except ValueError as error:
                raise WrongCall(str(error)) from None
            return function(given, **further)

        hints = get_type_hints(options) | get_type_hints(function)
        fields, own = _parameters(options), _parameters(function)[1:]
        kinds = dict.fromkeys(positional, inspect.Parameter.POSITIONAL_ONLY)
        usually = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = sorted(
            (each.replace(annotation=hints[each.name], kind=kinds.get(each.name, usually)) for each in (*fields, *own)),
            key=lambda each: each.default is not each.empty,
        )
        vars(command)["__signature__"] = inspect.Signature(parameters)
        command.__name__, command.__module__ = function.__name__, function.__module__
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        described = [inspect.cleandoc(each.__doc__ or "") for each in (*options.__mro__, function)]
        helps = [text.partition("\n\nArgs:\n")[2] for text in described]
        command.__doc__ = "\n".join([about(options), "", "Args:", *filter(None, helps)])
        return command

    return taking


def _parameters(called: Callable[..., Any]) -> list[inspect.Parameter]:
    return list(inspect.signature(called).parameters.values())


def about(command: Callable[..., object]) -> str:
    """What a command does, without its arguments; nothing where Python leaves docstrings out (``-OO``)."""
    return inspect.cleandoc(command.__doc__ or "").split("\n\nArgs:")[0]


def presented(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with types that the parser shows well."""
    hints, words = get_type_hints(command, include_extras=True), getattr(command, "usual", {})
    parameters = [
        each.replace(annotation=_type(hints[name], each.default, words.get(name)))
        for name, each in inspect.signature(command).parameters.items()
    ]

    @functools.wraps(command)
    def run(*arguments: Any, **options: Any) -> Any:
        return command(*arguments, **options)

    del run.__wrapped__
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    vars(run)["__signature__"] = inspect.Signature(parameters)
    return run


def choices(hint: Any) -> tuple[str, ...]:
    """The words that a type allows; none if it allows any."""
    kind = _without_none(hint)
    return tuple(map(str, get_args(kind))) if get_origin(kind) is Literal else ()


def _without_none(hint: Any) -> Any:
    if get_origin(hint) in (Union, types.UnionType):
        (hint,) = (each for each in get_args(hint) if each is not type(None))
    return hint


def _type(hint: Any, default: Any, words: str | None) -> Any:
    """A type for the parser: of a flag that may be missing, and of one whose default the help says in words."""
    import tyro

    kind = _without_none(hint)
    speaks = words is None and default is not None and default not in ((), "")
    if speaks:
        return hint
    shown = tyro.conf.arg(help_behavior_hint="" if words is None else f"(default: {words})")
    return Annotated[hint, shown] if kind is hint else Annotated[hint, _reader(kind, default), shown]


def _reader(kind: Any, default: Any) -> Any:
    """How the words of a flag become a value of ``kind``, or stay ``default``."""
    from tyro.constructors import PrimitiveConstructorSpec

    names = choices(kind)
    parts = [each for each in get_args(kind) if each is not ...] if get_origin(kind) is tuple else []
    read = functools.partial(_value, parts[0] if parts else kind)
    word = f"{{{','.join(names)}}}" if names else _WORDS.get(parts[0] if parts else kind, "{True,False}")
    return PrimitiveConstructorSpec(
        nargs="*" if parts else 1,
        metavar=f"[{word} [{word} ...]]" if parts else word,
        instance_from_str=lambda typed: tuple(map(read, typed)) if parts else read(typed[0]),
        is_instance=lambda _value: True,
        str_from_instance=lambda value: [] if value is default else [str(value)],
        choices=names or (("True", "False") if kind is bool else None),
    )


def _value(kind: Any, word: str) -> Any:
    if get_origin(kind) is Literal:
        return next(each for each in get_args(kind) if str(each) == word)
    return word == "True" if kind is bool else kind(word)
