"""The classes that public functions return: users read their attributes, but never call them by name."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from functools import cache

_INTERNAL = ("algebra", "broadcasting", "logic", "solver", "statements", "whole")
"""The parts of ``symbcast.core`` whose objects readers of answers do not use."""


def returned_classes(public: Collection[object]) -> dict[str, type]:
    """Return each class of symbcast that public callables return, by its path, and those that its members return.

    The public classes are left out.
    """
    found: dict[str, type] = {}
    waiting = list(public)
    seen = {id(each) for each in waiting}
    while waiting:
        each = waiting.pop()
        for cls in _returned(each) if inspect.isfunction(each) else ():
            found[f"{cls.__module__}.{cls.__qualname__}"] = cls
            new = [cls] if id(cls) not in seen else []
            seen.update(map(id, new))
            waiting += new
        if inspect.isclass(each):
            waiting += [member for member in _members(each) if id(member) not in seen]
            seen.update(map(id, waiting))
    others = {path: cls for path, cls in found.items() if cls not in public}
    return dict(sorted(others.items(), key=lambda item: item[1].__name__))


def _members(cls: type) -> Iterator[object]:
    """Yield the functions behind a class's own and inherited public members."""
    for name in dir(cls):
        member = None if name.startswith("_") else inspect.getattr_static(cls, name, None)
        for attribute in ("fget", "func", "__func__"):  # a property, a cached property, a class method
            member = getattr(member, attribute, member)
        if inspect.isfunction(member) and member.__module__.startswith("symbcast"):
            yield member


def _returned(function: object) -> Iterator[type]:
    annotation = str(getattr(function, "__annotations__", {}).get("return", ""))
    module = str(getattr(function, "__module__", ""))
    for name in re.findall(r"[A-Za-z]\w*", annotation):
        cls = getattr(sys.modules[module], name, None)
        source = _imports(module).get(name)
        if cls is None and source is not None:
            cls = getattr(importlib.import_module(source), name, None)
        if inspect.isclass(cls) and _is_for_readers(cls):
            yield cls


def _is_for_readers(cls: type) -> bool:
    parts = cls.__module__.split(".")
    own = parts[0] == "symbcast" and not (parts[1:2] == ["core"] and {*parts[2:]} & {*_INTERNAL})
    return own and not issubclass(cls, (dict, BaseException)) and not getattr(cls, "_is_protocol", False)


@cache
def _imports(module: str) -> Mapping[str, str]:
    """Return the module of each name that a module imports from symbcast, also where only type checkers do."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    froms = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    return {
        alias.asname or alias.name: node.module
        for node in froms
        if node.module and node.module.startswith("symbcast")
        for alias in node.names
    }
