"""Messages about sizes that data decide: results of ``item()``, ``nonzero``, masks and ``unique``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from symbcast.torch.errors.messages import Message, Row, row
from symbcast.torch.reading.graph import is_of_torch, source_of

if TYPE_CHECKING:
    from symbcast.torch.guards.log_texts import Names

_NAMES = re.compile(r"(?<!\w)(?:zu|zuf|u|f)\d+(?!\w)")
_CHECKS = re.compile(
    r"To fix the error, insert one of the following checks before this call:\n(?P<checks>(?:\s+\d+\. [^\n]+\n?)+)"
)
_CAUSED = re.compile(
    r"Caused by: (?P<code>[^\n]*?)(?:\s*#\s*)?\(?(?P<file>[^\s():]+):(?P<line>\d+) in (?P<function>[^)\n]*)\)?"
)
_BROADCAST = re.compile(r"(?:Eq|Ne)\((?:.*, )?[01](?:, .*)?\)")
_TRIVIAL = ("True", "False")
_NEGATED: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=", ast.NotEq: "==", ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<",
}  # fmt: skip


def _unbacked(expression: str) -> str:
    found = list(dict.fromkeys(_NAMES.findall(expression)))
    return ", ".join(found) or expression


_RELATIONS: dict[str, type[ast.cmpop]] = {"Eq": ast.Eq, "Ne": ast.NotEq, "Lt": ast.Lt, "Le": ast.LtE}
_RELATIONS |= {"Gt": ast.Gt, "Ge": ast.GtE}
_OPERATORS: dict[str, type[ast.operator]] = {"Mod": ast.Mod, "PythonMod": ast.Mod, "FloorDiv": ast.FloorDiv}


class _Python(ast.NodeTransformer):
    """Writes torch's functions of two numbers as Python's operators."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        found = self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if len(node.args) == 2 and name in _RELATIONS:
            return ast.Compare(node.args[0], [_RELATIONS[name]()], [node.args[1]])
        if len(node.args) == 2 and name in _OPERATORS:
            return ast.BinOp(node.args[0], _OPERATORS[name](), node.args[1])
        return found


def _tight(node: ast.AST) -> str:
    """Return an expression with products and quotients written as torch writes them."""
    return ast.unparse(node).replace(" * ", "*").replace(" // ", "//")


def _as_python(expression: str) -> str:
    text = expression.replace(" | ", " or ").replace(" & ", " and ")
    if not any(f"{name}(" in text for name in (*_RELATIONS, *_OPERATORS)):
        return text
    try:
        return _tight(_Python().visit(ast.parse(text, mode="eval")))
    except (SyntaxError, ValueError, RecursionError):
        return text


def _opposite(expression: str) -> str:
    shown = _as_python(expression)
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
    return "" if caused is None else f"line {caused['file']}:{caused['line']}"


def _undecided(found: re.Match[str], names: Names) -> Message:
    """Read "Could not guard on data-dependent expression" and its variant for integers."""
    expression = found["expression"].strip()
    text = found.string[found.start() : found.start() + 20_000]
    if expression in _TRIVIAL:  # torch simplified it after it gave up; the original expression follows
        asked = re.search(r"\(unhinted: (?P<asked>[^\n]+?)\)\.", text)
        expression = expression if asked is None else asked["asked"]
    unbacked, shown = _unbacked(expression), _as_python(expression)
    line = _line_of(text)
    if "extract specialized integer" in found[0]:
        return Message(
            " ".join(found[0].split()),
            f"the code needs {unbacked} as a Python integer, but data decide it",
            "int(), range(), a list index or a shape that must be a number needs the value while torch traces",
            f"keep it a tensor or a size: use torch.arange({unbacked}) or a mask instead of a Python loop; or make the "
            f"integer an argument of forward",
            line=line,
        )
    checks = _CHECKS.search(text)
    lines = [c.partition(". ")[2].strip() for c in checks["checks"].strip().splitlines()] if checks else []
    if any(line in (f"torch._check({value})" for value in _TRIVIAL) for line in lines):
        lines = []
    is_of_size_one = bool(_BROADCAST.search(expression))
    why = f"data decide {unbacked} (item(), nonzero, a mask, unique), and torch must take one branch while it traces"
    if is_of_size_one:
        why += "; a size of 0 or 1 broadcasts, is contiguous or is skipped, so operators ask for it"
    options = lines or [f"torch._check({_opposite(expression)})", f"torch._check({shown})"]
    advice = f"if it never holds, insert {options[0]} before the line" if not lines else f"insert {options[0]}"
    if len(options) > 1:
        advice += f"; if it always holds, {options[1]}" if not lines else f", or {options[1]}"
    advice += "; if both occur, use torch.cond or torch.where"
    return Message(" ".join(found[0].split()), f"torch cannot tell whether {shown}", why, advice, line=line)


