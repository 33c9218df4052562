"""LiteRT in a child process: whether a model can be resized to shapes, allocated and invoked, and what comes out."""

from __future__ import annotations

import pickle
import struct
import subprocess
import sys

CHILD = """
import os, pickle, struct, sys
out = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)
import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

def fed(detail, feed):
    given = feed.get(detail["name"])
    dtype = detail["dtype"]
    if given is None:
        return (np.ones if np.dtype(dtype).kind == "f" else np.zeros)(detail["shape"], dtype)
    return np.resize(np.array(given, dtype), detail["shape"])

def run(content, shapes, feed, is_plain):
    kind = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES if is_plain else OpResolverType.AUTO
    step = "load"
    try:
        made = Interpreter(model_content=content, experimental_op_resolver_type=kind, num_threads=1)
        step = "resize"
        details = made.get_input_details()
        by_place = shapes if isinstance(shapes, list) else [shapes.get(detail["name"]) for detail in details]
        for detail, shape in zip(details, by_place, strict=True):
            if shape is not None:
                made.resize_tensor_input(detail["index"], shape)
        step = "allocate"
        made.allocate_tensors()
        step = "set"
        for detail in made.get_input_details():
            if detail["dtype"] not in (np.str_, np.bytes_, np.object_):
                made.set_tensor(detail["index"], fed(detail, feed))
        step = "invoke"
        made.invoke()
        return "ok", [[int(n) for n in detail["shape"]] for detail in made.get_output_details()]
    except (RuntimeError, ValueError, TypeError) as error:
        return step, str(error)

while len(head := sys.stdin.buffer.read(8)) == 8:
    asked = pickle.loads(sys.stdin.buffer.read(struct.unpack("<q", head)[0]))
    answer = pickle.dumps(run(*asked))
    out.write(struct.pack("<q", len(answer)) + answer)
    out.flush()
"""


class Oracle:
    """Asks a child process, and another one after it has died."""

    def __init__(self):
        self._process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._process is not None:
            self._process.communicate()

    def __call__(self, content, shapes, feed=None, *, is_plain=True):
        """Return the step that failed with its message, or "ok" and the shapes of the outputs."""
        if self._process is None:
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(
                [sys.executable, "-c", CHILD], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
            )
        question = pickle.dumps((content, shapes, feed or {}, is_plain))
        try:
            self._process.stdin.write(struct.pack("<q", len(question)) + question)
            self._process.stdin.flush()
            head = self._process.stdout.read(8)
            if len(head) < 8:
                raise EOFError
            return pickle.loads(self._process.stdout.read(struct.unpack("<q", head)[0]))
        except (EOFError, BrokenPipeError):
            self._process.communicate()
            code, self._process = self._process.returncode, None
            return "crash", str(code)


def outcome(content, sizes, shapes, feed, oracle):
    """Return the shapes of outputs; None where LiteRT's own kernels fail or end the process.

    Without sizes of 0, the default must agree, in which the XNNPACK delegate computes what it can.
    """
    own = oracle(content, shapes, feed)
    if own[0] != "ok" or 0 in sizes:
        return own[1] if own[0] == "ok" else None
    return own[1] if oracle(content, shapes, feed, is_plain=False) == own else None
