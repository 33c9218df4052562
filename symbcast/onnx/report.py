"""The report on an ONNX model: the answer, the model annotated with shapes, and its confirmation by ONNX Runtime."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from symbcast.answers.explanation.words import Namer
from symbcast.answers.findings import Sizes, axes_at, failing_constraint, has_axes, without_sizes
from symbcast.answers.outcomes import Notice, NoticeKind
from symbcast.core.algebra.formulas import all_of
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.characters import shorten_end, shorten_middle, sizes_text
from symbcast.core.solver.evaluation import symbols_in
from symbcast.core.structs import NamedTuple
from symbcast.core.verdicts import Verdict
from symbcast.errors import MissingExtraError
from symbcast.graphs.model import CheckedModel
from symbcast.graphs.report.answer import GraphAnswer
from symbcast.graphs.report.blame import complete_sizes
from symbcast.graphs.report.dimension_names import dimension_names
from symbcast.graphs.report.findings import Finding
from symbcast.graphs.report.graph_report import GraphReport
from symbcast.onnx.reader import element_types, graphs_of
from symbcast.onnx.runtime_process import FILLABLE, Feed, RunResult, run_all
from symbcast.operators.values.contents import Element, Elements
from symbcast.operators.values.value import Value, known_dims

if TYPE_CHECKING:
    import onnx


_TENSOR = "tensor_type"


def annotated(checked: CheckedModel, simplified: Callable[[Dim], Dim] = lambda dim: dim) -> Any:
    """Return a copy of a model with ``value_info`` of every tensor whose shape is known, and its outputs' shapes.

    A size that is a number is a ``dim_value``; others are a ``dim_param``: a name as the model has it, or an
    expression as text. Unnamed dimensions of inputs get their names from the report. The model's own declarations
    stay for sizes that data decide and for values of unknown shape. ``simplified`` returns the form in which a size is
    written.
    """
    copy = type(checked.model.raw)()
    copy.CopyFrom(checked.model.raw)
    _Annotator(checked, simplified).annotate(copy.graph)
    return copy


class _Annotator:
    """Writes the shapes of one model's values into a copy of it."""

    def __init__(self, checked: CheckedModel, simplified: Callable[[Dim], Dim]) -> None:
        self._simplified = simplified
        self._walk = checked.walk
        self._graph = checked.model.graph
        self._inputs = checked.inputs.values
        self._namer = Namer.of(checked.env.shown)
        self._open = checked.asker.origins.keys()
        self._types = element_types(checked.model.raw)

    def annotate(self, graph: Any) -> None:
        for declared in graph.input:
            self._name_dims(declared)
        self._fill(graph, self._walk.top.values)
        inner = [g for g in graphs_of(graph) if g is not graph]
        makers = Counter(name for g in inner for node in g.node for name in node.output)
        # A name may occur in several branches, and it is unknown which of the values the walk kept.
        known = {name: value for name, value in self._inner_values() if makers[name] == 1}
        for inner_graph in inner:
            self._fill(inner_graph, known)

    def _inner_values(self) -> Iterator[tuple[str, Value]]:
        """Yield the values of inner graphs by name, those of constants too."""
        yield from self._walk.inner.items()
        nodes = (node for graph in self._graph.and_inner() if graph is not self._graph for node in graph.nodes)
        yield from ((name, Value(node.held)) for node in nodes if node.held is not None for name in node.outputs)

    def _fill(self, graph: Any, values: Mapping[str, Value]) -> None:
        """Write the shapes of the values that a graph's nodes make."""
        declared = {v.name: v for v in (*graph.value_info, *graph.output)}
        for name in (n for node in graph.node for n in node.output if n):
            value = values.get(name)
            if value is None or value.shape is None:
                continue
            if name in declared:
                self._write(declared[name], value)
            elif self._types.get(name) or value.dtype:
                info = graph.value_info.add()
                info.name = name
                self._write(info, value)

    def _write(self, declared: Any, value: Value) -> None:
        """Write a shape into a value's declared type, if it is a tensor."""
        if declared.type.WhichOneof("value") not in (None, _TENSOR) or value.shape is None:
            return
        tensor = declared.type.tensor_type
        dtype = tensor.elem_type or self._types.get(declared.name) or value.dtype
        if not dtype:
            return
        said = [_declared_size(d) for d in tensor.shape.dim]
        if len(said) != len(value.shape):
            said = [None] * len(value.shape)
        tensor.elem_type = dtype
        tensor.shape.SetInParent()  # also record that a scalar has no axes
        del tensor.shape.dim[:]
        for dim, before in zip(map(self._simplified, value.shape), said, strict=True):
            self._write_dim(tensor.shape.dim.add(), before if before is not None and self._is_open(dim) else dim)

    def _write_dim(self, proto: Any, dim: Dim | str) -> None:
        if isinstance(dim, int):
            proto.dim_value = dim
        elif isinstance(dim, str):
            proto.dim_param = dim
        else:
            proto.dim_param = dim.name if isinstance(dim, Symbol) else self._namer.dim(dim)

    def _is_open(self, dim: Dim) -> bool:
        """Return whether data decide a size."""
        return not isinstance(dim, int) and not self._open.isdisjoint(dim.symbols())

    def _name_dims(self, declared: Any) -> None:
        """Give the dimensions of an input the sizes and names that the report has for them."""
        value = self._inputs.get(declared.name)
        if value is None or value.shape is None or declared.type.WhichOneof("value") != _TENSOR:
            return
        for proto, dim in zip(declared.type.tensor_type.shape.dim, value.shape, strict=True):
            # An expression stays as the model writes it.
            if not proto.dim_param or isinstance(dim, int | Symbol):
                self._write_dim(proto, dim)


