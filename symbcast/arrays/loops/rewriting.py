"""Rewrite the code of functions during a trace, so that their loops and comprehensions ask how to iterate.

``for v in x`` becomes ``for v in loop(x, key, dead)``, a list comprehension a call of ``collected`` with a generator
expression, and ``range``, ``zip``, ... calls of their replacements, which treat all other values as the builtins do.
The code keeps its lines and columns. Only functions whose source is at hand are rewritten: those of the traced
function's file, those that it reaches through closures, and those of its package that these mention by name.
"""

from __future__ import annotations
import __future__

import ast
import copy
import dis
import functools
import linecache
import operator
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from symbcast.arrays.loops import rewritten_calls as ours
from symbcast.arrays.loops.joins import Arms, Filter, compared, either
from symbcast.arrays.loops.repeated import repeat
from symbcast.arrays.loops.rewritten_calls import item
from symbcast.arrays.loops.state import ARM
from symbcast.arrays.standins import is_full
from symbcast.arrays.symbolic_array import SymbolicArray, percent_formatted, text_of_data

_FORMATS = ("FORMAT_VALUE", "FORMAT_SIMPLE", "FORMAT_WITH_SPEC")
# Names of NumPy's types of elements, and of variables that hold one: called with an array, they return an array.
_CASTS = frozenset({"dtype", "type", *(n for n in np.sctypeDict if n.isidentifier())})
# Methods of real arrays that may get something that only a trace has.
_OF_ARRAYS = frozenset({"choose", "clip", "compress", "dot", "repeat", "reshape", "searchsorted", "take"})
_OF_KEYS = frozenset({"add", "discard", "get", "pop", "remove", "setdefault"})
_PREFIX = "symbcast replaces "
_LOOPS = frozenset({dis.opmap["FOR_ITER"], *(dis.opmap[n] for n in _FORMATS if n in dis.opmap)})
_INDEXING = ("BINARY_SUBSCR", "BINARY_SLICE", "STORE_SUBSCR", "CONTAINS_OP", "BUILD_SET", "BUILD_MAP")
_OPERATORS = frozenset(dis.opmap[n] for n in ("BINARY_OP", "IS_OP", *_INDEXING) if n in dis.opmap)
_CONSUMERS = frozenset({"int", "float", "list", "tuple", "sum", "max", "min", "map", "str", "format", "sorted", "set"})
_CONSUMERS |= {"type", "dumps", "dump"}
MAX_FUNCTIONS = 500
# How many functions may be found before no more of those are rewritten that others mention; the nearest come first.
MAX_MENTIONED = 100


@contextmanager
def loops_of(function: Any) -> Iterator[bool]:
    """Rewrite the loops of a function, and of the functions in its file; yield whether there are any."""
    changed: list[tuple[FunctionType, CodeType]] = []
    try:
        for reached in _functions(function):
            code = reached.__code__
            if _has_loop(code):
                new = _rewritten(code)
                if new is not None:
                    changed.append((reached, code))
                    reached.__code__ = new
        yield bool(changed)
    finally:
        for reached, code in changed:
            reached.__code__ = code


def _functions(function: Any) -> list[FunctionType]:
    """Return the functions of a function's file and closures, and the functions of its package that these mention."""
    functions: dict[int, FunctionType] = {}
    own: list[Any] = [function]
    # Functions of the user's file come first: those that are only mentioned may be many, and count against the limit.
    mentioned: list[Any] = []
    files: set[str] = set()
    package = ""
    while len(functions) < (MAX_FUNCTIONS if own else MAX_MENTIONED) and (own or mentioned):
        is_own = bool(own)
        value, waiting = (own.pop(), own) if own else (mentioned.pop(0), mentioned)
        if isinstance(value, (MethodType, classmethod, staticmethod)):
            waiting.append(value.__func__)
        elif isinstance(value, property):
            waiting.append(value.fget)
        elif isinstance(value, partial):
            waiting.append(value.func)
        elif type(value) is FunctionType and id(value) not in functions:
            space = value.__globals__
            if _package_of(space.get("__name__")) in ("symbcast", "numpy"):
                continue
            functions[id(value)] = value
            package = package or _package_of(space.get("__name__"))
            waiting.append(getattr(value, "__wrapped__", None))
            waiting += [c.cell_contents for c in value.__closure__ or () if is_full(c)]
            mentioned += _mentioned(value, package)
            file = value.__code__.co_filename
            if is_own and file not in files:
                files.add(file)
                for neighbour in (getattr(v, "__wrapped__", v) for v in list(space.values())):
                    if isinstance(neighbour, FunctionType) and neighbour.__code__.co_filename == file:
                        waiting.append(neighbour)
                    elif isinstance(neighbour, type) and neighbour.__module__ == space.get("__name__"):
                        waiting += list(vars(neighbour).values())
        elif not isinstance(value, (FunctionType, type)) and callable(value):
            waiting += _called_by(value)
    return list(functions.values())


