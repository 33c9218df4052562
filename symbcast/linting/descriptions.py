"""Shapes that comments, docstrings and annotations of other libraries describe, read from the source of a function.

A description is read only where its meaning is certain: something must say that the value is an array (its annotation,
the type in the docstring, or a word next to the shape), and nothing may say that the shape depends on something else.
Its axes become text in jaxtyping's notation, so that descriptions are checked as annotations are.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, TypeAlias

from symbcast.core.structs import NamedTuple

Function: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef"
Library: TypeAlias = Literal["numpy", "jax", "torch", ""]
Comments: TypeAlias = "Mapping[int, tuple[int, str]]"
"""The comment of each line, and its column in bytes from 1."""


class Description(NamedTuple):
    """What is described about a value, and the line and the column, from 1, where that is written.

    ``axes`` is in jaxtyping's notation; None for a plain value, whose type is ``dtype``. ``library`` is empty if any
    array is meant.
    """

    axes: str | None
    line: int
    column: int
    dtype: str = "float"
    library: Library = ""


# Words that name arrays, by library: a match of one of them says that a value is an array.
_ARRAY = re.compile(r"\b(?:(\w*Tensor|tensors?)|(jnp|jax)\.\w+|(ndarray|NDArray|np\.\w+)|Array|ArrayLike)\b")
_NEAR = r"(?:(?:float|int|integer|bool|boolean|complex|real)\w* )?(?:numpy |jax |torch )?"
_NEAR += r"(?:arrays?(?:[-_ ]like)?|(?:np\.)?ndarray|(?:torch\.)?tensor|matrix)\b"
_BEFORE = re.compile(rf"{_NEAR},?$", re.I)
_AFTER = re.compile(rf"(?:-shaped |-)?{_NEAR}", re.I)
_SHAPE = re.compile(r"(?<![.\w])(?:shape[ds]?|size)(?: is| of)?[:=]?$", re.I)
# Without a word for arrays: "the shape (h, w)" may be a value itself, "of shape (h, w)" is not.
_OF_SHAPE = re.compile(r"(?:^|\b(?:of|with|having|has) (?:the )?|, )shape(?: is)?[:=]?$", re.I)
_BRACKETS = re.compile(r"[(\[]([^()\[\]]*(?:\([^()\[\]]*\)[^()\[\]]*)*)[)\]]")
# The shape of such a value depends on something else, or there are several.
_DOUBT = re.compile(
    r"\b(?:or|if|when|unless|either|else|otherwise|depend\w*|list|tuple|dict\w*|sequence|range)\b", re.I
)
# Names of coordinates and ends: `[x1, y1, x2, y2]` says what an array contains, not how large it is.
_PART = re.compile(r"[xyz]\d?|[xy](?:min|max)|c[xy]|start|end|left|right|top|bottom|lat|lon|min|max|low|high|roll")
_INTEGER = re.compile(r"\b(?:u?int\d*|integers?|long|LongTensor|IntTensor)\b")
_DTYPE = re.compile(r"(?:u?int|float|bfloat|complex|bool)\d*|long|double|half|str")
_TERM = (ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Name, ast.Load, ast.Constant)


def axis_text(item: str, parameters: Sequence[str] = ()) -> str | None:
    """Return one axis of a description in jaxtyping's notation; None if its meaning is not certain.

    >>> [axis_text(i, ["k"]) for i in ("B", "2 * n", "k", "*", "-1", "*batch", "n/2", "one of n")]
    ['B', '2*n', '{k}', '...', '_', '*batch', None, None]
    """
    item = item.strip()
    if item in ("...", "\N{HORIZONTAL ELLIPSIS}", "*"):
        return "..."
    if item in ("None", "?", "-1", "_", ":"):
        return "_"
    try:
        tree = ast.parse(item.removeprefix("*"), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    nodes = list(ast.walk(tree))
    names = [n.id for n in nodes if isinstance(n, ast.Name)]
    numbers = [n.value for n in nodes if isinstance(n, ast.Constant)]
    is_term = all(isinstance(n, _TERM) for n in nodes) and all(type(n) is int for n in numbers)
    if not is_term or any(n.startswith("_") for n in names) or (item[0] == "*" and not isinstance(tree, ast.Name)):
        return None
    return re.sub(r"[^\W\d]\w*", lambda m: f"{{{m[0]}}}" if m[0] in parameters else m[0], item.replace(" ", ""))


def axes_text(inside: str, parameters: Sequence[str] = ()) -> str | None:
    """Return the axes between the brackets of a shape in jaxtyping's notation; None if one of them is not certain."""
    is_product = re.fullmatch(r"\s*\w+(?:\s+[x\N{MULTIPLICATION SIGN}]\s+\w+)+\s*", inside)
    items = re.split(r"\s+[x\N{MULTIPLICATION SIGN}]\s+" if is_product else ",", inside)
    if len(items) > 1 and not items[-1].strip():
        items.pop()
    axes = [axis_text(i, parameters) for i in items if inside.strip()]
    # `B1, ..., Bk` are k axes of which no number is known; `Tensor[int64]` has a type of elements.
    is_open = any(b == "..." and re.fullmatch(r"[^\W\d]\w*\d", str(a)) for a, b in pairwise(axes))
    return None if None in axes or is_open or any(_DTYPE.fullmatch(str(a)) for a in axes) else " ".join(map(str, axes))