def _declared_size(dim: Any) -> int | str | None:
    """Return a model's number or name for a dimension; None without either."""
    if dim.WhichOneof("value") == "dim_value":
        return int(dim.dim_value) if dim.dim_value >= 0 else None
    return str(dim.dim_param) or None


# Confirm a report with ONNX Runtime: run the model where it should run and where it should fail.


# The largest tensor with which a model is run, in elements.
LARGEST = 1 << 28
LONGEST = 800

# Parts of ONNX Runtime's messages: the nodes that fail, the innermost last; the place in its source, the function
# there, and the condition that it checked.
_AT_NODE = re.compile(r"running (\w+) node\. Name:'([^']*)'")
_WHERE_IN_RUNTIME = re.compile(r"\S*\.(?:h|hpp|inl|cc|cpp):\d+ ")
_FUNCTION = re.compile(r"(?:[\w<>:&*~ ]*::[^()]*\((?:[^()]|\([^()]*\))*\)(?: const)?|\w+) ")
_CONDITION = re.compile(r".*? was false\. ?")
# ONNX Runtime begins the names of nodes of functions that it puts into the graph with it.
_TAKEN_IN = "_inlfunc_"
_AT_LOADED_NODE = re.compile(r"Node ?\(([^()]*)\) Op ?\((\w+)\)")


class Confirmation(NamedTuple):
    """A run of the model, and whether it went as the report says.

    ``expected`` is ``"runs"`` or the node that should fail, ``happened`` is ``"ran"`` or the error. ``agrees`` is None
    if the run is inconclusive; ``reason`` says why it does not agree or is inconclusive. ``finding`` is None at the
    witness. ``stops_at`` is the node at which a run that agrees stopped, if that is before the expected one.
    """

    sizes: dict[str, int]
    expected: str
    happened: str
    agrees: bool | None
    reason: str
    finding: Finding | None = None
    stops_at: str = ""

    def __str__(self) -> str:
        word = {True: "agrees", False: "DISAGREES", None: "not confirmed"}[self.agrees]
        if self.finding is None:
            expected = "it runs" if self.agrees else "it should run"
        elif self.stops_at:
            expected = f"the run fails; it stops at {self.stops_at}, before {shorten_middle(self.expected, 44)}"
        else:
            expected = f"{shorten_middle(self.expected, 44)} {'fails' if self.agrees else 'should fail'}"
        why = f"{',' if self.agrees else ';'} {self.reason}" if self.reason else ""
        happened = (
            "" if self.happened in ("ran", "not run") else f": {shorten_end(_in_plain_words(self.happened), 160)}"
        )
        return f"{word}: at {sizes_text(self.sizes)} {expected}{why}{happened}"