def _evaluated(found: re.Match[str], names: Names) -> Message:
    """Read a failure of ``draft_export``: a condition on data that it evaluated with the example."""
    expression = found["expression"].strip()
    shown = _as_python(expression)
    text = found.string[found.start() : found.start() + 20_000]
    result = re.search(r"specialized to a constant \(e\.g\. `(\w+)`", text)
    held = result[1] == "True" if result else True
    check = shown if held else _opposite(expression)
    return Message(
        " ".join(found[0].split()),
        f"torch cannot tell whether {shown}; draft_export assumed {'that it holds' if held else 'that it does not'}",
        f"data decide {_unbacked(expression)}, and torch must take one branch while it traces",
        f"if this is so for all data, insert torch._check({check}) before the line; otherwise use torch.cond or "
        f"torch.where",
    )


ROWS = (
    Row(
        re.compile(
            r"Could not (?:guard on|extract specialized integer from) data-dependent expression "
            r"(?P<expression>[^\n]+?) "
            r"\(unhinted: [^\n]*"
        ),
        _undecided,
    ),
    Row(
        re.compile(
            r"Could not (?:guard on|extract specialized integer from) data-dependent expression "
            r"(?P<expression>[^\n(]+(?:\([^\n]*?\))?)"
        ),
        _undecided,
    ),
    Row(re.compile(r"we were unable to evaluate the value of `(?P<expression>[^`]+)`"), _evaluated),
    row(
        r"propagate_real_tensors evaluate_expr\((?P<condition>[^\n]+)\) -> (?P<result>\w+)",
        "torch took {condition} as {result} from the example's data",
        "draft_export uses real data where torch.export cannot decide",
        "assert it with torch._check, or use torch.cond, before exporting with torch.export",
    ),
    row(
        r"could not evaluate (?P<condition>[^\n]+?) due to data dependency, it was assumed to be (?P<result>\w+)",
        "torch assumed that {condition} is {result}, without a check at run time",
        "data decide it, and the operator has a general path",
        "nothing to do, unless the assumption is wrong for your data",
    ),
    row(
        r"Pending unbacked symbols \{?(?P<symbols>[^}\n]+)\}? not in returned outputs",
        "an operator created sizes ({symbols}) that none of its outputs has",
        "a custom operator's fake kernel creates a size and does not return it, or the size was replaced by a number",
        "return the size in an output's shape, or create it only where it is used",
    ),
    row(
        r"(?:Data dependent operator|Data-dependent "
        r"operator|DataDependentOutputException)[^\n]*?(?P<operator>aten[.\w]+)?(?:\n|$)",
        "the result of an operator is a Python number that data decide: {operator}",
        "torch traces without data",
        "keep the value a tensor (torch.where, torch.cond); for a size, use item() with torch._check on its range",
    ),
    row(
        r"(?:Dynamic shape operator|DynamicOutputShapeException)[^\n]*?(?P<operator>aten[.\w]+)?(?:\n|$)",
        "data decide the shape of an output: {operator}",
        "nonzero, masks, unique and repeat_interleave have as many elements as the data say",
        "torch.compile: set torch._dynamo.config.capture_dynamic_output_shape_ops = True; or pad to a fixed size",
    ),
    row(
        r"Data-dependent branching",
        "an if or while in the code depends on a tensor's data",
        "torch must take one branch while it traces",
        "use torch.cond, torch.where or torch.while_loop",
    ),
)
