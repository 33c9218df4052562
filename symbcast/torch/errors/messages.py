"""Messages of torch: the rows that recognise them, errors of kernels, and lines of logs."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from symbcast.errors import DimensionError
from symbcast.torch.guards.guard_texts import RELATION_NAMES, SizeNames, shown_guard
from symbcast.torch.guards.guards import Guard, Specialised


class Message(NamedTuple):
    """A message of torch about sizes.

    Attributes:
        said: torch's sentence.
        meaning: its meaning in sizes.
        why: why torch gives it; empty if the combined condition answers it.
        advice: what to do; empty if the suggested dynamic shapes are the answer.
        guard: the requirement on sizes that it states.
        fixed: the axis whose size it fixes.
        line: the line of code, where torch names one.
    """

    said: str
    meaning: str
    why: str = ""
    advice: str = ""
    guard: Guard | None = None
    fixed: Specialised | None = None
    line: str = ""


Build = Callable[["re.Match[str]", "SizeNames"], "Message | None"]


_OPERATORS: dict[str, type[ast.operator]] = {"Mod": ast.Mod, "PythonMod": ast.Mod, "FloorDiv": ast.FloorDiv}


class _Python(ast.NodeTransformer):
    """Writes torch's functions of two numbers as Python's operators."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        visited = self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if len(node.args) == 2 and name in RELATION_NAMES:
            return ast.Compare(node.args[0], [RELATION_NAMES[name]()], [node.args[1]])
        if len(node.args) == 2 and name in _OPERATORS:
            return ast.BinOp(node.args[0], _OPERATORS[name](), node.args[1])
        return visited


def _tight(node: ast.AST) -> str:
    """Return an expression with products and quotients written as torch writes them."""
    return ast.unparse(node).replace(" * ", "*").replace(" // ", "//")


def as_python(expression: str) -> str:
    """Return a condition of torch, such as ``Eq(Mod(s0, 4), 0)``, with Python's operators."""
    text = expression.replace(" | ", " or ").replace(" & ", " and ")
    if not any(f"{name}(" in text for name in (*RELATION_NAMES, *_OPERATORS)):
        return text
    try:
        return _tight(_Python().visit(ast.parse(text, mode="eval")))
    except (SyntaxError, ValueError, RecursionError):
        return text


class MessageRow(NamedTuple):
    """A message that torch writes: its pattern, and the answers, with the pattern's groups in braces."""

    pattern: re.Pattern[str]
    build: Build


def read_row(pattern: str, build: Build) -> MessageRow:
    """Return a row whose answers a function reads from what the pattern matched."""
    return MessageRow(re.compile(pattern), build)


def message_row(pattern: str, meaning: str, why: str, advice: str) -> MessageRow:
    """Return a row whose answers are templates; groups of the pattern fill the braces."""

    def build(match: re.Match[str], names: SizeNames) -> Message:
        groups = {key: names.spelled(" ".join((value or "").split())) for key, value in match.groupdict().items()}
        if "condition" in groups:
            groups["condition"] = as_python(groups["condition"])
        said = (template.format(**groups) for template in (meaning, why, advice))
        return Message(_quoted(match), next(said), next(said), next(said))

    return MessageRow(re.compile(pattern, re.S), build)


def _quoted(match: re.Match[str]) -> str:
    return " ".join(match[0].split())[:300]


def messages_in(text: str, names: SizeNames, rows: Iterable[MessageRow]) -> Iterator[Message]:
    """Yield the messages in a text in order, each once; where two rows match the same place, the first one counts."""
    messages: list[tuple[int, int, Message]] = []
    taken: list[tuple[int, int]] = []
    for row in rows:
        for match in row.pattern.finditer(text):
            start, end = match.span()
            # Rows are in order of precision: a general row must not read a part of what an earlier row has read.
            if any(start < other_end and other_start < end for other_start, other_end in taken):
                continue
            message = row.build(match, names)
            if message is not None:
                taken.append((start, end))
                messages.append((start, end, message))
    seen: set[tuple[str, str]] = set()
    # Messages stand in the order of the text, whatever the order of the rows.
    for _, _, message in sorted(messages, key=lambda f: f[0]):
        key = (message.meaning, message.line) if message.guard is None else (message.guard.text, "")
        if key not in seen:
            seen.add(key)
            yield message


def guard_message(match: re.Match[str], names: SizeNames, text: str, line: str = "") -> Message:
    """Return the message of a requirement that torch writes as an expression."""
    shown = text.strip().rstrip(".,")
    try:
        guard = Guard(shown_guard(shown), names.reader.formula(shown), line)
    except DimensionError as error:
        sizes = names.reader.sizes_in(shown)
        guard = Guard(shown_guard(shown), None, line, error.problem, sizes)
        about = f", so what sizes of {', '.join(sizes)} it accepts is open" if sizes else ""
        why = f"this guard is not read: {error.problem}{about}"
        return Message(_quoted(match), f"torch requires {names.spelled(shown)}", why, guard=guard, line=line)
    return Message(_quoted(match), f"torch requires {names.spelled(shown)}", guard=guard, line=line)


