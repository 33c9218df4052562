"""Models that ask for too much: each is answered within limits of work and memory, or said not to be, and why."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hostile_models import CASES
from steps import calls

import symbcast as sb

ROOM = 300 << 20
STEPS = 32_000_000
"""Calls of functions, in Python and in C: some seconds of them. Open models are walked again at small sizes."""
VERDICTS = {"always", "sometimes", "never"}


def said(model):
    """Return what is said of a model: a verdict, or the reasons why there is none."""
    try:
        report = sb.onnx.check(model)
    except sb.ModelError as error:
        return str(error)
    assert report.explain()
    if report.verdict is sb.Verdict.UNKNOWN:
        return " ".join([report.reason, *(left.reason for left in report.unanalysed)])
    return report.verdict.value


@pytest.mark.parametrize("name", CASES)
def test_the_work_is_bounded(name):
    case = CASES[name]
    model = case.make()
    with calls() as steps:
        found = said(model)
    assert found == case.said if case.said in VERDICTS else case.said in found
    assert steps.count < STEPS


MEASURED = """
import resource, sys
import onnx, symbcast as sb
from hostile_models import CASES
from malformed_models import of, node
sb.onnx.check(of(node("Add", ["x", "x"], ["y"]))).explain()
models = {name: case.make().SerializeToString() for name, case in CASES.items()}
for name in models:
    models[name] = onnx.ModelProto.FromString(models[name])
    size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + int(sys.argv[1]), resource.RLIM_INFINITY))
    try:
        sb.onnx.check(models[name]).explain()
    except sb.ModelError:
        pass
    except MemoryError:
        print(name)
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    models[name] = None
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_the_memory_is_bounded():
    """Each in 300 MiB more than there was before, which the system holds it to."""
    root = Path(__file__).parents[1]
    path = os.pathsep.join((str(Path(sb.__file__).parents[1]), str(root), str(root / "support")))
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(ROOM)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == ""
