"""What a reply that is no answer means: ask again, ask otherwise, give this question up, or end the run."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import TYPE_CHECKING

from recommit.zero_shot.http import bodies

if TYPE_CHECKING:
    from recommit.zero_shot.http.wire import Broken, Reply

#: A server that wants more patience than this gets no more.
LONGEST_WAIT = 120.0
#: Nobody is served until something about the call, the key or the account changes.
_HOPELESS = {401, 402, 403, 404, 405, 410}
_PASSING = {408, 409, 425, 429}
#: "I am overloaded": all workers wait.
_CROWDED = {429, 503, 529}


class Verdict(Enum):
    """What to do next."""

    AGAIN = "again"
    LEARN = "learn"  #: the request may be at fault: again without the part that was refused
    GIVE_UP = "give up"
    END = "end"


@dataclass(frozen=True)
class Failure:
    """Why there is no answer. ``charged`` if the model may have worked for it; ``wait`` is what the server asks for."""

    verdict: Verdict
    kind: str
    message: str = ""
    wait: float = 0.0
    charged: bool = False
    crowded: bool = False
    parameter: str | None = None


def of_broken(broken: Broken) -> Failure:
    """No whole reply came."""
    return Failure(Verdict.AGAIN, broken.kind, charged=broken.sent)


def of_reply(reply: Reply) -> Failure:
    """A reply other than 200."""
    status = reply.status
    if 300 <= status < 400:
        return Failure(Verdict.END, f"http_{status}", "a redirect, which is never followed")
    complaint = bodies.complaint(reply.body)
    wait = max(retry_after(reply.headers.get("retry-after")), _retry_in(complaint.message))
    verdict = Verdict.GIVE_UP
    if status in (400, 422):
        verdict = Verdict.LEARN
    elif status in _HOPELESS or complaint.code == "insufficient_quota":
        verdict = Verdict.END
    elif status in _PASSING or status >= 500 or status < 300:
        verdict = Verdict.AGAIN
    return Failure(
        verdict, f"http_{status}", complaint.message, wait, status < 300, status in _CROWDED, complaint.parameter
    )


def retry_after(value: str | None, now: datetime | None = None) -> float:
    """Seconds to wait by a ``Retry-After`` header, in 0..LONGEST_WAIT; 0 for what is negative, or is no time."""
    if not value:
        return 0.0
    try:
        seconds = float(value) if re.fullmatch(r"\s*[-+]?\d+(\.\d*)?\s*", value, re.ASCII) else _until(value, now)
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return min(max(seconds, 0.0), LONGEST_WAIT) if not math.isnan(seconds) else 0.0


def _until(value: str, now: datetime | None) -> float:
    then = parsedate_to_datetime(value)
    then = then.replace(tzinfo=timezone.utc) if then.tzinfo is None else then
    return (then - (now or datetime.now(timezone.utc))).total_seconds()


def _retry_in(message: str) -> float:
    """Some servers say it in words: "Please retry in 7.78s"."""
    match = re.search(r"retry in (\d{1,9}(?:\.\d{1,9})?) ?s", message[:4096])
    return min(float(match[1]), LONGEST_WAIT) if match else 0.0
