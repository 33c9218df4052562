"""Python in its own process, as an installed package runs: with the bytecode of all modules there."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache


@cache
def _environment() -> dict[str, str]:
    """Return an environment in which bytecode is written, once, to a folder of this run."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    folder = tempfile.mkdtemp(prefix="symbcast-bytecode-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return {**kept, "PYTHONPYCACHEPREFIX": folder}


def python(*arguments: str) -> str:
    """Run Python and return what it prints; the first call of a kind also compiles what it imports."""
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=_environment()).stdout
