"""The ONNX front end: how models are read, walked and reported, and the questions about one model and about many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from typing import TYPE_CHECKING

from symbcast.core.advice import with_advice
from symbcast.core.programs.arguments import Assumptions
from symbcast.core.shapes import ShapeLike
from symbcast.errors import ShapeTypeError
from symbcast.graphs.check import FrontEnd, check_graph, read_question
from symbcast.graphs.inputs import ContentsLike, Layouts
from symbcast.graphs.jobs import FileResult, check_files
from symbcast.onnx.operators.declarations import OPERATORS
from symbcast.onnx.reader import read
from symbcast.onnx.reference import infer
from symbcast.onnx.report import ModelReport
from symbcast.onnx.schemas import Runtime
from symbcast.onnx.walk import OnnxWalk

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import onnx
    import onnx_ir


def _prepare() -> None:
    from onnx.parser import parse_model

    text = '<ir_version: 9, opset_import: ["" : 18]> g (float[N] a, float[M] b) => (float[] y) { y = Add(a, b) }'
    question = read_question(FRONT_END)
    ModelReport(check_graph(FRONT_END, read(parse_model(text), question.runtime), question)).to_dict()


_LAYOUTS = Layouts.of(
    images="Conv ConvInteger ConvTranspose FusedConv QLinearConv MaxPool AveragePool LpPool GlobalAveragePool "
    "GlobalMaxPool BatchNormalization InstanceNormalization GroupNormalization LRN DepthToSpace SpaceToDepth",
    keeping="Identity Cast Add Sub Mul Div Pow Sqrt Neg Abs Clip Relu LeakyRelu Sigmoid HardSigmoid Tanh Pad Concat "
    "QuantizeLinear DequantizeLinear DynamicQuantizeLinear",
)

FRONT_END = FrontEnd(
    name="onnx",
    read=read,
    operators=OPERATORS.with_files("symbcast.onnx.operators"),
    report=ModelReport,
    runtimes={"spec": "", "onnxruntime": "ONNX Runtime's behaviour where it differs from the documents"},
    tail=infer,
    walk=OnnxWalk,
    layouts=_LAYOUTS,
    prepare=_prepare,
    module=__name__,
)


@with_advice
def check(  # noqa: PLR0913 - each is something that is known, or asked
    model: str | PathLike[str] | onnx.ModelProto | onnx_ir.Model,
    assume: Assumptions = (),
    min_size: int = 1,
    *,
    bind: Mapping[str, int] | None = None,
    shapes: Mapping[str, ShapeLike] | None = None,
    values: Mapping[str, ContentsLike] | None = None,
    runtime: Runtime = "spec",
    budget: float | None = None,
) -> ModelReport:
    """Find the input sizes at which a model runs, and the shape of every value in it.

    ``model`` is a file, a ``ModelProto`` or an ``onnx_ir.Model``; it is not changed, and weights in other files are not
    read. Sizes have the model's names, or ``<input>_dim_<axis>`` where it has none; ``assume`` lists relations between
    them, and ``min_size`` is the lower bound of each. ``runtime="onnxruntime"`` follows ONNX Runtime where it differs
    from the operators' specification. ``budget`` limits the walk and each question to that number of
    seconds: then shapes and conditions found so far are returned, later nodes are in `unanalysed`, and the verdict is
    UNKNOWN.

    An input of unknown rank is a sequence of axes with the input's name, used as ``rank(x)`` and ``x[-1]``.

    ``bind`` fixes sizes by name; ``shapes`` names or fixes the sizes of inputs; ``values`` gives the contents of
    integer inputs, as numbers and expressions in sizes: ``{"steps": [4, "N//2"]}``. All three are assumed to be true
    without a check.

    Raises `ModelError` if the model is malformed or not a model, `BindingError` if its inputs cannot have the given
    shapes, sizes or contents, `AssumptionError` if assumptions contradict each other or mention sizes that the model
    does not have, and `MissingExtraError` without the extra ``onnx``.

    >>> import onnx
    >>> heads = '''<ir_version: 9, opset_import: ["" : 18]>
    ... heads (float[N, T, D] x) => (float[N, T, 8, d] y) <int64[4] wanted = {0, 0, 8, -1}> {
    ...     y = Reshape(x, wanted)
    ... }'''
    >>> report = check(onnx.parser.parse_model(heads))
    >>> report.condition, report.shapes["y"]
    (Condition('D % 8 == 0'), Shape('(N, T, 8, D//8)'))
    >>> report = check(onnx.parser.parse_model(heads), shapes={"x": "batch, 2*k, 64"})
    >>> report.verdict.value, report.shapes["y"]
    ('always', Shape('(batch, 2*k, 8, 8)'))
    """
    question = read_question(
        FRONT_END, assume, min_size, bind=bind, shapes=shapes, values=values, runtime=runtime, budget=budget
    )
    return ModelReport(check_graph(FRONT_END, read(model, runtime), question))


@with_advice
def check_many(  # noqa: PLR0913 - each is something that is known, or asked
    paths: Iterable[str | PathLike[str]],
    assume: Assumptions = (),
    min_size: int = 1,
    *,
    bind: Mapping[str, int] | None = None,
    shapes: Mapping[str, ShapeLike] | None = None,
    values: Mapping[str, ContentsLike] | None = None,
    runtime: Runtime = "spec",
    executor: Executor | None = None,
    timeout: float | None = None,
) -> Iterator[FileResult]:
    """Check model files and yield each result as it finishes; a failing model does not stop the others.

    The arguments are those of `check`; given sizes and inputs apply to those models that have them. ``executor`` is any
    `concurrent.futures` executor: threads, processes, or ``Client.get_executor()`` of dask.distributed. None means one
    process per core of this machine; a model that crashes does not end the run. A model that takes longer than
    ``timeout`` seconds has the status ``"timed out"`` and no verdict. Only a few models are submitted at a time, so
    ``paths`` may be infinite.

    Results are plain data because they pass between processes; call `check` on the path for the full report.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as threads:
    ...     [(found.path, found.status, found.problem) for found in check_many(["no.onnx"], executor=threads)]
    [('no.onnx', 'failed', 'no.onnx: there is no such file')]
    """
    if isinstance(paths, (str, PathLike)):
        raise ShapeTypeError(paths, "a list of paths", f"write check_many([{str(paths)!r}])")
    question = read_question(FRONT_END, assume, min_size, bind=bind, shapes=shapes, values=values, runtime=runtime)
    return check_files(FRONT_END, paths, question, executor, timeout)
