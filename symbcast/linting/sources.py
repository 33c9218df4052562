"""What lint checks: its configuration, the source files, changed lines, and functions with annotations."""

from __future__ import annotations

import ast
import io
import linecache
import re
import subprocess
import threading
import tokenize
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from symbcast.core.structs import NamedTuple
from symbcast.errors import ShapeTypeError
from symbcast.linting.descriptions import Comments, Description, Function, described
from symbcast.linting.findings import CODES, Code, Edit, Finding

# The configuration of lint: the table ``tool.symbcast.lint`` of pyproject.toml.


@dataclass(frozen=True)
class LintConfig:
    """Options of lint.

    Attributes:
        paths: The files and folders to check if none are given.
        exclude: Files and folders that are left out: paths or patterns.
        select: The codes to report, by identifier or name; empty for all.
        ignore: The codes not to report.
        min_size: The minimum size of every name.
        strict_sizes: Whether a function that fails only at small sizes has a finding.
        strict_dots: Whether a function that fails only at some sizes of the axes of ``...`` has a finding.
        descriptions: Whether shapes in comments and docstrings are checked too.
        jobs: The number of child processes; 0 for one per core.
        timeout: The seconds of work after which a function is left unknown.
        cache: Whether results are kept.
        examples: Files with `symbcast.example`, which are imported before any other.
        shapes: Whether the shapes of assigned variables are noted too, as editors show them.
    """

    paths: tuple[str, ...] = (".",)
    exclude: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    min_size: int = 1
    strict_sizes: bool = False
    strict_dots: bool = False
    descriptions: bool = False
    jobs: int = 0
    timeout: float = 60.0
    cache: bool = True
    examples: tuple[str, ...] = ()
    shapes: bool = False

    def with_options(self, **options: Any) -> LintConfig:
        """Return the configuration with the options that are not None. Raises `ShapeTypeError` for unknown codes."""
        config = replace(self, **{n: v for n, v in options.items() if v is not None})
        lists: dict[str, Any] = {
            n: tuple(getattr(config, n)) for n in ("paths", "exclude", "select", "ignore", "examples")
        }
        config = replace(config, **lists)
        known = {text for code in CODES for text in code.both}
        for text in (*config.select, *config.ignore):
            if text not in known:
                same = next((other for other in known if other.casefold() == text.casefold().replace("_", "-")), "")
                one = same or f"one of {', '.join(c.id for c in CODES)}, or its name"
                raise ShapeTypeError(text, "a code", f"write {one}")
        if config.min_size < 0:
            raise ShapeTypeError(config.min_size, "a minimum size", "write 0 or more")
        return config

    def is_wanted(self, code: str) -> bool:
        """Return whether findings of a code are reported."""
        (both,) = (c.both for c in CODES if c.id == code)
        is_selected = not self.select or any(t in self.select for t in both)
        return is_selected and not any(t in self.ignore for t in both)


def read_config(folder: Path) -> LintConfig:
    """Return the configuration of the nearest pyproject.toml, in a folder or above it; its paths are relative to it.

    Raises `ShapeTypeError` for options that do not exist or have another type, and for a file that is no TOML.
    """
    for place in (folder, *folder.parents):
        file = place / "pyproject.toml"
        if file.is_file():
            try:
                table: Any = tomllib.loads(file.read_text("utf-8"))
            except (ValueError, OSError) as error:
                raise ShapeTypeError(str(file), "a configuration", f"it cannot be read: {error}") from None
            for key in ("tool", "symbcast", "lint"):
                table = table.get(key, {})
                if not isinstance(table, dict):
                    raise ShapeTypeError(table, f"the table {key} of {file}", "write a table")
            return _config(table, place)
    return LintConfig()


def _config(table: Mapping[str, Any], folder: Path) -> LintConfig:
    kinds: dict[str, Any] = {f.name: f.default for f in fields(LintConfig)}
    options: dict[str, Any] = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        if name not in kinds:
            names = ", ".join(n.replace("_", "-") for n in kinds)
            raise ShapeTypeError(key, "an option of tool.symbcast.lint", f"write one of {names}")
        options[name] = _read(key, value, kinds[name])
    for name in ("paths", "exclude", "examples"):
        if name in options:
            options[name] = tuple(_relative(folder / p) for p in options[name])
    return LintConfig().with_options(**options)


def _read(key: str, value: Any, default: Any) -> Any:
    if isinstance(default, tuple):
        if not (isinstance(value, list) and all(isinstance(v, str) for v in value)):
            raise ShapeTypeError(value, f"a value of {key}", "write a list of texts")
        return tuple(value)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    is_right = isinstance(value, bool) if isinstance(default, bool) else is_number
    if not is_right or (isinstance(default, int) and not isinstance(value, int)):
        raise ShapeTypeError(value, f"a value of {key}", f"write one such as {default}")
    return value


