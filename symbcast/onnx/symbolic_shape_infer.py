"""ONNX Runtime's tool ``onnxruntime.tools.symbolic_shape_infer`` with exact shapes: the same call and the same options.

A script changes one import:

    from symbcast.onnx.symbolic_shape_infer import SymbolicShapeInference
    model = SymbolicShapeInference.infer_shapes(onnx.load("model.onnx"), auto_merge=True)

and a command one module:

    python -m symbcast.onnx.symbolic_shape_infer --input model.onnx --output shaped.onnx --auto_merge

The shapes hold at all input sizes from 1 on at which ONNX Runtime runs the model.
"""

from __future__ import annotations

import logging
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from symbcast.adapters.conversion import operations
from symbcast.core.algebra.arithmetic import replace_symbols
from symbcast.core.algebra.formulas import all_of, any_of, at_most
from symbcast.core.algebra.term_arithmetic import Substitution
from symbcast.core.algebra.terms import Dim, Operation, symbols_of
from symbcast.core.shapes import any_shape_of
from symbcast.core.verdicts import Verdict
from symbcast.errors import ModelError, SymbcastError, UndecidedError
from symbcast.graphs.report.dimension_names import equal_sizes
from symbcast.onnx.front_end import check
from symbcast.onnx.operators.declarations import OPERATORS
from symbcast.onnx.protobuf import canonical_domain
from symbcast.onnx.reader import load_model
from symbcast.onnx.report import ModelReport, annotated
from symbcast.onnx.schemas import onnx_schema

if TYPE_CHECKING:
    import onnx

logger = logging.getLogger(__name__)

_INT_MAX = 2**31 - 1
# A slice that ends here or later ends at the end of the axis, whatever ``int_max`` is.
_END = 1 << 30


class SymbolicShapeInference:
    """The class that scripts import from ``onnxruntime.tools.symbolic_shape_infer``."""

    @staticmethod
    def infer_shapes(
        in_mp: onnx.ModelProto,
        int_max: int = _INT_MAX,
        auto_merge: bool = False,
        guess_output_rank: bool = False,
        verbose: int = 0,
    ) -> onnx.ModelProto:
        """Return a copy of a model with the shapes of all values in ``value_info``, in branches and loop bodies too.

        A size is a number, a name or an expression of names, such as ``(H + 1)//2``. ``int_max`` is the greatest size
        that an input has: a slice that ends there ends at the end of the axis. With ``auto_merge``, sizes of inputs
        that must be equal where none is 1 get one name, or their number: the model then says that nothing is repeated.
        With ``guess_output_rank``, the outputs of an unknown operator have as many axes as its first input, and its
        element type; that is not proved. ``verbose`` logs nodes that were not analysed (1) and all shapes (3).

        Raises `ModelError` if the model is malformed, if no sizes work, and, with the words ``Incomplete symbolic shape
        inference``, if a value has an unknown number of axes; ``sb.onnx.check(model).annotate()`` has the others.

        >>> import onnx.parser
        >>> model = onnx.parser.parse_model('''<ir_version: 9, opset_import: ["" : 18]>
        ... g (float[N, H] x, float[M, 1] s) => (float[a, b] z) { y = Concat <axis = 1> (x, x)  z = Mul(y, s) }''')
        >>> [[d.dim_param for d in SymbolicShapeInference.infer_shapes(model, auto_merge=merge)
        ...   .graph.output[0].type.tensor_type.shape.dim] for merge in (False, True)]
        [['broadcast(M, N)', '2*H'], ['N', '2*H']]
        """
        model, report, guessed = in_mp, check(in_mp, runtime="onnxruntime"), list[Any]()
        while guess_output_rank and (unknown := list(_guessable(model, report))):
            guessed += unknown
            model = _without(model, unknown, report)
            report = check(model, runtime="onnxruntime")
        report = _merged(model, report) if auto_merge else report
        if report.verdict is Verdict.NEVER:
            reasons = [f"{found.node}: {found.reason}" for found in report.findings[:1]]
            raise ModelError(report.source, ": ".join(["no sizes work", *reasons]))
        result: Any = annotated(report._checked, _simplification(report, int_max))
        _put_back(result.graph, in_mp.graph.node, guessed)
        _log(report, result, verbose)
        missing = list(dict.fromkeys(_title(node) for node in _incomplete(report, result.graph)))
        if missing:
            problem = f"Incomplete symbolic shape inference: no shape is known after {', '.join(missing[:3])}"
            raise ModelError(report.source, problem)
        return cast("onnx.ModelProto", result)


