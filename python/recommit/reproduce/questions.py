"""Models behind an endpoint that a preset wants asked, and whether the person who runs it has agreed.

A preset may come from anybody. So it names no key, and the command line says where it may send pictures, a key and
money.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recommit.reproduce.options import ReproduceOptions
    from recommit.reproduce.preset import PresetEntry
    from recommit.zero_shot import ZeroShotOptions


def questions(entries: Sequence[PresetEntry], options: ReproduceOptions) -> dict[str, list[ZeroShotOptions]]:
    """What every puzzle's models are asked; a ``ValueError`` names the hosts and keys that nobody has agreed to."""
    wishes = [(entry.name, folder, flags) for entry in entries for folder, flags in entry.zero_shot().items()]
    asked: dict[str, list[ZeroShotOptions]] = {entry.name: [] for entry in entries}
    if options.key_from is not None and len(options.to) != 1:
        got = " ".join(options.to) or "none"
        raise ValueError(f"key_from: expected one host in --to, which gets the key of {options.key_from}, got {got}")
    if not wishes:
        return asked  # without urllib3, which an extra installs

    from recommit.zero_shot import ZeroShotOptions
    from recommit.zero_shot.client import Server
    from recommit.zero_shot.endpoints import find
    from recommit.zero_shot.transport import Address

    places = dict[str, str]()
    for name, folder, flags in wishes:
        values: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in flags.items()}
        endpoint = find(values["model"], values.get("endpoint"))
        base = values.get("base_url") or endpoint.base
        if not base:
            raise ValueError(f"base_url: expected an address for the endpoint {endpoint.name}, got none")
        address, key = Address.parse(base), options.key_from
        if key is None and (not endpoint.base or address != Address.parse(endpoint.base)):
            key = ""  # of no variable
        wish = ZeroShotOptions(out=folder, **values, key_variable=key)
        places[address.place] = f"{places.get(address.place, '')}\n  {name}: {_costs(wish)} at {address}"
        if address.place in options.to:
            Server.of(wish)  # a key that is missing is missed now, not after hours of training
        asked[name].append(wish)
    if missing := [place for place in places if place not in options.to]:
        raise ValueError(
            f"to: expected --to {' '.join(places)}, since the preset asks models there, got "
            f"{' '.join(options.to) or 'none'}:{''.join(places[place] for place in missing)}"
        )
    return asked


def _costs(wish: ZeroShotOptions) -> str:
    caps = {"requests": wish.max_requests, "tokens": wish.max_tokens, "of money": wish.max_money}
    most = " and ".join(f"at most {most:,} {what}" for what, most in caps.items() if most is not None)
    return f"{wish.model}, {wish.instances:,} instances, {most or 'no cap on requests, tokens or money'},"