def read_guard(match: re.Match[str], names: SizeNames) -> Message:
    """Return the message of a requirement that a pattern's group ``guard`` holds."""
    return guard_message(match, names, match["guard"])


# Errors of operators about sizes, as torch's kernels and their shape functions write them.


_N = r"(?:[\w*+/() -]+?)"

KERNEL_ROWS = (
    message_row(
        rf"The size of tensor a \((?P<a>{_N})\) must match the size of tensor b \((?P<b>{_N})\) at non-singleton "
        rf"dimension "
        r"(?P<axis>\d+)",
        "on axis {axis} of the result, the operands have {a} and {b}; they must be equal, or one must be 1",
        "an elementwise operation broadcasts: axes are aligned from the right",
        "make the sizes equal, or insert an axis of size 1 with unsqueeze so that the right axes meet",
    ),
    message_row(
        rf"The expanded size of the tensor \((?P<a>{_N})\) must match the existing size \((?P<b>{_N})\) at "
        rf"non-singleton "
        r"dimension (?P<axis>\d+)",
        "axis {axis} has size {b} and cannot become {a}: only a size of 1 expands",
        "expand, in-place operations and biases broadcast one way",
        "give the tensor size 1 or {a} on that axis; use repeat to copy it several times",
    ),
    message_row(
        r"mat1 and mat2 shapes cannot be multiplied \((?P<m>\w+)x(?P<k>\w+) and (?P<k2>\w+)x(?P<n>\w+)\)",
        "the inner sizes of the product differ: {k} and {k2}",
        "a matrix product (a Linear layer: its in_features) needs as many columns as the other has rows",
        "make the last axis of the input {k2} long, or change in_features to {k}; after a flatten it depends on the "
        "image size",
    ),
    message_row(
        r"Expected size for first two dimensions of batch2 tensor to be: (?P<wanted>\[.*?\]) but got: (?P<got>\[.*?\])",
        "the second operand of bmm must begin with {wanted}, but begins with {got}",
        "bmm needs equal batches and equal inner sizes, without broadcasting",
        "transpose an operand if its axes are in the other order; use matmul to broadcast batches",
    ),
    message_row(
        r"shape '(?P<shape>\[[^\]]*\])' is invalid for input of size (?P<count>\w+(?:[*+/() -]+\w+)*\)*)",
        "a tensor of {count} elements cannot have the shape {shape}",
        "view and reshape keep the number of elements; -1 needs a whole quotient",
        "compute written sizes from x.shape, or choose input sizes whose number of elements is a multiple of the "
        "others",
    ),
    message_row(
        r"Cannot view a tensor with shape (?P<old>.+?) and strides (?P<strides>.+?) as a tensor with shape "
        r"(?P<new>[^\n]+?)!",
        "the shape {old} with strides {strides} cannot be viewed as {new} without a copy",
        "view merges only axes that are contiguous in memory",
        "use reshape, or contiguous() before view",
    ),
    message_row(
        r"view size is not compatible with input tensor's size and stride",
        "the axes that the view merges are not contiguous in memory",
        "after transpose, permute or expand, merged axes are not adjacent in memory",
        "use reshape, or contiguous() before view",
    ),
    message_row(
        r"Sizes of tensors must match except in dimension (?P<axis>\d+)\. Expected size (?P<a>\S+) but got size "
        r"(?P<b>\S+) for tensor number (?P<n>\d+)",
        "concatenated along axis {axis}, tensor {n} has {b} on another axis, where the first has {a}",
        "cat needs equal sizes on all other axes; in a U-Net, the input must be a multiple of the total stride",
        "pad or crop the input, or interpolate one tensor to the other's size",
    ),
    message_row(
        r"Sizes of tensors must match except in dimension (?P<axis>\d+)\.?",
        "tensors concatenated along axis {axis} differ on another axis",
        "cat needs equal sizes on all other axes",
        "pad, crop or interpolate one tensor to the other's size",
    ),
    message_row(
        r"stack expects each tensor to be equal size, but got (?P<a>\[.*?\]) at entry 0 and (?P<b>\[.*?\]) at entry "
        r"(?P<n>\d+)",
        "tensor {n} has the shape {b}, the first has {a}; they must be equal",
        "stack adds a new axis to tensors of one shape; in a data loader, the samples differ",
        "pad the samples to one size (a collate function), or use cat",
    ),
    message_row(
        r"Given groups=(?P<groups>\d+), weight of size (?P<weight>\[.*?\]), expected input(?P<input>\[.*?\]) to have "
        r"(?P<wanted>\S+) channels, but got (?P<got>\S+) channels instead",
        "the convolution takes {wanted} channels, but the input has {got}",
        "axis 1 of the input must have weight.shape[1] * groups sizes",
        "permute a channels-last image, or set in_channels to {got}",
    ),
    message_row(
        r"Calculated padded input size per channel: (?P<size>\(.*?\))\. Kernel size: (?P<kernel>\(.*?\))",
        "the padded input is {size}, smaller than the kernel {kernel}",
        "each axis, after padding, must hold the kernel at least once",
        "use larger inputs, more padding or fewer downsampling steps before this layer",
    ),
    message_row(
        r"Given input size: (?P<input>\(.*?\))\. Calculated output size: (?P<output>\(.*?\))\. Output size is too "
        r"small",
        "pooling an input of {input} gives {output}, which is empty",
        "the window, with its padding, must fit at least once",
        "use larger inputs, or ceil_mode=True, or fewer pooling steps",
    ),
    message_row(
        r"Padding size should be less than the corresponding input dimension, but got: padding (?P<pads>\(.*?\)) at "
        r"dimension (?P<axis>\d+) of input (?P<input>\[.*?\])",
        "the padding {pads} is not smaller than axis {axis} of {input}",
        "reflection needs at least as many other elements as it adds",
        "pad less, use mode='replicate', or use larger inputs",
    ),
    message_row(
        r"Given normalized_shape=(?P<wanted>\[.*?\]), expected input with shape (?P<shape>\[.*?\]), but got input of "
        r"size ?(?P<got>\[.*?\])",
        "the input {got} does not end in {wanted}",
        "layer_norm normalizes the last axes, which must have exactly the sizes of its weight",
        "make the last axes {wanted}, or create the layer with the input's sizes",
    ),
    message_row(
        r"split_with_sizes expects split_sizes to sum exactly to (?P<size>\S+) \(input tensor's size at dimension "
        r"(?P<axis>-?\d+)\), but got split_sizes=(?P<sizes>\[.*?\])",
        "the sizes {sizes} must sum to {size}, the size of axis {axis}",
        "split with a list covers the axis exactly",
        "compute one of the sizes from x.shape[{axis}]",
    ),
    message_row(
        r"index (?P<index>-?\w+) is out of bounds for dimension (?P<axis>\d+) with size (?P<size>\w+)",
        "index {index} is not below {size}, the size of axis {axis}",
        "indices go from -size to size - 1; for an embedding, ids must be below num_embeddings",
        "use a size above the index, or clamp the indices",
    ),
    message_row(
        r"The shape of the mask (?P<mask>\[.*?\]) at index (?P<at>\d+) does not match the shape of the indexed tensor "
        r"(?P<shape>\[.*?\])",
        "the mask {mask} must have the first sizes of the tensor {shape}; they differ at axis {at}",
        "a boolean mask is not broadcast",
        "expand the mask to the tensor's first axes",
    ),
    message_row(
        r"Dimension out of range \(expected to be in range of (?P<range>\[.*?\]), but got (?P<axis>-?\d+)\)",
        "axis {axis} does not exist; axes are in {range}",
        "the tensor has fewer axes than the code expects, often because a batch axis is missing",
        "add the axis with unsqueeze, or count from the end",
    ),
    message_row(
        r"Expected more than 1 value per channel when training, got input size (?P<size>[^\n]+)",
        "batch normalization of {size} has one value per channel",
        "the variance of one value is undefined",
        "train with batches of 2 or more (drop_last=True), or call eval()",
    ),
    message_row(
        r"Expected input batch_size \((?P<a>\S+)\) to match target batch_size \((?P<b>\S+)\)",
        "the predictions have {a} rows, the targets {b}; they must be equal",
        "a classification loss compares row by row; sequences must be flattened alike",
        "view predictions as (-1, classes) and targets as (-1)",
    ),
    message_row(
        r"start \((?P<start>\S+)\) \+ length \((?P<length>\S+)\) exceeds dimension size \((?P<size>\S+)\)",
        "{start} + {length} must be at most {size}",
        "narrow takes a part within the axis",
        "shorten it, such as min(length, x.shape[axis] - start)",
    ),
    message_row(
        r"Expected (?P<which>hidden(?:\[\d\])?) size (?P<wanted>\(.*?\)), got (?P<got>\[.*?\])",
        "the state {which} must have the shape {wanted}, but has {got}",
        "a state has (layers * directions, batch, hidden) sizes, with the batch of the input",
        "create the state from the input's batch, and mind batch_first, which does not change the state's axes",
    ),
    message_row(
        r"Expected number of channels in input to be divisible by num_groups, but got input of shape "
        r"(?P<shape>\[.*?\]) and num_groups=(?P<groups>\d+)",
        "the channels of {shape} must be a multiple of {groups}",
        "group_norm divides the channels into equal groups",
        "choose a number of groups that divides the channels",
    ),
    message_row(
        r"unflatten: Provided sizes (?P<sizes>\[.*?\]) don't multiply up to the size of dim (?P<axis>\S+) "
        r"\((?P<size>\S+)\)",
        "the product of {sizes} must be {size}, the size of axis {axis}",
        "unflatten replaces one axis by several with the same number of elements",
        "write -1 for one of the sizes, and pad the axis to a multiple of the others",
    ),
    message_row(
        r"einsum\(\): subscript (?P<letter>\w) has size (?P<b>\S+) for operand (?P<n>\d+) which does not broadcast "
        r"with previously seen size (?P<a>\S+)",
        "subscript {letter} is {a} and, in operand {n}, {b}; they must be equal, or one must be 1",
        "one letter is one size",
        "use another letter, or transpose the operand",
    ),
    message_row(
        r"shape mismatch: indexing tensors could not be broadcast together with shapes (?P<shapes>[^\n]+)",
        "the index tensors have the shapes {shapes}, which do not broadcast",
        "several index tensors are broadcast with each other",
        "for all combinations, index with a[:, None] and b[None]",
    ),
    message_row(
        r"output with shape (?P<a>\[.*?\]) doesn't match the broadcast shape (?P<b>\[.*?\])",
        "an in-place operation would change the shape {a} to {b}",
        "an in-place operation keeps its first operand's shape",
        "use the operation that is not in place, or reduce the other operand",
    ),
    message_row(
        r"Halving dimension must be even, but dimension (?P<axis>-?\d+) is size (?P<size>\S+)",
        "axis {axis} is {size}, which must be even",
        "glu splits the axis into two equal parts",
        "double the channels of the layer before it",
    ),
    message_row(
        r"pixel_(?P<way>un)?shuffle expects (?P<what>[^\n]+?), but (?:got |input)(?P<got>[^\n]+)",
        "pixel_shuffle and pixel_unshuffle need {what}; the input has {got}",
        "channels or pixels are regrouped in blocks of the factor",
        "pad the input to a multiple of the factor",
    ),
)


