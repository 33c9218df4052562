"""``symbcast lint`` checks the shape annotations of functions for all sizes."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from symbcast.cli.argument_advice import file_of_module, is_model
from symbcast.cli.command import command
from symbcast.cli.terminal import Bar, Exit, UsageError, command_line, path_exists, print_text
from symbcast.core.characters import near_file
from symbcast.errors import MissingExtraError

if TYPE_CHECKING:
    from symbcast.linting.findings import Checked, LintReport

EPILOGUE = """Example: symbcast lint src --ignore SYM105

Example: symbcast lint --diff origin/main --format github

Modules are imported and their functions are called, in child processes. Options that are not given come from \
tool.symbcast.lint in pyproject.toml.

Exit status of lint: 0 nothing found, 1 findings, 2 wrong usage, 3 with --strict: not everything was proved."""
NOTES = {
    "fix apply write": "nothing is changed: leave {} out",
    "exit": "add || true to the line for a status of 0",
    "config": "options that are not given come from tool.symbcast.lint in pyproject.toml",
}


@command(epilogue=EPILOGUE, group="Code", notes=NOTES)
def lint(  # noqa: PLR0913 - each is an option
    *paths: str,
    diff: str | None = None,
    select: list[str] | None = None,
    ignore: list[str] | None = None,
    exclude: list[str] | None = None,
    min_size: int | None = None,
    strict_sizes: bool = False,
    strict_dots: bool = False,
    descriptions: bool = False,
    jobs: int | None = None,
    timeout: float | None = None,
    no_cache: bool = False,
    strict: bool = False,
    stats: bool = False,
    format: Literal["text", "json", "sarif", "github"] = "text",
) -> int:
    """Check the shape annotations of functions for all sizes; modules are imported and functions are called.

    Parameters
    ----------
    paths
        Python files and folders; without any, those of the configuration, or the current folder.
    diff
        A commit: check only functions that changed since then.
    select
        A code to report, such as SYM101 or broken-promise; may be repeated.
    ignore
        A code not to report; may be repeated.
    exclude
        A path or pattern to leave out; may be repeated.
    min_size
        The minimum size of every name; 1 if nothing else is configured.
    strict_sizes
        Report functions that fail only at sizes below 64, such as "works only if n >= 2".
    strict_dots
        Report functions that fail only at some sizes of the axes of `...`.
    descriptions
        Check shapes in comments and docstrings too, such as `# [B, T]` and "array of shape (n, d)".
    jobs
        The number of processes; one per core if nothing else is configured.
    timeout
        The seconds after which a function is left unknown; 60 if nothing else is configured.
    no_cache
        Check everything again, and keep no results.
    strict
        Print each function that is not proved, and why; exit with 3 if there is one and nothing was found.
    stats
        Print how many findings of each code there are, why functions are not proved, and the time that they took.
    format
        One line for each finding, JSON, SARIF for code scanning, or GitHub workflow commands.
    """
    from importlib.util import find_spec

    if find_spec("numpy") is None:
        raise MissingExtraError("symbcast lint", "numpy")
    _check_paths(paths)
    from symbcast.linting.running import run
    from symbcast.linting.sources import read_config

    config = read_config(Path.cwd()).with_options(
        **{"paths": paths or None, "select": select, "ignore": ignore, "exclude": exclude, "min_size": min_size},
        **{"strict_sizes": strict_sizes or None, "strict_dots": strict_dots or None},
        descriptions=descriptions or None,
        **{"jobs": jobs, "timeout": timeout, "cache": False if no_cache else None},
    )
    with _LintProgress(is_text=format == "text") as shown:
        report = run(config, diff, watch=shown)
    left = report.unproved if strict else ()
    if format == "text":
        of_files = (str(f) for f in report.findings if not f.function)
        print_text("\n".join([*of_files, *left, *(_stats(report) if stats else ()), report.summary]))
    else:
        print_text(report.report(format))
    if report.findings:
        return Exit.FAILS
    return Exit.UNDECIDED if left else Exit.ALWAYS


def _stats(report: LintReport) -> Iterator[str]:
    """Yield lines about a report as a whole: its codes, reasons, and the time of functions, without that of imports."""
    if report.findings:
        codes = Counter(f.code for f in report.findings)
        yield f"findings: {', '.join(f'{code} {count}' for code, count in sorted(codes.items()))}"
    reasons = Counter(line.split(": ", 2)[2] for line in report.unproved)
    yield from (f"{count} {reason}" for reason, count in reasons.most_common(_REASONS))
    functions = sorted((c for c in report.functions if c.function), key=lambda c: c.seconds)
    if functions:
        middle, last = functions[len(functions) // 2], functions[-1]
        largest = f"largest {last.seconds:.3f} s ({last.path}: {last.function})"
        yield f"processor time of a function: median {middle.seconds:.3f} s, {largest}"


# How many reasons are printed.
_REASONS = 10


def _check_paths(paths: Sequence[str]) -> None:
    for path in paths:
        if not path_exists(path):
            near = file_of_module(path.partition(":")[0]) or near_file(path)
            raise UsageError(f"{path}: there is no such file or folder{f'; did you mean {near}?' if near else ''}")
        if Path(path).is_file() and Path(path).suffix not in (".py", ".pyi", ".pyw", ""):
            hint = f"; did you mean {command_line('model', path)}?" if is_model(path) else ""
            raise UsageError(f"{path}: is not a Python file{hint}")


class _LintProgress:
    """Prints the findings of each file when it is done, and shows on a terminal how many files are."""

    def __init__(self, is_text: bool) -> None:
        self._is_text = is_text
        self._bar = Bar(0, "")

    def __enter__(self) -> _LintProgress:
        return self

    def __exit__(self, *error: Any) -> None:
        self._bar.__exit__(*error)

    def begin(self, count: int) -> None:
        """Show a bar for this many files."""
        self._bar = Bar(count, "files").__enter__()

    def done(self, functions: Sequence[Checked]) -> None:
        """Print the findings of the functions of a file; several files may have one finding about their import."""
        findings = [finding for function in functions for finding in function.findings if finding.function]
        if findings and self._is_text:
            with self._bar.away():
                for finding in sorted(findings, key=lambda f: (f.line, f.column, f.code)):
                    print_text(str(finding))
                sys.stdout.flush()
        self._bar.advance()
