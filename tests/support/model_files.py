"""Small models, one for each verdict, and the command that is asked about them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import symbcast as sb

HEAD = '<ir_version: 10, opset_import: ["" : 21, "own" : 1]>\n'
MODELS = {
    "always": "always (float[N] x) => (float[] y) { y = Relu(x) }",
    "sometimes": "sometimes (float[N, 3] a, float[M, 1] b) => (float[] y) { h = Relu(a) [add_1] y = Add(h, b) }",
    "never": "never (float[N, 3] a, float[N, 4] b) => (float[] y) { y = Mul(a, b) }",
    "unknown": "unknown (float[N] x) => (float[] y) { h = own.Twice(x) y = Relu(h) }",
}


def started(*arguments, **options):
    command = [sys.executable, "-m", "symbcast", "model", *arguments]
    root = str(Path(sb.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": root}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, **options
    )
