"""Unit tests stay within their process and this machine."""

import multiprocessing
import os
import socket
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest

from tests.support.isolation import NotIsolatedError


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_no_process_is_started_by_multiprocessing(method: str) -> None:
    context: Any = multiprocessing.get_context(method)
    with pytest.raises(NotIsolatedError, match="tests/system"):
        context.Process(target=print).start()


def test_no_process_is_started_by_a_pool() -> None:
    pool = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
    with pytest.raises(NotIsolatedError, match="tests/system"):
        pool.submit(print)


def test_no_command_is_run() -> None:
    with pytest.raises(NotIsolatedError, match=r"subprocess\.Popen"):
        subprocess.run([sys.executable, "-c", ""], check=False)
    with pytest.raises(NotIsolatedError, match=r"os\.system"):
        os.system("true")


def test_the_process_does_not_fork() -> None:
    with pytest.raises(NotIsolatedError, match=r"os\.fork"):
        os.fork()


def test_no_other_machine_is_contacted() -> None:
    with socket.socket() as client, pytest.raises(NotIsolatedError, match=r"socket\.connect"):
        client.connect(("192.0.2.1", 80))  # an address reserved for documentation


def test_this_machine_can_be_contacted() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
