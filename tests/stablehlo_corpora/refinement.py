"""What StableHLO itself says of a module at given sizes: its verifier, then its own refinement of shapes.

The sizes are written into the types of the arguments of ``main``, and integers into scalar arguments; everything else
stays as it is. Then the verifier runs, and the refinement that JAX runs before it compiles: it inlines calls, refines
shapes (``stablehlo-refine-shapes``), replaces dynamic operators by static ones
(``stablehlo-canonicalize-dynamism``) and checks assertions, with a verification after each.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from jax._src.interpreters import mlir
from jaxlib import _jax
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import stablehlo

stablehlo.register_stablehlo_passes()
CONTEXT = mlir.make_ir_context()
CONTEXT.allow_unregistered_dialects = True

Sizes = Sequence[int | None]
LIMITS = (
    "failed to legalize",
    "explicitly marked illegal",
    "failed to materialize",
    "must be statically shaped",
    "expects static",
    "Cannot parse module",
)
"""The words of passes that cannot say anything of a module."""


class NoAnswerError(Exception):
    """A pass gives up for a reason that is not about sizes."""


class Argument(NamedTuple):
    """An argument of ``main``: its sizes, None where they are dynamic, and its element type."""

    sizes: tuple[int | None, ...]
    element: str


def main_of(module: ir.Module):
    return ir.SymbolTable(module.operation)["main"]


def block_of(function):
    return function.regions[0].blocks[0]


def sizes_of(kind: ir.Type) -> tuple[int | None, ...] | None:
    """Return the sizes in a tensor's type, None for other types."""
    if not isinstance(kind, ir.RankedTensorType):
        return None
    kind = ir.RankedTensorType(kind)
    return tuple(None if kind.is_dynamic_dim(n) else kind.get_dim_size(n) for n in range(kind.rank))


def tensor(sizes: Sizes, element: ir.Type) -> ir.Type:
    """Return a tensor's type; a size that is None is dynamic."""
    return ir.RankedTensorType.get([ir.ShapedType.get_dynamic_size() if s is None else s for s in sizes], element)


def update_type(function) -> None:
    """Make a function's type agree with its arguments and what it returns."""
    block = block_of(function)
    returned = [v.type for v in block.operations[len(block.operations) - 1].operands]
    kind = ir.FunctionType.get([a.type for a in block.arguments], returned)
    function.attributes["function_type"] = ir.TypeAttr.get(kind)


def arguments(text: str) -> list[Argument]:
    """Return the arguments of ``main``."""
    with CONTEXT:
        kinds = main_of(ir.Module.parse(text)).type.inputs
        return [Argument(sizes_of(k) or (), str(ir.RankedTensorType(k).element_type)) for k in kinds]


def _error(error: Exception) -> str:
    """Return what an MLIR error says, without where."""
    said = re.findall(r"error: (?:loc\(.*?\): |\"-\":\d+:\d+: )?(.*)", str(error))
    return (said or [str(error).strip()])[0][:120]


def _write_values(main, values: Mapping[int, int]) -> None:
    """Replace scalar arguments by constants."""
    block = block_of(main)
    with ir.InsertionPoint.at_block_begin(block):
        for n, value in values.items():
            kind = ir.RankedTensorType(block.arguments[n].type)
            filled = ir.DenseElementsAttr.get_splat(kind, ir.IntegerAttr.get(kind.element_type, value))
            block.arguments[n].replace_all_uses_with(stablehlo.constant(filled))


def _write_sizes(main, kinds: Sequence[ir.Type]) -> None:
    """Give the arguments their types, and verify what uses them."""
    for argument, kind in zip(block_of(main).arguments, kinds, strict=True):
        argument.set_type(kind)
    update_type(main)


def _kinds(main, shapes: Sequence[Sizes | None]) -> list[ir.Type]:
    """Return the types of the arguments with their sizes."""
    pairs = zip(block_of(main).arguments, shapes, strict=True)
    return [a.type if s is None else tensor(s, ir.RankedTensorType(a.type).element_type) for a, s in pairs]


def _arguments_refined(module: ir.Module, kinds: Sequence[ir.Type]) -> None:
    """Give the arguments their types, and cast them to what the functions that are called with them take."""
    wanted = f"builtin.module(stablehlo-refine-arguments{{types={','.join(map(str, kinds))}}})"
    passmanager.PassManager.parse(wanted).run(module.operation)


def _jax_refined(module: ir.Module, asserted: bool) -> ir.Module:
    """Return a module as JAX refines it; without ``asserted``, assertions are dropped."""
    code = mlir.module_to_bytecode(module)
    return ir.Module.parse(
        _jax.mlir.refine_polymorphic_shapes(code, enable_shape_assertions=asserted, validate_static_shapes=False)
    )


def refined(
    text: str, shapes: Sequence[Sizes | None], values: Mapping[int, int] = {}, asserted: bool = True
) -> list | str:
    """Return the sizes of what ``main`` returns, or why it is refused. They are None if the refinement stops somewhere.

    ``shapes`` has the sizes of each argument, or None for one that stays as it is; ``values`` the integers in scalar
    arguments. Without ``asserted``, assertions are dropped. Raises `NoAnswerError` if StableHLO's passes cannot say.
    """
    with CONTEXT, ir.Location.unknown():
        module = ir.Module.parse(text)
        main = main_of(module)
        kinds = _kinds(main, shapes)
        _write_values(main, values)
        try:
            if "func.call" in module.operation.get_asm(print_generic_op_form=True):
                _arguments_refined(module, kinds)
            else:
                _write_sizes(main, kinds)
                module.operation.verify()
            module = _jax_refined(module, asserted)
        except (ir.MLIRError, RuntimeError, ValueError) as error:
            if any(limit in str(error) for limit in LIMITS):
                raise NoAnswerError(_error(error)) from error
            return _error(error)
        found = [sizes_of(t) for t in main_of(module).type.results]
        # An operator whose result stays dynamic was not verified, and neither was what uses it.
        is_known = not _has_dynamic_sizes(module.operation)
        return [s and [size if is_known else None for size in s] if s != () else [] for s in found]


def _has_dynamic_sizes(operation) -> bool:
    """Return whether an operation, or one inside it, has a result with a dynamic size."""
    if any(None in (sizes_of(value.type) or ()) for value in operation.results):
        return True
    inner = (o for region in operation.regions for block in region for o in block)
    return any(_has_dynamic_sizes(o.operation) for o in inner)


def asserted_at(text: str, shapes: Sequence[Sizes | None]) -> bool:
    """Return whether all assertions of ``main`` hold; functions that it calls must have none."""
    with CONTEXT, ir.Location.unknown():
        module = ir.Module.parse(text)
        main = main_of(module)
        kinds = _kinds(main, shapes)
        block = block_of(main)
        wanted = [o for o in block.operations if "shape_assertion" in str(o.operation)]
        for operation in reversed(list(block.operations)):
            unused = not any(list(v.uses) for v in operation.results)
            if operation not in wanted and unused:
                operation.operation.erase()
        with ir.InsertionPoint(block):
            ir.Operation.create("func.return")
        if "res_attrs" in main.attributes:
            del main.attributes["res_attrs"]
        update_type(main)
        try:
            _arguments_refined(module, kinds)
            _jax_refined(module, asserted=True)
        except (ir.MLIRError, RuntimeError, ValueError):
            return False
        return True
