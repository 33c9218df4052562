"""Triton Inference Server: a ``config.pbtxt`` with the inputs, the outputs and the greatest batch.

A dimension is a number or -1, which stands for any size. So a range can be written only for the batch (from 1 to
``max_batch_size``), and -1 only if every size works. With a batch, the first axis of every input and output is the
batch and is not written; whether the values of one row depend on the others is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator

from symbcast.answers.contracts.question import Tensor
from symbcast.answers.contracts.search.space import decision_in
from symbcast.answers.contracts.targets import declaration
from symbcast.answers.contracts.targets.declaration import BoundedAxes, BoundedAxis, Request, TargetRule
from symbcast.core.algebra.formulas import negate
from symbcast.core.algebra.terms import Symbol, symbols_of
from symbcast.core.structs import NamedTuple
from symbcast.core.verdicts import Verdict

_TYPES = {
    "float32": "FP32",
    "uint8": "UINT8",
    "int8": "INT8",
    "uint16": "UINT16",
    "int16": "INT16",
    "int32": "INT32",
    "int64": "INT64",
    "string": "STRING",
    "bool": "BOOL",
    "float16": "FP16",
    "float64": "FP64",
    "uint32": "UINT32",
    "uint64": "UINT64",
    "bfloat16": "BF16",
}
# What -1 stands for: Triton sends any size from 1 on. Sizes of more than 31 bits are not tried by anybody.
_ANY = range(1, (1 << 31) + 1)
_INT32 = (1 << 31) - 1
_CORE = "triton-inference-server/core: src/model_config_utils.cc"
_ONNX = "triton-inference-server/onnxruntime_backend: src/onnxruntime_utils.cc"
_TYPED = "take the contract of a model whose file has the element types of its inputs"


class TritonTensor(NamedTuple):
    """An input or output in a configuration.

    Attributes:
        kind: ``"input"`` or ``"output"``.
        name: Its name.
        element_type: NumPy's name of its element type; empty if unknown.
        dims: The numbers in ``dims``.
        reshape: The shape in ``reshape``, which the model gets instead; None for none.
        axes: The axes in the model's file, with the batch: numbers, and None for open ones; None if unknown.
    """

    kind: str
    name: str
    element_type: str
    dims: tuple[int, ...]
    reshape: tuple[int, ...] | None
    axes: tuple[int | None, ...] | None


class TritonConfig(NamedTuple):
    """A configuration."""

    max_batch_size: int
    blocks: tuple[TritonTensor, ...]

    @property
    def shapes(self) -> Iterator[tuple[TritonTensor, tuple[int, ...]]]:
        """The blocks, and the whole shapes that Triton compares with the model's."""
        for block in self.blocks:
            own = block.dims if block.reshape is None else block.reshape
            yield block, ((-1, *own) if self.max_batch_size else own)


def _is_other(block: TritonTensor, whole: tuple[int, ...]) -> str:
    """Return how a block differs from the model: an output must have the model's numbers, and -1 elsewhere."""
    axes = block.axes
    if axes is None or (not axes and whole == (1,)):  # a scalar is written as one element
        return ""
    is_output = block.kind == "output"
    same = len(axes) == len(whole) and all(
        (known is None and not is_output) or (-1 if known is None else known) == own
        for known, own in zip(axes, whole, strict=False)
    )
    own = ["any" if n is None else n for n in axes]
    return "" if same else f"{block.name} is {own} in the model, and {list(whole)} here"