def shape_in(text: str, is_array: bool, parameters: Sequence[str] = ()) -> str | None:
    """Return the axes of the shape in the first sentence of a text that has one; None if that is not certain.

    ``is_array`` says that the value is known to be an array: then brackets at the beginning suffice.

    >>> shape_in("array of shape (n, 3)", False), shape_in("the limits (low, high)", False), shape_in("[B, T]", True)
    ('n 3', None, 'B T')
    """
    text = " ".join(text.replace("`", "").replace("->", " ").split())
    shapes = [(m, axes) for m in _BRACKETS.finditer(text) if (axes := axes_text(m[1], parameters)) is not None]
    certain = [axes for m, axes in shapes if _is_shape(text, m, axes, is_array)]
    if len(certain) != 1:
        return None
    last = next(m for m, axes in shapes if axes == certain[0])
    sentence = text[: last.end()] + re.split(r"[.;](?:\s|$)", text[last.end() :])[0]
    return None if _DOUBT.search(sentence) else certain[0]


def _is_shape(text: str, found: re.Match[str], axes: str, is_array: bool) -> bool:
    before, after = text[: found.start()].rstrip(), text[found.end() :].lstrip()
    is_attached = bool(re.search(r"\w$", text[: found.start()])) and not (
        _BEFORE.search(before) or _SHAPE.search(before)
    )
    if is_attached:  # a call, or an index
        return False
    if _SHAPE.search(before) and (is_array or re.search(_NEAR, before, re.I) or _OF_SHAPE.search(before)):
        return True
    items = axes.split()
    is_list = all(i.isdecimal() for i in items) or sum(bool(_PART.fullmatch(i)) for i in items) > 1 or axes == "r g b"
    is_word = len(items) == 1 and found[0][0] == "(" and "," not in found[1]  # such as "(optional)"
    is_near = bool(_BEFORE.search(before) or _AFTER.match(after)) or (is_array and not before.strip(" :-"))
    return is_near and not is_list and not is_word


def described(node: Function, comments: Comments) -> dict[str, tuple[Description, ...]]:
    """Return what is described about the parameters of a function, and about its result as ``return``.

    An annotation comes first, then a comment on the line of the parameter, then the docstring. A result has one
    description for each item of a tuple.
    """
    reader = _FunctionReader(node, comments)
    parts = {name: reader.parameter(name) for name in reader.arguments}
    known: dict[str, tuple[Description, ...]] = {name: (one,) for name, one in parts.items() if one is not None}
    returned = reader.returned()
    return {**known, "return": returned} if returned else known


