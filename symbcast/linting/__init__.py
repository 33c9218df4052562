"""Lint: shape annotations of functions, checked for all sizes before anything runs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from symbcast.errors import MissingExtraError, ShapeTypeError

if find_spec("numpy") is None:
    raise MissingExtraError("symbcast.lint", "numpy")

from symbcast.core.advice import with_advice
from symbcast.linting.findings import Checked, Finding, LintReport
from symbcast.linting.running import run
from symbcast.linting.sources import read_config

__all__ = ["Checked", "Finding", "LintReport", "lint"]


@with_advice
def lint(  # noqa: PLR0913 - the options of the command
    *what: str | PathLike[str] | Callable[..., Any],
    select: Sequence[str] | None = None,
    ignore: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    min_size: int | None = None,
    strict_sizes: bool | None = None,
    strict_dots: bool | None = None,
    descriptions: bool | None = None,
    since: str | None = None,
    jobs: int | None = None,
    timeout: float | None = None,
    cache: bool | None = None,
) -> LintReport:
    """Check the shape annotations of functions for all sizes.

    ``what`` are files, folders and functions; without any, the paths of the configuration. Options that are not given
    come from ``tool.symbcast.lint`` in pyproject.toml. ``select`` and ``ignore`` are codes by identifier or name,
    ``strict_sizes`` and ``strict_dots`` report functions that fail only at sizes below 64, or only at some sizes of the
    axes of ``...``. ``descriptions`` checks the shapes in comments and docstrings too. ``since`` is a commit: only
    functions that changed since then are checked. Modules are imported in child processes, and their functions are
    called there. Raises `ShapeTypeError` for options that do not exist, and for functions without a source file.

    ```python
    report = symbcast.lint("src")
    report.findings, report.counts, report.report("sarif")
    ```
    """
    functions = [w for w in what if not isinstance(w, (str, PathLike))]
    places = dict.fromkeys(map(_place, functions))
    paths = [fspath(w) for w in what if isinstance(w, (str, PathLike))]
    config = read_config(Path.cwd()).with_options(
        paths=(*paths, *dict.fromkeys(p for p, _ in places)) if what else None,
        **{"exclude": exclude, "select": select, "ignore": ignore, "min_size": min_size},
        **{"strict_sizes": strict_sizes, "strict_dots": strict_dots, "descriptions": descriptions},
        **{"jobs": jobs, "timeout": timeout, "cache": False if places else cache},
    )
    return run(config, since, lambda path, name: not places or path in paths or (path, name) in places)


def _place(function: Callable[..., Any]) -> tuple[str, str]:
    inner = inspect.unwrap(function)
    code = getattr(inner, "__code__", None)
    if code is None or not Path(code.co_filename).is_file():
        raise ShapeTypeError(function, "a function of a source file", "write its file instead")
    return code.co_filename, str(getattr(inner, "__qualname__", ""))
