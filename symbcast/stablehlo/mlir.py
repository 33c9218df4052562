"""The MLIR bindings that ship in jaxlib: contexts that know StableHLO's dialects, and modules parsed in them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from symbcast.errors import MissingExtraError

_DIALECTS = {"stablehlo": "", "chlo": "", "mhlo": "mhlo_", "sdy": "", "mpmd": ""}
"""The dialects outside MLIR's own registry, each with the infix of the function that registers it."""


@cache
def bindings() -> ModuleType:
    """Return ``jaxlib.mlir.ir``; raises `MissingExtraError` without jaxlib."""
    try:
        return import_module("jaxlib.mlir.ir")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "jaxlib":
            raise
        raise MissingExtraError("symbcast.stablehlo", "stablehlo") from error


def dialect(name: str) -> Any:
    """Return the bindings of a dialect."""
    return import_module(f"jaxlib.mlir.dialects.{name}")


def context() -> Any:
    """Return a context with all dialects; operations of other dialects are parsed without being understood.

    MLIR loads a dialect where its first operation, attribute or type is met: loading all takes four times as long.
    """
    ir = bindings()
    registry = ir.DialectRegistry()
    import_module("jaxlib.mlir._mlir_libs._jax_mlir_ext").register_dialects(registry)
    made = ir.Context()
    made.append_dialect_registry(registry)
    for name, infix in _DIALECTS.items():
        getattr(dialect(name), f"register_{infix}dialect")(made)
    made.allow_unregistered_dialects = True
    return made


def parsed(data: str | bytes) -> Any:
    """Return the module in a text, in bytecode or in a portable artifact, which is upgraded to today's StableHLO.

    Raises `ValueError` with MLIR's message.
    """
    ir = bindings()
    made = context()
    try:
        module = ir.Module.parse(data, made)
        if any(op.operation.name.startswith("vhlo.") for op in module.body.operations):
            artifact = data if isinstance(data, bytes) else data.encode()
            module = dialect("stablehlo").deserialize_portable_artifact(made, artifact)
    except (ir.MLIRError, UnicodeDecodeError) as error:
        raise ValueError(_told(str(error))) from None
    return module


def operations_in(op: Any) -> Iterator[Any]:
    """Yield all operations within an operation, at any depth."""
    pending = [op]
    while pending:
        for region in pending.pop().regions:
            for block in region.blocks:
                for inner in block.operations:
                    yield inner.operation
                    pending.append(inner.operation)


def _told(message: str) -> str:
    """Return the first error in a message of MLIR, with its place in the text."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    found = next((line for line in lines if "error:" in line), lines[-1] if lines else "it gives no reason")
    return found.replace('error: "-":', "").replace("error: ", "")