def _called_by(value: Any) -> Iterator[Any]:
    """Yield what a callable object may call: the method of its class, and the functions that it holds."""
    yield getattr(value, "py_func", None)  # a function that Numba compiles
    if _package_of(type(value).__module__) not in ("symbcast", "numpy", "builtins"):
        yield vars(type(value)).get("__call__")
        yield from (v for v in getattr(value, "__dict__", {}).values() if isinstance(v, (FunctionType, partial)))


def _package_of(module: Any) -> str:
    return str(module or "").partition(".")[0]


def _mentioned(function: FunctionType, package: str) -> Iterator[Any]:
    """Yield the functions and methods of a package that a function mentions by name, also as ``module.name``."""
    names, spaces = set(_names(function.__code__)), [function.__globals__]
    for space in spaces:
        for name in sorted(names & space.keys()):
            value = space[name]
            if isinstance(value, ModuleType):
                if _package_of(value.__name__) == package and all(vars(value) is not s for s in spaces):
                    spaces.append(vars(value))
            elif _package_of(getattr(value, "__module__", "")) == package:
                yield from list(vars(value).values()) if isinstance(value, type) else [value]


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _names(value)


def _has_loop(code: CodeType) -> bool:
    names = {*code.co_names, *code.co_varnames}
    return (
        not _OPERATORS.isdisjoint(code.co_code[::2])
        or not _LOOPS.isdisjoint(code.co_code[::2])
        or not names.isdisjoint(_CONSUMERS | _CASTS | _OF_ARRAYS | _OF_KEYS)
        or any(isinstance(c, CodeType) and _has_loop(c) for c in code.co_consts)
    )


@lru_cache(maxsize=1000)
def _rewritten(code: CodeType) -> CodeType | None:
    """Return the rewritten code of a function; None if its source is not at hand or does not belong to it."""
    text = "".join(linecache.getlines(code.co_filename))
    tops = _tops(text)
    top = next((t for t in tops if _first(t) <= code.co_firstlineno <= (t.end_lineno or 0)), None)
    if top is None:
        return None
    # A notebook compiles each statement of a cell alone, a file all of them together.
    for is_alone in (False, True):
        before = _compiled(text, top, code.co_filename, code.co_flags & _FUTURE, is_alone, False)
        number = next((n for n, c in enumerate(before) if _where(c) == _where(code)), None)
        if number is not None:
            break
    else:
        return None
    after = _compiled(text, top, code.co_filename, code.co_flags & _FUTURE, is_alone, True)
    # A rewritten list comprehension must not add or lose a code object: they are found by number.
    if len(after) != len(before):
        return None
    rewritten = after[number]  # rewriting keeps the order of functions, lambdas and comprehensions
    if (rewritten.co_name, rewritten.co_freevars) != (code.co_name, code.co_freevars):
        return None
    return _with_functions(rewritten)


def _first(node: ast.stmt) -> int:
    first: int = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    return first


@lru_cache(maxsize=32)
def _tops(text: str) -> list[ast.stmt]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text).body
    except (SyntaxError, ValueError):
        return []


_FUTURE = functools.reduce(operator.or_, (getattr(__future__, n).compiler_flag for n in __future__.all_feature_names))


@lru_cache(maxsize=256)
def _compiled(  # noqa: PLR0913, PLR0917 - the key of the cache: a class is compiled once for all of its methods
    text: str, node: ast.stmt, file: str, flags: int, is_alone: bool, is_rewritten: bool
) -> list[CodeType]:
    """Return the code of all functions, lambdas and comprehensions in a statement, as it is or rewritten."""
    # The compiler calls methods of names that the module imports in another way.
    imports = [n for n in _tops(text) if isinstance(n, (ast.Import, ast.ImportFrom)) and n is not node]
    if is_rewritten:
        node = ast.fix_missing_locations(_Rewriting(file).visit(_copied(text, node)))
    tree = ast.Module([*(() if is_alone else imports), node], [])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # calls of a constant, which `_with_functions` replaces
        codes = _codes(compile(tree, file, "exec", flags=flags, dont_inherit=True))
        return [c for c in codes if c.co_varnames[:1] != (ARM,)]


