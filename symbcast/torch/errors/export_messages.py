"""Messages of ``torch.export`` and of exported programs: fixed sizes, data-dependent sizes, calls that do not fit."""

from __future__ import annotations

import ast
import re

from symbcast.torch.errors.messages import (
    Message,
    as_python,
    fixed_message,
    guard_message,
    message_row,
    read_guard,
    read_row,
)
from symbcast.torch.graph import is_of_torch, source_of
from symbcast.torch.guards.guard_texts import SIZE, SOURCE, SizeNames

# Why a size is fixed at 0 or 1, and what to do.
EXAMPLE_OF_ONE = (
    "the example has size {size} there, and torch always treats 0 and 1 as constants",
    "export with an example of 2 or more on that axis; the dynamic shapes can stay",
)
_FIXES = (
    "the code fixes it: it uses the size as a Python number (range(), int(), a list index, a loop over the axis), "
    "compares it with {size}, or an operator needs exactly {size} there, such as a weight, a view with written sizes "
    "or a recurrent layer"
)
_LEFT_FIXED = "leave the axis out of dynamic_shapes (or Dim.STATIC), or change the line that needs exactly {size}"


def _fixed(match: re.Match[str], names: SizeNames, name: str, size: str, text: str = "") -> Message:
    answer = EXAMPLE_OF_ONE if size in ("0", "1") else (_FIXES, _LEFT_FIXED)
    line = source_of(text)
    return fixed_message(match, names.axis_of(name), size, name, answer, "" if line is None else f"line {line}")


def _marked(match: re.Match[str], names: SizeNames, name: str, size: str) -> Message:
    message = _fixed(match, names, name, size, match.groupdict().get("stack") or "")
    if not MARKED.search(match.string):
        return message
    return message._replace(advice=_UNMARK_ONE if size in ("0", "1") else _UNMARK.format(size=size))


# Only torch.compile writes a stack, or this constraint, without a word about exports: the axis was marked, and has no
# dynamic_shapes.
MARKED = re.compile(r"\A(?![\s\S]*(?:export|UserError))[\s\S]*(?:RelaxedUnspecConstraint|User stack:)")
_UNMARK = (
    "remove the mark, or use torch._dynamo.maybe_mark_dynamic (in an export, Dim.AUTO for Dim.DYNAMIC), which lets "
    "torch fix the size; or change the line that needs exactly {size}"
)
_UNMARK_ONE = "make the first call with a size of 2 or more there, or use torch._dynamo.decorators.mark_unbacked"


def _inferred(match: re.Match[str], names: SizeNames) -> Message:
    """Read "was inferred to be a constant (6)" and "was inferred to be equal to 2*s0"."""
    name, value = match["name"], match["value"].strip(" .()")
    wrapped = re.fullmatch(r"RelaxedUnspecConstraint\((.+)\)", name)
    name = wrapped[1] if wrapped else name
    if value.isdecimal():
        return _marked(match, names, name, value)
    left = name if SIZE.fullmatch(name) else match["source"] or name
    return guard_message(match, names, f"{left} == {value}")


def _solved(match: re.Match[str], names: SizeNames) -> Message:
    why = (
        f"the listed requirements hold at the example's size, and torch could not show that another size satisfies "
        f"them; {names.name_of(match['source'])} appears in quotients or in several of them"
    )
    advice = "leave the axis to torch (Dim.AUTO), which keeps such requirements as checks at run time; or Dim.STATIC"
    return fixed_message(match, names.axis_of(match["source"]), match["size"], match["source"], (why, advice))


def _related(match: re.Match[str], names: SizeNames) -> Message:
    left, right = match["left"], match["right"].strip().rstrip(".")
    other = names.name_of(match["other"])
    text = f"{left} == {right}".replace(names.name_of(match["source"]), match["source"], 1)
    text = re.sub(rf"(?<![\w'\]]){re.escape(other)}(?![\w'])", lambda _: match["other"], text)
    return guard_message(match, names, text)


def _conflict(match: re.Match[str], names: SizeNames) -> Message:
    axis = re.sub(r"^\['(\w+)'\]", r"\1", match["axis"].removeprefix("inputs"))
    answer = EXAMPLE_OF_ONE if match["one"] else (_FIXES, "use Dim.AUTO or Dim.STATIC for that axis")
    inner, _, place = axis.rpartition(".shape")
    source = re.sub(r"^[^.\[]*", r"L['\g<0>']", inner) + f".size(){place}"
    return fixed_message(match, axis, match["one"] or match["static"], source, answer)


