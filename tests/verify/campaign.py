"""How many inputs each parser has taken since its code last changed, from one night to the next.

The counts are `docs/reliability/fuzzing.json`, which is part of the repository; the inputs that reached new code are
kept in `build/campaign`, where the next night goes on from. A count is written after every round, so a stop costs one
round at most.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path

from tests.verify.harness import ROOT

COUNTS = ROOT / "docs" / "reliability" / "fuzzing.json"
FOLDER = ROOT / "build" / "campaign"
#: What every parser is for a campaign to be whole.
GOAL = 100_000_000


@dataclasses.dataclass(frozen=True)
class Count:
    """Inputs of one parser: of the code as it is, and of that before."""

    sources: str
    inputs: int = 0
    earlier: int = 0
    #: Each round has a seed of its own.
    rounds: int = 0


def sources(parser: str) -> list[Path]:
    """The files that decide what a parser does with a text, and what is asked of it."""
    puzzle = parser.removesuffix("_text")
    patterns = (
        "cpp/core/text/lines.*",
        "cpp/core/text/pack.*",
        f"cpp/{puzzle}/level_text.*",
        "tests/fuzz/*.hpp",
        f"tests/fuzz/fuzz_{parser}.cpp",
    )
    return sorted(path for pattern in patterns for path in ROOT.glob(pattern))


def digest(parser: str) -> str:
    """Of the code of those files: where they lie, what they include and what their comments say is no part of it."""
    return code_digest([path.read_text(encoding="utf-8") for path in sources(parser)])


def code_digest(texts: list[str]) -> str:
    return hashlib.sha256("".join(sorted(code(text) for text in texts)).encode()).hexdigest()[:16]


def code(text: str) -> str:
    """A file without includes, blank lines and whole lines of comment."""
    lines = (line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("//", "#include")))
    return "\n".join(lines)


class Campaign:
    """The counts of a file, brought up to date after every round."""

    def __init__(self, counts: Path = COUNTS) -> None:
        self.path = counts
        saved = json.loads(counts.read_text(encoding="utf-8")) if counts.exists() else {}
        self.counts = {parser: Count(**count) for parser, count in saved.items()}

    def of(self, parser: str) -> Count:
        """The parser's count; inputs of other code are earlier ones."""
        now, count = digest(parser), self.counts.get(parser)
        if count is None:
            return Count(now)
        same = count.sources == now
        return count if same else Count(now, earlier=count.inputs + count.earlier, rounds=count.rounds)

    def add(self, parser: str, inputs: int) -> None:
        """A round has ended."""
        count = self.of(parser)
        self.counts[parser] = dataclasses.replace(count, inputs=count.inputs + inputs, rounds=count.rounds + 1)
        entries = {name: dataclasses.asdict(self.counts[name]) for name in sorted(self.counts)}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".tmp")
        fresh.write_text(json.dumps(entries, indent=2) + "\n", encoding="utf-8")
        fresh.replace(self.path)

    def remaining(self, parser: str) -> int:
        """What is missing to the goal."""
        return max(0, GOAL - self.of(parser).inputs)

    def __str__(self) -> str:
        said = (f"{parser} {self.of(parser).inputs:,}" for parser in sorted(self.counts))
        earlier = sum(self.of(parser).earlier for parser in self.counts)
        return f"inputs so far, of {GOAL:,} each ({', '.join(said)}); {earlier:,} more of earlier code"