def _copied(text: str, node: ast.stmt) -> ast.stmt:
    """Return a copy of a statement of a module: parsing its lines is ten times as fast as copying its nodes."""
    first = _first(node) - 1
    try:
        again = ast.parse("\n" * first + "\n".join(text.split("\n")[first : node.end_lineno])).body
    except SyntaxError:  # its first line begins in another statement
        return copy.deepcopy(node)
    return next(n for n in again if (n.lineno, n.col_offset) == (node.lineno, node.col_offset))


def _codes(code: CodeType) -> Iterator[CodeType]:
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield value
            yield from _codes(value)


def _where(code: CodeType) -> Any:
    return code.co_name, code.co_firstlineno, code.co_varnames, code.co_names, tuple(code.co_positions())


def _with_functions(code: CodeType) -> CodeType:
    """Return code in which the names of replacements, which are constants, are the functions themselves."""
    return code.replace(co_consts=tuple(map(_constant, code.co_consts)))


def _constant(value: Any) -> Any:
    if isinstance(value, CodeType):
        return _with_functions(value)
    if type(value) is str and value.startswith(_PREFIX):
        return FUNCTIONS[value.removeprefix(_PREFIX)]
    return value


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "loop": ours.loop,
    "collected": ours.collected,
    "repeat": repeat,
    "item": item,
    "arms": Arms,
    "compared": compared,
    "either": either,
    "conjunction": lambda value, key, rest: either(value, key, rest, lambda: value),
    "disjunction": lambda value, key, rest: either(value, key, lambda: value, rest),
    "filter": Filter,
    "key": ours.key,
    "storage": ours.storage,
    "contains": ours.contains,
    "dict": ours.dict_of,
    "members": ours.SetLike,
    "method_of": ours.method_of,
    "slice": slice,
    "text": text_of_data,
    "percent": percent_formatted,
    "cast": ours.cast,
    "is_same": ours.is_same,
    "pickled": ours.pickled,
    **ours.REPLACED,
}