# Lines of ``TORCH_LOGS``, and the reports of ``torch.export.draft_export``.


_PLACE = re.compile(
    r"(?:(?P<code>.*?)\s+#\s+(?P<user>\S+:\d+) in \S+\s+| at (?P<older>\S+:\d+) in \S+\s+)?"
    r"\((?P<file>[^()\s]+:\d+) in (?P<function>[^)]+)\)"
)
_UNBACKED = re.compile(r"(?<!\w)(?:zu|zuf|u)\d+(?!\w)")


def recorded_line(place: str) -> str:
    """Return where torch recorded a guard: the user's line if it is known, or torch's own function."""
    match = _PLACE.search(place)
    if match is None or match["file"].startswith("<"):  # a graph that torch wrote
        return ""
    user = match["user"] or match["older"]  # torch up to 2.6 writes "at file:line"
    return f"line {user}" if user else f"{match['function']} in torch"


def _guard_added(match: re.Match[str], names: SizeNames) -> Message | None:
    if _UNBACKED.search(match["guard"]):
        return Message(
            " ".join(match[0].split())[:300],
            f"torch checks {names.spelled(match['guard'])} at run time",
            "data decide it",
            line=recorded_line(match["place"]),
        )
    return guard_message(match, names, match["guard"], recorded_line(match["place"]))


def _specializing(match: re.Match[str], names: SizeNames) -> Message:
    axis, size = names.axis_of(match["source"]), match["size"]
    return Message(
        match[0],
        f"torch fixed {axis} at {size}",
        "the guards leave this size only",
        "leave the axis out of dynamic_shapes (or Dim.STATIC), or change the line whose guard leaves one size",
        fixed=Specialised(axis, int(size), match["source"], True),
    )


LOG_ROWS = (
    read_row(
        r"(?:eval|runtime_assert|expect_true|advise_is_size)(?: \(forcing_spec\))? (?P<guard>(?!\[guard "
        r"suppressed\])[^\n]+?) \[guard added\](?P<place>[^\n]*)",
        _guard_added,
    ),
    read_row(r"this guard was added: (?P<guard>[^\n]+?), where \{", read_guard),
    read_row(r"Specializing (?P<source>L\[[^\n]+?) to (?P<size>\d+)", _specializing),
)
