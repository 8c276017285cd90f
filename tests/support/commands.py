"""Commands, in this process or another."""

import os
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from streamgauge.cli.main import cli

__all__ = ["BIN", "invoke", "streamgauge"]

BIN = Path(sys.executable).parent / "streamgauge"


def streamgauge(*arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, **variables}
    return subprocess.run([BIN, *arguments], capture_output=True, text=True, check=False, timeout=120, env=environment)


def invoke(*arguments: str) -> "tuple[str, str, object]":
    """Call a command in this process; gives what it says, and its status."""
    done = CliRunner().invoke(cli, list(arguments), standalone_mode=False, catch_exceptions=False)
    return done.stdout, done.stderr, done.return_value