class _Rewriting(ast.NodeTransformer):
    """Replaces loops, list comprehensions and calls of builtins by name."""

    def __init__(self, file: str) -> None:
        self._file = file

    def visit_For(self, node: ast.For) -> ast.AST:
        inner = [n for statement in node.body for n in ast.walk(statement)]
        left = tuple({"stop" for n in inner if isinstance(n, (ast.Break, ast.Return, ast.Yield))})
        names = _dead_names(node), *_appended_names(node), left
        node.body = _without_continue(node.body)
        self.generic_visit(node)
        node.iter = self._looped(node.iter, names)
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        is_plain = not isinstance(node.test, ast.BoolOp) or _is_pure_all(node.test)
        changed = _changed_by([*node.body, *node.orelse]) if is_plain else None
        if changed is None:
            return self.visit_While(node)
        test, body, orelse = _split(node.test), node.body, node.orelse or [ast.copy_location(ast.Pass(), node)]
        # Arms of `not`, `and` and `or` are those of their operands, each of which may be a question of its own.
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.visit_If(ast.copy_location(ast.If(test.operand, orelse, body), node))
        if isinstance(test, ast.BoolOp):
            first, *rest = test.values
            rest_of = rest[0] if len(rest) == 1 else ast.copy_location(ast.BoolOp(test.op, rest), rest[0])
            inner = [ast.copy_location(ast.If(rest_of, body, orelse), rest_of)]
            arms = (inner, copy.deepcopy(orelse)) if isinstance(test.op, ast.And) else (copy.deepcopy(body), inner)
            return self.visit_If(ast.copy_location(ast.If(first, *arms), node))
        test = self._question(test)
        name = f"{ARM} {test.lineno}, {test.col_offset}"
        arms_call = self._call("arms", test, [test, self._key("if", test), *map(_value, changed)])
        chosen = ast.copy_location(ast.If(ast.copy_location(ast.Name(name, ast.Load()), test), body, orelse), node)
        target = ast.copy_location(ast.Name(name, ast.Store()), test)
        chosen.body, chosen.orelse = [self.visit(n) for n in body], [self.visit(n) for n in orelse]
        return ast.copy_location(ast.For(target, arms_call, [chosen], []), node)

    def visit_While(self, node: ast.If | ast.While) -> ast.AST:
        """Rewrite a loop or a branch of which one arm is chosen: its line asks, and a turn of a loop is known by it."""
        node.test = self._chosen(node.test)
        node.body, node.orelse = [self.visit(n) for n in node.body], [self.visit(n) for n in node.orelse]
        return node

    def _chosen(self, test: ast.expr) -> ast.expr:
        if isinstance(test, ast.BoolOp):
            test.values = list(map(self._chosen, test.values))
            return test
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test.operand = self._chosen(test.operand)
            return test
        new: ast.expr = self.visit(test)
        return new

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        if not all(map(_is_pure_all, (node.test, node.body, node.orelse))):
            return self.generic_visit(node)
        test = _split(node.test)
        if isinstance(test, ast.BoolOp):
            first, *rest = test.values
            rest_of = rest[0] if len(rest) == 1 else ast.copy_location(ast.BoolOp(test.op, rest), rest[0])
            inner = ast.copy_location(ast.IfExp(rest_of, node.body, node.orelse), rest_of)
            is_and = isinstance(test.op, ast.And)
            arms = (inner, copy.deepcopy(node.orelse)) if is_and else (copy.deepcopy(node.body), inner)
            return self.visit_IfExp(ast.copy_location(ast.IfExp(first, *arms), node))
        delayed = [self._delayed(self.visit(n)) for n in (node.body, node.orelse)]
        return self._call("either", node, [self._question(test), self._key("either", node), *delayed])

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if not isinstance(node.op, ast.Not) or not _is_pure_all(node):
            return self.generic_visit(node)
        values = [ast.copy_location(_value(truth), node) for truth in (False, True)]
        return self.visit_IfExp(ast.copy_location(ast.IfExp(node.operand, *values), node))

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        if not _is_pure_all(node):
            return self.generic_visit(node)
        *firsts, last = [self.visit(value) for value in node.values]
        rest: ast.expr = last
        name = "conjunction" if isinstance(node.op, ast.And) else "disjunction"
        for first, asked in zip(firsts[::-1], node.values[-2::-1], strict=True):
            rest = self._call(name, node, [first, self._key(name, asked), self._delayed(rest)])
        return rest

    @staticmethod
    def _delayed(node: ast.expr) -> ast.expr:
        arguments = ast.arguments([], [ast.arg(ARM)], None, [], [], None, [ast.Constant(None)])
        return ast.copy_location(ast.Lambda(arguments, node), node)

    def _question(self, test: ast.expr) -> ast.expr:
        """Return a test that is not asked yet if iterations of a loop answer it differently."""
        new: ast.expr = self.visit(test)
        name = _COMPARISONS.get(type(test.ops[0])) if isinstance(test, ast.Compare) and len(test.ops) == 1 else None
        if not isinstance(new, ast.Compare) or name is None:
            return new
        return self._call("compared", new, [_value(name), new.left, new.comparators[0]])

    def _key(self, kind: str, node: ast.expr) -> ast.Constant:
        return _value((kind, self._file, node.lineno, node.col_offset))

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        generator = ast.copy_location(ast.GeneratorExp(node.elt, node.generators), node)
        if not self._is_plain(generator):
            return self.generic_visit(node)
        return self._call("collected", node, [self._filtered(generator)])

    def _filter(self, test: ast.expr) -> ast.comprehension:
        is_not = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
        question = self._question(test.operand if isinstance(test, ast.UnaryOp) and is_not else test)
        keeps = self._call("filter", test, [question, self._key("filter", test), _value(not is_not)])
        return ast.comprehension(ast.Name(ARM, ast.Store()), keeps, [], 0)

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        if not node.is_async:
            node.iter = self._looped(node.iter, ours.MAY_STOP)
        return node

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        return self._filtered(node)

    def _filtered(self, node: ast.GeneratorExp) -> ast.GeneratorExp:
        """A condition of a comprehension is a turn of one more loop, or none."""
        generators = []
        for part in node.generators:
            tests, part.ifs = part.ifs, []
            generators.append(self.visit(part))
            generators += [self._filter(test) for whole in tests for test in _operands(whole)]
        if len(generators) > 1:  # whether data have decided about the item
            generators.append(self._filter(ast.copy_location(ast.Constant(True), node.elt)))
        node.elt, node.generators = self.visit(node.elt), generators
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                part.value = self.visit(part.value)
        return self._call("text", node, [node])

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Mod) and _is_text(node.left):
            return self._call("percent", node, [node.left, node.right])
        if isinstance(node.op, ast.Mult) and isinstance(node.left, ast.List):
            return self._call("repeat", node, [node.left, node.right, self._key("repeat", node)])
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """A stand-in is the same as what it stands for."""
        self.generic_visit(node)
        sides = (node.left, node.comparators[0])
        is_in = isinstance(node.ops[0], (ast.In, ast.NotIn))
        is_plain = not is_in and any(isinstance(side, ast.Constant) for side in sides)
        if len(node.ops) > 1 or is_plain or not isinstance(node.ops[0], (ast.In, ast.NotIn, ast.Is, ast.IsNot)):
            return node
        call = self._call("contains" if is_in else "is_same", node, list(sides))
        is_negated = isinstance(node.ops[0], (ast.NotIn, ast.IsNot))
        return ast.copy_location(ast.UnaryOp(ast.Not(), call), node) if is_negated else call

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        self.generic_visit(node)
        if any(k is None for k in node.keys) or all(isinstance(k, ast.Constant) for k in node.keys):
            return node
        return self._call("dict", node, [part for pair in zip(node.keys, node.values, strict=True) for part in pair])  # type: ignore[misc]

    def visit_Set(self, node: ast.Set) -> ast.AST:
        self.generic_visit(node)
        return self._call("members", node, [ast.List(node.elts, ast.Load())])

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        index = node.slice
        if isinstance(index, ast.Constant) and type(index.value) is not int:  # no index of a list
            return node
        if not isinstance(node.ctx, ast.Load):
            is_part = any(isinstance(n, ast.Slice) for n in (index, *getattr(index, "elts", ())))
            if not is_part and _is_name(node.value):
                values = copy.deepcopy(node.value)
                for inner in ast.walk(values):
                    if hasattr(inner, "ctx"):
                        inner.ctx = ast.Load()
                node.slice = self._call("key", node, [values, index])
            node.value = self._call("storage", node.value, [node.value, self._key("storage", node)])
            return node
        if isinstance(index, ast.Tuple):
            index.elts = [self._sliced(e, node) for e in index.elts]
        return self._call("item", node, [node.value, self._sliced(index, node)])

    def _sliced(self, index: ast.expr, at: ast.expr) -> ast.expr:
        if not isinstance(index, ast.Slice):
            return index
        return self._call("slice", at, [e or ast.Constant(None) for e in (index.lower, index.upper, index.step)])

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in ours.REPLACED:
            return self._call(node.func.id, node, [node.func, *node.args], node.keywords)
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("format", "join") and _is_text(node.func.value):
            return self._call("text", node, [node])
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in ("dumps", "dump") and node.args and not isinstance(node.args[0], ast.Starred):
            return self._call("pickled", node, [node.func, *node.args], node.keywords)
        if name in (_OF_ARRAYS | _OF_KEYS) and isinstance(node.func, ast.Attribute) and node.args:
            return self._call("method_of", node, [node.func.value, ast.Constant(name), *node.args], node.keywords)
        if name in _CASTS and len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred):
            return self._call("cast", node, [node.func, *node.args])
        return node

    @staticmethod
    def _is_plain(node: ast.GeneratorExp) -> bool:
        """Return whether a comprehension may become a generator expression: no ``await``, ``yield`` or ``:=``."""
        return not any(isinstance(n, (ast.Await, ast.NamedExpr)) for n in ast.walk(node)) and not any(
            g.is_async for g in node.generators
        )

    def _looped(self, values: ast.expr, names: tuple[tuple[str, ...], ...]) -> ast.Call:
        key = _value((self._file, values.lineno, values.col_offset))
        return self._call("loop", values, [values, key, _value(names)])

    @staticmethod
    def _call(name: str, at: ast.expr, args: list[ast.expr], keywords: Sequence[ast.keyword] = ()) -> ast.Call:
        call = ast.Call(ast.Constant(_PREFIX + name), args, list(keywords))
        for node in (call, call.func, *args):
            if not hasattr(node, "lineno"):
                ast.copy_location(node, at)
        return call


