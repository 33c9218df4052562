"""The source files to check, the names of their modules, and the lines that changed since a commit."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from symbcast.errors import ShapeTypeError

_SKIPPED = {"__pycache__", "node_modules", "build", "dist", "venv"}


def python_files(paths: Iterable[str], exclude: Sequence[str] = ()) -> list[str]:
    """Return the Python files among some paths and in folders, in order, each once.

    Hidden folders and virtual environments inside a folder are left out, as are files that match a pattern of
    ``exclude``. Raises `ShapeTypeError` for a path that does not exist.
    """
    found: dict[Path, str] = {}
    for path in map(Path, paths):
        if not path.exists():
            raise ShapeTypeError(str(path), "a file or a folder", "write a path that exists")
        for file in _below(path) if path.is_dir() else [path]:
            if not any(fnmatch(str(file), p) or fnmatch(file.name, p) or _is_inside(file, p) for p in exclude):
                found.setdefault(file.resolve(), str(file))
    return sorted(found.values())


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
    file = Path(path).resolve()
    parts = [] if file.name == "__init__.py" else [file.stem]
    folder = file.parent
    while (folder / "__init__.py").exists() and folder.name.isidentifier():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)


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
    top = Path(_git("rev-parse", "--show-toplevel", wanted=commit).strip())
    changes = _git("diff", "--unified=0", "--no-color", "--no-ext-diff", commit, "--", "*.py", wanted=commit)
    found: dict[str, list[range]] = {}
    file = ""
    for line in changes.splitlines():
        if line.startswith("+++ "):
            file = str((top / line[4:].strip().removeprefix("b/")).resolve())
        hunk = re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line)
        if hunk:
            start, count = int(hunk[1]), int(hunk[2] or 1)
            found.setdefault(file, []).append(range(start, start + max(count, 1) + (count == 0)))
    for name in _git("ls-files", "--others", "--exclude-standard", "--full-name", "--", "*.py").splitlines():
        found[str((top / name).resolve())] = [range(1, 1 << 31)]
    return found


def _git(*arguments: str, wanted: str = "") -> str:
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=True)
    except FileNotFoundError:
        raise ShapeTypeError(wanted, "a commit", "install git, which finds what changed") from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.strip().splitlines()[0]
        is_outside = "not a git repository" in said
        hint = "this folder is not in a git repository" if is_outside else f"git says: {said}"
        raise ShapeTypeError(wanted, "a commit", hint) from None
    return done.stdout
