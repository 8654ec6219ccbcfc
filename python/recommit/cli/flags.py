"""The flags of a verb: tyro parses the fields of its options dataclass, and the further switches of its function.

A verb is a function of an options dataclass, defined in the package that does the work, and of switches for the output.
The dataclass validates itself (``__post_init__``); its errors are usage errors.
"""

from __future__ import annotations

import inspect
import json
import re
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from dataclasses import MISSING, dataclass, field, fields, make_dataclass
from functools import partial
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from recommit.storage.errors import is_missing, refuse_missing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: Extra and modules for playing or training a policy.
POLICY = ("train", ("torch", "pyarrow"))
_METAVARS = {int: "INT", float: "FLOAT", str: "STR", Path: "PATH"}
_NUMBERS = {int: "a whole number", float: "a number"}
#: Flags of verbs that load policies: metavar and help.
_GIVEN = {
    "backbone": "PLACE Folder or hub repository (OWNER/NAME, or OWNER/NAME@COMMIT) of a policy's backbone, where that "
    "is neither in the policy's folder nor one that recommit lists: no file may name it.",
    "backbone_class": "FILE:NAME Class that reads a backbone of a model type that recommit does not know. The file "
    "is run. A run that is resumed, and every use of its policy, needs it again.",
}


class WrongCall(ValueError):
    """Wrong usage; the message explains it."""


@dataclass(frozen=True)
class Verb:
    """A command: its function, an example for its help, and its positional options."""

    function: Callable[..., int | None]
    example: str
    positional: tuple[str, ...] = ()
    #: Extras to install (as for pip), and the modules required beyond those of ``cli``.
    extra: str = "cli"
    needs: tuple[str, ...] = ()
    #: True if it loads policies, and so accepts the backbone flags.
    reads_policies: bool = False

    @property
    def about(self) -> str:
        """The function's description without arguments; empty without docstrings (``-OO``)."""
        return inspect.cleandoc(self.function.__doc__ or "").split("\n\nArgs:")[0]

    @property
    def given(self) -> list[str]:
        """The backbone flags that the verb accepts and its dataclass does not define."""
        return [name for name in _GIVEN if self.reads_policies and not hasattr(self.options, name)]

    @property
    def options(self) -> type[Any] | None:
        return get_type_hints(self.function).get("options")

    def run(self, words: Sequence[str], prog: str) -> int | None:
        """Parse the words and call the function. All missing packages are reported at once, before any work."""
        if self.options is None and (not words or is_missing("tyro")):
            return self.bound(**self._plainly(words, prog))()
        if is_missing("tyro"):
            refuse_missing(self.extra, "tyro", *self.needs)
        import tyro

        shown = self.shown()
        description = f"{self.about}\n\nExample: {prog} {self.example}".rstrip()
        config = (tyro.conf.FlagCreatePairsOff,)
        values = vars(
            tyro.cli(shown, prog=prog, description=description, args=gathered(dotted(words), shown), config=config)
        )
        given = [values.pop(name) for name in self.given]
        ready = self.bound(**values)
        if not values.get("show"):  # needs no packages: only prints
            refuse_missing(self.extra, *self.needs)
        if not any(given):
            return ready()
        from recommit.horizon.sweep.programs import load
        from recommit.policy.backbones.backbone import given_backbone

        *place, named = given
        with given_backbone(place[0] if place else None, load("backbone-class", named) if named else None):
            return ready()

    def _plainly(self, words: Sequence[str], prog: str) -> dict[str, Any]:
        """Parse the switches of a verb without dataclass by argparse: tyro may be missing, and is slow to import."""
        parser = ArgumentParser(prog, description=self.about, formatter_class=RawDescriptionHelpFormatter)
        said = dict(re.findall(r"(?m)^ {4}(\w+): (.+(?:\n {8}.+)*)", inspect.getdoc(self.function) or ""))
        hints = get_type_hints(self.function)
        for name, each in inspect.signature(self.function).parameters.items():
            about, kind = " ".join(said.get(name, "").split()), (*get_args(hints[name]), hints[name])[0]
            how: dict[str, Any] = {"action": "store_true"} if kind is bool else {"type": kind, "default": each.default}
            if name in self.positional and each.default is not each.empty:
                how["nargs"] = "?"
            parser.add_argument(name if name in self.positional else f"--{name}", help=about, **how)
        return vars(parser.parse_args(words))

    def bound(self, **values: Any) -> Callable[[], int | None]:
        """Bind the function to its flags, validated by its dataclass."""
        kind = self.options
        if kind is None:
            return partial(self.function, **values)
        try:
            options = kind(**{each.name: values.pop(each.name) for each in fields(kind) if each.name in values})
        except ValueError as error:
            raise WrongCall(str(error)) from None
        return partial(self.function, options, **values)

    def shown(self) -> type[Any]:
        """All flags in one dataclass without validation. tyro reads the help from the docstrings of its bases."""
        import tyro

        options = self.options
        hints = get_type_hints(self.function) | (get_type_hints(options) if options else {})
        defaults = {each.name: each.default for each in (fields(options) if options else ())}
        switches = list(inspect.signature(self.function).parameters.values())[bool(options) :]
        defaults |= {each.name: MISSING if each.default is each.empty else each.default for each in switches}
        flags = [
            (name, _shown(hints[name], default, name in self.positional), field(default=default))
            for name, default in defaults.items()
        ]
        for name in self.given:
            metavar, _, said = _GIVEN[name].partition(" ")
            shown = Annotated[str, tyro.conf.arg(metavar=metavar, help=said, help_behavior_hint="")]
            flags.append((name, shown, field(default="")))
        own = {"__doc__": self.function.__doc__, "__post_init__": lambda _: None}
        bases = (options,) if options else ()
        return make_dataclass("Flags", flags, bases=bases, namespace=own, frozen=True, kw_only=True)