# What the arms of an ``if`` may call, so that they have no effects: builtins, functions of modules, and methods.
_PURE = frozenset(["abs", "bool", "float", "int", "len", "max", "min", "round", "sum"])
_PURE_MODULES = frozenset({"np", "numpy", "math"})
_PURE_NAMES = frozenset({"all", "any", "append", "arange", "argmax", "argmin", "argsort", "array", "asarray", "astype"})
_PURE_NAMES |= {"clip", "concatenate", "copy", "cross", "cumsum", "det", "diff", "dot", "empty", "eye", "float32"}
_PURE_NAMES |= {"float64", "full", "hstack", "int64", "inv", "isclose", "item", "linalg", "linspace", "max", "mean"}
_PURE_NAMES |= {"median", "min", "norm", "ones", "outer", "prod", "ravel", "reshape", "sort", "stack", "std", "sum"}
_PURE_NAMES |= {"take", "trace", "transpose", "var", "vstack", "where", "zeros", "zeros_like"}
_PURE_METHODS = _PURE_NAMES - {"append", "sort"}
_PURE_NODES: tuple[type[ast.AST], ...]
_PURE_NODES = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Tuple, ast.Attribute)
_PURE_NODES += (ast.Slice, ast.BoolOp, ast.boolop, ast.IfExp, ast.keyword, ast.operator, ast.unaryop, ast.cmpop)
_PURE_NODES += (ast.expr_context, ast.Assign, ast.AugAssign)