RULES: tuple[TargetRule[TritonConfig], ...] = (
    TargetRule(
        "an input or output has a name",
        f"{_CORE}, ValidateIOShape",
        lambda draft: declaration.first_refused(f"an {b.kind} has none" for b in draft.blocks if not b.name),
        "name it in the model",
    ),
    TargetRule(
        "an input or output has a data type that Triton knows",
        f"{_CORE}, ValidateIOShape",
        lambda draft: declaration.first_refused(
            f"that of {b.name} is {b.element_type or 'unknown'}" for b in draft.blocks if b.element_type not in _TYPES
        ),
        _TYPED,
    ),
    TargetRule(
        "an input or output has at least one dimension besides the batch, or a reshape",
        f"{_CORE}, ValidateIOShape",
        lambda draft: declaration.first_refused(f"{b.name} has none" for b in draft.blocks if not b.dims),
        "fix the batch: it is then written as a dimension",
    ),
    TargetRule(
        "a dimension is -1 or at least 1",
        f"{_CORE}, ValidateIOShape",
        lambda draft: declaration.first_refused(
            f"one of {b.name} is 0"
            for b in draft.blocks
            if any(n < 1 and n != -1 for n in (*b.dims, *(b.reshape or ())))
        ),
        "want sizes >= 1",
    ),
    TargetRule(
        "an empty reshape needs a batch",
        f"{_CORE}, ValidateIOShape",
        lambda draft: declaration.first_refused(
            f"{b.name} has one without" for b in draft.blocks if b.reshape == () and not draft.max_batch_size
        ),
        "fix the batch: it is then written as a dimension",
    ),
    TargetRule(
        f"max_batch_size is at most {_INT32}",
        "triton-inference-server/common: protobuf/model_config.proto (int32)",
        lambda draft: f"the greatest batch is {draft.max_batch_size}" if draft.max_batch_size > _INT32 else "",
        "want a smaller batch",
    ),
    TargetRule(
        "with a batch, the first axis of every input and output is open in the model",
        f"{_ONNX}, CompareDimsSupported",
        lambda draft: declaration.first_refused(
            f"that of {b.name} is not"
            for b in draft.blocks
            if draft.max_batch_size and b.axes is not None and b.axes[:1] != (None,)
        ),
        "fix the batch: it is then written as a dimension",
    ),
    TargetRule(
        "an input has the model's axes and numbers, and an output exactly these",
        f"{_ONNX}, CompareDimsSupported",
        lambda draft: declaration.first_refused(_is_other(block, whole) for block, whole in draft.shapes),
        "declare the sizes of inputs and outputs in the model's file as they are",
    ),
    TargetRule(
        "without outputs, a configuration is completed by Triton, which adds a batch where all first axes are open",
        "triton-inference-server/onnxruntime_backend: src/onnxruntime.cc, AutoCompleteMaxBatch",
        lambda draft: (
            ""
            if draft.max_batch_size
            or any(b.kind == "output" or b.axes is None or b.axes[:1] != (None,) for b in draft.blocks)
            else "here they are"
        ),
        "declare the sizes of outputs in the model's file as they are",
    ),
)


@declaration.target("triton", "box, list of one", "a config.pbtxt of Triton Inference Server", RULES, place=4)
def config(request: Request) -> str:
    """Return a ``config.pbtxt`` for the only box of a contract."""
    axes = request.axes(request.box("write a model for each box, with a configuration each"))
    batch = _batch(request, axes)
    _check(request, axes, None if batch is None else batch.name)
    draft = TritonConfig(
        0 if batch is None else batch.sizes[-1], tuple(_blocks(request, axes, is_batched=batch is not None))
    )
    uncertain = [b.name for b, whole in draft.shapes if b.kind == "output" and _is_other(b, whole)]
    note = []
    if uncertain:  # the runtime may find these numbers or not, and only what it finds is right
        draft = draft._replace(blocks=tuple(b for b in draft.blocks if b.kind == "input"))
        note = [f"# Triton completes the outputs from the model, which does not declare all sizes of {uncertain[0]}."]
    declaration.verify_draft(request, RULES, draft)
    return "\n".join([f"max_batch_size: {draft.max_batch_size}", *note, *map(_text, draft.blocks)])