class _Trial(NamedTuple):
    """Sizes at which to run the model; if it cannot be run, ``feeds`` is None and ``reason`` says why."""

    shown: dict[str, int]
    sizes: Sizes
    finding: Finding | None
    feeds: tuple[Feed, ...] | None
    reason: str = ""


def confirmations(report: GraphAnswer) -> tuple[Confirmation, ...]:
    """Run a model at the witness and at each finding's smallest counterexample."""
    if find_spec("onnxruntime") is None:
        raise MissingExtraError("symbcast.onnx: confirm()", "onnxruntime")
    checked = report._checked
    trials = list(_trials(report))
    feeds = list(dict.fromkeys(t.feeds for t in trials if t.feeds is not None))
    with _file(checked) as (path, problem):
        ran = dict(zip(feeds, run_all(path, feeds), strict=True)) if path is not None else {}
        # Integers are 1, which may be an index out of range; 0 is in range wherever 1 is.
        again = _with_zeros(report, trials, ran)
        ran.update(zip(again, run_all(path, list(again)), strict=True) if path is not None and again else ())
    return tuple(_confirmation(report, t, ran, problem) for t in trials)


def _trials(report: GraphAnswer) -> Iterator[_Trial]:
    checked = report._checked
    witness = report.witness() or report._candidate()
    if witness is not None and report.verdict is not Verdict.NEVER:
        yield _trial(checked, witness, complete_sizes(checked, witness, checked.env.clauses), None)
    for finding in report.findings:
        if finding.counterexample is not None:
            others = [c for c in checked.env.clauses if c != finding.formula]
            sizes = complete_sizes(checked, finding.counterexample, others) or complete_sizes(
                checked, finding.counterexample
            )
            yield _trial(checked, finding.counterexample, sizes, finding)


def _trial(checked: CheckedModel, shown: dict[str, int], sizes: Sizes | None, finding: Finding | None) -> _Trial:
    if sizes is None:
        return _Trial(shown, {}, finding, None, "no values were found for the sizes that data decide")
    reason = _obstacle(checked, sizes, finding)
    feeds = None if reason else tuple(_feed(name, v, sizes) for name, v in checked.inputs.values.items())
    return _Trial(shown, sizes, finding, feeds, reason)


def _obstacle(checked: CheckedModel, sizes: Sizes, finding: Finding | None) -> str:
    """Return why a run at some sizes is impossible or would be inconclusive; empty if there is no reason."""
    for name, value in checked.inputs.values.items():
        if known_dims(value) is None or value.dtype not in FILLABLE:
            return f"the input {name} cannot be filled: its shape or its element type is not known here"
    contents = {s for v in checked.inputs.values.values() for s in _contents(v)}
    if finding is not None and finding.formula is not None:
        decided = [s for s in symbols_in(finding.formula) if s in checked.asker.origins and s not in contents]
        if decided:
            return f"{decided[0].name} is decided by data, so no input sizes can set it"
    for name, value in (*checked.walk.inner.items(), *checked.walk.top.values.items()):
        dims = axes_at(known_dims(value) or (), sizes)
        if all(d is not None for d in dims) and prod(d for d in dims if d is not None) > LARGEST:
            return f"{name} would have {prod(d for d in dims if d is not None)} elements"
    return ""