class _FunctionReader:
    def __init__(self, node: Function, comments: Comments) -> None:
        self.node, self.comments = node, comments
        every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        self.arguments = {a.arg: a for a in every}
        self.names = list(self.arguments)
        fields = parsed_docstring(node)
        self.fields = {n.strip(): f for f in fields.params for n in f.arg_name.split(",")} if fields else {}
        self.results = fields.many_returns if fields else []

    def parameter(self, name: str) -> Description | None:
        """Return what is described about a parameter."""
        argument = self.arguments[name]
        written = _unparsed(argument.annotation)
        known = _of_annotation(argument.annotation)
        if known is not None:
            return Description(known[0], argument.lineno, argument.col_offset + 1, known[1], _library(written))
        comment = self._comment(argument.end_lineno or argument.lineno, [name])
        if comment is not None and (one := self._read(comment[1], written, *comment[0])):
            return one
        field = self.fields.get(name)
        if field is None or re.search("shape|size", name):
            return None
        kind, told = field.type_name or "", field.description or ""
        plain = re.sub(r",? *(?:optional|default\b.*)$", "", kind)
        if plain in ("int", "float", "bool") and not written:
            return Description(None, *self._line_of(kind), plain)
        return self._read(kind, written, *self._line_of(kind)) or self._read(
            told, f"{written} {kind}", *self._line_of(told)
        )

    def returned(self) -> tuple[Description, ...]:
        """Return what is described about the result: each part of it, or nothing."""
        written = _unparsed(self.node.returns)
        known = _of_annotation(self.node.returns)
        if known is not None and self.node.returns is not None:
            place = self.node.returns.lineno, self.node.returns.col_offset + 1
            return (Description(known[0], *place, known[1], _library(written)),)
        comment = self._comment(self.node.body[0].lineno - 1, []) if self.node.returns is not None else None
        if comment is not None and (one := self._read(comment[1], written, *comment[0])):
            return (one,)
        parts = [
            self._result(f, written if len(self.results) == 1 else "")
            for f in self.results
            for _ in (f.return_name or "").split(",")
        ]
        return tuple(p for p in parts if p) if all(parts) else ()

    def _result(self, field: Any, written: str) -> Description | None:
        kind, told = field.type_name or "", field.description or ""
        first = self._read(kind, written, *self._line_of(kind))
        return first or self._read(told, f"{written} {kind}", *self._line_of(told))

    def _read(self, text: str, written: str, line: int, column: int) -> Description | None:
        axes = shape_in(text, bool(_ARRAY.search(written)) and not _DOUBT.search(written), self.names)
        both = f"{written} {text}"
        return None if axes is None else Description(axes, line, column, _dtype(both), _library(both))

    def _comment(self, line: int, names: list[str]) -> tuple[tuple[int, int], str] | None:
        """Return the comment of a line of the signature on which only these parameters are."""
        on_line = [n for n, a in self.arguments.items() if line in (a.lineno, a.end_lineno)]
        column, text = self.comments.get(line, (0, ""))
        return ((line, column), text.lstrip("# ")) if text and on_line == names else None

    def _line_of(self, text: str) -> tuple[int, int]:
        """Return where a text of the docstring is: its line, or the first line of the docstring."""
        literal = self.node.body[0]
        if isinstance(literal, ast.Expr) and isinstance(literal.value, ast.Constant):
            first = text.strip().partition("\n")[0]
            for number, line in enumerate(str(literal.value.value).splitlines()):
                if first and first in line:
                    return literal.lineno + number, 1 + line.index(first) + (literal.col_offset + 3) * (not number)
        return literal.lineno, literal.col_offset + 1


def parsed_docstring(node: Function) -> Any:
    """Return the fields of a docstring in the style of numpydoc, Google or reST; None without a docstring."""
    import docstring_parser

    text = ast.get_docstring(node)
    try:
        return docstring_parser.parse(text) if text else None
    except docstring_parser.ParseError:
        return None


def _unparsed(annotation: ast.expr | None) -> str:
    return "" if annotation is None else ast.unparse(annotation)


def _library(text: str) -> Library:
    found = _ARRAY.search(text)
    tensor, jax, numpy = found.groups() if found else (None, None, None)
    return "torch" if tensor else "jax" if jax else "numpy" if numpy else ""


