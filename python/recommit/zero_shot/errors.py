"""What can end a request, an episode or a run. No message holds a key: what a server said is cleaned before it comes
here."""

from __future__ import annotations


class ZeroShotError(RuntimeError):
    """A run cannot go on, or one of its episodes cannot. Whatever had been answered is in the folder."""


class GaveUp(ZeroShotError):
    """One decision got no answer after all retries: its episode is an infra error, not a failure of the model."""


class Unusable(ZeroShotError):
    """No request can succeed: a wrong key, an unknown model, a redirect, or a server that answers nobody."""


class CapReached(ZeroShotError):
    """The next request could exceed a cap of the run. Raise it and run the same command again: it goes on."""


class StopRequested(ZeroShotError):
    """The run was asked to end; no further request is made."""