def _shown(hint: Any, default: Any, positional: bool) -> Any:
    """A type annotated for the help, without None, which the flag's help explains."""
    import tyro

    kinds = [each for each in get_args(hint) if each is not NoneType]
    unset = get_origin(hint) in (Union, UnionType) and len(kinds) == 1
    kind = kinds[0] if unset else hint
    names = get_args(kind) if get_origin(kind) is Literal else ()
    metavar = f"{{{','.join(map(str, names))}}}" if names else _METAVARS.get(kind)
    if metavar and positional and default is None:
        metavar = f"[{metavar}]"
    silent = "" if default is None or default in ((), "") else None
    marks = [tyro.conf.arg(metavar=metavar if unset else None, help_behavior_hint=silent)]
    if kind in _NUMBERS:  # tyro would show None | INT in errors
        read, write = partial(_number, kind), lambda each: [str(each)]
        marks.append(tyro.constructors.PrimitiveConstructorSpec(1, _METAVARS[kind], read, lambda _: True, write))
    marks += [tyro.conf.Positional] if positional else []
    return Annotated[(hint, *marks)]


def _number(kind: type[int | float], words: list[str]) -> float:
    try:
        return kind(words[0])
    except ValueError:
        raise ValueError(f"expected {_NUMBERS[kind]}, got {words[0]}") from None


def dotted(words: Sequence[str]) -> list[str]:
    """Collect all ``--env.NAME=VALUE`` (LeRobot's style) in one ``--env-kwargs``."""
    parts = {word: word.removeprefix("--env.").partition("=") for word in words if re.match(r"--env\.\w.*=", word)}
    values = {name: value for name, _, value in parts.values()}
    if values and any(word.partition("=")[0].replace("_", "-") == "--env-kwargs" for word in words):
        raise WrongCall("env-kwargs: expected either --env-kwargs or --env.NAME=VALUE, got both")
    return [word for word in words if word not in parts] + (["--env-kwargs", json.dumps(values)] if values else [])


def gathered(words: Sequence[str], shown: type[Any]) -> list[str]:
    """Merge repeated multi-value flags, of which tyro would keep only the last."""
    hints = get_type_hints(shown)
    several = {f"--{each.name.replace('_', '-')}" for each in fields(shown) if get_origin(hints[each.name]) is tuple}
    groups: list[list[str]] = [[]]
    for word in words:
        name, equals, value = word.partition("=")
        if name not in several:
            groups += [[word]] if word.startswith("--") else []
            groups[-1] += [] if word.startswith("--") else [word]
            continue
        earlier = next((group for group in groups if group[:1] == [name]), [name])
        groups = [group for group in groups if group is not earlier] + [[*earlier, *([value] if equals else [])]]
    return [word for group in groups for word in group]
