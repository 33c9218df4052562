"""PyTorch, loaded on demand, and the ONNX numbers of its element types."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any

from symbcast.core.isolation import DiedError, forked
from symbcast.errors import MissingExtraError


def load_torch(module: str = "torch") -> Any:
    """Return a module of torch; raise `MissingExtraError` if torch is not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "torch":
            raise
        raise MissingExtraError("symbcast.torch", "torch") from error


@contextmanager
def quiet(logger: str) -> Iterator[None]:
    """Keep torch from logging in this context what symbcast reports itself."""
    log = logging.getLogger(logger)
    before = log.disabled
    log.disabled = True
    try:
        yield
    finally:
        log.disabled = before


def in_child(ask: Callable[[], str]) -> str:
    """Return a function's text from a forked process: the user's code may change its state, or end.

    Returns how the process ended if it did so without an answer.
    """
    torch = load_torch()
    # Locks that other threads hold are never released in a forked process, and CUDA does not work in one. The solver's
    # thread holds none while it waits, and an export asks it nothing.
    others = [t for t in threading.enumerate() if t is not threading.current_thread() and t.name != "symbcast-z3"]
    if sys.platform == "win32" or not hasattr(os, "fork") or others or torch.cuda.is_initialized():
        return ask()
    sys.stdout.flush()
    sys.stderr.flush()

    def work() -> str:
        torch.set_num_threads(1)
        return ask()

    try:
        return forked(work, None)[0] or ""
    except DiedError as error:
        return f"the process of the export ended with {error}"


@cache
def node_class() -> Any:
    """Return the class of nodes of `torch.fx`."""
    return load_torch("torch.fx").Node


# The ONNX numbers of torch's element types, as `symbcast.graphs.values` uses them.


INT64 = 7
_NUMBERS = {
    "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": INT64, "bool": 9, "float16": 10,
    "float64": 11, "uint32": 12, "uint64": 13, "complex64": 14, "complex128": 15, "bfloat16": 16,
}  # fmt: skip


def onnx_type_number(dtype: object) -> int:
    """Return the number of a torch element type; 0 if it is unknown.

    >>> onnx_type_number("torch.int64"), onnx_type_number(None)
    (7, 0)
    """
    return _NUMBERS.get(str(dtype).removeprefix("torch."), 0)
