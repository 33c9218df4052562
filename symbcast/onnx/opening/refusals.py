"""Refusals: why ONNX Runtime does not open a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from symbcast.onnx.opening.scope import Types
from symbcast.onnx.opening.types import ValueType


class Refusal(NamedTuple):
    """Why ONNX Runtime does not open a model: the node, ONNX Runtime's message, and the node's input types.

    ``is_certain`` is false if it may still open the model.
    """

    node: Any
    text: str
    types: Sequence[ValueType | None]
    is_certain: bool = True


class RefusedSessionError(Exception):
    """ONNX Runtime does not open the model."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.text)
        self.refusal = refusal


def refused(node: Any, text: str, scope: Types) -> RefusedSessionError:
    """Return a refusal because of a node, as an exception."""
    return RefusedSessionError(Refusal(node, text, [scope.type_of(name) if name else None for name in node.input]))


def words_of(error: Exception) -> str:
    """Return an inference's error message without its prefix."""
    text = str(error).strip().splitlines()[0]
    return text.split("Error] ", 1)[-1].split("): ", 1)[-1].rstrip(".")