def _ranges(match: re.Match[str], names: SizeNames) -> Message:
    axis = re.sub(r"^inputs\['(\w+)'\]", r"\1", match["axis"])
    low, high = match["low"], match["high"]
    bound = f"{low} <= {axis}" + ("" if high in ("int_oo", "oo") else f" <= {high}")
    return Message(
        match[0],
        f"torch found that {bound}; the given range is {match['given']}",
        "the code needs that range at run time, or the branch that the example took holds only there",
        "give the Dim a range inside it, or leave the axis to torch without a range (Dim.AUTO)",
    )


def _outside(match: re.Match[str], names: SizeNames) -> Message:
    value, low, high = match["value"], match["low"], match["high"]
    return Message(
        match[0],
        f"the example's size {value} is not between {low} and {high}",
        "the range of a Dim or a mark must contain the size of the example",
        f"widen the range (min, max) to include {value}, or export with an example of a size from {low} to {high}",
    )


# What torch 2.13 raises where it fails to word its own refusal; none of it is an error in the caller's shapes.
CRASHES = re.compile(
    r"(?P<said>Expected op to be '==', got [^\n]+|\ACannot create Dim with inconsistent min=\d+, max=\d+(?=\s*\Z)|"
    r"\A'(?:min|max)'\Z)"
)

CONSTRAINT_ROWS = (
    message_row(
        CRASHES.pattern,
        "torch refuses the Dims and fails to say why: {said}",
        "the code needs sizes that a Dim cannot say, and torch 2.13 fails while it solves for them",
        "leave these axes to torch: Dim.AUTO, with the same min and max",
    ),
    read_row(
        r"Not all values of [^\n]+? satisfy the generated guard:? (?P<guard>[^\n]+?)"
        r"(?=Specializations unexpectedly|\.?[ \t]*(?:\n|$))",
        read_guard,
    ),
    read_row(
        rf"Not all values of (?:\w+ = )?(?P<source>{SOURCE})?[^\n]*? are valid because "
        r"(?P<name>\S+) was inferred to be (?:equal to|a constant) (?P<value>[^\n]+)",
        _inferred,
    ),
    read_row(
        r"You marked (?P<name>[^\n]+?) as dynamic but your code\s+specialized it to be a constant \((?P<size>\d+)\)"
        r"(?:[^\n]*\n\nUser stack:\n(?P<stack>(?:[ \t]+[^\n]*\n?)+))?",
        lambda match, names: _marked(match, names, match["name"], match["size"]),
    ),
    read_row(
        rf"The values of (?:\w+ = )?(?P<left>{SOURCE}) and (?:\w+ = )?(?P<right>{SOURCE}) must always be equal",
        lambda match, names: guard_message(match, names, f"{match['left']} == {match['right']}"),
    ),
    read_row(
        rf"The values of (?:\w+ = )?(?P<source>{SOURCE}) must always be related to the values of (?:\w+ = )?"
        rf"(?P<other>{SOURCE}) by (?P<left>\S+) = (?P<right>[^\n]+)",
        _related,
    ),
    read_row(
        rf"solving the guards generated for (?:\w+ = )?(?P<source>{SOURCE}) resulted in a specialized value of "
        r"(?P<size>\d+)",
        _solved,
    ),
    read_row(
        rf"(?P<source>{SOURCE}) must be specialized to (?P<size>\d+) because the guards generated for it are too "
        rf"complex",
        _solved,
    ),
    read_row(
        r"Received user-specified dim hint [^\n]+?, but (?:export 0/1 specialized due to hint of (?P<one>\d+)|"
        r"tracing inferred a static shape of (?P<static>\d+)) for dimension (?P<axis>[^\n]+?)\.?(?=\n|$)",
        _conflict,
    ),
    read_row(r"dimension (?P<axis>\S+) 0/1 specialized; Dim\.AUTO was [^\n]+? hint = (?P<one>\d)", _conflict),
    read_row(
        r"Received user-specified min/max range of (?P<given>\[[^\]]*\]), conflicting with the inferred min/max range "
        r"of \[(?P<low>\w+), (?P<high>\w+)\], for (?P<axis>[^\n]+?)\.?(?=\n|$)",
        _ranges,
    ),
    read_row(r"(?P<value>\d+) not in range \[(?P<low>\d+), (?P<high>\w+)\]", _outside),
)


# Messages about sizes that data decide: results of ``item()``, ``nonzero``, masks and ``unique``.