def _relative(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


# The source files to check, the names of their modules, and the lines that changed since a commit.


_SKIPPED = {"__pycache__", "node_modules", "build", "dist", "venv"}


def python_files(paths: Iterable[str], exclude: Sequence[str] = ()) -> list[str]:
    """Return the Python files among some paths and in folders, in order, each once.

    Hidden folders and virtual environments inside a folder are left out, as are files that match a pattern of
    ``exclude``. Raises `ShapeTypeError` for a path that does not exist.
    """
    files: dict[Path, str] = {}
    for path in map(Path, paths):
        if not path.exists():
            raise ShapeTypeError(str(path), "a file or a folder", "write a path that exists")
        for file in _below(path) if path.is_dir() else [path]:
            if not any(fnmatch(str(file), p) or fnmatch(file.name, p) or _is_inside(file, p) for p in exclude):
                files.setdefault(file.resolve(), str(file))
    return sorted(files.values())


def _is_inside(file: Path, folder: str) -> bool:
    return folder.rstrip("/") in [str(p) for p in file.parents]


def _below(folder: Path) -> Iterator[Path]:
    for entry in sorted(folder.iterdir()):
        if entry.is_dir():
            is_environment = (entry / "pyvenv.cfg").exists()
            if not entry.name.startswith(".") and entry.name not in _SKIPPED and not is_environment:
                yield from _below(entry)
        elif entry.suffix == ".py":
            yield entry


def module_name(path: str) -> str:
    """Return the name by which a file is imported: that of its packages, the folders with an ``__init__.py``."""
    parts = Path(path).resolve().with_suffix("").relative_to(root_of(path)).parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def root_of(path: str) -> str:
    """Return the folder that must be on the module search path to import a file."""
    folder = Path(path).resolve().parent
    while (folder / "__init__.py").exists() and folder.name.isidentifier():
        folder = folder.parent
    return str(folder)


def changed_lines(commit: str) -> dict[str, list[range]]:
    """Return the lines that changed since a commit, by resolved file; new files changed everywhere.

    Raises `ShapeTypeError` if git does not know the commit.
    """
    top = Path(_git("rev-parse", "--show-toplevel", commit=commit).strip())
    changes = _git("diff", "--unified=0", "--no-color", "--no-ext-diff", commit, "--", "*.py", commit=commit)
    lines_by_file: dict[str, list[range]] = {}
    file = ""
    for line in changes.splitlines():
        if line.startswith("+++ "):
            file = str((top / line[4:].strip().removeprefix("b/")).resolve())
        hunk = re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line)
        if hunk:
            start, count = int(hunk[1]), int(hunk[2] or 1)
            # A hunk without new lines is a deletion, and the lines on both sides of it count as changed.
            lines_by_file.setdefault(file, []).append(range(start, start + max(count, 1) + (count == 0)))
    for name in _git("ls-files", "--others", "--exclude-standard", "--full-name", "--", "*.py").splitlines():
        lines_by_file[str((top / name).resolve())] = [range(1, 1 << 31)]
    return lines_by_file


def _git(*arguments: str, commit: str = "") -> str:
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=True)
    except FileNotFoundError:
        raise ShapeTypeError(commit, "a commit", "install git, which finds what changed") from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.strip().splitlines()[0]
        is_outside = "not a git repository" in said
        hint = "this folder is not in a git repository" if is_outside else f"git says: {said}"
        raise ShapeTypeError(commit, "a commit", hint) from None
    return done.stdout


# The functions of a source file whose signatures have annotations, found without running it.


_PLAIN = {"int", "str", "float", "bool", "bytes", "None", "complex", "object", "list", "dict", "tuple", "set"}
_PLAIN |= {"Any", "Optional", "Union", "Callable", "Iterator", "Iterable", "Sequence", "Mapping", "Literal", "Path"}
_PLAIN |= {"typing", "t", "Type", "type", "Self", "NoReturn", "Generator", "List", "Dict", "Tuple", "ClassVar"}
"""Names in annotations that never mean an array by themselves."""


@dataclass(frozen=True)
class Position:
    """A place in a file: its line, from 1, and its column, from 1."""

    line: int
    column: int


class Assignment(NamedTuple):
    """A variable that a statement assigns: the lines of the statement, and the end of the variable's name.

    Columns count bytes, from 1, as Python's do.
    """

    name: str
    first: int
    last: int
    line: int
    column: int


