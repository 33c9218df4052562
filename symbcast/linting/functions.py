"""The functions of a source file whose signatures have annotations, found without running it."""

from __future__ import annotations

import ast
import hashlib
import io
import re
import threading
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_PLAIN = {"int", "str", "float", "bool", "bytes", "None", "complex", "object", "list", "dict", "tuple", "set"}
_PLAIN |= {"Any", "Optional", "Union", "Callable", "Iterator", "Iterable", "Sequence", "Mapping", "Literal", "Path"}
_PLAIN |= {"typing", "t", "Type", "type", "Self", "NoReturn", "Generator", "List", "Dict", "Tuple", "ClassVar"}
"""Names in annotations that never mean an array by themselves."""


@dataclass(frozen=True)
class Position:
    """A place in a file: its line, from 1, and its column, from 1."""

    line: int
    column: int


@dataclass(frozen=True)
class Function:
    """A function or method of a source file.

    Attributes:
        name: Its qualified name, such as ``Net.forward``.
        place: Its name in the file.
        first, last: Its first and last line; the first is that of its decorators.
        returns: Where the annotation of its result is; `place` if there is none.
        arguments: Where the annotation of each parameter is, or the parameter if it has none.
        texts: The text literals in its annotations, and where they are.
        is_expanding: Whether its code adds axes explicitly, such as ``x[:, None]``.
    """

    name: str
    place: Position
    first: int
    last: int
    returns: Position
    arguments: dict[str, Position] = field(default_factory=dict, hash=False)
    texts: tuple[tuple[str, Position], ...] = ()
    is_expanding: bool = False


@dataclass(frozen=True)
class Source:
    """A source file: its functions, and the codes that its comments ignore by line (``*`` for all)."""

    path: str
    digest: str
    functions: tuple[Function, ...]
    ignored: dict[int, frozenset[str]]

    def is_ignored(self, line: int, codes: tuple[str, ...]) -> bool:
        """Return whether a comment on a line ignores one of some codes."""
        found = self.ignored.get(line, frozenset())
        return "*" in found or not found.isdisjoint(codes)


MOST_BYTES = 4_000_000
"""Longer files are data, such as tables: to parse one takes seconds and gigabytes, and stops all other threads."""
_PARSING = threading.Lock()
"""Python 3.11 counts the depth of the trees that all threads build together, and raises `SystemError`."""


def read_source(path: str) -> Source:
    """Return the functions of a file with annotations or promises.

    Raises `SyntaxError`, `ValueError` or `OSError` if it is no source, or longer than `MOST_BYTES`.
    """
    file = Path(path)
    if file.exists() and not file.is_file():
        raise ValueError("it is not a regular file")
    if file.stat().st_size > MOST_BYTES:
        raise ValueError(f"it is longer than {MOST_BYTES:,} bytes")
    data = file.read_bytes()
    with _PARSING:
        tree = ast.parse(data, filename=path)
    digest = hashlib.sha256(data).hexdigest()
    text = data.decode(tokenize.detect_encoding(io.BytesIO(data).readline)[0])
    return Source(path, digest, tuple(_functions(tree.body, "")), _ignored(text))


def _functions(body: list[ast.stmt], prefix: str) -> Iterator[Function]:
    """Yield the functions of a module or a class; those inside functions cannot be reached from outside."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if not _is_left_out(node) and (_is_annotated(node) or (not prefix and _may_be_promised(node))):
                yield _function(node, prefix)
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            inner = [*node.body, *getattr(node, "orelse", [])]
            yield from _functions(inner, prefix)


def _is_left_out(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether a function is an overload, an abstract method, or a body without code."""
    if any(ast.unparse(d).rpartition(".")[2] in ("overload", "abstractmethod") for d in node.decorator_list):
        return True
    return all(_is_empty(statement) for statement in node.body)


def _is_empty(node: ast.stmt) -> bool:
    if isinstance(node, ast.Raise) and node.exc is not None:
        return "NotImplementedError" in ast.unparse(node.exc)
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _is_annotated(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether an annotation of a function, or its class, may say something about arrays."""
    given = [a.annotation for a in _parameters(node) if a.annotation is not None]
    given += [node.returns] if node.returns is not None else []
    return any(_may_be_array(a) for a in given)


def _may_be_promised(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether a decorator of a function may be `symbcast.checked`."""
    calls = [d.func for d in node.decorator_list if isinstance(d, ast.Call)]
    return any(ast.unparse(call).rpartition(".")[2] == "checked" for call in calls)


def _may_be_array(annotation: ast.expr) -> bool:
    for node in ast.walk(annotation):
        if isinstance(node, ast.Name) and node.id not in _PLAIN:
            return True
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.search(r"\w\[", node.value):
            return True
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            return True
    return False


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    return [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, prefix: str) -> Function:
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    keyword = "async def " if isinstance(node, ast.AsyncFunctionDef) else "def "
    place = Position(node.lineno, node.col_offset + len(keyword) + 1)
    annotations = {a.arg: a.annotation or a for a in _parameters(node)}
    given = [a for a in [*annotations.values(), node.returns] if isinstance(a, ast.expr)]
    return Function(
        f"{prefix}{node.name}",
        place,
        first,
        node.end_lineno or node.lineno,
        place if node.returns is None else _position(node.returns),
        {name: _position(a) for name, a in annotations.items()},
        tuple((t, p) for a in given for t, p in _texts(a)),
        any(map(_is_expanding, ast.walk(node))),
    )


def _position(node: ast.expr | ast.arg) -> Position:
    return Position(node.lineno, node.col_offset + 1)


def _texts(annotation: ast.expr) -> Iterator[tuple[str, Position]]:
    """Yield the shapes written in an annotation: the second item of ``Float[Array, "n"]``, also inside text."""
    for node in ast.walk(annotation):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2:
            (_, text) = node.slice.elts
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                yield text.value, _position(text)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "[" in node.value:
            try:
                inner = ast.parse(node.value, mode="eval").body
            except SyntaxError:
                continue
            yield from ((t, _position(node)) for t, _ in _texts(inner))


_EXPANDING = {"newaxis", "expand_dims", "unsqueeze", "reshape", "view", "meshgrid", "ix_", "outer", "atleast_2d", "tri"}


def _is_expanding(node: ast.AST) -> bool:
    if isinstance(node, (ast.Attribute, ast.Name)):
        return (node.attr if isinstance(node, ast.Attribute) else node.id) in _EXPANDING
    if isinstance(node, ast.Subscript):
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return any(isinstance(i, ast.Constant) and i.value is None for i in items)
    return False


_COMMENT = re.compile(r"#\s*symbcast:\s*ignore(?:\[([^\]]*)\])?")


def _ignored(text: str) -> dict[int, frozenset[str]]:
    found: dict[int, frozenset[str]] = {}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        matched = _COMMENT.search(token.string) if token.type == tokenize.COMMENT else None
        if matched:
            codes = frozenset(c.strip() for c in (matched[1] or "*").split(","))
            found[token.start[0]] = codes
    return found