_NAMES = re.compile(r"(?<!\w)(?:zu|zuf|u|f)\d+(?!\w)")
_CHECKS = re.compile(
    r"To fix the error, insert one of the following checks before this call:\n(?P<checks>(?:\s+\d+\. [^\n]+\n?)+)"
)
_CAUSED = re.compile(
    r"Caused by: (?P<code>[^\n]*?)(?:\s*#\s*)?\(?(?P<file>[^\s():]+):(?P<line>\d+) in (?P<function>[^)\n]*)\)?"
)
_BROADCAST = re.compile(r"(?:Eq|Ne)\((?:.*, )?[01](?:, .*)?\)")
_TRIVIAL = ("True", "False")
# Where torch.export asks a tensor for its truth, the number is that of the tensor and has no name in the code.
_OF_A_TENSOR = re.compile(r"Caused by: \(_export/non_strict_utils\.py:\d+ in __torch_function__\)")
_TENSOR_BRANCH = (
    "an if or while in the code depends on a tensor's data",
    "torch must take one branch while it traces",
    "use torch.cond, torch.where or torch.while_loop",
)
_NEGATED: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=", ast.NotEq: "==", ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<",
}  # fmt: skip


def _unbacked(expression: str) -> str:
    names = list(dict.fromkeys(_NAMES.findall(expression)))
    return ", ".join(names) or expression


