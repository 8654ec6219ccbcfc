"""``recommit graph``: graphs of plans and rules on them, and heads that are trained there."""

from __future__ import annotations

from recommit.cli.verbs.graphs import heads, plans

COMMANDS = {**plans.COMMANDS, **heads.COMMANDS}