def _contents(value: Value) -> tuple[Element, ...]:
    """Return the elements of an input that determine sizes."""
    return value.content.items if isinstance(value.content, Elements) else ()


def _feed(name: str, value: Value, sizes: Sizes) -> Feed:
    shape = tuple(d or 0 for d in axes_at(known_dims(value) or (), sizes))
    items = _contents(value)
    known = tuple(sizes[s] for s in items if isinstance(s, Symbol) and s in sizes)
    return Feed(name, value.dtype, shape, known if items and len(known) == len(items) else None)


def _with_zeros(
    report: GraphAnswer, trials: Sequence[_Trial], ran: dict[tuple[Feed, ...], RunResult]
) -> list[tuple[Feed, ...]]:
    """Return the inputs of the runs that failed unexpectedly, or at unexpected nodes, filled with 0 instead of 1."""
    failed = ((t, t.feeds, ran[t.feeds]) for t in trials if t.feeds is not None and t.feeds in ran)
    return [
        _zeros(feeds)
        for t, feeds, result in failed
        if result.shapes is None and result.is_loaded and (t.finding is None or _is_elsewhere(report, t, result))
    ]


def _is_elsewhere(report: GraphAnswer, trial: _Trial, result: RunResult) -> bool:
    """Return whether a run is known to have failed at a node without a requirement that fails at its sizes."""
    is_named = result.is_known and bool(_node_of(result.error)[1])
    return is_named and not _is_at_expected(report, trial, result)


def _zeros(feeds: tuple[Feed, ...]) -> tuple[Feed, ...]:
    return tuple(f._replace(number=0) for f in feeds)


@contextmanager
def _file(checked: CheckedModel) -> Iterator[tuple[Path | None, str]]:
    """Yield a file of the model, the original one if its weights lie next to it; or why there is none."""
    if checked.model.path is not None and checked.model.path.suffix == ".onnx":
        yield checked.model.path, ""
        return
    try:
        data = checked.model.raw.SerializeToString()
    except ValueError as error:
        yield None, f"the model cannot be written down, so check its file: {error}"
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.onnx")
        path.write_bytes(data)
        yield path, ""


def _confirmation(
    report: GraphAnswer, trial: _Trial, ran: dict[tuple[Feed, ...], RunResult], problem: str
) -> Confirmation:
    expected = "runs" if trial.finding is None else trial.finding.node
    result = ran.get(trial.feeds) if trial.feeds is not None else None
    if result is None:
        return Confirmation(trial.shown, expected, "not run", None, trial.reason or problem, trial.finding)
    if trial.finding is None:
        happened, agrees, reason = _where_it_runs(report, trial, result, ran)
    else:
        happened, agrees, reason = _where_it_fails(report, trial, trial.finding, result, ran)
    if agrees is False and report.runtime == "spec":
        reason = f"{reason}; the report is about the ONNX documents: see runtime='onnxruntime'"
    is_at_expected = not agrees or trial.finding is None or _is_at_expected(report, trial, result)
    stops_at = "" if is_at_expected else next(filter(None, _node_of(result.error)))
    return Confirmation(trial.shown, expected, happened, agrees, reason, trial.finding, stops_at)


_Outcome = tuple[str, bool | None, str]


def _where_it_runs(
    report: GraphAnswer, trial: _Trial, result: RunResult, ran: dict[tuple[Feed, ...], RunResult]
) -> _Outcome:
    assert trial.feeds is not None
    if not result.is_loaded and not _node_of(result.error)[1]:
        return _error(result), None, "the runtime could not load the model"
    if result.shapes is None:
        second = ran.get(_zeros(trial.feeds))
        if second is None or second.shapes is None:
            open_to_data = bool(report.data_sizes or report.unanalysed)
            why = "data or unchecked nodes may be the cause" if open_to_data else "it failed"
            return _error(result), None if open_to_data or not result.is_known else False, why
        result = second
    wrong = [f"{n} is {tuple(real)}, not {reported}" for n, reported, real in _outputs(report, trial.sizes, result)]
    return "ran", not wrong, "; ".join(wrong)