def _opposite(expression: str) -> str:
    shown = as_python(expression)
    try:
        node = ast.parse(shown, mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return f"not ({shown})"
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _NEGATED:
            left_text, right_text = (ast.get_source_segment(shown, side) for side in (left, right))
            return f"{left_text} {_NEGATED[type(op)]} {right_text}"
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return str(ast.get_source_segment(shown, inner))
    return f"not ({shown})"


def _line_of(text: str) -> str:
    stack, caused = source_of(text), _CAUSED.search(text)
    if stack is not None and not is_of_torch(stack.file):
        return f"line {stack}"
    return "" if caused is None or is_of_torch(caused["file"]) else f"line {caused['file']}:{caused['line']}"


def _integer(match: re.Match[str], unbacked: str, problem: str, line: str) -> Message:
    return Message(
        " ".join(match[0].split()),
        f"the code needs {unbacked} as a Python integer, but {problem}",
        "int(), range(), a list index or a shape that must be a number needs the value while torch traces",
        f"keep it a tensor or a size: use torch.arange({unbacked}) or a mask instead of a Python loop; or make the "
        f"integer an argument of forward",
        line=line,
    )


def _undecided(match: re.Match[str], names: SizeNames) -> Message:
    """Read "Could not guard on data-dependent expression" and its variant for integers."""
    expression = match["expression"].strip()
    text = match.string[match.start() : match.start() + 20_000]
    if expression in _TRIVIAL:  # torch simplified it after it gave up; the original expression follows
        unhinted = re.search(r"\(unhinted: (?P<asked>[^\n]+?)\)\.", text)
        expression = expression if unhinted is None else unhinted["asked"]
    unbacked, shown = _unbacked(expression), as_python(expression)
    line = _line_of(text)
    if "extract specialized integer" in match[0]:
        return _integer(match, unbacked, "data decide it", line)
    if _OF_A_TENSOR.search(text):
        return Message(" ".join(match[0].split()), *_TENSOR_BRANCH, line=line)
    checks = _CHECKS.search(text)
    lines = [c.partition(". ")[2].strip() for c in checks["checks"].strip().splitlines()] if checks else []
    if any(line in (f"torch._check({value})" for value in _TRIVIAL) for line in lines):
        lines = []
    is_of_size_one = bool(_BROADCAST.search(expression))
    origin = "item(), nonzero, a mask, unique, or an axis that mark_unbacked marks"
    why = f"torch has no number for {unbacked} ({origin}), and it must take one branch while it traces"
    if is_of_size_one:
        why += "; operators test for sizes 0 and 1, because these broadcast, are contiguous or are skipped"
    options = lines or [f"torch._check({_opposite(expression)})", f"torch._check({shown})"]
    advice = f"if it never holds, insert {options[0]} before the line" if not lines else f"insert {options[0]}"
    if len(options) > 1:
        advice += f"; if it always holds, {options[1]}" if not lines else f", or {options[1]}"
    advice += "; if both occur, use torch.cond or torch.where"
    return Message(" ".join(match[0].split()), f"torch cannot tell whether {shown}", why, advice, line=line)


def _evaluated(match: re.Match[str], names: SizeNames) -> Message:
    """Read a failure of ``draft_export``: a condition on data that it evaluated with the example."""
    expression = match["expression"].strip()
    shown = as_python(expression)
    text = match.string[match.start() : match.start() + 20_000]
    result = re.search(r"specialized to (?:a constant \(e\.g\.|evaluate to) `(\w+)`", text)
    if result is not None and result[1].isdecimal():
        problem = f"data decide it; draft_export took {result[1]} from the example"
        return _integer(match, _unbacked(expression), problem, _line_of(text))
    is_true = result[1] == "True" if result else True
    check = shown if is_true else _opposite(expression)
    return Message(
        " ".join(match[0].split()),
        f"torch cannot tell whether {shown}; draft_export assumed {'that it holds' if is_true else 'that it does not'}",
        f"data decide {_unbacked(expression)}, and torch must take one branch while it traces",
        f"if this is so for all data, insert torch._check({check}) before the line; otherwise use torch.cond or "
        f"torch.where",
        line=_line_of(text),
    )


DATA_ROWS = (
    read_row(
        r"Could not (?:guard on|extract specialized integer from) data-dependent expression "
        r"(?P<expression>[^\n]+? (?=\(unhinted: )|[^\n(]+(?:\([^\n]*?\))?)(?:\(unhinted: [^\n]*)?",
        _undecided,
    ),
    # Logged before that error: a text that was cut may hold nothing else.
    read_row(
        r"failed (?:during|while running) evaluate_expr\((?:\*\()?(?P<expression>[^\n]+?), (?:hint=)?None[^\n]*",
        lambda match, names: None if "Could not guard on" in match.string else _undecided(match, names),
    ),
    read_row(r"we were unable to evaluate the value of `(?P<expression>[^`]+)`", _evaluated),
)


# Messages about a call of an exported program, and about dynamic shapes that do not fit the arguments.


_CHECKED = "the program was exported for sizes with that property, and checks it before it runs"
_AGAIN = "call it with that size, or export again with the axis in dynamic_shapes; torch fixed it at export"
_PASS = "call it with such sizes (pad or crop), or export again with an example for which the code takes another path"
_NOT_ONE = (
    "torch treats sizes of 0 and 1 apart when it exports, and the program checks that it computes neither",
    "call it with larger sizes, or export again under torch.fx.experimental._config.patch(backed_size_oblivious=True), "
    "which does not treat them apart",
)


def _failed(match: re.Match[str], names: SizeNames) -> Message:
    message = read_guard(match, names)
    shown = names.spelled(match["guard"].strip())
    why, advice = _CHECKED, _AGAIN if re.fullmatch(rf"{SOURCE} == \d+", match["guard"].strip()) else _PASS
    if re.search(r"!= [01]$", shown):
        why, advice = _NOT_ONE
    return message._replace(meaning=f"the sizes of the call do not satisfy {shown}", why=why, advice=advice)


def _fitted(match: re.Match[str], names: SizeNames) -> Message:
    expected, got = match["wanted"], match["got"]
    is_number = expected.isdecimal()
    sign = {"be equal to": "==", "be >=": ">=", "be <=": "<="}[match["how"]]
    axis = match["axis"].removeprefix("*args").lstrip(".") or match["axis"]
    why = "the size was fixed at export, because it was not in dynamic_shapes or because the code fixes it"
    if sign != "==":
        why = "the size has that bound in the program: from the Dim's range, or from the code"
    elif not is_number:
        why = "torch found that these sizes are always equal, or computed from one another"
    return Message(
        match[0],
        f"the call has {match['axis']} = {got}, but the program accepts {match['axis']} {sign} {expected}",
        why,
        f"pass such a size, or export again with a Dim for {axis} in dynamic_shapes"
        if sign == "==" and is_number
        else "pass such a size, or export again with another range or an example for which the code takes another path",
    )


def _planned(match: re.Match[str], names: SizeNames) -> Message:
    # ExecuTorch up to 0.5 exchanged the two numbers.
    planned, needed = sorted((int(match["one"]), int(match["other"])))
    return Message(
        match[0],
        f"a tensor needs {needed} elements, but memory is planned for {planned}",
        "ExecuTorch plans memory for the upper bounds of the exported sizes",
        "export with a larger max in the Dims of the axes that grow, or pass smaller inputs",
    )


_NOT_OPENED = "the axis was not given as dynamic, or the code or an example of 0 or 1 fixes it"
_OPEN_IT = "give the axis in dynamic_shapes, and export with an example of 2 or more on it"

CALL_ROWS = (
    read_row(r"Guard failed: (?P<guard>[^\n]+)", _failed),
    read_row(
        r"Expected input at (?P<axis>\S+) to (?P<how>be equal to|be >=|be <=) (?P<wanted>[^\n]+?), but got "
        r"(?P<got>[\w-]+)[^\n]*",
        _fitted,
    ),
    read_row(
        r"Attempted to resize a bounded tensor with (?:a maximum )?capacity of (?P<one>\d+) elements to (?P<other>\d+)",
        _planned,
    ),
    read_row(
        rf"assert (?P<source>{SOURCE}) == (?P<size>\d+)(?=\s*(?:\n|$))",
        lambda match, names: (
            _fixed(match, names, match["source"], match["size"])._replace(why=_NOT_OPENED, advice=_OPEN_IT)
            if "specialized and CANNOT be dynamic" in match.string
            else None
        ),
    ),
)