def _title(node: Any) -> str:
    return f"{node.name or node.output[0]} ({node.op_type})"


def _incomplete(report: ModelReport, graph: Any) -> Iterator[Any]:
    """Yield the nodes with an output of unknown rank or element type; only tensors have these."""
    declared = {v.name for v in (*graph.value_info, *graph.output) if _is_complete(v.type)}
    known = {*declared, *report.sequences, *report.optionals}
    yield from (node for node in graph.node if not known.issuperset(name for name in node.output if name))


def _is_complete(kind: Any) -> bool:
    tensor = kind.tensor_type
    return kind.WhichOneof("value") not in (None, "tensor_type") or (tensor.elem_type > 0 and tensor.HasField("shape"))


def _log(report: ModelReport, result: Any, verbose: int) -> None:
    if verbose > 0:
        for left in report.unanalysed:
            logger.warning("not analysed: %s", left)
    if verbose > 2:
        shapes = report.shapes
        for node in result.graph.node:
            logger.debug("%s: %s", _title(node), ", ".join(f"{n} {shapes.get(n)}" for n in node.output if n))


# Sizes that are equal, and the greatest size.


def _merged(model: Any, report: ModelReport) -> ModelReport:
    """Return the report on a model whose sizes that must be equal where none is 1 have one name, or are a number."""
    sizes = equal_sizes(all_of(report._env.clauses), report._env.shown)
    shapes = {
        name: any_shape_of(replace_symbols(d, sizes) for d in shape.dims)
        for name, shape in report.inputs.items()
        if shape is not None and shape.rank is not None
    }
    if all(shapes[name] == report.inputs[name] for name in shapes):
        return report
    merged = check(model, shapes=shapes, runtime="onnxruntime")
    return report if merged.verdict is Verdict.NEVER else merged


def _simplification(report: ModelReport, int_max: int) -> Callable[[Dim], Dim]:
    """Return a function that rewrites a size, equal if no input has a size beyond ``int_max``."""

    def rest(operation: Operation) -> Dim | None:
        """Return what a minimum is if its bound is beyond all sizes; None if that is not proved."""
        bound = next((a.constant for a in operation.args if a.is_constant and a.constant >= int_max), None)
        others = [a.dim() for a in operation.args if not a.is_constant]
        if operation.kind != "min" or bound is None or len(others) != 1:
            return None
        return simplified(others[0]) if _is_at_most(report, others[0], bound, int_max) else None

    def simplified(dim: Dim) -> Dim:
        found = {} if isinstance(dim, int) or int_max >= _END else {o: rest(o) for o in operations(dim)}
        replaced = {operation: value for operation, value in found.items() if value is not None}
        return Substitution(replaced, of_symbols=False).dim(dim) if replaced else dim

    return simplified


def _is_at_most(report: ModelReport, dim: Dim, bound: int, int_max: int) -> bool:
    """Return whether a size is at most a bound if no input has a size beyond ``int_max``."""
    beyond = [at_most(int_max + 1, s) for s in symbols_of([dim])]
    try:
        return report.implies(any_of([*beyond, at_most(dim, bound)]))
    except UndecidedError:
        return False


# Nodes of unknown operators, whose outputs become inputs of the model.