def _outputs(
    report: GraphAnswer, sizes: Sizes, result: RunResult
) -> Iterator[tuple[str, tuple[int | None, ...], list[int]]]:
    """Yield the outputs whose real shape differs from the reported one."""
    own = without_sizes(sizes, report._checked.asker.origins)
    for name, shape in report.outputs.items():
        real = (result.shapes or {}).get(name)
        if shape is None or real is None or not has_axes(shape.dims, own):
            continue
        reported = tuple(axes_at(shape.dims, own))
        if len(reported) != len(real) or any(t is not None and t != r for t, r in zip(reported, real, strict=True)):
            yield name, reported, real


def _where_it_fails(
    report: GraphAnswer, trial: _Trial, finding: Finding, result: RunResult, ran: dict[tuple[Feed, ...], RunResult]
) -> _Outcome:
    if result.shapes is not None:
        return "ran", False, "it ran"
    name, kind = _node_of(result.error)
    if not result.is_loaded and not kind:
        return _error(result), None, "the runtime could not load the model"
    if not result.is_known:
        return _error(result), None, "the failing node is not known"
    own = report._checked.asker.places[finding.node].node.name
    before = f"and {name} fails before it" if name and not _is_called(name, own) else ""
    if _is_at_expected(report, trial, result):
        return _error(result), True, before
    if not kind:
        return _error(result), None, "it names no node"
    second = ran.get(_zeros(trial.feeds)) if trial.feeds is not None else None
    if second is None or not _runs_elsewhere(ran):
        return _error(result), None, f"it failed earlier, at another node, {name or kind}"
    if second.shapes is not None:
        return "ran", False, "it ran"
    # Inputs of ones run at other sizes, and neither ones nor zeros run at these: the sizes make the run fail, not the
    # elements. ONNX Runtime stops at a node before the one with the requirement where it reuses a buffer, for example.
    return _error(result), True, ""


def _runs_elsewhere(ran: Mapping[tuple[Feed, ...], RunResult]) -> bool:
    """Return whether the model runs at some sizes with inputs of ones."""
    return any(r.shapes is not None for feeds, r in ran.items() if all(f.number == 1 for f in feeds))


def _is_at_expected(report: GraphAnswer, trial: _Trial, result: RunResult) -> bool:
    """Return whether a run failed at a node that has a requirement which fails at its sizes."""
    name, kind = _node_of(result.error)
    places = report._checked.asker.places
    ops = [
        op
        for op in report._checked.env.operations
        if op.kind != "assume" and failing_constraint(op, trial.sizes) is not None
    ]
    failing = [places[op.origin] for op in ops if op.origin in places]
    return any(_is_called(name, p.node.name) if name else kind == p.op_type for p in failing)


def _is_called(name: str, own: str) -> bool:
    """Return whether a runtime's name means a node; nodes of inlined functions get generated names."""
    return name == own or (bool(own) and name.startswith(_TAKEN_IN) and name.endswith(f"_{own}"))


def _node_of(error: str) -> tuple[str, str]:
    """Return name and operator of the innermost node in an error; empty if it names none."""
    matches = _AT_NODE.findall(error)
    if matches:
        kind, name = matches[-1]
        return name, kind
    loaded = _AT_LOADED_NODE.search(error)
    return (loaded[1], loaded[2]) if loaded else ("", "")


def _in_plain_words(error: str) -> str:
    """Return the message of a runtime's error, without the file, function and condition of its source.

    >>> _in_plain_words("/src/helper.h:60 void ort::Append(ptrdiff_t) axis == 1 was false. Cannot broadcast 2 by 3")
    'Cannot broadcast 2 by 3'
    >>> _in_plain_words("Status Message: matmul_helper.h:59 Compute MatMul dimension mismatch")
    'MatMul dimension mismatch'
    """
    text = error.rpartition("Status Message: ")[2]
    place = _WHERE_IN_RUNTIME.match(text)
    if place is None:
        return text
    rest = text[place.end() :]
    function = _FUNCTION.match(rest)
    message = rest[function.end() :] if function else rest
    return _CONDITION.sub("", message, count=1) or message