def _dtype(text: str) -> str:
    return (
        "bool" if re.search(r"\b(?:bool(?:ean)?|BoolTensor)\b", text) else "int64" if _INTEGER.search(text) else "float"
    )


# Annotations of other libraries, and notes: `TensorType["b", 3]`, `NDArray[Shape["N, 3"], Int]`,
# `Annotated[ndarray, Literal["N", 3]]`, `Annotated[Tensor, "(B, T)"]`.


def _of_annotation(annotation: ast.expr | None) -> tuple[str, str] | None:
    """Return the axes and the dtype of the one array in an annotation that describes its shape; None if none does."""
    parts = [] if annotation is None else [n for n in ast.walk(annotation) if isinstance(n, ast.Subscript)]
    known = [axes for part in parts if (axes := _of_subscript(part)) is not None]
    is_one = len(known) == 1 and not re.search(
        r"\b(?:list|tuple|dict|Sequence|Callable)\b", _unparsed(annotation), re.I
    )
    return (
        (known[0], _dtype(re.sub(r"[A-Z]?\w*?(Int|Bool)\w*", lambda m: m[1].lower(), _unparsed(annotation))))
        if is_one
        else None
    )


def _of_subscript(part: ast.Subscript) -> str | None:
    name = ast.unparse(part.value).rpartition(".")[2]
    items = part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]
    if name == "TensorType":
        return _joined(map(_of_item, items))
    if name == "NDArray" and isinstance(items[0], ast.Subscript) and _is_named(items[0], "Shape"):
        return _of_nptyping(items[0].slice)
    if name == "Annotated" and _ARRAY.search(ast.unparse(items[0])):
        notes = [n for n in items[1:] if isinstance(n, ast.Subscript) and _is_named(n, "Literal")]
        texts = [str(n.value) for n in items[1:] if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        if len(notes) == 1:
            sizes = notes[0].slice.elts if isinstance(notes[0].slice, ast.Tuple) else [notes[0].slice]
            return _joined(map(_of_item, sizes))
        return shape_in(texts[0], True) if len(texts) == 1 else None
    return None


def _is_named(part: ast.Subscript, name: str) -> bool:
    return ast.unparse(part.value).rpartition(".")[2] == name


def _joined(axes: Iterator[str | None]) -> str | None:
    read = list(axes)
    return None if None in read else " ".join(a for a in read if a)


def _of_item(item: ast.expr) -> str | None:
    """Return one item of `TensorType` or a literal: a size, a name, `"n": 3`, `"batch": ...`; empty for a dtype."""
    if isinstance(item, ast.Slice):
        stop = _unparsed(item.upper)
        name = _unparsed(item.lower).strip("'")
        return f"*{name}" if stop in ("...", "Ellipsis") else stop if stop.isdecimal() else None
    if isinstance(item, ast.Constant) and isinstance(item.value, str):
        return axis_text(item.value)
    if isinstance(item, ast.Constant) or (isinstance(item, ast.UnaryOp) and ast.unparse(item) == "-1"):
        return axis_text(ast.unparse(item))
    return "" if _DTYPE.fullmatch(ast.unparse(item).removeprefix("torch.")) else None


def _of_nptyping(shape: ast.expr) -> str | None:
    """Return the axes of `Shape["N, 3, [x, y], *, ..."]`: labels after a size and in brackets have no meaning."""
    text = shape.value if isinstance(shape, ast.Constant) and isinstance(shape.value, str) else "?,"
    text = re.sub(r"\[([^\[\]]*)\]", lambda m: str(m[1].count(",") + 1), text)
    text = re.sub(r"\*\s*,\s*\.\.\.", "@", text)  # axes of any sizes, any number of them
    items = [i.split()[0] if i.strip() else "" for i in text.split(",")]
    axes = ["..." if i == "@" else "_" if i == "*" else i if re.fullmatch(r"\d+|[A-Z]\w*", i) else None for i in items]
    return _joined(iter(axes))
