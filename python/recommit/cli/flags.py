"""How a verb's signature becomes flags: choices in a fixed order without None, and defaults as they really are.

A flag whose default is None takes its value from elsewhere, mostly a recipe. ``usual`` notes from where, for the help.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import types
from dataclasses import MISSING, fields
from itertools import pairwise
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
        vars(command)["usual"] = {**getattr(command, "usual", {}), **words}
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


def overriding(options: type, *names: str) -> Callable[[Command], Command]:
    """Give a command that takes ``**changes`` a flag for each of these fields of a dataclass, whose docstrings are the
    help. A flag that is not set is not among the changes."""
    hints, defaults = get_type_hints(options), {each.name: each.default for each in fields(options)}

    def extended(command: Command) -> Command:
        own = [each for each in inspect.signature(command).parameters.values() if each.name != "changes"]
        more = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=hints[name] | None)
            for name in names
        ]

        @functools.wraps(command)
        def run(*arguments: Any, **values: Any) -> Any:
            kept = {name: value for name, value in values.items() if name not in names or value is not None}
            return command(*arguments, **kept)

        del run.__wrapped__
        own_hints = get_type_hints(command, include_extras=True)
        run.__annotations__ = {**own_hints, **{each.name: each.annotation for each in more}}
        run.__annotations__.pop("changes")
        vars(run)["__signature__"] = inspect.Signature([*own, *more])
        helps = _docstrings(options)
        lines = [f"    {name}: {helps.get(name, name)}" for name in names]
        run.__doc__ = "\n".join([inspect.cleandoc(command.__doc__ or ""), *lines])
        words = {name: "that of the recipe" if defaults[name] is MISSING else str(defaults[name]) for name in names}
        return usual(**words)(run)  # type: ignore[return-value]

    return extended


def _docstrings(options: type) -> dict[str, str]:
    """The docstring below each field of a dataclass."""
    try:
        (node,) = ast.parse(inspect.getsource(options)).body
    except OSError:  # an installation without sources
        return {}
    return {
        field.target.id: str(below.value.value).strip()
        for field, below in pairwise(getattr(node, "body", []))
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
    }


def _parameters(called: Callable[..., Any]) -> list[inspect.Parameter]:
    return list(inspect.signature(called).parameters.values())


def taking(kind: type, **words: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Make a command of a function that takes an instance of the dataclass ``kind``: the fields are flags, and so are
    the function's other parameters; the first field is positional where it has no default. Both docstrings list theirs
    under ``Args``. What the dataclass refuses is a wrong call."""

    def made(run: Callable[..., int]) -> Callable[..., int]:
        own, fields = list(inspect.signature(run).parameters.values())[1:], dataclasses.fields(kind)
        hints = {**get_type_hints(kind), **get_type_hints(run)}
        default = {each.name: each.default for each in fields if each.default is not dataclasses.MISSING}
        parameters = [
            inspect.Parameter(
                each.name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD
                if number or each.name in default
                else inspect.Parameter.POSITIONAL_ONLY,
                default=default.get(each.name, inspect.Parameter.empty),
                annotation=hints[each.name],
            )
            for number, each in enumerate(fields)
        ]
        signature = inspect.Signature([*parameters, *(each.replace(annotation=hints[each.name]) for each in own)])

        def command(*arguments: Any, **flags: Any) -> int:
            bound = signature.bind(*arguments, **flags)
            bound.apply_defaults()
            values = dict(bound.arguments)
            try:
                options = kind(**{each.name: values.pop(each.name) for each in fields})
            except ValueError as error:
                raise WrongCall(str(error)) from None
            return run(options, **values)

        more = inspect.cleandoc(run.__doc__ or "").partition("Args:\n")[2]
        command.__name__, command.__doc__ = run.__name__, f"{inspect.cleandoc(kind.__doc__ or '')}\n{more}"
        command.__annotations__ = {each.name: each.annotation for each in signature.parameters.values()}
        vars(command).update(__signature__=signature, usual=words)
        return command

    return made


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