def _error(result: RunResult) -> str:
    return shorten_end(" ".join(result.error.split()), LONGEST)


DISAGREEMENT = NoticeKind("disagreement", "ONNX Runtime must agree with the report on a model.", "error")


def disagreements(confirmed: Iterable[Confirmation]) -> Iterator[Notice]:
    """Yield a notice for each run in ONNX Runtime that contradicts the report."""
    for run in confirmed:
        if run.agrees is False:
            yield Notice(DISAGREEMENT, DISAGREEMENT.level, "", "", f"ONNX Runtime {run}")


class ModelReport(GraphReport):
    """The input sizes for which a model runs, every shape in it, and each node's requirements.

    Everything is computed on first use, and the model is never changed.
    """

    def suggest(self) -> dict[str, dict[int, str]]:
        """Return a name for each open axis of each input: one for all sizes that must be equal, if none is 0 or 1.

        As ``dynamic_axes`` of ``torch.onnx.export`` takes it, and ``dynamic_shapes`` with names: exported with these,
        a model says what it requires. Axes that must have one size have no name: they are better exported as fixed.
        Empty if no sizes work. Sizes that are 1 may differ from the others where these broadcast.

        >>> import onnx.parser, symbcast as sb
        >>> text = '''<ir_version: 8, opset_import: ["" : 18]>
        ... g (float[B, T] x, float[A, P] k0, float[C, Q] k1) => (y) {
        ...   a = Concat<axis = 1>(k0, x)  b = Concat<axis = 1>(k1, x)  y = Sub(a, b) }'''
        >>> sb.onnx.check(onnx.parser.parse_model(text)).suggest()
        {'x': {0: 'B', 1: 'T'}, 'k0': {0: 'B', 1: 'P'}, 'k1': {0: 'B', 1: 'P'}}
        """
        if self.verdict is Verdict.NEVER:
            return {}
        return dimension_names(self.inputs, all_of(self._env.clauses), self._env.shown)

    _freed: ClassVar[Callable[..., Any]]
    """Frees the sizes of a model; `symbcast.onnx.freeing`, a higher layer, registers itself here."""

    def edits(self, axes: Any = None) -> tuple[Any, ...]:
        """Return what has to change in the model for it to take every size: an `Edit` for each constant.

        Each has the node, the tensor, its old and new content as text, and the reason; for people who change their
        exporter. ``axes`` are those of `free`, which makes the changes.

        >>> import onnx.parser, symbcast as sb
        >>> text = '''<ir_version: 8, opset_import: ["" : 18]>
        ... g (float[N, 4] x) => (y) <int64[2] s = {1, 4}> { y = Reshape(x, s) }'''
        >>> report = sb.onnx.check(onnx.parser.parse_model(text))
        >>> report.condition, [(edit.tensor, edit.old, edit.new) for edit in report.edits()]
        (Condition('N == 1'), [('s', '[1, 4]', '[0, 4]')])
        """
        model = self._checked.model
        freed = self._freed(model.raw if model.path is None else model.path, axes, runtime=self.runtime)
        return cast("tuple[Any, ...]", freed.edits)

    def confirm(self) -> tuple[Confirmation, ...]:
        """Run the model in ONNX Runtime, at the witness and at each finding's counterexample.

        Raises `MissingExtraError` where onnxruntime is not installed.
        """
        return confirmations(self)

    def annotate(self) -> onnx.ModelProto:
        """Return a copy of the model annotated with the shapes of values."""
        return cast("onnx.ModelProto", annotated(self._checked))