def _batch(request: Request, axes: BoundedAxes) -> BoundedAxis | None:
    """Return the batch, None if there is none: a size from 1 on that is the first axis of every input and output.

    It is on no other axis, the model's file has it open, and the shapes of all outputs are known.
    """
    # `max_batch_size` promises all batches from 1 to it: a step or a greater least batch cannot be written.
    first_axes = {shape[0] if shape else None for shape in axes.values()}
    axis = first_axes.pop() if len(first_axes) == 1 else None
    if axis is None or not axis.name or axis.sizes[0] != 1 or axis.sizes.step > 1 or axis.is_fixed:
        return None
    question = request.question
    symbol = next(s for s, name in question.names.items() if name == axis.name)
    tensors = [*request.tensors.values(), *question.outputs.values()]
    return axis if all(_is_batched(tensor, symbol) for tensor in tensors) else None


def _is_batched(tensor: Tensor, batch: Symbol) -> bool:
    if tensor.shape is None or tensor.shape.rank is None or not tensor.axes or tensor.axes[0] is not None:
        return False
    # Triton cuts and joins requests along the first axis: a batch that is also on another axis would be cut there too.
    whole, *rest = tensor.shape.dims
    return whole == batch and batch not in symbols_of(rest)


def _blocks(request: Request, axes: BoundedAxes, *, is_batched: bool) -> Iterator[TritonTensor]:
    for name, shape in axes.items():
        yield _block("input", name, request.tensors[name], [_number(axis) for axis in shape], is_batched=is_batched)
    for name, tensor in request.question.outputs.items():
        if tensor.shape is not None and tensor.shape.rank is not None:
            dims = [d if isinstance(d, int) else -1 for d in tensor.shape.dims]
            yield _block("output", name, tensor, dims, is_batched=is_batched)


def _number(axis: BoundedAxis) -> int:
    return axis.sizes[0] if axis.is_fixed else -1


def _block(kind: str, name: str, tensor: Tensor, whole: list[int], *, is_batched: bool) -> TritonTensor:
    """Return a block: one element where a tensor has no axes, or none but the batch; then the model gets a reshape."""
    own = tuple(whole[1:] if is_batched else whole)
    reshape = () if is_batched and not own else None
    return TritonTensor(kind, name, tensor.element_type, own or (1,), reshape, tensor.axes)


def _check(request: Request, axes: BoundedAxes, batch: str | None) -> None:
    """Raise `TargetError` unless every size works on the axes for which -1 is written."""
    for name, shape in axes.items():
        other = next((a for a in shape if not a.is_fixed and not a.name), None)
        if other is not None:
            problem = (
                f"its dimensions are a number or -1 for any size, and not every size is {other.text}, as of {name}"
            )
            raise request.refused(problem, "fix its sizes with form='list' and most=1", "list")
    free = {a.name for shape in axes.values() for a in shape if not a.is_fixed and a.name != batch}
    if not free:
        return
    question, box = request.question, request.boxes[0]
    ranges = {s: _ANY if name in free else box[name] for s, name in question.names.items()}
    decision = decision_in(ranges, [negate(question.formula)])
    if decision is not None and decision.satisfiable is not False and decision.verdict is not Verdict.NEVER:
        point = decision.witness() or {}
        at = ", ".join(f"{question.names[s]}={n}" for s, n in point.items() if question.names[s] in free)
        raise request.refused(
            f"its dimensions are a number or -1 for any size, and not every size of {' and '.join(sorted(free))} works"
            f"{f' ({at} fails)' if at else ''}",
            "fix these sizes, or check requests before they reach the model",
            "box",
            fixed=sorted(free),
        )


def _text(block: TritonTensor) -> str:
    dims = ", ".join(map(str, block.dims))
    reshape = "" if block.reshape is None else f"\n  reshape: {{ shape: [{', '.join(map(str, block.reshape))}] }}"
    kind = f"  data_type: TYPE_{_TYPES[block.element_type]}\n"
    return f"{block.kind} {{\n  name: {_quoted(block.name)}\n{kind}  dims: [{dims}]{reshape}\n}}"


def _quoted(name: str) -> str:
    """Return a string of protobuf's text format: UTF-8, with escapes for quotes and for signs below a space."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c >= " " else f"\\{ord(c):03o}" for c in escaped) + '"'
