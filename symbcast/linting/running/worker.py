"""The part of lint that runs in a child process: it imports users' modules and traces their functions."""

from __future__ import annotations

import io
import os
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from symbcast.linting.checks.check import Asked, check, has_shapes
from symbcast.linting.findings import Checked


class NotImportedError(ImportError):
    """The module of a file cannot be imported; the text is the error."""


def prepare() -> None:
    """Switch off run-time checkers of annotations before users' modules are imported: they cannot check a trace.

    No bytecode is written beside users' files: Python would take it for that of a file changed within the same second.
    """
    sys.dont_write_bytecode = True
    os.environ["JAXTYPING_DISABLE"] = "1"
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    warnings.simplefilter("ignore")
    for package, names in _CHECKERS.items():
        sys.meta_path.insert(0, _WithoutChecks(package, names))


_CHECKERS = {"beartype": ("beartype",), "typeguard": ("typechecked",)}


class _WithoutChecks:
    """Replaces the decorators of a package by ones that return their function, once the package is imported."""

    def __init__(self, package: str, names: tuple[str, ...]) -> None:
        self.package, self.names = package, names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self.package:
            return None
        sys.meta_path.remove(self)
        if find_spec(name) is None:  # jaxtyping asks for packages that need not be there
            return None
        module = import_module(name)
        for decorator in self.names:
            setattr(module, decorator, _unchanged)
        return module.__spec__


def _unchanged(function: Any = None, **options: Any) -> Any:
    """Return a function unchanged, or a decorator that does, as ``beartype(conf=...)``."""
    return (lambda inner: inner) if function is None else function


def imported(asked: Asked) -> None:
    """Import the module of a function. Raises `NotImportedError`."""
    with _silence():
        _module(asked.path, asked.module)


def checked(asked: Asked) -> Checked | None:
    """Return what was found out about a function; None if its annotations say nothing about shapes.

    Raises `NotImportedError` if its module cannot be imported.
    """
    with _silence():
        module = _module(asked.path, asked.module)
        start = time.process_time()
        found = check(module, asked)
        seconds = time.process_time() - start
    return found and Checked(**{**vars(found), "seconds": round(seconds, 4)})


def is_shaped(asked: Asked) -> bool:
    """Return whether the annotations of a function say anything about shapes.

    Raises `NotImportedError` if its module cannot be imported.
    """
    with _silence():
        return has_shapes(_module(asked.path, asked.module), asked)


def loaded(root: str) -> list[str]:
    """Return the source files under a folder that were imported in this process."""
    files = (getattr(m, "__file__", None) for m in list(sys.modules.values()))
    found = {str(Path(f).resolve()) for f in files if f and f.endswith(".py")}
    return sorted(f for f in found if f.startswith(root + os.sep) and "site-packages" not in f[len(root) :])


@cache
def _failed() -> dict[str, str]:
    return {}


def _module(path: str, name: str) -> ModuleType:
    """Import a file by the name of its module."""
    if path in _failed():
        raise NotImportedError(_failed()[path])
    root = str(Path(path).resolve().parents[name.count(".")])
    if Path(path).name == "__init__.py":
        root = str(Path(path).resolve().parents[name.count(".") + 1])
    if root not in sys.path:
        sys.path.insert(0, root)
    try:
        return _imported(path, name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a script may raise SystemExit
        text = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        _failed()[path] = text
        raise NotImportedError(text) from None


def _imported(path: str, name: str) -> ModuleType:
    found = import_module(name)
    if _is_same(found, path):
        return found
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    found = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def _is_same(module: ModuleType, path: str) -> bool:
    return bool(module.__file__) and Path(str(module.__file__)).resolve() == Path(path).resolve()


@contextmanager
def _silence() -> Iterator[None]:
    """Keep what users' code prints and warns out of the output of lint."""
    sink = io.StringIO()
    with redirect_stdout(sink), redirect_stderr(sink), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
