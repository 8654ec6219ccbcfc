"""Ports that are given once, whoever asks in how many processes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from recommit.runs import ports

CODE = (
    "import warnings; warnings.simplefilter('error'); from recommit.runs.ports import free_port; "
    "print(*(free_port() for _ in range(9)), flush=True); input()"
)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reserved on Linux alone")
def test_no_two_processes_are_given_the_same():
    ends = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    others = [subprocess.Popen([sys.executable, "-c", CODE], **ends) for _ in range(3)]
    given = [int(port) for other in others for port in other.stdout.readline().split()]
    own = [ports.free_port() for _ in range(9)]
    for other in others:
        assert other.communicate("\n")[1] == ""
    assert len({*given, *own}) == 36


def test_a_port_at_which_somebody_listens_is_not_given():
    first = ports.free_port()
    with socket.socket() as listener:
        listener.bind(("", first))
        listener.listen()
        os.close(ports._reserved.pop())
        assert ports.free_port() != first


def test_a_process_keeps_the_last_ones():
    for _ in range(ports._MOST + 5):
        ports.free_port()
    assert len(ports._reserved) <= ports._MOST
