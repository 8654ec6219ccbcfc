"""F14: tests pass where there is no network, and nothing that they start looks up a name or asks for another machine.

Pytest in a network namespace of its own that has only the loopback (unshare), every connection and datagram of all its
processes noted (strace; apt-get install strace). Planted: a process that looks up a name, and one that connects to an
address.
"""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.verify.harness import ROOT, Finding, Impossible, expect

#: What tests say that drive a browser, which looks for its maker's servers whatever it shows.
DRIVES_A_BROWSER = "pytestmark = browser.NEEDED"
#: The loopback is brought up first: servers and ranks of the tests are there.
ALONE = ("unshare", "--user", "--map-root-user", "--net", "--mount", "sh", "-c")
INSIDE = 'ip link set lo up && mount --bind "$0" /etc/hosts && exec "$@"'
#: What /etc/hosts says there. Ranks that meet ask for names of the loopback and of this machine, gloo for this one and
#: torch for that of each address that it reaches; where no file knows them, the C library asks a name server.
HOSTS = f"127.0.0.1 localhost {socket.gethostname()}\n::1 localhost\n::ffff:127.0.0.1 localhost\n"
TRACED = (
    *("strace", "-f", "-qq", "--seccomp-bpf"),
    *("-e", "trace=connect,sendto,sendmsg,sendmmsg", "-e", "signal=none", "-o"),
)
OUTSIDE = {
    "a name": "import socket; socket.getaddrinfo('example.com', 80)",
    "an address": "import socket; socket.create_connection(('192.0.2.1', 80), timeout=1)",
}
_ADDRESS = re.compile(r'sa_family=AF_INET6?, .*?(?:inet_addr\("|inet_pton\(AF_INET6, ")([^"]+)"')
_PORT = re.compile(r"sin6?_port=htons\((\d+)\)")


def possible() -> None:
    """Or say why not."""
    for program in ("unshare", "strace", "ip"):
        if shutil.which(program) is None:
            raise Impossible(f"{program} is not installed")
    status, said, _ = run_alone(["true"])
    if status:
        raise Impossible(f"{' '.join(ALONE[:5])}: {said.strip()[:200]}")


def asked(log: str) -> list[str]:
    """Lines about other machines: any address that is not the loopback's, and the port of name servers anywhere."""
    found = []
    for line in log.splitlines():
        address, port = _ADDRESS.search(line), _PORT.search(line)
        if address and (not _loopback(address[1]) or (port and port[1] == "53")):
            found.append(line)
    return found


def _loopback(address: str) -> bool:
    return address.startswith(("127.", "::ffff:127.")) or address in ("::1", "0.0.0.0", "::")


def run_alone(words: list[str]) -> tuple[int, str, list[str]]:
    """Exit status, what was said, and what was asked of other machines."""
    with tempfile.TemporaryDirectory() as folder:
        hosts, log = Path(folder) / "hosts", Path(folder) / "strace.txt"
        hosts.write_text(HOSTS, encoding="utf-8")
        log.touch()
        command = [*ALONE, INSIDE, str(hosts), *TRACED, str(log), *words]
        done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
        return done.returncode, done.stdout + done.stderr, asked(log.read_text(encoding="utf-8", errors="replace"))


def suite(plant: bool) -> tuple[int, str]:
    """First what must be seen, then the tests."""
    possible()
    for what, program in OUTSIDE.items():
        _, _, seen = run_alone([sys.executable, "-c", program])
        expect(seen, f"a process that asked for {what} went unnoticed")
        if plant:
            raise Finding(f"{what}: {seen[0]}")
    files = (path for folder in ("unit", "structure") for path in (ROOT / "tests" / folder).rglob("test_*.py"))
    browsers = [path for path in files if DRIVES_A_BROWSER in path.read_text(encoding="utf-8")]
    expect(browsers, f"no test says {DRIVES_A_BROWSER}")
    paths = ["tests/unit", "tests/property", "tests/structure"]
    paths += [f"--ignore={path.relative_to(ROOT)}" for path in browsers]
    status, said, seen = run_alone([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *paths])
    expect(not seen, "asked of other machines:\n" + "\n".join(sorted(set(seen))[:20]))
    expect(status == 0, f"without a network the tests ended with {status}:\n{said[-3000:]}")
    passed = re.search(r"(\d+) passed", said)
    expect(passed, f"no test ran:\n{said[-2000:]}")
    return int(passed[1]) if passed else 0, "tests without a network; no other address, no name server"
