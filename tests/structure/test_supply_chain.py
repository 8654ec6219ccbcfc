"""What workflows run is named by its content, may do little, and runs on machines that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from recommit.cli.verbs.installation import EXTRAS

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
#: An action by its commit, and which version that is.
PINNED = re.compile(r"uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")
#: Of GitHub, in November 2026; macos-13 has been gone since December 2025.
RUNNERS = {
    "ubuntu-latest",
    "ubuntu-24.04",
    "ubuntu-24.04-arm",
    "macos-latest",
    "macos-14",
    "macos-15",
    "macos-15-intel",
    "windows-latest",
}


def faults(text):
    """What is wrong with a workflow."""
    found = [line.strip() for line in text.splitlines() if "uses:" in line and not PINNED.search(line.rstrip())]
    whole = yaml.safe_load(text)
    if whole.get("permissions") != {"contents": "read"}:
        found.append("permissions: expected contents: read for all jobs")
    for name, job in whole["jobs"].items():
        systems = job.get("strategy", {}).get("matrix", {}).get("os", [job["runs-on"]])
        found += [f"{name}: {system}" for system in systems if system not in RUNNERS]
        more = {} if name == "publish" else {"contents": "read"}
        if name != "publish" and job.get("permissions", more) != more:
            found.append(f"{name}: {job['permissions']}")
        if name == "publish" and job.get("permissions") != {"id-token": "write"}:
            found.append(f"{name}: expected id-token: write alone")
        if any(
            str(step.get("uses")).startswith("actions/checkout@") and step.get("with") != {"persist-credentials": False}
            for step in job["steps"]
        ):
            found.append(f"{name}: checkout leaves the token behind")
    return found


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_runs_what_it_names(path):
    assert faults(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        (" # v4.2.2", ""),
        ("actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2", "actions/checkout@v4"),
        ("permissions: {contents: read}\n", ""),
        ("permissions: {contents: read}", "permissions: {contents: write}"),
        ("macos-15-intel", "macos-13"),
        ("persist-credentials: false", "persist-credentials: true"),
        ("{id-token: write}", "{id-token: write, contents: write}"),
    ],
)
def test_planted_faults_are_seen(good, bad):
    text = (ROOT / ".github" / "workflows" / "wheels.yml").read_text(encoding="utf-8")
    assert good in text
    assert faults(text.replace(good, bad))


def test_doctor_names_every_extra():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    section = text.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    assert set(EXTRAS) == set(re.findall(r"(?m)^([\w-]+) = \[", section))