def _guessable(model: Any, report: ModelReport) -> Iterator[Any]:
    """Yield the nodes of unknown operators without shapes whose first input has a known rank and element type."""
    functions = {(canonical_domain(f.domain), f.name) for f in model.functions}
    values = report._checked.walk.top.values
    versions = {canonical_domain(o.domain): o.version for o in model.opset_import}
    for node in model.graph.node:
        domain = canonical_domain(node.domain)
        key, first = (domain, node.op_type), values.get(node.input[0]) if node.input else None
        is_known = key in OPERATORS or key in functions or onnx_schema(node.op_type, versions.get(domain, 1), domain)
        if first is not None and first.shape is not None and first.dtype and not is_known:
            yield node


def _without(model: Any, nodes: Sequence[Any], report: ModelReport) -> Any:
    """Return a model with inputs in place of the outputs of some nodes, of the rank of the node's first input."""
    cut, names = type(model)(), {name for node in nodes for name in node.output}
    cut.CopyFrom(model)
    del cut.graph.node[:]
    cut.graph.node.extend(node for node in model.graph.node if names.isdisjoint(node.output))
    for node in nodes:
        first = report._checked.walk.top.values[node.input[0]]
        for name in filter(None, node.output):
            tensor = cut.graph.input.add(name=name).type.tensor_type
            tensor.elem_type = first.dtype or 0
            tensor.shape.SetInParent()
            for _ in first.shape or ():
                tensor.shape.dim.add()
    return cut


def _put_back(graph: Any, nodes: Sequence[Any], guessed: Sequence[Any]) -> None:
    """Put nodes that were left out back in their places, and declare their outputs, which were inputs meanwhile."""
    names = {name for node in guessed for name in node.output}
    for place, node in enumerate(nodes):
        if not names.isdisjoint(node.output):
            graph.node.insert(place, node)
    outputs = {v.name: v for v in graph.output}
    for declared in [v for v in graph.input if v.name in names]:
        (outputs.get(declared.name) or graph.value_info.add()).CopyFrom(declared)
        graph.input.remove(declared)


# The command.


def _options(arguments: Sequence[str] | None) -> Namespace:
    parser = ArgumentParser("symbolic_shape_infer", description="Write the shape of every value into a model.")
    parser.add_argument("--input", required=True, help="the model file")
    parser.add_argument("--output", help="the file to write")
    parser.add_argument("--auto_merge", action="store_true", help="one name for sizes that must be equal")
    parser.add_argument("--int_max", type=int, default=_INT_MAX, help="the greatest size that an input has")
    parser.add_argument("--guess_output_rank", action="store_true", help="guess ranks after unknown operators")
    parser.add_argument("--verbose", type=int, default=0, help="0: nothing, 1: warnings, 3: all shapes")
    parser.add_argument("--save_as_external_data", action="store_true", help="write weights to other files")
    parser.add_argument("--all_tensors_to_one_file", action="store_true", help="write all weights to one file")
    parser.add_argument("--external_data_location", default="./", help="the file to write weights to")
    parser.add_argument("--external_data_size_threshold", type=int, default=1024, help="the fewest bytes there")
    return parser.parse_args(arguments)


def _run(options: Namespace) -> None:
    from google.protobuf.message import EncodeError
    from onnx import checker, external_data_helper, save_model

    result: Any = SymbolicShapeInference.infer_shapes(
        load_model(options.input)[1], options.int_max, options.auto_merge, options.guess_output_rank, options.verbose
    )
    if not options.output:
        return
    try:
        # The output may be written to another folder, where nothing refers to the weights of the input.
        external_data_helper.load_external_data_for_model(result, str(Path(options.input).parent))
        save_model(
            result,
            options.output,
            save_as_external_data=options.save_as_external_data,
            all_tensors_to_one_file=options.all_tensors_to_one_file,
            location=options.external_data_location,
            size_threshold=options.external_data_size_threshold,
        )
    except EncodeError as error:
        raise ModelError(options.output, f"cannot be written: {error}", "add --save_as_external_data") from error
    except checker.ValidationError as error:
        raise ModelError(options.input, f"weights cannot be read: {error}") from error


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status: 1 if the model cannot be read or written, or is not complete."""
    options = _options(arguments)
    try:
        _run(options)
    except (SymbcastError, OSError, ValueError) as error:
        print(f"symbolic_shape_infer: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
