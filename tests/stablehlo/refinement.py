"""StableHLO's own refinement: the types of a module's results at given sizes, or its refusal."""

import itertools
from importlib import import_module

from symbcast.stablehlo.mlir import bindings, context, dialect

_PASSES = (
    "builtin.module(stablehlo-refine-arguments{{types={}}},stablehlo-refine-shapes,"
    "func.func(stablehlo-canonicalize-dynamism),stablehlo-refine-shapes,"
    "func.func(stablehlo-check-shape-assertions{{enable-shape-assertions=true}}))"
)


def refined(text, types):
    """Return the shapes of the results of ``main`` if its arguments have static types, None for an open size.

    Returns None if StableHLO refuses these types.
    """
    dialect("stablehlo").register_stablehlo_passes()
    ir = bindings()
    with context():
        module = ir.Module.parse(text)
        passes = import_module("jaxlib.mlir.passmanager").PassManager.parse(_PASSES.format(",".join(types)))
        try:
            passes.run(module.operation)
        except ir.MLIRError:
            return None
        main = next(op for op in module.body.operations if op.operation.attributes["sym_name"].value == "main")
        results = main.operation.attributes["function_type"].value.results
        dynamic = ir.ShapedType.get_dynamic_size()
        return [tuple(None if n == dynamic else n for n in t.shape) for t in results]


def at_all_sizes(types, most):
    """Yield static types for dynamic ones with all sizes up to ``most``, and these sizes by name."""
    places = [(n, axis) for n, kind in enumerate(types) for axis, size in enumerate(_sizes(kind)) if size == "?"]
    for sizes in itertools.product(range(1, most + 1), repeat=len(places)):
        left = iter(sizes)
        static = ["".join(str(next(left)) if c == "?" else c for c in kind) for kind in types]
        yield {f"arg{n}_{axis}": size for (n, axis), size in zip(places, sizes, strict=True)}, static


def _sizes(kind):
    return kind.removeprefix("tensor<").split("x")[:-1]
