"""Runs a function on many items in forked children: MLIR's parser and passes can kill the process that calls them."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable, Iterable
from typing import Any

Answer = tuple[str, Any]
"""``("ok", what came back)``, ``("error", its words)``, or ``("crash", the signal)``."""


def run_all(function: Callable[[Any], Any], items: Iterable[Any], seconds: int = 30) -> list[Answer]:
    """Return an answer for each item. An item that kills its child is a crash; the next one gets a new child."""
    items = list(items)
    found: list[Answer] = []
    while len(found) < len(items):
        found += _run_until_dead(function, items[len(found) :], seconds)
    return found


def _run_until_dead(function: Callable[[Any], Any], items: list[Any], seconds: int) -> list[Answer]:
    """Return the answers of one child: of all items, or up to the one that killed it."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        _answer(function, items, write, seconds)
    os.close(write)
    found = []
    with os.fdopen(read, "rb") as pipe:
        while True:
            try:
                found.append(pickle.load(pipe))
            except (EOFError, pickle.UnpicklingError):
                break
    _, status = os.waitpid(child, 0)
    if len(found) < len(items):
        found.append(("crash", os.WTERMSIG(status) if os.WIFSIGNALED(status) else status))
    return found


def _answer(function: Callable[[Any], Any], items: list[Any], write: int, seconds: int) -> None:
    """Write the answer for each item, and end the process. The words of C++ on stderr are dropped."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    with os.fdopen(write, "wb") as pipe:
        for item in items:
            signal.alarm(seconds)
            try:
                answer = ("ok", function(item))
            except Exception as error:
                answer = ("error", f"{type(error).__name__}: {error}")
            signal.alarm(0)
            pickle.dump(answer, pipe)
            pipe.flush()
    os._exit(0)