@dataclass(frozen=True)
class SourceFunction:
    """A function or method of a source file.

    Attributes:
        name: Its qualified name, such as ``Net.forward``.
        place: Its name in the file.
        first, last: Its first and last line; the first is that of its decorators.
        returns: Where the annotation of its result is; `place` if there is none.
        arguments: Where the annotation of each parameter is, or the parameter if it has none.
        texts: The text literals in its annotations, and where they are.
        is_expanding: Whether its code adds axes explicitly, such as ``x[:, None]``.
        assigned: The variables that its statements assign.
        described: What comments and its docstring say about the shapes of parameters, and of its result as ``return``.
    """

    name: str
    place: Position
    first: int
    last: int
    returns: Position
    arguments: dict[str, Position] = field(default_factory=dict, hash=False)
    texts: tuple[tuple[str, Position], ...] = ()
    is_expanding: bool = False
    assigned: tuple[Assignment, ...] = ()
    described: Mapping[str, tuple[Description, ...]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class SourceFile:
    """A source file: its functions, and the codes that its comments ignore by line (``*`` for all)."""

    path: str
    functions: tuple[SourceFunction, ...]
    ignored: dict[int, frozenset[str]]

    def is_ignored(self, line: int, codes: tuple[str, ...]) -> bool:
        """Return whether a comment on a line ignores one of some codes."""
        codes_of_line = self.ignored.get(line, frozenset())
        return "*" in codes_of_line or not codes_of_line.isdisjoint(codes)


# Longer files are data, such as tables: to parse one takes seconds and gigabytes, and stops all other threads.
MOST_BYTES = 4_000_000
# Python 3.11 counts the depth of the trees that all threads build together, and raises `SystemError`.
_PARSING = threading.Lock()


def read_source(path: str, *, descriptions: bool = False) -> SourceFile:
    """Return the functions of a file with annotations or promises; ``descriptions`` adds those with described shapes.

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
    text = decoded(data)
    comments = {t.start[0]: (t.start[1] + 1, t.string) for t in _comments(text)}
    functions = _functions(tree.body, "", comments if descriptions else None)
    return SourceFile(path, tuple(functions), _ignored(comments))


def decoded(data: bytes) -> str:
    """Return source code as text, in the encoding that it declares. Raises `SyntaxError` or `ValueError`."""
    return data.decode(tokenize.detect_encoding(io.BytesIO(data).readline)[0])


def _functions(body: list[ast.stmt], prefix: str, comments: Comments | None) -> Iterator[SourceFunction]:
    """Yield the functions of a module or a class; those inside functions cannot be reached from outside."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if not _is_left_out(node):
                known = {} if comments is None else described(node, comments)
                if known or _is_annotated(node) or (not prefix and _may_be_promised(node)):
                    yield _function(node, prefix, known)
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{prefix}{node.name}.", comments)
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            yield from _functions([*node.body, *getattr(node, "orelse", [])], prefix, comments)


def _is_left_out(node: Function) -> bool:
    """Return whether a function is an overload, an abstract method, or a body without code."""
    if any(ast.unparse(d).rpartition(".")[2] in ("overload", "abstractmethod") for d in node.decorator_list):
        return True
    return all(_is_empty(statement) for statement in node.body)


def _is_empty(node: ast.stmt) -> bool:
    if isinstance(node, ast.Raise) and node.exc is not None:
        return "NotImplementedError" in ast.unparse(node.exc)
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _is_annotated(node: Function) -> bool:
    """Return whether an annotation of a function, or its class, may say something about arrays."""
    annotations = [a.annotation for a in _parameters(node) if a.annotation is not None]
    annotations += [node.returns] if node.returns is not None else []
    return any(_may_be_array(a) for a in annotations)


def _may_be_promised(node: Function) -> bool:
    """Return whether a decorator of a function may be `symbcast.checked`."""
    calls = [d.func for d in node.decorator_list if isinstance(d, ast.Call)]
    return any(ast.unparse(call).rpartition(".")[2] == "checked" for call in calls)


def _may_be_array(annotation: ast.expr) -> bool:
    for node in ast.walk(annotation):
        if isinstance(node, ast.Name) and node.id not in _PLAIN:
            return True
        text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
        if text.isidentifier() or re.search(r"\w\[", text):  # the name of an alias, or a subscript
            return True
    return False


def _parameters(node: Function) -> list[ast.arg]:
    return [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]


def _function(node: Function, prefix: str, known: Mapping[str, tuple[Description, ...]]) -> SourceFunction:
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    keyword = "async def " if isinstance(node, ast.AsyncFunctionDef) else "def "
    place = Position(node.lineno, node.col_offset + len(keyword) + 1)
    annotations = {a.arg: a.annotation or a for a in _parameters(node)}
    expressions = [a for a in [*annotations.values(), node.returns] if isinstance(a, ast.expr)]
    returns = place if node.returns is None else _position(node.returns)
    if "return" in known:
        returns = Position(known["return"][0].line, known["return"][0].column)
    return SourceFunction(
        f"{prefix}{node.name}",
        place,
        first,
        node.end_lineno or node.lineno,
        returns,
        {name: _position(a) for name, a in annotations.items()},
        tuple((t, p) for a in expressions for t, p in _texts(a)),
        any(map(_is_expanding, ast.walk(node))),
        tuple(a for statement in node.body for a in _assigned(statement)),
        known,
    )


def _assigned(node: ast.stmt) -> Iterator[Assignment]:
    """Yield the variables that a statement assigns, and those in it; not those of functions in it."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return
    last = node.iter.end_lineno if isinstance(node, ast.For) else node.end_lineno
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    for name in (n for t in targets if t is not None for n in ast.walk(t)):
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
            column = (name.end_col_offset or 0) + 1
            yield Assignment(name.id, node.lineno, last or node.lineno, name.lineno, column)
    for part in ast.iter_child_nodes(node):
        inner = part.body if isinstance(part, (ast.ExceptHandler, ast.match_case)) else [part]
        for statement in inner:
            if isinstance(statement, ast.stmt):
                yield from _assigned(statement)


def _position(node: ast.expr | ast.arg) -> Position:
    return Position(node.lineno, node.col_offset + 1)


def _texts(annotation: ast.expr) -> Iterator[tuple[str, Position]]:
    """Yield the shapes written in an annotation: the second item of ``Float[Array, "n"]``, also inside text."""
    for node in ast.walk(annotation):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2:
            (_, text) = node.slice.elts
            is_of_shape = ast.unparse(node.value).rpartition(".")[2] not in ("Annotated", "Literal")  # any text there
            if is_of_shape and isinstance(text, ast.Constant) and isinstance(text.value, str):
                yield text.value, _position(text)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "[" in node.value:
            try:
                inner = ast.parse(node.value, mode="eval").body
            except SyntaxError:
                continue
            yield from ((t, _position(node)) for t, _ in _texts(inner))


def edit_of_text(path: str, place: Position, old: str, new: str) -> Edit | None:
    """Return the edit of a text literal that is on the line of a place, at it or after it; None if it is not there."""
    line = linecache.getline(path, place.line).encode()
    start = next((n for q in "'\"" if (n := line.find(f"{q}{old}{q}".encode(), place.column - 1)) >= 0), -1)
    return None if start < 0 else Edit(place.line, start + 2, start + 2 + len(old.encode()), new)


_EXPANDING = {"newaxis", "expand_dims", "unsqueeze", "reshape", "view", "meshgrid", "ix_", "outer", "atleast_2d", "tri"}


def _is_expanding(node: ast.AST) -> bool:
    if isinstance(node, (ast.Attribute, ast.Name)):
        return (node.attr if isinstance(node, ast.Attribute) else node.id) in _EXPANDING
    if isinstance(node, ast.Subscript):
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return any(isinstance(i, ast.Constant) and i.value is None for i in items)
    return False


_COMMENT = re.compile(r"#\s*symbcast:\s*ignore(?:\[([^\]]*)\])?")


def _comments(text: str) -> Iterator[tokenize.TokenInfo]:
    return (t for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type == tokenize.COMMENT)


def _ignored(comments: Comments) -> dict[int, frozenset[str]]:
    matches = {line: _COMMENT.search(text) for line, (_, text) in comments.items()}
    return {n: frozenset(c.strip() for c in (m[1] or "*").split(",")) for n, m in matches.items() if m}


@dataclass(frozen=True)
class FunctionToCheck:
    """A function to check: its file, its module's name, the function, and the options.

    ``min_size`` is the minimum size of every name; ``strict_sizes``, ``strict_dots`` and ``shapes`` are those of
    `LintConfig`. ``examples`` are files that are imported first, and ``objects`` is the file of recorded calls.
    """

    path: str
    module: str
    function: SourceFunction
    min_size: int = 1
    strict_sizes: bool = False
    strict_dots: bool = False
    shapes: bool = False
    examples: tuple[str, ...] = ()
    objects: str = ""


def finding_without_sizes(request: FunctionToCheck, code: Code, place: Position, message: str) -> Finding:
    """Return a finding without sizes."""
    return Finding(request.path, place.line, place.column, code.id, message, request.function.name)
