"""Files that are broken, huge or made to hurt: each becomes a report or an error, and the process lives on."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("jaxlib")

from stablehlo_corpora.hostile import files

CHECK = """
import sys
import symbcast as sb
for path in sys.stdin:
    try:
        print("report", sb.stablehlo.check(path.strip()).verdict.name, flush=True)
    except sb.SymbcastError as error:
        print(type(error).__name__, str(error).replace(chr(10), " "), flush=True)
"""
FILES = dict(files())
SLOW = ("200 loops in loops", "10 MB of operations")


class Checker:
    """A process that checks files; a new one after each that dies."""

    def __init__(self):
        self.process = None

    def __call__(self, path):
        """Return a line of what came of a file, and "died" if the process did."""
        if self.process is None:
            options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
            self.process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", CHECK], **options)
        self.process.stdin.write(f"{path}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            self.close()
        return line or "died"

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.stdout.close()
            self.process.wait()
            self.process = None


@pytest.fixture(scope="module")
def check():
    checker = Checker()
    yield checker
    checker.close()


def held(check, path, name):
    path.write_bytes(FILES[name])
    return check(path).partition(" ")[0]


@pytest.mark.parametrize("name", [n for n in FILES if n not in SLOW])
def test_a_broken_file_is_an_error_or_a_report(check, tmp_path, name):
    assert held(check, tmp_path / "module.mlir", name) in ("report", "ModelError")


@pytest.mark.parametrize("name", SLOW)
def test_a_huge_file_is_an_error_or_a_report(check, tmp_path, name):
    assert held(check, tmp_path / "module.mlir", name) in ("report", "ModelError")