_COMPARISONS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


def _without_continue(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return statements in which what follows ``if c: continue`` is its ``else``, if it may be an arm."""
    for number, node in enumerate(body):
        if isinstance(node, ast.If) and not node.orelse and isinstance(node.body[-1], ast.Continue):
            rest, kept = _without_continue(body[number + 1 :]), node.body[:-1]
            if _is_pure_all(node.test) and _changed_by([*kept, *rest]) is not None:
                first = kept or [ast.copy_location(ast.Pass(), node)]
                return [*body[:number], ast.copy_location(ast.If(node.test, first, rest), node)]
    return body


def _changed_by(statements: Sequence[ast.stmt]) -> tuple[tuple[str, ...], ...] | None:
    """Return arrays that statements write into, names that they increase, and lists that they append to.

    They may only assign or append expressions without effects; None if they do more.
    """
    written: set[str] = set()
    grown: set[str] = set()
    appended: set[str] = set()
    for statement in statements:
        nested = _nested(statement)
        if nested is not None:
            inner = _changed_by(nested)
            if inner is None:
                return None
            for names, more in zip((written, grown, appended), inner, strict=True):
                names.update(more)
            continue
        name = _appended_to(statement)
        is_alone = len(statements) == 1  # the other arm does nothing: what the item needs is like what a filter lets by
        if name and (is_alone or _is_pure_all(statement.value.args[0])):  # type: ignore[attr-defined]
            appended.add(name)
            continue
        if isinstance(statement, ast.Pass):
            continue
        if not isinstance(statement, (ast.Assign, ast.AugAssign)) or not _is_pure_all(statement):
            return None
        is_grown = isinstance(statement, ast.AugAssign)
        for target in [statement.target] if isinstance(statement, ast.AugAssign) else statement.targets:
            for part in _parts(target):
                base = _base(part)
                if not isinstance(base, ast.Name):
                    return None
                if base is not part:
                    written.add(base.id)
                elif is_grown:
                    grown.add(base.id)
    return tuple(sorted(written)), tuple(sorted(grown)), tuple(sorted(appended))


def _nested(node: ast.stmt) -> list[ast.stmt] | None:
    """Return the statements in a branch or a loop whose head has no effects; None for any other statement."""
    if isinstance(node, ast.If) and _is_pure_all(node.test):
        return [*node.body, *node.orelse]
    if not isinstance(node, ast.For) or node.orelse or not all(map(_is_plain_name, _parts(node.target))):
        return None
    values = node.iter
    is_made = isinstance(values, ast.Call) and isinstance(values.func, ast.Name) and values.func.id in _MADE
    parts = values.args if is_made and not values.keywords else [values]  # type: ignore[attr-defined]
    return node.body if all(map(_is_pure_all, parts)) else None


_MADE = frozenset({"enumerate", "range", "reversed", "zip"})


def _parts(target: ast.expr) -> list[ast.expr]:
    return target.elts if isinstance(target, ast.Tuple) else [target]


def _is_plain_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Name)


def _base(node: ast.expr) -> ast.expr:
    """Return what the first of some subscripts is applied to."""
    return _base(node.value) if isinstance(node, ast.Subscript) else node


def _appended_to(node: ast.stmt) -> str:
    """Return the name of the list in ``name.append(item)``; empty for any other statement."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "append":
        return ""
    is_plain = len(call.args) == 1 and not call.keywords and isinstance(call.func.value, ast.Name)
    return call.func.value.id if is_plain and isinstance(call.func.value, ast.Name) else ""


def _appended_names(node: ast.For) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the lists that a body only appends to, and those to which each of its iterations does."""
    inner = [n for statement in node.body for n in ast.walk(statement)]
    appended = Counter(name for n in inner if isinstance(n, ast.Expr) and (name := _appended_to(n)))
    read = Counter(n.id for n in inner if isinstance(n, ast.Name))
    # A body that is left shows the lists as they are then.
    if any(isinstance(n, (ast.Break, ast.Return, ast.Raise, ast.Try, ast.With)) for n in inner):
        return (), ()
    has_continue = any(isinstance(n, ast.Continue) for n in inner)
    always = Counter(() if has_continue else (name for n in node.body if (name := _appended_to(n))))
    only = sorted(n for n in appended if appended[n] == read[n])
    return tuple(only), tuple(n for n in sorted(always) if appended[n] == always[n])


def _operands(node: ast.expr) -> list[ast.expr]:
    """Return the operands of ``and``, or the expression alone."""
    node = _split(node)
    return node.values if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And) else [node]


def _split(node: ast.expr) -> ast.expr:
    """Return ``a < b < c`` as ``a < b and b < c`` if it has no effects, because each part may be a question."""
    if not isinstance(node, ast.Compare) or len(node.ops) == 1 or not _is_pure_all(node):
        return node
    sides = [node.left, *node.comparators]
    parts: list[ast.expr] = [
        ast.copy_location(ast.Compare(copy.deepcopy(left), [operator_], [copy.deepcopy(right)]), right)
        for left, operator_, right in zip(sides, node.ops, sides[1:], strict=False)
    ]
    return ast.copy_location(ast.BoolOp(ast.And(), parts), node)


def _is_pure_all(node: ast.AST) -> bool:
    return all(map(_is_pure, ast.walk(node)))


def _is_pure(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return isinstance(node, _PURE_NODES)
    if any(k.arg in (None, "out") for k in node.keywords):
        return False
    if isinstance(node.func, ast.Name):
        return node.func.id in _PURE
    if not isinstance(node.func, ast.Attribute):
        return False
    names = [n.attr for n in ast.walk(node.func) if isinstance(n, ast.Attribute)]
    root = next(n for n in ast.walk(node.func) if not isinstance(n, ast.Attribute))
    if isinstance(root, ast.Name) and root.id in _PURE_MODULES:
        known = (n in _PURE_NAMES or root.id == "math" or isinstance(getattr(np, n, None), np.ufunc) for n in names)
        return all(known)
    return node.func.attr in _PURE_METHODS


def _is_name(node: ast.expr) -> bool:
    """Return whether an expression is a name or an attribute of one: it can be evaluated twice."""
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and _is_name(node.value))


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _value(value: Any) -> ast.Constant:
    return ast.Constant(value)


SymbolicArray.keeps_texts = staticmethod(lambda code: any(c is text_of_data for c in code.co_consts))


def _dead_names(node: ast.For) -> tuple[str, ...]:
    """Return the names that the body assigns before it reads them, so that they carry nothing between iterations."""
    targets = {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
    dead, read = set(targets), set[str]()
    for statement in node.body:
        names = [n for n in ast.walk(statement) if isinstance(n, ast.Name)]
        stored: set[str] = set()
        if isinstance(statement, ast.Assign):
            stored = {name for t in statement.targets for name in _stored(t)}
        elif isinstance(statement, ast.For):
            stored = _stored(statement.target)
            names = [n for n in names if n.id not in stored]
        read |= {n.id for n in names if isinstance(n.ctx, ast.Load)} - dead
        dead |= stored - read
    return tuple(sorted(dead))


def _stored(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
