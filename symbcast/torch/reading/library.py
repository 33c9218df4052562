"""PyTorch, loaded on demand."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from symbcast.errors import MissingExtraError


def load(module: str = "torch") -> Any:
    """Return a module of torch; raise `MissingExtraError` if torch is not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "torch":
            raise
        raise MissingExtraError("symbcast.torch", "torch") from error


@cache
def node_class() -> Any:
    """Return the class of nodes of `torch.fx`."""
    return load("torch.fx").Node
